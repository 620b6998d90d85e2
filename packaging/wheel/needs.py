#!/usr/bin/env python3
"""Compares what libraries ask of the C library with what a version of glibc has: needs.py GLIBC LIBRARY...

The `zig` of Python's package `ziglang` knows each function of each version of glibc, and makes libraries that have
their names.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from elftools.elf.elffile import ELFFile

# What every system has from GCC.
ELSEWHERE = "GCC_"


def symbols(path: pathlib.Path, *, defined: bool) -> Iterator[tuple[str, str]]:
    """Name and version of the symbols that a library defines, or that it asks for."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        versions: dict[int, str] = {}
        if found := elf.get_section_by_name(".gnu.version_d" if defined else ".gnu.version_r"):
            for entry, auxiliaries in found.iter_versions():
                for auxiliary in auxiliaries:
                    versions.setdefault(entry["vd_ndx"] if defined else auxiliary["vna_other"], auxiliary.name)
        indices = elf.get_section_by_name(".gnu.version")
        for place, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
            index = indices.get_symbol(place)["ndx"]
            if isinstance(index, int) and (symbol["st_shndx"] != "SHN_UNDEF") == defined:
                yield symbol.name, versions.get(index & 0x7FFF, "")


def libraries_of(glibc: str, folder: str) -> list[pathlib.Path]:
    """Libraries that define what this version of glibc does, made in a folder."""
    (pathlib.Path(folder) / "empty.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{glibc}", "empty.c", "-o", "empty"],
        cwd=folder, check=True, env={"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder, "PATH": "/usr/bin"})
    return list(pathlib.Path(folder).glob("o/*/lib*.so.*"))


def main() -> None:
    glibc, *paths = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        there = {each for path in libraries_of(glibc, folder) for each in symbols(path, defined=True)}
    asked = {each for path in paths for each in symbols(pathlib.Path(path), defined=False)}
    asked = {(name, version) for name, version in asked if version and not version.startswith(ELSEWHERE)}
    missing = sorted(asked - there)
    for name, version in missing:
        print(f"{name} of {version} is not in glibc {glibc}.")
    print(f"glibc {glibc}: {len(asked) - len(missing)} of {len(asked)} symbols are there")
    sys.exit(bool(missing) or not asked)


if __name__ == "__main__":
    main()
