"""Stores of applications go over to later versions of their models, some with the framework's own result beside."""

from __future__ import annotations

import os
import pathlib
import plistlib
import re
import shutil
import sqlite3
import tempfile
import unittest
from contextlib import closing
from typing import Any

import quire
from support import say_skipped

STORES = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data" / "stores"

Rows = dict[str, tuple[list[str], list[tuple[Any, ...]]]]


class Contents:
    """What a file has, read by SQLite alone."""

    def __init__(self, path: str) -> None:
        with closing(sqlite3.connect(path)) as file:
            schema = file.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
            self.statements = {name: sql for name, _, sql in schema}
            self.rows: Rows = {}
            for name, kind, sql in schema:
                if kind != "table" or sql.startswith("CREATE VIRTUAL"):
                    continue
                columns = sorted(row[1] for row in file.execute(f'PRAGMA table_info("{name}")'))
                rows = file.execute(f'SELECT {", ".join(columns)} FROM "{name}"').fetchall()
                self.rows[name] = (columns, sorted(rows, key=repr))
            self.uuid, listed = file.execute("SELECT Z_UUID, Z_PLIST FROM Z_METADATA").fetchone()
            self.metadata = plistlib.loads(listed)
            self.integrity = file.execute("PRAGMA integrity_check").fetchall()

    @property
    def objects(self) -> Rows:
        """Rows of entities and relationships, and numbers of entities with their last keys."""
        kept = {name: rows for name, rows in self.rows.items() if name not in ("Z_METADATA", "Z_MODELCACHE")}
        columns, rows = kept["Z_PRIMARYKEY"]
        # The framework leaves the names of renamed entities.
        kept["Z_PRIMARYKEY"] = (columns, [row[:2] + row[3:] for row in rows])
        return kept

    @property
    def plain_statements(self) -> dict[str, str]:
        """Without blanks, and without the order of columns."""
        found = {}
        for name, sql in self.statements.items():
            plain = re.sub(r"\s*([(),])\s*", r"\1", sql)
            if plain.startswith("CREATE TABLE"):
                head, _, columns = plain.partition("(")
                plain = f"{head}({','.join(sorted(columns.removesuffix(')').split(',')))}"
            found[name] = plain
        return found


class FoundMigrationTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def copy(self, name: str) -> str:
        path = STORES / f"{name}.sqlite"
        if not path.exists():
            say_skipped("migrations of stores of applications", STORES)
            self.skipTest("no stores of applications")
        for each in path.parent.glob(f"{path.name}*"):
            shutil.copyfile(each, os.path.join(self.folder, each.name))
        return os.path.join(self.folder, path.name)

    def migrate(self, path: str, model: pathlib.Path) -> None:
        with quire.load_model(model) as target:
            self.assertTrue(quire.migrate(path, target))
            self.assertEqual(quire.migrate(path, target), [])

    def test_the_framework_has_come_to_the_same(self) -> None:
        for before, after in (
            ("coredataplus-samplemodel/SampleModel_V1", "coredataplus-samplemodel/SampleModel_V2"),
            ("coredatamigration-example/CoreDataMigration_Example_1",
             "coredatamigration-example/CoreDataMigration_Example_2"),
        ):
            with self.subTest(after):
                path = self.copy(before)
                expected = Contents(self.copy(after))
                self.migrate(path, STORES / f"{after}.sqlite")
                found = Contents(path)
                self.assertEqual(found.objects, expected.objects)
                self.assertEqual(found.statements, expected.statements)
                self.assertEqual((found.uuid, found.metadata), (expected.uuid, expected.metadata))
                self.assertEqual(found.integrity, [("ok",)])

    def test_bookmarks_go_over_directly_and_version_by_version(self) -> None:
        models = STORES / "duckduckgo-bookmarks" / "BookmarksModel.xcdatamodeld"
        versions = [
            models / f"BookmarksModel{'' if number == 1 else f' {number}'}.xcdatamodel" for number in range(1, 7)]
        for number in range(1, 6):
            with self.subTest(version=number):
                direct = self.copy(f"duckduckgo-bookmarks/Bookmarks_V{number}")
                self.migrate(direct, versions[-1])
                first = Contents(direct)
                stepwise = self.copy(f"duckduckgo-bookmarks/Bookmarks_V{number}")
                for version in versions[number:]:
                    self.migrate(stepwise, version)
                second = Contents(stepwise)
                self.assertEqual(first.objects, second.objects)
                self.assertEqual(first.plain_statements, second.plain_statements)
                self.assertEqual((first.uuid, first.metadata), (second.uuid, second.metadata))
                fresh = os.path.join(self.folder, f"fresh{number}.sqlite")
                with quire.load_model(versions[-1]) as target:
                    quire.open(fresh, target, change_journal="none").close()
                new = Contents(fresh)
                # Two relationships of one entity share a table, which keeps the name of either.
                own = {name: sql for name, sql in first.plain_statements.items() if "FAVORITE" not in name}
                self.assertEqual(
                    own, {name: sql for name, sql in new.plain_statements.items() if "FAVORITE" not in name})
                for key in ("NSStoreModelVersionHashes", "NSStoreModelVersionHashesDigest"):
                    self.assertEqual(first.metadata[key], new.metadata[key])
                self.assertEqual(first.integrity, [("ok",)])
                with quire.open(direct) as store:
                    self.assertEqual(store.check(), 0)


if __name__ == "__main__":
    unittest.main()
