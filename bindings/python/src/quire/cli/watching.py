"""`quire watch`: what any program commits, as it comes."""

from __future__ import annotations

import argparse
import json
import select
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ..lists.changes import Change, ChangeSet, Delete
from ..models.model_description import AttributeDescription
from .exits import Exit
from .opening import at_path, attributes_of, model_class, opened
from .terminal import console, speak_utf8
from .values import as_json, as_text, shown

__all__ = ["watch"]


def watch(options: argparse.Namespace) -> Exit:
    """Prints each row that comes, goes or changes, until the command is interrupted or has printed `limit` of them."""
    conditions = options.where or []
    with opened(options.file, conditions) as store:
        model, entity = model_class(store, options.entity)
        printer = _Printer(attributes_of(entity), options.format, options.limit)
        context = store.context
        context.merges_automatically = True
        query = context.query(model)
        for condition in conditions:
            query = query.where(condition)
        with query.live() as rows:
            printer.hold(rows)
            rows.on_change(printer.print)
            descriptor = context.fileno()
            if not options.quiet:
                print(f"{shown(options.file)}: {len(rows):,} rows; waiting for changes", file=sys.stderr)
            while printer.left != 0:
                select.select([descriptor], [], [])
                context.process()
                sys.stdout.flush()
    return Exit.DONE


class _Printer:
    def __init__(self, attributes: Sequence[AttributeDescription], format: str, limit: Any) -> None:
        self._attributes = attributes
        self._is_json = format == "json"
        self.left: Any = limit
        # A file without notes or a history tells of a row that stays in its place only where its values were read.
        self._held: dict[int, Any] = {}
        if self._is_json:
            speak_utf8()

    def hold(self, rows: Iterable[Any]) -> None:
        for object in rows:
            self._held[object.id] = object
            self._values(object)

    def _values(self, object: Any) -> dict[str, Any]:
        return {each.name: at_path(object, each.name) for each in self._attributes}

    def print(self, changes: ChangeSet[Any]) -> None:
        for change in changes:
            if isinstance(change, Delete):
                self._held.pop(change.id, None)
            else:
                self._held[change.id] = change.object
            if self.left == 0:
                continue
            self._print(change)
            if self.left is not None:
                self.left -= 1

    def _print(self, change: Change[Any]) -> None:
        kind = "delete" if isinstance(change, Delete) else type(change).__name__.lower()
        # A row that only has another place is a changed one to this command, which shows no places.
        kind = "update" if kind == "move" else kind
        values = {} if kind == "delete" else self._values(self._held[change.id])
        if self._is_json:
            found = {"kind": kind, "id": change.id, "values": {key: as_json(value) for key, value in values.items()}}
            print(json.dumps(found, ensure_ascii=False))
            return
        from rich.text import Text

        told = "  ".join(f"{key}={as_text(value)}" for key, value in values.items() if value is not None)
        line = Text.assemble((f"{kind:<6}", "bold"), f" {change.id}", f"  {shown(told)}" if told else "")
        console().print(line, soft_wrap=True)
