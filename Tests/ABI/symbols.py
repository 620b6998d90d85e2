#!/usr/bin/env python3
"""Checks what leaves the library: the public functions and nothing else, its soname, what it needs, and its size.

    symbols.py LIBRARY SONAME        LIBRARY is the stripped one
"""
import os
import pathlib
import re
import subprocess
import sys

MOST_BYTES = 10_000_000


def main():
    library, soname = sys.argv[1:]
    golden = (pathlib.Path(__file__).parent / "quire.abi").read_text()
    public = set(re.findall(r"^function .*?\b(quire_\w+)\(", golden, re.MULTILINE))
    problems = []

    defined = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in defined.splitlines()} - {"QUIRE_0"}
    problems += [f"{name} leaves the library and is not public" for name in sorted(names - public)]
    problems += [f"{name} is public and not in the library" for name in sorted(public - names)]
    problems += [
        f"{line.split()[-1]} has no version"
        for line in defined.splitlines() if not re.search(r"@@QUIRE_0$|\bQUIRE_0$", line)]

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
    print(f"{len(names)} symbols, {size} bytes, needs {', '.join(needed)}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
