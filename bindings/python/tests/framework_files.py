"""Stores and models as plain Python writes them, from what is known of the framework's files."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

_CHECKS = pathlib.Path(__file__).parents[3] / "Tests" / "Checks" / "files"


def write_store(path: str, *entities: Any) -> Any:
    """Writes an empty store that brings its model along; returns what puts objects into it until it is closed."""
    fixtures, description = _module("fixtures"), _module("description")
    return fixtures.StoreWriter(path, description.Model({each.name: each for each in entities}), [])


def declare() -> Any:
    """The module whose functions declare entities, attributes and relationships."""
    return _module("fixture_model")


def description() -> Any:
    return _module("description")


def _module(name: str) -> Any:
    sys.path.insert(0, str(_CHECKS))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(_CHECKS))
