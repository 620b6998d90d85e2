"""Programs and commands of a page: C compiled against the installed library, and lines of a shell."""
import os
import pathlib
import re
import subprocess
import sys

from blocks import Block

MARK = "\x1e"
"""Printed behind each block of a program, so that each has its own output."""
OUTSIDE = re.compile(
    r"^(#include|static|typedef|struct \w+ \{|(?!(?:if|for|while|switch|do|else|return)\b)[a-z][\w *]*\([^;]*\)\s*\{)",
    re.MULTILINE)


class Failed(Exception):
    """A program was not compiled, or failed."""


def environment() -> dict[str, str]:
    """Where commands find the installed library, this Python and the command of the package."""
    prefix = os.environ.get("QUIRE_PREFIX", "/usr/local")
    libraries = [str(folder.parent) for folder in pathlib.Path(prefix).glob("lib*/**/libquire.so")]
    bin_folder = pathlib.Path("bin").resolve()
    if not bin_folder.exists():
        bin_folder.mkdir()
        for name, words in (("quire", "-m quire"), ("python", ""), ("python3", "")):
            (bin_folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
            (bin_folder / name).chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": ":".join(f"{folder}/pkgconfig" for folder in libraries),
        "LD_LIBRARY_PATH": ":".join(libraries),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def outputs(blocks: list[Block]) -> dict[int, str]:
    """What each C block of a page prints. Functions and declarations stand before `main`, statements are in it."""
    printed = {id(block): "" for block in blocks}
    complete = [block for block in blocks if re.search(r"^int main\(", block.text, re.MULTILINE)]
    for block in complete:
        printed[id(block)] = compiled_and_run(numbered(block))
    parts = [block for block in blocks if block not in complete]
    if not parts:
        return printed
    outside = [block for block in parts if OUTSIDE.match(first_code(block.text))]
    inside = [block for block in parts if block not in outside]
    source = "#include <quire.h>\n#include <stdio.h>\n" + "".join(map(numbered, outside)) + "int main(void) {\n"
    source += "".join(f'{numbered(block)}putchar(0x1e);\n' for block in inside) + "return 0;\n}\n"
    texts = compiled_and_run(source).split(MARK)
    printed.update({id(block): text for block, text in zip(inside, texts)})
    return printed


def first_code(text: str) -> str:
    """A block from its first line on that is no comment."""
    return re.sub(r"\A(\s*/\*.*?\*/\s*|\s*//[^\n]*\n|\s+)*", "", text, flags=re.DOTALL)


def numbered(block: Block) -> str:
    """A block whose mistakes are reported at their lines of the page."""
    return f'#line {block.line} "{block.page.name}"\n{block.text}'


def compiled_and_run(source: str) -> str:
    """What a program prints."""
    pathlib.Path("page.c").write_text(source)
    run("cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror page.c -o page $(pkg-config --cflags --libs quire) -lpthread")
    return run("./page")


def run(command: str) -> str:
    result = subprocess.run(
        ["bash", "-c", command], env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        raise Failed(f"{command}\nended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, which stand behind `$ ` and go on behind `> `, each with the lines that follow it."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        elif not found:
            raise Failed("a block of a console begins with a command behind '$ '")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:].rstrip("\n"), "")
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def shell(command: str) -> str:
    """What a command prints, on both of its outputs, and the number that it ends with unless that is 0."""
    result = subprocess.run(
        ["bash", "-c", command], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        stdin=subprocess.DEVNULL)
    if result.returncode and not command.endswith("; echo $?"):
        raise Failed(f"{command}\nended with {result.returncode}:\n{result.stdout}")
    return result.stdout


def prompted(text: str, first: str = ">>> ", rest: str = "... ") -> str:
    """Lines of a session as they are typed."""
    lines = text.rstrip("\n").split("\n")
    return "".join(f"{rest if number else first}{line}".rstrip() + "\n" for number, line in enumerate(lines))
