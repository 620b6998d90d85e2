"""Triggers that other programs, and Core Data's framework, have left in a file."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire


class Place(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    latitude: quire.Attr[Optional[float]] = quire.attr(default=None)
    longitude: quire.Attr[Optional[float]] = quire.attr(default=None)


TREE = """
CREATE VIRTUAL TABLE Z_RT_Place_area USING RTREE (
    Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT);
CREATE TRIGGER Z_RT_Place_area_INSERT AFTER INSERT ON ZPLACE FOR EACH ROW BEGIN
    INSERT OR REPLACE INTO Z_RT_Place_area VALUES (
        NEW.Z_PK, NEW.ZLATITUDE, NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE); END;
CREATE TRIGGER Z_RT_Place_area_UPDATE AFTER UPDATE OF ZLATITUDE, ZLONGITUDE ON ZPLACE FOR EACH ROW
    WHEN NEW.ZLATITUDE IS NOT NULL BEGIN
    INSERT OR REPLACE INTO Z_RT_Place_area VALUES (
        NEW.Z_PK, NEW.ZLATITUDE, NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE);
    SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZPLACE', NEW.Z_ENT, NEW.Z_PK, 'ZLATITUDE', NEW.ZLATITUDE); END;
CREATE TRIGGER Z_RT_Place_area_DELETE AFTER DELETE ON ZPLACE FOR EACH ROW BEGIN
    DELETE FROM Z_RT_Place_area WHERE Z_PK = OLD.Z_PK; END;
