"""What an edit of a store must have kept, from the file before and the file after it.

Rows that were not edited, metadata, model cache, schema and tables of others are equal byte by byte. Edited rows follow
the rules for writers: keys, versions, numbers of entities, both sides of relationships, order keys, derived values.
"""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass
from typing import Any, Optional

import store_file
from description import Attribute, Model, short
from rows import MissingFile, Object, Reading, Reference, one_sided
from store_file import quoted

PRAGMAS = ("page_size", "auto_vacuum", "encoding", "user_version", "application_id", "journal_mode")
UPDATES = re.compile(r"\bUPDATE\s+\"?(\w+)\"?\s+SET\s+\"?(\w+)\"?\s*=", re.IGNORECASE)
# The tables of the history by their numbers in Z_PRIMARYKEY. They get rows and lose none.
HISTORY = {"ACHANGE": 16001, "ATRANSACTION": 16002, "ATRANSACTIONSTRING": 16003}
# The largest number of 32 bits.
LARGEST = 3.4028234663852886e38
Rows = dict[Any, dict[str, Any]]


class State:
    """All that a file holds: its schema, its rows as they are, and the objects that are read of them."""

    def __init__(self, path: str, model: Model) -> None:
        with store_file.opened(path) as connection:
            self.integrity = str(connection.execute("PRAGMA integrity_check").fetchone()[0])
            self.schema: dict[tuple[str, str], Any] = {
                (kind, name): (table, sql) for kind, name, table, sql in connection.execute(
                    "SELECT type, name, tbl_name, sql FROM sqlite_master")}
            self.pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS}
            self.reading = Reading(connection, model, path)
            self.rtrees = self._rtrees()
            self.tables = {name: read_rows(connection, name) for name in store_file.tables(connection)
                           if not any(name.startswith(f"{each}_") for each in self.rtrees)}
            self.tables.update({name: read_rows(connection, name) for name in self.rtrees})
        folder = store_file.support_folder(path)
        self.files = set(os.listdir(folder)) if os.path.isdir(folder) else set()

    def _rtrees(self) -> list[str]:
        return [name for (kind, name), (_, sql) in self.schema.items()
                if kind == "table" and sql and re.search(r"\bUSING RTREE\b", sql, re.IGNORECASE)]

    def triggers(self) -> dict[str, tuple[str, str]]:
        return {name: held for (kind, name), held in self.schema.items() if kind == "trigger"}

    def kept_by_triggers(self) -> set[tuple[str, str]]:
        """Tables and columns that triggers write, so that they may change without an edit."""
        return {
            (table, column) for _, sql in self.triggers().values() for table, column in UPDATES.findall(sql)}


def read_rows(connection: sqlite3.Connection, table: str) -> Rows:
    """The rows of a table by Z_PK, by the row's number, or by all of its values when there is no number."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
    key = "Z_PK" if "Z_PK" in names else "rowid"
    found: Rows = {}
    for number, *values in connection.execute(f"SELECT {key}, * FROM {quoted(table)}"):
        found[number] = dict(zip(names, values))
    return found


@dataclass
class Edit:
    """The rows of a table that were put in, taken out and changed."""

    inserted: Rows
    deleted: Rows
    # Before and after.
    changed: dict[Any, tuple[dict[str, Any], dict[str, Any]]]


def edit_of(before: Rows, after: Rows) -> Edit:
    changed = {key: (row, after[key]) for key, row in before.items() if key in after and not same(row, after[key])}
    return Edit(
        {key: row for key, row in after.items() if key not in before},
        {key: row for key, row in before.items() if key not in after}, changed)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether values and their types in SQLite are the same."""
    return one == other and all(type(one[name]) is type(other[name]) for name in one)


