#!/usr/bin/env python3
"""Checks in which node of the export map script/surface puts a function, and that linkers take such a map."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("surface", str(ROOT / "script/surface"))
surface = importlib.util.module_from_spec(importlib.util.spec_from_loader("surface", loader))
sys.dont_write_bytecode = True
loader.exec_module(surface)


def exports(version, functions, present):
    numbers = dict(zip(("QUIRE_VERSION_MAJOR", "QUIRE_VERSION_MINOR", "QUIRE_VERSION_PATCH"), version.split(".")))
    functions = [types.SimpleNamespace(name=name) for name in functions]
    return surface.exports(types.SimpleNamespace(functions=functions, macros=numbers), present)


def expect(found, wanted):
    if found != wanted:
        sys.exit(f"{found!r}, and not {wanted!r}")


first = exports("0.9.0", ["quire_a", "quire_c"], "")
expect(surface.nodes(first), {"quire_a": (0, 9), "quire_c": (0, 9)})
# A later version leaves them where they are, and a patch, too. 10 is later than 9.
later = exports("0.10.1", ["quire_a", "quire_b", "quire_c"], first)
expect(surface.nodes(later), {"quire_a": (0, 9), "quire_b": (0, 10), "quire_c": (0, 9)})
expect(exports("0.10.2", ["quire_a", "quire_b", "quire_c"], later), later)
last = exports("1.0.0", ["quire_a", "quire_b", "quire_c", "quire_d"], later)
expect(surface.nodes(last)["quire_d"], (1, 0))
# What is gone leaves nothing behind, not even its node. Without a present map all are new.
expect(surface.nodes(exports("1.0.0", ["quire_a", "quire_d"], last)), {"quire_a": (0, 9), "quire_d": (1, 0)})
expect(exports("1.0.0", ["quire_a"], ""), exports("1.0.0", ["quire_a"], "no map"))

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "map").write_text(last)
    functions = "".join(f"void quire_{name}(void) {{}}\n" for name in "abcd")
    (folder / "all.c").write_text(functions + "void other(void) {}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", f"-Wl,--version-script={folder / 'map'}", "-Wl,--no-undefined-version",
                    folder / "all.c", "-o", folder / "all.so"], check=True)
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", folder / "all.so"], check=True, capture_output=True, text=True).stdout
    expect(sorted(line.split()[-1] for line in symbols.splitlines() if " T " in line), [
        "quire_a@@QUIRE_0.9", "quire_b@@QUIRE_0.10", "quire_c@@QUIRE_0.9", "quire_d@@QUIRE_1.0"])
print("functions stay in the node of the version that they came with")
