#!/usr/bin/env python3
"""Makes a shared library ask for older versions of glibc's functions: lower.py LIBRARY GLIBC, such as 2.17.

glibc keeps a function under its old version when it gives it a new one: `exp` is there as of 2.29 and as of 2.2.5. A
linker takes the newest. This takes the newest that is not newer than GLIBC, for each symbol of the library, and fails
where there is none. Before 2.34 some functions were in libraries beside libc.so.6, which the library then must name as
needed; a version is looked up in libc.so.6 and a function in all libraries, so that both old and new systems agree.

What is written lies where the linker has left it: the version of each symbol (.gnu.version) and the names of versions
(.gnu.version_r). No part of the file moves.
"""

from __future__ import annotations

import struct
import subprocess
import sys

from elftools.elf.elffile import ELFFile

PREFIX = "GLIBC_"
Version = tuple[int, ...]


def number(name: str) -> Version:
    """2.2.5 as (2, 2, 5); what is no version of functions, such as GLIBC_ABI_DT_RELR, is newer than all."""
    parts = name[len(PREFIX):].split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else (1000,)


def hashed(name: str) -> int:
    """The System V hash of a name, by which the loader compares versions."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
    return value


def versions_here(library: str) -> dict[str, list[str]]:
    """The versions in which each symbol is in a library of this system."""
    path = subprocess.run(
        ["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True).stdout.strip()
    found: dict[str, list[str]] = {}
    with open(path, "rb") as file:
        elf = ELFFile(file)
        names = {
            entry["vd_ndx"]: next(auxiliary).name
            for entry, auxiliary in elf.get_section_by_name(".gnu.version_d").iter_versions()}
        of_symbols = elf.get_section_by_name(".gnu.version")
        for place, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
            index = of_symbols.get_symbol(place)["ndx"]
            if symbol["st_shndx"] != "SHN_UNDEF" and isinstance(index, int):
                found.setdefault(symbol.name, []).append(names[index & 0x7FFF])
    return found


class Library:
    """A library whose tables of versions are changed in `data`."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            elf = ELFFile(file)
            self.symbols = [symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()]
            self.of_symbols = elf.get_section_by_name(".gnu.version")["sh_offset"]
            needed = elf.get_section_by_name(".gnu.version_r")
            self.needed, self.files = needed["sh_offset"], needed["sh_info"]
            self.texts = elf.get_section_by_name(".dynstr")["sh_offset"]
            file.seek(0)
            self.data = bytearray(file.read())

    def text(self, offset: int) -> str:
        start = self.texts + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def users(self, index: int) -> list[int]:
        """The symbols of a version, by their places."""
        places = range(len(self.symbols))
        return [place for place in places if self.index(place) & 0x7FFF == index]

    def index(self, place: int) -> int:
        index: int = struct.unpack_from("<H", self.data, self.of_symbols + 2 * place)[0]
        return index

    def lower(self, limit: Version) -> list[str]:
        """Lowers the versions of all symbols; returns sentences of what cannot be lowered."""
        problems: list[str] = []
        entry = self.needed
        for _ in range(self.files):
            _, count, file, first, following = struct.unpack_from("<HHIII", self.data, entry)
            self._lower_file(self.text(file), entry + first, count, limit, problems)
            entry += following
        return problems

    def _lower_file(self, file: str, first: int, count: int, limit: Version, problems: list[str]) -> None:
        kept: dict[str, int] = {}
        """The place in the string table and the index of each version that is asked for, by its name."""
        texts: dict[str, int] = {}
        newer: list[tuple[int, int]] = []
        record = first
        for _ in range(count):
            _, _, index, text, following = struct.unpack_from("<IHHII", self.data, record)
            name = self.text(text)
            if name.startswith(PREFIX) and number(name) > limit:
                newer.append((record, index))
            elif name.startswith(PREFIX):
                kept[name], texts[name] = index, text
            record += following
        if not newer:
            return
        here = versions_here(file)
        for record, index in newer:
            for place in self.users(index):
                symbol = self.symbols[place]
                older = [each for each in here.get(symbol, []) if number(each) <= limit]
                best = max(older, key=number, default="")
                if best not in kept:
                    problems.append(f"{symbol} of {file} is in none of the versions that the library may ask for.")
                    continue
                struct.pack_into("<H", self.data, self.of_symbols + 2 * place, kept[best])
            # No symbol has this version any more. It becomes another name of the oldest one, which every system has.
            oldest = min(kept, key=number, default="")
            if oldest:
                struct.pack_into("<I", self.data, record, hashed(oldest))
                struct.pack_into("<I", self.data, record + 8, texts[oldest])


def main() -> None:
    path, limit = sys.argv[1:]
    library = Library(path)
    problems = library.lower(tuple(map(int, limit.split("."))))
    if problems:
        sys.exit("\n".join(problems))
    with open(path, "r+b") as file:
        file.write(library.data)


if __name__ == "__main__":
    main()