class Checker:
    """With `touched`, rows of entity tables that are not among these have not changed, but for what triggers write.

    With `has_history`, the history has what was changed.
    """

    def __init__(
        self, before: State, after: State, saves: Optional[int] = None, touched: Optional[set[tuple[str, int]]] = None,
        has_history: bool = False,
    ) -> None:
        self.before, self.after, self.saves, self.touched = before, after, saves, touched
        self.has_history = has_history
        self.model = after.reading.model
        self.layout = after.reading.layout
        self.problems: list[str] = []
        self.kept_by_triggers = before.kept_by_triggers()
        # How many bounds of R-Trees and derived values were looked at.
        self.bounds = self.derived = 0

    def run(self) -> list[str]:
        self.expect(self.after.integrity == "ok", f"integrity: {self.after.integrity}")
        self._check_surroundings()
        self._check_numbers()
        self._check_history()
        for root in self.model.children(None):
            self._check_table(self.layout.table(root))
        self._check_joins()
        self._check_meaning()
        self._check_rtrees()
        self._check_derived()
        self._check_files()
        return self.problems

    def expect(self, is_so: bool, problem: str) -> None:
        if not is_so:
            self.problems.append(problem)

    def _check_surroundings(self) -> None:
        for key in sorted({*self.before.schema, *self.after.schema}):
            one, other = self.before.schema.get(key), self.after.schema.get(key)
            self.expect(one == other, f"the {' '.join(key)} was {short(one)} and is {short(other)}")
        for name, value in self.before.pragmas.items():
            # A file that came without a log gets one when it is opened for writing, by the framework, too.
            if name == "journal_mode" and (value, self.after.pragmas[name]) == ("delete", "wal"):
                continue
            self.expect(self.after.pragmas[name] == value, f"{name} was {value} and is {self.after.pragmas[name]}")
        joins = self.layout.joins()
        own = {*self.layout.columns, *joins, *self.before.rtrees, "Z_PRIMARYKEY"}
        for table, rows in self.before.tables.items():
            if table in own:
                continue
            # Also metadata, cache and what the application has made.
            edit = edit_of(rows, self.after.tables.get(table, {}))
            new = {} if table in HISTORY else edit.inserted
            for what, found in (("new", new), ("lost", edit.deleted), ("changed", edit.changed)):
                self.expect(not found, f"{table} has {len(found)} {what} rows: {short(list(found)[:5])}")

    def _check_numbers(self) -> None:
        """Z_PRIMARYKEY: only the last keys of root entities go up."""
        before, after = self.before.tables["Z_PRIMARYKEY"], self.after.tables["Z_PRIMARYKEY"]
        self.expect(set(before) == set(after), "Z_PRIMARYKEY has other rows")
        for number in set(before) & set(after):
            one, other = before[number], after[number]
            root = one["Z_SUPER"] == 0 and (number < 16000 or number in HISTORY.values())
            same_besides = all(one[name] == other[name] for name in one if name != "Z_MAX")
            self.expect(same_besides, f"Z_PRIMARYKEY has {other} for {one}")
            self.expect(
                other["Z_MAX"] == one["Z_MAX"] or root and other["Z_MAX"] > one["Z_MAX"],
                f"Z_MAX of {one['Z_NAME']} was {one['Z_MAX']} and is {other['Z_MAX']}")

    def _check_history(self) -> None:
        """A history goes on in its numbers, and names each row that was put in, taken out or has another version."""
        if not self.has_history or "ACHANGE" not in self.before.tables:
            return
        for table, number in HISTORY.items():
            edit = edit_of(self.before.tables[table], self.after.tables[table])
            before, after = (int(each.tables["Z_PRIMARYKEY"][number]["Z_MAX"]) for each in (self.before, self.after))
            self.expect(
                sorted(edit.inserted) == list(range(before + 1, after + 1)),
                f"{table} goes on with {short(sorted(edit.inserted)[:5])} from {before} to {after}")
        changes = edit_of(self.before.tables["ACHANGE"], self.after.tables["ACHANGE"]).inserted
        told = {(row["ZCHANGETYPE"], row["ZENTITY"], row["ZENTITYPK"]) for row in changes.values()}
        for root in self.model.children(None):
            table = self.layout.table(root)
            edit = edit_of(self.before.tables[table], self.after.tables[table])
            raised = {key: row for key, (one, row) in edit.changed.items() if one["Z_OPT"] != row["Z_OPT"]}
            for kind, rows in enumerate((edit.inserted, raised, edit.deleted)):
                for key, row in rows.items():
                    self.expect((kind, row["Z_ENT"], key) in told, f"{table} {key} is not in the history as {kind}")
        made = edit_of(self.before.tables["ATRANSACTION"], self.after.tables["ATRANSACTION"]).inserted
        self.expect(
            {row["ZTRANSACTIONID"] for row in changes.values()} == set(made), "new changes and transactions differ")

    def last_key(self, state: State, table: str) -> int:
        root = next(each for each in self.model.children(None) if self.layout.table(each) == table)
        return int(state.tables["Z_PRIMARYKEY"][self.layout.numbers[root]]["Z_MAX"])

    def _check_table(self, table: str) -> None:
        edit = edit_of(self.before.tables[table], self.after.tables[table])
        before, after = self.last_key(self.before, table), self.last_key(self.after, table)
        for key, row in edit.inserted.items():
            self.expect(key > before, f"{table} {key} has a key that was handed out before: {before} was the last")
            self.expect(key <= after, f"{table} {key} has a key after the last one, which is {after}")
            self.expect(self._is_version(row["Z_OPT"], 0), f"{table} {key} is new with the version {row['Z_OPT']}")
        for key in edit.deleted:
            self.expect(self._is_touched(table, key), f"{table} {key} was not edited, and it is gone")
        if not edit.inserted:
            self.expect(before == after or self.saves is None, f"{table}: Z_MAX went up without a new row")
        for key, (one, other) in edit.changed.items():
            self._check_changed(table, key, one, other)

    def _is_touched(self, table: str, key: int) -> bool:
        return self.touched is None or (table, key) in self.touched

    def _check_joins(self) -> None:
        """Rows of join tables change only when one of the two that they relate is edited or new."""
        for entity, each, _ in self.layout.many_to_many():
            join = self.layout.join(entity, each.name)
            tables = (self.layout.table(entity), self.layout.table(each.destination))
            edit = edit_of(*(
                {(row[join.owner], row[join.member]): row for row in state.tables[join.table].values()}
                for state in (self.before, self.after)))
            for pair in [*edit.inserted, *edit.deleted, *edit.changed]:
                ends = list(zip(tables, pair))
                is_meant = any(self._is_touched(*end) or end not in self.before.reading.objects for end in ends)
                self.expect(is_meant, f"{join.table} {pair} has changed, and neither was edited")

    def _is_version(self, version: Any, old: int) -> bool:
        return isinstance(version, int) and version > old and (self.saves is None or version <= old + self.saves)

    def _check_changed(self, table: str, key: int, one: dict[str, Any], other: dict[str, Any]) -> None:
        where = f"{table} {key}"
        names = {name for name in one if one[name] != other[name] or type(one[name]) is not type(other[name])}
        known = {"Z_PK", "Z_ENT", "Z_OPT", *(each.name for each in self.layout.columns[table])}
        by_triggers = {column for each, column in self.kept_by_triggers if each == table}
        self.expect("Z_ENT" not in names, f"{where} was of entity {one['Z_ENT']} and is of {other['Z_ENT']}")
        self.expect(
            self._is_touched(table, key) or names <= by_triggers,
            f"{where} was not edited, and {sorted(names)} have changed")
        for name in names - known - by_triggers:
            self.problems.append(f"{where} {name} is no column of the model, and it has changed")
        roles = {each.name: each.role for each in self.layout.columns[table]}
        edited = {name for name in names - by_triggers if roles.get(name) in ("value", "key", "entity")}
        if "Z_OPT" in names:
            self.expect(
                self._is_version(other["Z_OPT"], one["Z_OPT"]),
                f"{where} had the version {one['Z_OPT']} and has {other['Z_OPT']}")
            # After several saves a value may be what it was.
            self.expect(
                self.saves != 1 or bool(edited) or self._is_related_otherwise(table, key) or names != {"Z_OPT"},
                f"{where} has the version {other['Z_OPT']} without a change")
        else:
            self.expect(not edited, f"{where} changed in {sorted(edited)} with the version {one['Z_OPT']}")

    def _is_related_otherwise(self, table: str, key: int) -> bool:
        one, other = self.before.reading.objects.get((table, key)), self.after.reading.objects.get((table, key))
        return one is not None and other is not None and (one.many != other.many or one.one != other.one)

    def _check_meaning(self) -> None:
        """What the rows say: only what was there before may be against the format."""
        one, other = self.before.reading, self.after.reading
        for surprise in sorted({*other.surprises} - {*one.surprises}):
            self.problems.append(surprise)
        for owner, name, key in sorted({*other.dangling} - {*one.dangling}):
            self.problems.append(f"{owner} {name} holds {key}, which is not there")
        for each in sorted({*one_sided(other)} - {*one_sided(one)}):
            self.problems.append(each)
        for found in other.objects.values():
            self._check_places(found)

    def _check_places(self, found: Object) -> None:
        """A column with an order key holds none where nothing is held."""
        row = self.after.tables[self.layout.table(found.entity)][found.key]
        old = self.before.tables[self.layout.table(found.entity)].get(found.key)
        for name, held in found.one.items():
            if self.layout.has(found.entity, name, "order"):
                column = self.layout.column(found.entity, name, "order")
                is_new = old is None or old[column] != row[column]
                self.expect(
                    held is not None or row[column] is None or not is_new,
                    f"{found.reference} {name} holds nothing at the place {row[column]}")

    def _check_rtrees(self) -> None:
        """Rows of R-Trees. Of those without triggers, which their application writes, the name says the table."""
        for name in self.before.rtrees:
            before, after = self.before.tables[name], self.after.tables.get(name, {})
            trigger = self.before.triggers().get(f"{name}_INSERT")
            table = trigger[0] if trigger is not None else self.layout.table(name.split("_")[2])
            edit = edit_of(self.before.tables[table], self.after.tables[table])
            for key in edit.deleted:
                self.expect(key not in after, f"{name} has the deleted row {key}")
            for key, row in {**edit.inserted, **{key: pair[1] for key, pair in edit.changed.items()}}.items():
                self._check_bounds(name, key, row, after.get(key))
            for key in set(self.before.tables[table]) - set(edit.changed) - set(edit.deleted):
                self.expect(before.get(key) == after.get(key), f"{name} {key} has changed without its row")

    def _check_bounds(self, name: str, key: int, row: dict[str, Any], found: Optional[dict[str, Any]]) -> None:
        if found is None:
            self.problems.append(f"{name} has no row {key}")
            return
        for column, bound in found.items():
            if not column.endswith(("_MIN", "_MAX")):
                continue
            value = row[column[:-4]]
            # R-Trees hold numbers of 32 bits, rounded outwards, and 0 for nil.
            exact = float(value) if isinstance(value, (int, float)) else 0.0
            if abs(exact) > LARGEST:
                continue
            self.bounds += 1
            near = abs(bound - exact) <= abs(exact) * 2.0 ** -22
            outward = bound <= exact if column.endswith("_MIN") else bound >= exact
            self.expect(near and outward, f"{name} {key} has {bound} for {column} of {value}")

    def _check_derived(self) -> None:
        """Values that triggers derive: the number of members, or a value of what a relationship holds."""
        triggers = " ".join(self.before.triggers())
        for entity in self.model.entities:
            for each in self.model.entities[entity].properties.values():
                if isinstance(each, Attribute) and each.derivation and f"_{entity}_{each.name}_" in triggers:
                    for found in self.after.reading.of_entity(entity, True):
                        self._check_derived_value(found, each)

    def _check_derived_value(self, found: Object, each: Attribute) -> None:
        old = self.before.reading.get(found.entity, found.key)
        value = found.values[each.name]
        derivation = each.derivation or {}
        path = str(derivation.get("key") or (derivation.get("arguments") or [{}])[0].get("key"))
        if derivation.get("function") == "count" or path.endswith(".@count"):
            name = path.split(".")[0]
            number: Any = len(found.many[name])
            if old is not None:
                # The number in the file may have been wrong before. It goes up and down with the members.
                number += (old.values[each.name] or 0) - len(old.many[name])
                if old.many[name] == found.many[name]:
                    number = old.values[each.name]
        elif path.count(".") == 1:
            name, attribute = path.split(".")
            held = found.one.get(name)
            to = self.after.reading.get(*held) if held else None
            number = to.values.get(attribute) if to else None
            if old is not None and old.values[each.name] == value:
                return
        else:
            return
        self.derived += 1
        self.expect(value == number, f"{found.reference} {each.name} is {value}, and {number} is right")

    def _check_files(self) -> None:
        """External files: rows name those that are there, and none is left that no row names."""
        before, after = named_files(self.before.reading), named_files(self.after.reading)
        for owner in sorted(set(after[1]) - set(before[1])):
            self.problems.append(f"{owner} names a file that is not there")
        orphans = self.after.files - after[0]
        for name in sorted(orphans - (self.before.files - before[0])):
            self.problems.append(f"no row names the file {name}")


def named_files(reading: Reading) -> tuple[set[str], list[tuple[Reference, str]]]:
    """The names of files in rows, and the values that miss theirs."""
    names: set[str] = set()
    missing: list[tuple[Reference, str]] = []
    for found in reading.objects.values():
        for attribute, value in found.values.items():
            if isinstance(value, MissingFile):
                missing.append((found.reference, attribute))
            names |= {value.name} if isinstance(value, MissingFile) else set()
    return names | reading.files, missing


def check(
    before: str, after: str, model: Model, saves: Optional[int] = None, touched: Optional[set[tuple[str, int]]] = None
) -> list[str]:
    """The rules that an edit broke. `saves` is how many saves there were at most between the two files.

    `touched` has the tables and keys of the rows that were meant, with those that they were related to before or are
    related to now.
    """
    return Checker(State(before, model), State(after, model), saves, touched).run()
