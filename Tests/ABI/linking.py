#!/usr/bin/env python3
"""Checks how the installed library was linked, and that README says what it needs.

    linking.py LIBRARY README FOLDER...      no FOLDER may be named in the library
"""
import pathlib
import re
import subprocess
import sys


def main():
    library, readme, *folders = sys.argv[1:]
    problems = list(linking(readelf("-dW", library), readelf("-lW", library)))
    problems += paths(pathlib.Path(library).read_bytes(), folders)
    problems += needs(readelf("-VW", library), pathlib.Path(readme).read_text(encoding="utf-8"))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


def readelf(option, library):
    return subprocess.run(["readelf", option, library], check=True, capture_output=True, text=True).stdout


def linking(dynamic, segments):
    if not re.search(r"\(FLAGS(?:_1)?\).*NOW", dynamic):
        yield "addresses are looked up late, not when it is loaded (-z now)"
    for kind in ("RUNPATH", "RPATH", "TEXTREL"):
        if f"({kind})" in dynamic:
            yield f"it has a {kind}"
    if "GNU_RELRO" not in segments:
        yield "nothing of it is read-only after loading (-z relro)"
    stack = re.search(r"GNU_STACK.* (R[WE]*) ", segments)
    if not stack or "E" in stack[1]:
        yield "its stack can be executed"
    if re.search(r"LOAD .* RWE ", segments):
        yield "a part of it can be written and executed"
    # The table of addresses lies in what is read-only after loading.
    names = segments[segments.index("Segment Sections"):]
    numbers = re.findall(r"^  (LOAD|GNU_\w+|PHDR|TLS|DYNAMIC|NOTE|INTERP) ", segments, re.MULTILINE)
    relro = re.search(rf"^ +{numbers.index('GNU_RELRO'):02} +(.*)$", names, re.MULTILINE)
    if not relro or " .got " not in f" {relro[1]} ":
        yield "its table of addresses can be written"
    if re.search(r"\.got\.plt", names) and (not relro or ".got.plt" not in relro[1]):
        yield "its table of functions can be written"


def paths(contents, folders):
    for folder in folders:
        # That of a compiler is where it is installed, the others are those of the project.
        folder = str(pathlib.Path(folder).resolve())
        place = contents.find(folder.encode() + b"/")
        if place >= 0:
            yield f"it names {contents[place:place + 80].split(bytes(1))[0].decode(errors='replace')}"


def needs(versions, readme):
    section = readme[readme.index("## What it needs"):]
    section = section[:section.index("\n## ")]
    for name, prefix in (("glibc", "GLIBC"), ("libstdc++", "GLIBCXX")):
        found = re.findall(rf"\b{prefix}_([0-9.]+)", versions)
        newest = max(found, key=lambda version: [int(part) for part in version.split(".")])
        if f"{prefix}_{newest}" not in section:
            yield f"README does not say that it needs {prefix}_{newest} of {name}"
    if "GLIBC_ABI_DT_RELR" in versions and "GLIBC_ABI_DT_RELR" not in section:
        yield "README does not say that it needs GLIBC_ABI_DT_RELR of glibc"


if __name__ == "__main__":
    main()
