#!/usr/bin/env python3
"""Another program that works on a store: plain SQLite with the functions that the framework registers.

    writer.py STORE SEED

Each line of the input has it do one thing, which it answers with a line of JSON:

    edit            some edits by the rules, in a transaction that stays open
    spill           the same with so little memory that changes go to the file before the commit
    commit          commits; the connection stays open
    move E R K O K  has the member K of the entity E be of the owner K of the entity O, by the to-one relationship R
"""

from __future__ import annotations

import json
import random
import sys
from typing import Optional

import model_cache
import store_file
from plain_edits import PlainEditor, random_edits


def main() -> None:
    path, dice = sys.argv[1], random.Random(sys.argv[2])
    with store_file.opened(path) as connection:
        model = model_cache.read_store(connection)
    assert model is not None
    editor: Optional[PlainEditor] = None
    for line in sys.stdin:
        done = 0
        word, *rest = line.split()
        if word in ("edit", "spill", "move"):
            editor = PlainEditor(path, model)
        assert editor is not None
        if word == "spill":
            editor.connection.execute("PRAGMA cache_size = 1")
            for table in editor.layout.columns:
                editor.connection.execute(f"UPDATE {store_file.quoted(table)} SET Z_OPT = Z_OPT + 1")
        if word == "edit":
            done = random_edits(editor, dice, 5)
        if word == "move":
            entity, name, key, owner, owner_key = rest
            member = editor.reading.get(entity, int(key))
            assert member is not None
            editor.point(member, name, (owner, int(owner_key)))
        if word in ("commit", "move"):
            editor.commit_and_stay()
        print(json.dumps({"done": done}), flush=True)


if __name__ == "__main__":
    main()