"""
"""An R-Tree with the names, and triggers of the kind, that a fetch index of Core Data has."""


class TriggerTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "places.sqlite")
        quire.open(self.path, [Place]).close()

    def run_script(self, script: str) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.executescript(script)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            return file.execute(sql).fetchall()

    def save_one(self) -> int:
        with quire.open(self.path, [Place]) as store:
            place = store.context.add(Place(name="here", latitude=1.5, longitude=2.5))
            store.context.save()
            place.latitude = 3.5
            store.context.save()
            return place.id

    def test_the_tree_of_a_fetch_index_follows_saves(self) -> None:
        self.run_script(TREE)
        id = self.save_one()
        wanted = [(id, 3.5, 3.5, 2.5, 2.5)]
        self.assertEqual(self.rows("SELECT * FROM Z_RT_Place_area"), wanted)
        with quire.open(self.path, [Place]) as store:
            store.context.delete(store.context.get(Place, id))
            store.context.save()
        self.assertEqual(self.rows("SELECT * FROM Z_RT_Place_area"), [])
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_a_schema_that_calls_a_dangerous_function_is_not_trusted(self) -> None:
        self.run_script(TREE)
        for call in ("load_extension('x')", "rtreecheck('Z_RT_Place_area')"):
            with self.subTest(call):
                self.run_script(
                    "DROP TRIGGER IF EXISTS other;"
                    f"CREATE TRIGGER other AFTER UPDATE ON ZPLACE BEGIN SELECT {call}; END;")
                with self.assertRaisesRegex(quire.Error, "unsafe use"):
                    self.save_one()

    def test_neither_is_one_that_writes_to_another_virtual_table(self) -> None:
        self.run_script(TREE)
        self.run_script(
            "CREATE VIRTUAL TABLE other USING RTREE (id, low, high);"
            "CREATE TRIGGER others AFTER INSERT ON ZPLACE BEGIN INSERT INTO other VALUES (NEW.Z_PK, 1, 2); END;")
        with self.assertRaisesRegex(quire.Error, "unsafe use"):
            self.save_one()

    def test_neither_is_one_that_reads_what_is_no_table_of_the_file(self) -> None:
        self.run_script(TREE)
        self.run_script(
            "CREATE VIRTUAL TABLE other USING RTREE (id, low, high);"
            "CREATE VIRTUAL TABLE Z_RT_other USING fts5 (a, tokenize = \"unicode61 tokenchars ' USING RTREE ('\");")
        for source in ("pragma_function_list", "pragma_table_info('ZPLACE')", "OTHER", "Z_RT_other"):
            with self.subTest(source):
                self.run_script(
                    "DROP TRIGGER IF EXISTS others;"
                    f"CREATE TRIGGER others AFTER INSERT ON ZPLACE BEGIN SELECT count(*) FROM {source}; END;")
                with self.assertRaisesRegex(quire.Error, "unsafe use"):
                    self.save_one()

    def test_tables_and_views_of_the_file_are_read(self) -> None:
        self.run_script(TREE)
        self.run_script(
            "CREATE TABLE seen (name); CREATE VIEW names AS SELECT ZNAME AS name FROM ZPLACE;"
            "CREATE TRIGGER others AFTER INSERT ON ZPLACE BEGIN"
            " INSERT INTO SEEN SELECT name FROM Names WHERE (SELECT count(*) FROM Zplace) > 0; END;")
        id = self.save_one()
        self.assertEqual(self.rows("SELECT * FROM seen"), [("here",)])
        self.assertEqual(self.rows("SELECT Z_PK FROM Z_RT_Place_area"), [(id,)])


def indexed_place() -> type[Any]:
    """Places whose R-Tree a fetch index declares."""
    class Place(quire.Model):
        name: quire.Attr[str]
        latitude: quire.Attr[Optional[float]] = quire.attr(default=None)
        longitude: quire.Attr[Optional[float]] = quire.attr(default=None)
        __indexes__ = {"area": quire.Index("latitude", "longitude", rtree=True)}

    return Place


def described_place(components: str) -> type[Any]:
    """Places of whose R-Tree the user info of an attribute says what is in it."""
    class Place(quire.Model):
        name: quire.Attr[str]
        latitude: quire.Attr[Optional[float]] = quire.attr(default=None)
        longitude: quire.Attr[Optional[float]] = quire.attr(default=None)
        area: quire.Attr[Optional[str]] = quire.attr(
            default=None, transient=True, user_info={"_NSLocationAttributeDerivedComponents": components})

    return Place


class TreeWithoutTriggersTests(unittest.TestCase):
    """R-Trees that their application writes itself."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "places.sqlite")

    def make(self, places: type[Any], script: str = TREE.partition("CREATE TRIGGER")[0]) -> None:
        with quire.open(self.path, [places]) as store:
            store.context.add(places(name="first", latitude=0.5, longitude=0.25))
            store.context.save()
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.executescript(script)
            file.executescript("INSERT OR REPLACE INTO Z_RT_Place_area VALUES (1, 0.5, 0.5, 0.25, 0.25);")

    def tree(self) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            self.assertEqual(file.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            return file.execute("SELECT * FROM Z_RT_Place_area ORDER BY Z_PK").fetchall()

    def schema(self) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            return file.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()

    def edit(self, places: type[Any]) -> None:
        before = self.schema()
        with quire.open(self.path, [places]) as store:
            context = store.context
            first = context.query(places).one()
            second, third = (context.add(places(name=name, latitude=1.5, longitude=2.5)) for name in ("b", "c"))
            context.save()
            self.assertEqual(self.tree(), [
                (1, 0.5, 0.5, 0.25, 0.25), (second.id, 1.5, 1.5, 2.5, 2.5), (third.id, 1.5, 1.5, 2.5, 2.5)])
            first.latitude, second.longitude = 8.0, None
            context.delete(third)
            context.save()
            self.assertEqual(self.tree(), [(1, 8.0, 8.0, 0.25, 0.25), (second.id, 1.5, 1.5, 0.0, 0.0)])
            context.query(places).where("name == 'b'").update(longitude=4.0)
            context.query(places).where("name == 'first'").delete()
            context.insert_rows(places, {"name": ["d"], "latitude": [1.0], "longitude": [2.0]})
            self.assertEqual([row[1:] for row in self.tree()], [(1.5, 1.5, 4.0, 4.0), (1.0, 1.0, 2.0, 2.0)])
        self.assertEqual(self.schema(), before)

    def test_one_of_a_declared_index_follows(self) -> None:
        Place = indexed_place()
        drops = "".join(f"DROP TRIGGER Z_RT_Place_area_{event};" for event in ("INSERT", "UPDATE", "DELETE"))
        self.make(Place, drops)
        self.edit(Place)

    def test_one_of_a_declared_index_that_has_some_of_its_triggers(self) -> None:
        Place = indexed_place()
        self.make(Place, "DROP TRIGGER Z_RT_Place_area_UPDATE;")
        self.edit(Place)

    def test_a_trigger_that_only_deletes_follows_no_new_value(self) -> None:
        Place = indexed_place()
        self.make(
            Place, "DROP TRIGGER Z_RT_Place_area_UPDATE; CREATE TRIGGER app BEFORE UPDATE ON ZPLACE BEGIN "
            "DELETE FROM Z_RT_Place_area WHERE Z_PK = NEW.Z_PK; END;")
        self.edit(Place)

    def test_a_trigger_of_another_table_keeps_none_of_which_nothing_is_known(self) -> None:
        self.make(
            Place, TREE.partition("CREATE TRIGGER")[0] + "CREATE TABLE other (a); "
            "CREATE TRIGGER app AFTER INSERT ON other BEGIN "
            "INSERT OR REPLACE INTO Z_RT_Place_area VALUES (1, 0, 0, 0, 0); DELETE FROM Z_RT_Place_area; END;")
        with self.assertRaisesRegex(quire.Unsupported, "'Z_RT_Place_area'"):
            quire.open(self.path, [Place])

    def test_one_of_which_the_user_info_says_what_is_in_it(self) -> None:
        Place = described_place("latitude, longitude")
        self.make(Place)
        self.edit(Place)

    def test_one_of_which_nothing_is_known_is_not_written(self) -> None:
        self.make(Place)
        before = self.tree()
        for other in (Place, None):
            with self.subTest(other):
                opening = (lambda: quire.open(self.path)) if other is None else lambda: quire.open(self.path, [Place])
                with self.assertRaisesRegex(quire.Unsupported, "'Z_RT_Place_area'.*reading only.*declares the index"):
                    opening()
        self.assertEqual(self.tree(), before)
        with quire.open(self.path, [Place], read_only=True) as store:
            self.assertEqual(store.context.query(Place).one().name, "first")

    def test_one_that_holds_other_values_than_the_model_says_is_not_written(self) -> None:
        Place = described_place("longitude, latitude")
        self.make(Place)
        with self.assertRaisesRegex(quire.Unsupported, "'Z_RT_Place_area'"):
            quire.open(self.path, [Place])

    def test_one_beside_triggers_that_are_not_trusted_is_not_written(self) -> None:
        Place = indexed_place()
        self.make(Place, "DROP TRIGGER Z_RT_Place_area_UPDATE;"
                  "CREATE TRIGGER other AFTER UPDATE ON ZPLACE BEGIN SELECT load_extension('x'); END;")
        with self.assertRaisesRegex(quire.Unsupported, "'Z_RT_Place_area'.*does not trust.*reading only"):
            quire.open(self.path, [Place])


class DerivedTests(unittest.TestCase):
    def test_an_attribute_that_is_derived_anew_beside_a_tree(self) -> None:
        def place(derivation: str) -> type[quire.Model]:
            class Place(quire.Model):
                name: quire.Attr[str]
                latitude: quire.Attr[float]
                key: quire.Attr[Optional[str]] = quire.derived(derivation)
                __indexes__ = {"area": quire.Index("latitude", rtree=True)}

            return Place

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "places.sqlite")
            Upper: Any = place("uppercase:(name)")
            with quire.open(path, [Upper]) as store:
                store.context.add(Upper(name="aB", latitude=1.5))
                store.context.save()
            Lower: Any = place("lowercase:(name)")
            with quire.open(path, [Lower]) as store:
                found = store.context.query(Lower).one()
                self.assertEqual(found.key, "ab")
                found.name, found.latitude = "Cd", 2.5
                store.context.save()
                self.assertEqual(found.key, "cd")
            with contextlib.closing(sqlite3.connect(path)) as file:
                self.assertEqual(file.execute("SELECT ZLATITUDE_MIN FROM Z_RT_Place_area").fetchall(), [(2.5,)])


if __name__ == "__main__":
    unittest.main()
