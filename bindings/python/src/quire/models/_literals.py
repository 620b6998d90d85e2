"""Values and names as the text of a Python module has them."""

from __future__ import annotations

import decimal
import math
import uuid
from collections.abc import Set
from datetime import datetime
from typing import Any

WIDTH = 100

_MODULES = {
    "Any": "typing", "Optional": "typing", "Union": "typing", "datetime": "datetime", "timezone": "datetime",
    "Decimal": "decimal", "UUID": "uuid", "bool": "builtins", "bytes": "builtins", "float": "builtins",
    "int": "builtins", "str": "builtins",
}


class Literals:
    """Writes values, and knows what they need to be imported."""

    def __init__(self, taken: Set[str]) -> None:
        self._taken = taken
        """Names that mean something else in the module, or in a class of it."""
        self._used: dict[str, str] = {}

    def use(self, name: str) -> str:
        """What a name is called in the module."""
        called = name
        while called in self._taken:
            called = "_" + called
        self._used[name] = called
        return called

    def imports(self) -> list[str]:
        """The lines that import what was used."""
        modules: dict[str, list[str]] = {}
        for name, called in sorted(self._used.items()):
            module = _MODULES.get(name)
            if module and not (module == "builtins" and called == name):
                modules.setdefault(module, []).append(name if called == name else f"{name} as {called}")
        lines = [f"from {module} import {', '.join(names)}" for module, names in sorted(modules.items())]
        package = self._used.get("quire", "quire")
        return ["", *lines, *([""] if lines else []), "import quire" + (f" as {package}" if package != "quire" else "")]

    def value(self, value: Any) -> str:
        """A value of an attribute."""
        if isinstance(value, datetime):
            parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
            while len(parts) > 3 and not parts[-1]:
                parts.pop()
            written = ", ".join(map(str, parts))
            return f"{self.use('datetime')}({written}, tzinfo={self.use('timezone')}.utc)"
        if isinstance(value, decimal.Decimal):
            return f"{self.use('Decimal')}({str(value)!r})"
        if isinstance(value, uuid.UUID):
            return f"{self.use('UUID')}({str(value)!r})"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.use('float')}({str(value)!r})"
        return repr(value)


def call(before: str, brackets: str, items: list[str]) -> list[str]:
    """Items in brackets: on one line where they fit, and otherwise on a line each."""
    line = f"{before}{brackets[0]}{', '.join(items)}{brackets[1]}"
    if len(line) <= WIDTH or not items:
        return [line]
    indent = " " * (len(before) - len(before.lstrip()))
    return [f"{before}{brackets[0]}", *(f"{indent}    {item}," for item in items), f"{indent}{brackets[1]}"]
