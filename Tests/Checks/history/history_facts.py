"""What the tables of a file say, read with plain SQL, and what a history must have of two states of them."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

INSERT, UPDATE, DELETE = 0, 1, 2
CHANGE, TRANSACTION, STRING = 16001, 16002, 16003
LABELS = ("ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS")
# Columns that belong to the other side: places in lists, and owners in relationships without inverse.
_OF_OTHERS = re.compile(r"Z_FOK_|Z\d+[A-Z]")
Row = tuple[int, int]
"""Z_ENT and Z_PK."""


class Difference(Exception):
    """What is not as it must be."""


class State(NamedTuple):
    """The rows of all entities, and the history."""

    rows: dict[Row, dict[str, Any]]
    owners: dict[tuple[str, int], tuple[Any, ...]]
    """Members by the owner column that leads to them, and the key of the owner."""
    changes: list[dict[str, Any]]
    transactions: list[dict[str, Any]]
    strings: dict[int, str]
    last: dict[int, int]
    """Z_MAX by Z_ENT."""


def read(path: str) -> State:
    """The state of a file, by a connection of its own."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        file.execute("BEGIN")

        def all_of(table: str) -> list[dict[str, Any]]:
            return [dict(row) for row in file.execute(f"SELECT * FROM {table} ORDER BY Z_PK")]

        last = {row["Z_ENT"]: row["Z_MAX"] for row in file.execute("SELECT * FROM Z_PRIMARYKEY")}
        roots = [name for name, in file.execute("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 AND Z_ENT < 16000")]
        rows: dict[Row, dict[str, Any]] = {}
        owners: dict[tuple[str, int], tuple[Any, ...]] = {}
        for root in roots:
            for row in all_of(f"Z{root.upper()}"):
                for column, value in row.items():
                    if re.fullmatch(r"Z\d+[A-Z]+", column) and value is not None:
                        owners[column, value] = (*owners.get((column, value), ()), row["Z_PK"])
                rows[row["Z_ENT"], row["Z_PK"]] = {
                    column: value for column, value in row.items() if not _OF_OTHERS.match(column)}
        strings = {row["Z_PK"]: row["ZNAME"] for row in all_of("ATRANSACTIONSTRING")}
        return State(rows, owners, all_of("ACHANGE"), all_of("ATRANSACTION"), strings, last)


class Expected(NamedTuple):
    """What a transaction must be."""

    author: Optional[str]
    name: Optional[str]
    begun: float
    """Seconds since 2001."""


