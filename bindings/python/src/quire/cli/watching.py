"""`quire watch`: what any program commits, as it comes."""

from __future__ import annotations

import argparse
import json
import select
import sys
from typing import Any, Optional

from .exits import Exit
from .opening import at_path, attributes_of, model_class, opened
from .terminal import console, speak_utf8
from .values import as_json, as_text, shown

__all__ = ["watch"]

_Rows = dict[int, tuple[Any, ...]]


def watch(options: argparse.Namespace) -> Exit:
    """Prints each row that comes, goes or changes, until the command is interrupted or has printed `limit` of them.

    What a file does not tell of its rows is found by reading them all after each commit.
    """
    if options.format == "json":
        speak_utf8()
    conditions: list[str] = options.where or []
    left: Optional[int] = options.limit
    with opened(options.file, conditions) as store:
        model, entity = model_class(store, options.entity)
        names = [each.name for each in attributes_of(entity)]
        query = store.context.query(model)
        for condition in conditions:
            query = query.where(condition)

        def read() -> _Rows:
            return {each.id: tuple(at_path(each, name) for name in names) for each in query}

        # First, because it says what is committed from then on.
        descriptor = store.context.fileno()
        rows = read()
        if not options.quiet:
            print(f"{shown(options.file)}: {len(rows):,} rows; waiting for changes", file=sys.stderr)
        while left != 0:
            select.select([descriptor], [], [])
            store.context.merge()
            former, rows = rows, read()
            for kind, id in _differences(former, rows):
                if left == 0:
                    break
                _print(kind, id, dict(zip(names, rows.get(id, ()))), options.format)
                left = None if left is None else left - 1
            sys.stdout.flush()
    return Exit.DONE


def _differences(former: _Rows, rows: _Rows) -> list[tuple[str, int]]:
    changed = [("delete", id) for id in former if id not in rows]
    for id, values in rows.items():
        if id not in former:
            changed.append(("insert", id))
        elif former[id] != values:
            changed.append(("update", id))
    return changed


def _print(kind: str, id: int, values: dict[str, Any], format: str) -> None:
    if format == "json":
        found = {"kind": kind, "id": id, "values": {key: as_json(value) for key, value in values.items()}}
        print(json.dumps(found, ensure_ascii=False))
        return
    from rich.text import Text

    told = "  ".join(f"{key}={as_text(value)}" for key, value in values.items() if value is not None)
    console().print(Text.assemble((f"{kind:<6}", "bold"), f" {id}", f"  {shown(told)}" if told else ""), soft_wrap=True)
