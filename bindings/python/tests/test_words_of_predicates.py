"""Properties with names that mean something in predicates, and words that do not."""

from __future__ import annotations

import os
import tempfile
import unittest
from datetime import datetime
from typing import Any, Optional

import framework_files
import quire
from framework_files import declare, description

TYPES = description()
NAMES = [
    "self", "any", "all", "none", "nil", "null", "true", "NO", "not", "and", "in", "like", "is", "anykey", "first",
    "last", "size", "count", "cast", "function", "subquery", "fetch", "ternary", "min", "length", "id", "context",
    "where", "class", "entity", "truepredicate", "union", "between"]


class NameTests(unittest.TestCase):
    """Each attribute holds its own name in the first object; in the second all are `other`."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "words.sqlite")
        store = framework_files.write_store(path, declare().entity("Word", [
            *(declare().attribute(name, TYPES.STRING) for name in [*NAMES, "extra"]),
            declare().one("next", "Word", "before"), declare().many("before", "Word", "next")]))
        first = store.add("Word", {name: name for name in NAMES})
        second = store.add("Word", {name: "other" for name in NAMES})
        store.point("Word", second, "next", ("Word", first))
        store.close()
        self.store = quire.open(path)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.Word = self.store.classes["Word"]
        self.first, self.second = (self.context.get(self.Word, key) for key in (first, second))

    def keys(self) -> dict[str, Any]:
        found = [getattr(self.Word, name) for name in dir(self.Word)]
        return {key.path: key for key in found if isinstance(key, quire.Key) and key.path in NAMES}

    def check(self) -> None:
        keys = self.keys()
        self.assertEqual(sorted(keys), sorted(NAMES))
        for name, key in keys.items():
            query = self.context.query(self.Word)
            for predicate in (
                    key == name, quire.Predicate(f"#{name} == %@", name), quire.Predicate("%K == %@", name, name),
                    quire.Predicate(f"SELF.{name} == %@", name)):
                with self.subTest(name, predicate=str(predicate)):
                    self.assertEqual(query.where(predicate).all(), [self.first])
                    self.assertEqual(query.where(~predicate).all(), [self.second])
                    self.assertTrue(predicate.matches(self.first))
                    self.assertFalse(predicate.matches(self.second))
                    self.assertEqual(quire.Predicate(str(predicate)), predicate)
            for predicate in (
                    quire.Predicate(f"next.{name} == %@", name), quire.Predicate(f"next.#{name} == %@", name)):
                with self.subTest(name, predicate=str(predicate)):
                    self.assertEqual(query.where(predicate).all(), [self.second])
            with self.subTest(name):
                inner = quire.Predicate(f"ANY before.{name} == 'other'")
                self.assertEqual(query.where(inner).all(), [self.first])
                inner = quire.Predicate(f"SUBQUERY(before, $b, $b.{name} == 'other').@count == 1")
                self.assertEqual(query.where(inner).all(), [self.first])
                self.assertEqual([each[0] for each in query.order_by(key.desc()).values(key)], sorted(
                    [name, "other"], reverse=True))

    def test_keys_are_the_properties_of_the_names(self) -> None:
        self.check()

    def test_those_of_objects_with_unsaved_changes_too(self) -> None:
        self.first.extra = self.second.extra = "changed"
        self.assertEqual(len(self.context.updated), 2)
        self.check()

    def test_the_bare_word_is_the_object(self) -> None:
        self.assertEqual(self.context.query(self.Word).where("self == %@", self.first).all(), [self.first])
        self.assertEqual(self.context.query(self.Word).where("SELF IN %@", [self.second]).all(), [self.second])

    def test_a_list_follows_them(self) -> None:
        with self.context.query(self.Word).where(self.keys()["self"] == "now").live() as found:
            self.assertEqual(len(found), 0)
            self.second.self = "now"
            self.context.save()
            self.assertEqual(list(found), [self.second])


class Thing(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    made: quire.Attr[Optional[datetime]] = quire.attr(default=None)


class MessageTests(unittest.TestCase):
    def test_words_of_other_languages_for_nil(self) -> None:
        for format in ("name is null", "name IS NOT NULL", "name is None", "NOT name is nil", "(name is nil)"):
            with self.subTest(format), self.assertRaisesRegex(quire.PredicateError, "== nil.*!= nil"):
                quire.Predicate(format)
        for format in ("name == None", "name != none", "None == name", "name IN {1, None}"):
            with self.subTest(format), self.assertRaisesRegex(quire.PredicateError, "collection.*== nil"):
                quire.Predicate(format)

    def test_a_date_beside_a_number(self) -> None:
        with quire.open(":memory:", [Thing]) as store:
            query = store.context.query(Thing)
            for format in ("made > 1e13", "5 <= made", "made BETWEEN {1, 2}"):
                with self.subTest(format), self.assertRaisesRegex(quire.PredicateError, "CAST.*NSDate"):
                    query.where(format).count()
            self.assertEqual(query.where("made > CAST(10, 'NSDate')").count(), 0)


if __name__ == "__main__":
    unittest.main()
