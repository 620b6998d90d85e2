#!/usr/bin/env python3
"""Reads and extends a pack: the file `TARGET.inputs`, which holds the inputs of a fuzzed target.

    inputs.py unpack PACK FOLDER        writes each input into a file of its name, for libFuzzer
    inputs.py add PACK FILE|FOLDER ...  adds the bytes of these files, and of all files of these folders

A pack is ASCII text with one line for each input, in the order of the names, and a last line `N inputs`:

    00258835693a -%@!=e\\x00\\x01

The name is the first 12 hexadecimal digits of the SHA-1 of the input's bytes, so that damage shows. The bytes follow
after one space. Printable ASCII stands for itself, a backslash is written `\\\\`, and every other byte `\\xHH`. A space
at the end of a line is written that way too. `replay.c` and PredicatePrintingTests.swift read this format too.
"""
import hashlib
import pathlib
import re
import sys

DIGITS = 12
LINE = re.compile(rb"([0-9a-f]{12}) ((?:[ -\[\]-~]|\\\\|\\x[0-9a-f]{2})*)")
ESCAPE = re.compile(rb"\\(?:\\|x(..))")


def main():
    command, paths = sys.argv[1:2], list(map(pathlib.Path, sys.argv[2:]))
    try:
        if command == ["unpack"] and len(paths) == 2:
            unpack(*paths)
        elif command == ["add"] and len(paths) >= 2:
            add(*paths)
        else:
            print("usage: inputs.py unpack PACK FOLDER, or inputs.py add PACK FILE|FOLDER ...", file=sys.stderr)
            sys.exit(2)
    except (OSError, ValueError) as problem:
        sys.exit(f"inputs.py: {problem}")


def unpack(pack, folder):
    inputs = read(pack)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    print(f"{folder}: {len(inputs)} inputs")


def add(pack, *paths):
    inputs = read(pack)
    before = len(inputs)
    for path in paths:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            data = file.read_bytes()
            if inputs.setdefault(name_of(data), data) != data:
                raise ValueError(f"{file} has the name {name_of(data)}, which another input of {pack} has.")
    lines = [f"{name} {text_of(data)}\n" for name, data in sorted(inputs.items())]
    pack.write_text("".join(lines) + f"{len(inputs)} inputs\n", encoding="ascii")
    print(f"{pack}: {len(inputs)} inputs, {len(inputs) - before} of them new")


def read(pack):
    """The bytes of each input by its name."""
    if not pack.exists():
        raise ValueError(f"there is no pack '{pack}'; to begin one, write the line '0 inputs' into it.")
    *lines, end = pack.read_bytes().split(b"\n")
    count = re.fullmatch(rb"(\d+) inputs", lines.pop()) if lines and not end else None
    if not count:
        raise ValueError(f"{pack} is truncated: its last line is not 'N inputs'.")
    inputs, last = {}, ""
    for number, line in enumerate(lines, 1):
        parts = LINE.fullmatch(line)
        if not parts:
            raise ValueError(f"{pack}:{number} is damaged: the line is not a name and escaped bytes.")
        name = parts[1].decode()
        data = ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode()) if match[1] else b"\\", parts[2])
        if name != name_of(data):
            raise ValueError(f"{pack}:{number} is damaged: the bytes have the name {name_of(data)} and not {name}.")
        if name <= last:
            raise ValueError(f"{pack}:{number} is damaged: {name} is not after {last}.")
        inputs[name] = data
        last = name
    if len(inputs) != int(count[1]):
        raise ValueError(f"{pack} is damaged: it has {len(inputs)} inputs, and its last line says {int(count[1])}.")
    return inputs


def name_of(data):
    return hashlib.sha1(data).hexdigest()[:DIGITS]


def text_of(data):
    text = "".join(
        "\\\\" if byte == 0x5C else chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in data)
    return f"{text[:-1]}\\x20" if text.endswith(" ") else text


if __name__ == "__main__":
    main()
