"""The tests of the repository by the names that tables in docs/ have for them.

Swift tests by their display name, which is the name of the function where it has no other, C tests by their function,
Python tests by their method.
"""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from typing import Callable

ROOT = pathlib.Path(__file__).resolve().parents[3]


def swift_tests(text: str) -> set[str]:
    """The display names of tests; where there is none, the name of the function."""
    names = set()
    for start in re.finditer(r"@Test\b", text):
        rest = text[start.end():]
        given = re.match(r'\(\s*"((?:[^"\\]|\\.)*)"', rest)
        function = re.search(r"\bfunc (?:`([^`]+)`|(\w+))", rest)
        if given:
            names.add(given[1])
        elif function:
            names.add(function[1] or function[2])
    return names


def c_tests(text: str) -> set[str]:
    """The functions that the program defines and runs."""
    defined = set(re.findall(r"^static void (\w+)\(void\) \{", text, re.MULTILINE))
    return defined & set(re.findall(r"^ +RUN\((\w+)\);", text, re.MULTILINE))


def python_tests(text: str) -> set[str]:
    """The methods of classes by which unittest finds tests."""
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return {
        node.name for each in classes for node in each.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


LANGUAGES: dict[str, tuple[pathlib.Path, Callable[[str], set[str]]]] = {
    ".swift": (ROOT / "Tests" / "Unit", swift_tests),
    ".c": (ROOT / "Tests" / "C", c_tests),
    ".py": (ROOT / "bindings" / "python" / "tests", python_tests),
}


@functools.cache
def tests_of(name: str) -> set[str]:
    """The tests in the file with this name; none when there is no such file."""
    folder, find = LANGUAGES[pathlib.PurePath(name).suffix]
    return {test for path in folder.rglob(name) for test in find(path.read_text(encoding="utf-8"))}
