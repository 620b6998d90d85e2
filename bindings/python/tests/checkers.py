"""Asks mypy and pyright, both at their strictest, what they make of a file."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, NamedTuple

import quire

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(quire.__file__)))
"""The folder that has the package."""

# basedpyright is pyright as a package of Python, with stricter modes of its own, which are not taken here.
MISSING = " and ".join(name for name in ("mypy", "basedpyright") if importlib.util.find_spec(name) is None)
MISSING = MISSING and f"{MISSING} not installed"


class Found(NamedTuple):
    wrong: set[int]
    """The lines with a mistake, from 1."""
    types: dict[int, str]
    """What `reveal_type` shows, by line, in pyright's spelling."""
    text: str
    """What the checker printed of mistakes."""


@functools.cache
def mypy_cache() -> str:
    """A folder that the runs of this process share, so that only the first one reads the standard library."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder


def mypy(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-warn-unused-ignores", "--cache-dir", mypy_cache(), *arguments],
        capture_output=True, text=True, cwd=mypy_cache(), env={**os.environ, "MYPYPATH": PACKAGE}).stdout


def by_mypy(path: str) -> Found:
    wrong, types, mistakes = set(), {}, []
    printed = mypy(path)
    assert re.search(r"(?:checked|in) 1 source file", printed), printed
    for line in printed.splitlines():
        found = re.match(r'.*?:(\d+): (?:note: Revealed type is "(.*)"|(error): .*)$', line)
        if found is None:
            continue
        if found[3]:
            wrong.add(int(found[1]))
            mistakes.append(line)
        else:
            types[int(found[1])] = _plain(found[2])
    return Found(wrong, types, "\n".join(mistakes))


def by_pyright(path: str) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        project = os.path.join(folder, "pyrightconfig.json")
        with open(project, "w") as file:
            json.dump({"typeCheckingMode": "strict", "extraPaths": [PACKAGE], "include": [path]}, file)
        printed = subprocess.run(
            [sys.executable, "-m", "basedpyright", "--project", project, "--outputjson"], capture_output=True,
            text=True).stdout
    report = json.loads(printed)
    assert report["summary"]["filesAnalyzed"] == 1, printed
    wrong, types, mistakes = set(), {}, []
    for each in report["generalDiagnostics"]:
        line = each["range"]["start"]["line"] + 1
        shown = re.match(r'Type of ".*" is "(.*)"$', each["message"], re.DOTALL)
        if shown:
            types[line] = shown[1]
        elif each["severity"] == "error":
            wrong.add(line)
            mistakes.append(f"{line}: {each['message']}")
    return Found(wrong, types, "\n".join(mistakes))


def _plain(type: str) -> str:
    """mypy's name of a type as pyright writes it: classes without their modules, and so on."""
    type = re.sub(r"tuple\[[^\[\]]*, fallback=([\w.]+)\]", r"\1", type)
    type = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", type)
    return re.sub(r"^def ", "", type)


CHECKERS: dict[str, Callable[[str], Found]] = {"mypy": by_mypy, "pyright": by_pyright}
