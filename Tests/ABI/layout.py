#!/usr/bin/env python3
"""Checks that the structs of the Python module lie in memory as those of C: sizes, alignments and offsets."""
import ctypes
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    sys.dont_write_bytecode = True
    path = ROOT / "bindings/python/src/quire/_c/_ffi.py"
    spec = importlib.util.spec_from_file_location("quire_ffi", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    problems, structs, offsets, current = [], 0, 0, None
    for line in (ROOT / "Tests/ABI/quire.abi").read_text().splitlines():
        title = re.fullmatch(r"struct (\w+): (\d+) bytes, aligned to (\d+)", line)
        member = re.fullmatch(r"  (\d+) .*?(\w+)", line)
        if title:
            current = getattr(module, title[1])
            structs += 1
            if (ctypes.sizeof(current), ctypes.alignment(current)) != (int(title[2]), int(title[3])):
                problems.append(f"{title[1]} has {ctypes.sizeof(current)} bytes instead of {title[2]}")
        elif not line.startswith(" "):
            current = None
        elif current and member:
            name = member[2] + "_" if member[2] == "as" else member[2]
            offset = getattr(current, name).offset
            offsets += 1
            if offset != int(member[1]):
                problems.append(f"{current.__name__}.{name} lies at {offset} instead of {member[1]}")
    for problem in problems:
        print(problem)
    print(f"{structs} structs, {offsets} members")
    sys.exit(1 if problems or not structs else 0)


if __name__ == "__main__":
    main()
