#!/usr/bin/env python3
"""Prints the whole reading of a store as lines of JSON, each with its keys in order.

    contents.py STORE [--model]

The first line has the number of the format, then there is a line for each entity with its counts, and one for each
object, by entity and key. With --model the model of the store comes first, on one line. Values that JSON does not have
are dictionaries of one key: date (seconds since 2001), decimal, uuid, bytes (their number and SHA-256), missing (the
name of an external file that is not there).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import model_cache
import model_xml
import store_file
from archive import decimal_text
from description import DATE, Attribute, Model, plain_model
from rows import MissingFile, Object, Reading


def plain_value(value: Any, kind: int) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Decimal):
        return {"decimal": decimal_text(value)}
    if isinstance(value, uuid.UUID):
        return {"uuid": str(value)}
    if isinstance(value, bytes):
        return {"bytes": [len(value), hashlib.sha256(value).hexdigest()]}
    if isinstance(value, MissingFile):
        return {"missing": value.name.upper()}
    return {"date": value} if kind == DATE and value is not None else value


def plain_object(model: Model, found: Object) -> dict[str, Any]:
    properties = model.properties(found.entity)
    values: dict[str, Any] = {}
    for name, value in found.values.items():
        attribute = properties[name]
        assert isinstance(attribute, Attribute)
        values[name] = plain_value(value, attribute.type)
    return {
        "entity": found.entity, "key": found.key, "values": values,
        "one": {name: list(held) if held else None for name, held in found.one.items()},
        "many": {name: [list(each) for each in members] for name, members in found.many.items()}}


def lines(reading: Reading) -> Iterator[dict[str, Any]]:
    yield {"format": 1}
    for name, (alone, all_of_them) in sorted(reading.counts().items()):
        yield {"count": name, "alone": alone, "with_subentities": all_of_them}
    for found in sorted(reading.objects.values(), key=lambda each: each.reference):
        yield plain_object(reading.model, found)


def line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store")
    parser.add_argument("--model", action="store_true", help="print the model of the store, too")
    parser.add_argument("--xml", help="a model for a store that has none")
    arguments = parser.parse_args()
    with store_file.opened(arguments.store) as connection:
        model = model_xml.read_file(arguments.xml) if arguments.xml else model_cache.read_store(connection)
        if model is None:
            print(f"{arguments.store} holds no model", file=sys.stderr)
            return 1
        reading = Reading(connection, model, arguments.store)
        if arguments.model:
            print(line({"model": plain_model(model)}))
        for each in lines(reading):
            print(line(each))
        for surprise in reading.surprises:
            print(surprise, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
