#!/usr/bin/env python3
"""Checks what leaves the library: the public functions and nothing else, each with the version that it came with, its
soname, what it needs, and its size.

    symbols.py LIBRARY SONAME        LIBRARY is the stripped one
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

MOST_BYTES = 10 << 20
EXPORTS = pathlib.Path(__file__).resolve().parents[2] / "Sources/QuireCore/exports.map"


def main():
    library, soname = sys.argv[1:]
    golden = (pathlib.Path(__file__).parent / "quire.abi").read_text()
    public = set(re.findall(r"^function .*?\b(quire_\w+)\(", golden, re.MULTILINE))
    problems = []

    came_with = {
        name: node
        for node, body in re.findall(r"^(QUIRE_[\d.]+) \{(.*?)^\}", EXPORTS.read_text(), re.DOTALL | re.MULTILINE)
        for name in re.findall(r"^ +(quire_\w+);", body, re.MULTILINE)}
    defined = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = dict(re.findall(r"^\w+ [A-Z] (\S+?)(?:@@(\S+))?$", defined, re.MULTILINE))
    for node in set(came_with.values()):
        exported.pop(node, None)
    problems += [f"{name} leaves the library and is not public" for name in sorted(set(exported) - public)]
    problems += [f"{name} is public and not in the library" for name in sorted(public - set(exported))]
    problems += [
        f"{name} has version {exported[name] or 'none'} and not {came_with.get(name)}"
        for name in sorted(public & set(exported)) if exported[name] != came_with.get(name)]
    problems += lookups(library, came_with)

    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    if f"[{soname}]" not in dynamic:
        problems.append(f"the soname is not {soname}")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    problems += [f"it needs {name}, which only a Swift installation has" for name in needed if "swift" in name.lower()]

    size = os.path.getsize(library)
    if size > MOST_BYTES:
        problems.append(f"it has {size} bytes stripped; at most {MOST_BYTES}")
    for problem in problems:
        print(problem)
    print(f"{len(exported)} symbols, {size} bytes, needs {', '.join(needed)}")
    sys.exit(1 if problems else 0)


def lookups(library, came_with):
    """A program that loads the library itself finds each function by its name, and by its name and version."""
    loaded = ctypes.CDLL(os.path.abspath(library))
    versioned = ctypes.CDLL(None).dlvsym
    versioned.restype, versioned.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    for name, node in came_with.items():
        plain = ctypes.cast(getattr(loaded, name, None), ctypes.c_void_p).value
        if not plain or versioned(loaded._handle, name.encode(), node.encode()) != plain:
            yield f"{name} is not found by its name and by the version {node}"
        if versioned(loaded._handle, name.encode(), b"QUIRE_0.0"):
            yield f"{name} is found by a version that never was"


if __name__ == "__main__":
    main()
