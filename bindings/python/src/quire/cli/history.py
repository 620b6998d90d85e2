"""`quire history`: what any program has changed in a store."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..contexts.history import HistoryChange, HistoryTransaction
from .exits import Exit
from .opening import class_of, opened
from .terminal import console, speak_utf8
from .values import as_json, as_text, shown

__all__ = ["history"]

# So many transactions are read at once.
_AT_ONCE = 1000


def history(options: argparse.Namespace) -> Exit:
    """Prints the transactions, the oldest first."""
    with opened(options.file) as store:
        if options.entity is not None:
            class_of(store, options.entity)
        token, left = None, options.limit
        write = _write_json if options.format == "json" else _write
        if write is _write_json:
            speak_utf8()
        while left is None or left > 0:
            limit = _AT_ONCE if left is None else min(left, _AT_ONCE)
            found = store.history(
                after=token, author=options.author, entity=options.entity, since=options.since, limit=limit)
            for each in found:
                write(each)
            if len(found) < limit:
                break
            token, left = found.token, None if left is None else left - limit
    return Exit.DONE


def _write(transaction: HistoryTransaction) -> None:
    from rich.text import Text

    told = [as_text(transaction.timestamp)]
    if transaction.author is not None:
        told.append(f"by {transaction.author}")
    if transaction.name is not None:
        told.append(f"in {transaction.name}")
    if transaction.process is not None:
        told.append(f"with {transaction.process}")
    line = Text.assemble((str(transaction.number), "bold"), f"  {shown('  '.join(told))}")
    console().print(line, soft_wrap=True)
    for change in transaction.changes:
        console().print(Text(f"    {shown(_sentence(change))}"), soft_wrap=True)


def _sentence(change: HistoryChange) -> str:
    sentence = f"{change.kind:<6} {change.entity or '(an unknown entity)'} {change.id}"
    if change.keys:
        sentence += f"  {', '.join(change.keys)}"
    left = [f"{key}={as_text(value)}" for key, value in change.tombstone.items() if value is not None]
    return f"{sentence}  {' '.join(left)}" if left else sentence


def _write_json(transaction: HistoryTransaction) -> None:
    found: dict[str, Any] = {
        "number": transaction.number, "timestamp": as_json(transaction.timestamp), "author": transaction.author,
        "name": transaction.name, "process": transaction.process, "bundle": transaction.bundle,
        "token": transaction.token.hex(),
        "changes": [
            {
                "kind": each.kind, "entity": each.entity, "id": each.id,
                "keys": None if each.keys is None else list(each.keys),
                "tombstone": {key: as_json(value) for key, value in each.tombstone.items()},
            }
            for each in transaction.changes],
    }
    print(json.dumps(found, ensure_ascii=False))