class Checker:
    """Compares what a history has with what two states of the rows lead to."""

    def __init__(self, properties: dict[int, int], preserved: dict[int, Sequence[str]], owners: dict[str, int]) -> None:
        self._properties = properties
        """How many properties the entities have, by their numbers."""
        self._preserved = preserved
        """The columns whose values deletions leave, in the order of the names."""
        self._owners = owners
        """The entity of the owners that an owner column names."""

    def changes(self, before: State, after: State) -> list[tuple[int, int, int]]:
        """Kind, entity and key of what one transaction has changed."""
        found = [(INSERT, *row) for row in after.rows.keys() - before.rows.keys()]
        found += [(DELETE, *row) for row in before.rows.keys() - after.rows.keys()]
        updated = {row for row, values in after.rows.items() if row in before.rows and before.rows[row] != values}
        for column, owner in before.owners.keys() | after.owners.keys():
            row = (self._owners[column], owner)
            lost = set(before.owners.get((column, owner), ())) - set(after.owners.get((column, owner), ()))
            if lost and row in before.rows and row in after.rows:
                updated.add(row)
        return sorted(found + [(UPDATE, *row) for row in updated])

    def check(self, before: State, after: State, expected: Expected) -> None:
        """One save or batch request lies between the states."""
        wanted = self.changes(before, after)
        self._check_kept(before, after)
        made = after.transactions[len(before.transactions):]
        if len(made) != (1 if wanted else 0):
            raise Difference(f"{len(made)} transactions for the changes {wanted}")
        changes = after.changes[len(before.changes):]
        found = [(each["ZCHANGETYPE"], each["ZENTITY"], each["ZENTITYPK"]) for each in changes]
        if found != wanted:
            raise Difference(f"the history has {found}, and the rows {wanted}")
        for place, each in enumerate(changes):
            self._check_change(each, before.last[CHANGE] + 1 + place, before.last[TRANSACTION] + 1, before)
        for transaction in made:
            self._check_transaction(transaction, before, after, expected)

    def check_net(self, before: State, after: State) -> None:
        """Several saves lie between the states, or none: their changes together lead from the one to the other."""
        self._check_kept(before, after)
        there = set(before.rows)
        touched: set[Row] = set()
        for each in after.changes[len(before.changes):]:
            row = (each["ZENTITY"], each["ZENTITYPK"])
            touched.add(row)
            if (row in there) == (each["ZCHANGETYPE"] == INSERT):
                raise Difference(f"the history has {each['ZCHANGETYPE']} of {row}, which cannot be")
            if each["ZCHANGETYPE"] == INSERT:
                there.add(row)
            elif each["ZCHANGETYPE"] == DELETE:
                there.remove(row)
        if there != set(after.rows):
            raise Difference(f"the history leads to {sorted(there)}, and there are {sorted(after.rows)}")
        for _, *row in self.changes(before, after):
            if tuple(row) not in touched:
                raise Difference(f"{row} has changed without a change in the history")
        used = {each["ZTRANSACTIONID"] for each in after.changes[len(before.changes):]}
        if used != {each["Z_PK"] for each in after.transactions[len(before.transactions):]}:
            raise Difference("the new transactions are not those of the new changes")

    def check_purge(self, before: State, after: State, first: int) -> None:
        """All before a transaction was removed."""
        if after.rows != before.rows or after.last != before.last:
            raise Difference("a purge has changed rows or last numbers")
        for name, key in (("transactions", "Z_PK"), ("changes", "ZTRANSACTIONID")):
            wanted = [each for each in getattr(before, name) if each[key] >= first]
            if getattr(after, name) != wanted:
                raise Difference(f"a purge before {first} has left other {name}")
        used = {each[label] for each in after.transactions for label in LABELS} - {None}
        if after.strings != {key: text for key, text in before.strings.items() if key in used}:
            raise Difference(f"a purge before {first} has left other texts")

    def _check_kept(self, before: State, after: State) -> None:
        """What was there stays as it was, and numbers go on."""
        if after.changes[: len(before.changes)] != before.changes:
            raise Difference("earlier changes are others than they were")
        if after.transactions[: len(before.transactions)] != before.transactions:
            raise Difference("earlier transactions are others than they were")
        if {key: after.strings.get(key) for key in before.strings} != before.strings:
            raise Difference("earlier texts are others than they were")
        if len(set(after.strings.values())) != len(after.strings):
            raise Difference(f"texts are there twice: {after.strings}")
        counts = {
            CHANGE: len(after.changes) - len(before.changes), STRING: len(after.strings) - len(before.strings),
            TRANSACTION: len(after.transactions) - len(before.transactions)}
        for kind, count in counts.items():
            if after.last[kind] != before.last[kind] + count:
                raise Difference(
                    f"Z_MAX of {kind} went from {before.last[kind]} to {after.last[kind]} with {count} more")

    def _check_change(self, each: dict[str, Any], number: int, transaction: int, before: State) -> None:
        kind, entity = each["ZCHANGETYPE"], each["ZENTITY"]
        columns = None
        if kind == UPDATE:
            count = self._properties[entity]
            size = -(-count // 8)
            columns = (((1 << count) - 1) << (size * 8 - count)).to_bytes(size, "big")
        wanted = {
            "Z_PK": number, "Z_ENT": CHANGE, "Z_OPT": None, "ZTRANSACTIONID": transaction, "ZCOLUMNS": columns}
        tombstones: list[Any] = []
        if kind == DELETE:
            row = before.rows[entity, each["ZENTITYPK"]]
            tombstones = [row[column] for column in self._preserved[entity]]
        places = [name for name in each if name.startswith("ZTOMBSTONE")]
        for place, name in enumerate(sorted(places)):
            wanted[name] = tombstones[place] if place < len(tombstones) else None
        found = {name: each[name] for name in wanted}
        if found != wanted:
            raise Difference(f"a change is {found} instead of {wanted}")

    def _check_transaction(self, each: dict[str, Any], before: State, after: State, expected: Expected) -> None:
        texts = {label: after.strings.get(each[label]) for label in LABELS}
        process = texts["ZPROCESSIDTS"]
        wanted = {
            "ZAUTHORTS": expected.author, "ZCONTEXTNAMETS": expected.name, "ZBUNDLEIDTS": process,
            "ZPROCESSIDTS": process}
        if texts != wanted or not process:
            raise Difference(f"the texts of a transaction are {texts} instead of {wanted}")
        if (each["Z_PK"], each["Z_ENT"], each["Z_OPT"]) != (before.last[TRANSACTION] + 1, TRANSACTION, None):
            raise Difference(f"a transaction is {each}")
        if any(each[name] is not None for name in ("ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID", "ZQUERYGEN")):
            raise Difference(f"a transaction has texts of its own: {each}")
        if not expected.begun - 1e-3 <= each["ZTIMESTAMP"] <= expected.begun + 60:
            raise Difference(f"a transaction is of {each['ZTIMESTAMP']}, and was made at {expected.begun}")
