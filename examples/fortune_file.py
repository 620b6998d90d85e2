"""Quotations from files in the format of the fortune program, by the rule that fortune_file.h sets out."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

PACKAGES_FOLDER = "/usr/share/games/fortunes"
LONGEST_AUTHOR = 50

# All on bytes: the rule counts bytes, and knows no blanks but the space and the tab.
ATTRIBUTION = re.compile(rb"[ \t]*--( .*)")
END_OF_AUTHOR = re.compile(rb',(?! [JS]r)|["(\[<;:]| (?:in|on|at|to)(?= |\Z)')


class Quotation(NamedTuple):
    author: str | None
    contents: str


class FileProblem(Exception):
    """What is wrong with a file, as a sentence."""


def find_author(lines: list[bytes]) -> str | None:
    for line in reversed(lines):
        if attribution := ATTRIBUTION.match(line):
            author = END_OF_AUTHOR.split(attribution[1], maxsplit=1)[0].strip(b" \t")
            return author.decode() if 0 < len(author) <= LONGEST_AUTHOR else None
    return None


def split(text: bytes) -> list[Quotation]:
    quotations = []
    entry: list[bytes] = []
    for line in [*text.split(b"\n"), b"%"]:
        line = line.removesuffix(b"\r")
        if line != b"%":
            entry.append(line)
            continue
        if any(line.strip(b" \t") for line in entry):
            quotations.append(Quotation(find_author(entry), b"\n".join(entry).decode()))
        entry = []
    return quotations


def read_file(path: str) -> list[Quotation]:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}.") from None
    if not text:
        raise FileProblem(f"{path} is empty; it should hold quotations, with a line of one % after each.")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise FileProblem(f"{path} is not UTF-8: the byte 0x{text[error.start]:02x} at offset {error.start} "
                          "begins no character.") from None
    if (offset := text.find(b"\0")) >= 0:
        raise FileProblem(f"{path} is no text: there is a zero byte at offset {offset}.")
    quotations = split(text.removesuffix(b"\n"))
    if not quotations:
        raise FileProblem(f"{path} holds no quotation, only blanks and %.")
    return quotations


def read_packages() -> list[Quotation]:
    """Of all plain text files of the packages; not the index files (.dat) and links (.u8) beside them."""
    quotations = []
    names = os.listdir(PACKAGES_FOLDER) if os.path.isdir(PACKAGES_FOLDER) else []
    for name in sorted(names, key=os.fsencode):
        path = f"{PACKAGES_FOLDER}/{name}"
        if "." not in name and os.path.isfile(path) and not os.path.islink(path):
            quotations += read_file(path)
    if not quotations:
        raise FileProblem(f"{PACKAGES_FOLDER} has no quotations; install the packages fortunes and fortunes-min, "
                          "or name a file with --file.")
    return quotations


def print_all(quotations: list[Quotation]) -> None:
    """Prints each quotation as its author, its contents and a line with %."""
    for author, contents in quotations:
        print(f"author: {author or ''}\n{contents}\n%")
