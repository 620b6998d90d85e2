"""Rules of classes, and what a failed validation tells."""

from __future__ import annotations

import os
import random
import re
import unittest
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Optional

import quire
from quire import Rule
from support import FileTestCase, day, seeds


class Shelf(quire.Model):
    items: quire.ToMany["Item"] = quire.relation(inverse="shelf", on_delete="deny", maximum=2)


class Item(quire.Model):
    name: quire.Attr[str] = quire.attr(default="unnamed", min_length=1)
    pages: quire.Attr[Optional[int]] = quire.attr(default=None, minimum=1, maximum=1000, name="count")
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None, minimum=Decimal("0.50"))
    made: quire.Attr[Optional[datetime]] = quire.attr(default=None, minimum=day(0), maximum=day(10))
    code: quire.Attr[Optional[str]] = quire.attr(
        default=None, min_length=2, max_length=4, pattern="[a-c]+", rules=[("SELF != 'abba'", "abba is taken.")])
    blob: quire.Attr[Optional[bytes]] = quire.attr(default=None, max_length=3)
    first: quire.Attr[Optional[int]] = quire.attr(default=None)
    last: quire.Attr[Optional[int]] = quire.attr(default=None)
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="items")
    __rules__ = [("first == nil OR last == nil OR first <= last", "The first comes before the last.")]


class Even(Item):
    """Has a rule in Python."""

    def validate(self) -> None:
        super().validate()
        if self.pages is not None and self.pages % 2:
            raise quire.ValidationError("The pages are odd.", key="pages")


class EvenSmall(Even):
    """Adds one to it."""

    def validate(self) -> None:
        super().validate()
        if self.pages is not None and self.pages > 4:
            raise quire.ValidationError("There are many pages.")


MODELS = [Shelf, Item, Even, EvenSmall]


class ValidationTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def failures(self, call: Any = None) -> set[tuple[str, Optional[Rule]]]:
        try:
            (call or self.context.save)()
        except quire.ValidationError as error:
            return {(each.key, each.rule) for each in error.failures}
        return set()


class Rules(ValidationTestCase):
    def test_a_save_reports_exactly_the_rules_that_plain_python_finds_broken(self) -> None:
        seed = seeds(1)[0]
        dice = random.Random(seed)
        for _ in range(200):
            pages = dice.choice([None, 0, 1, 1000, 1001])
            price = dice.choice([None, Decimal("0.49"), Decimal("0.50")])
            made = dice.choice([None, day(0) - timedelta(microseconds=1), day(0), day(10), day(10.1)])
            code = dice.choice([None, "", "a", "ab", "abca", "abba", "abcab", "x\u00e9", "ab\n"])
            blob = dice.choice([None, b"", b"abc", b"abcd"])
            first, last = dice.choice([None, 1, 2]), dice.choice([None, 1, 2])
            expected = {
                ("pages", Rule.TOO_SMALL): pages is not None and pages < 1,
                ("pages", Rule.TOO_LARGE): pages is not None and pages > 1000,
                ("price", Rule.TOO_SMALL): price is not None and price < Decimal("0.50"),
                ("made", Rule.TOO_SMALL): made is not None and made < day(0),
                ("made", Rule.TOO_LARGE): made is not None and made > day(10),
                ("code", Rule.TOO_SHORT): code is not None and len(code) < 2,
                ("code", Rule.TOO_LONG): code is not None and len(code) > 4,
                ("code", Rule.PATTERN): code is not None and not re.fullmatch("[a-c]+", code),
                ("code", Rule.CUSTOM): code == "abba",
                ("blob", Rule.TOO_LONG): blob is not None and len(blob) > 3,
                ("", Rule.CUSTOM): first is not None and last is not None and first > last,
            }
            item = self.context.add(
                Item(pages=pages, price=price, made=made, code=code, blob=blob, first=first, last=last))
            broken = {key for key, holds in expected.items() if holds}
            with self.subTest(seed=seed, pages=pages, price=price, made=made, code=code, blob=blob):
                self.assertEqual(self.failures(item.validate), broken)
                self.assertEqual(self.failures(), broken)
                self.assertEqual(self.context.has_changes, bool(broken))
            self.context.rollback()

    def test_every_failure_has_object_key_rule_value_and_message(self) -> None:
        first = self.context.add(Item(pages=0, made=day(11)))
        second = self.context.add(Item(first=2, last=1))
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.save()
        found = {(each.object, each.key, each.rule): each for each in caught.exception.failures}
        self.assertEqual(set(found), {
            (first, "pages", Rule.TOO_SMALL), (first, "made", Rule.TOO_LARGE), (second, "", Rule.CUSTOM)})
        self.assertEqual(found[first, "pages", Rule.TOO_SMALL].value, 0)
        self.assertEqual(found[first, "made", Rule.TOO_LARGE].value, day(11))
        custom = found[second, "", Rule.CUSTOM]
        self.assertEqual(custom.message, "The first comes before the last.")
        self.assertEqual(custom.predicate, "first == nil OR last == nil OR first <= last")

    def test_a_single_failure_is_the_error_itself(self) -> None:
        item = self.context.add(Item(pages=0))
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.save()
        self.assertEqual(caught.exception.failures, (caught.exception,))
        self.assertEqual(caught.exception.details, ())
        self.assertIs(caught.exception.object, item)

    def test_counts_and_denied_deletions_tell_how_many(self) -> None:
        shelf = self.context.add(Shelf())
        for _ in range(3):
            self.context.add(Item(shelf=shelf))
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.save()
        error = caught.exception
        self.assertEqual((error.object, error.key, error.rule, error.value), (shelf, "items", Rule.TOO_MANY, 3))
        self.context.delete(next(iter(shelf.items)))
        self.context.save()
        self.context.delete(shelf)
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.save()
        error = caught.exception
        self.assertEqual((error.object, error.key, error.rule, error.value), (shelf, "items", Rule.DENIED, 2))

    def test_a_value_is_checked_without_being_assigned(self) -> None:
        item = self.context.add(Item())
        item.validate_value("pages", 5)
        with self.assertRaises(quire.ValidationError) as caught:
            item.validate_value("pages", 0)
        self.assertEqual((caught.exception.key, caught.exception.value), ("pages", 0))
        with self.assertRaises(TypeError):
            item.validate_value("pages", "five")
        self.assertIsNone(item.pages)
        with self.assertRaises(quire.InvalidState):
            Item().validate_value("pages", 5)

    def test_batch_requests_obey_the_rules_of_attributes(self) -> None:
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.insert_rows(Item, {"pages": [1, 0]})
        self.assertEqual((caught.exception.key, caught.exception.rule), ("pages", Rule.TOO_SMALL))
        self.assertIsNone(caught.exception.object)
        self.context.insert_rows(Item, {"pages": [1, 1000]})
        with self.assertRaises(quire.ValidationError):
            self.context.query(Item).update(code="abba")
        with self.assertRaises(quire.ValidationError):
            self.context.query(Item).update(pages=Item.pages + 1)
        self.assertEqual(sorted(each.pages or 0 for each in self.context.query(Item)), [1, 1000])

    def test_rules_that_cannot_apply_are_errors_that_name_the_attribute(self) -> None:
        for given in ({"pattern": "1*"}, {"min_length": 1}, {"minimum": 3, "maximum": 2}, {"minimum": 10**6}):
            annotations = {"__annotations__": {"small": "quire.Attr[int]"}, "__module__": __name__}
            model: Any = type("Bad", (quire.Model,), {
                **annotations, "small": quire.attr(type=quire.Integer16, **given)})  # type: ignore[arg-type]
            with self.subTest(given), self.assertRaises((quire.InvalidModel, quire.InvalidArgument)) as caught:
                quire.open(":memory:", [model])
            self.assertIn("Bad.small", str(caught.exception))
        for rules in ["pages > 1", [("pages > 1",)], [("missing > 1", "A message.")], [("a ==", "A message.")]]:
            broken: Any = type("Bad", (quire.Model,), {"__module__": __name__, "__rules__": rules})
            with self.subTest(rules), self.assertRaises((quire.InvalidModel, quire.PredicateError)):
                quire.open(":memory:", [broken])
        with self.assertRaises(ValueError):
            quire.attr(min_length=-1)


class OwnValidation(ValidationTestCase):
    def test_what_validate_raises_is_among_the_failures_of_a_save(self) -> None:
        even = self.context.add(Even(pages=1001))
        with self.assertRaises(quire.ValidationError) as caught:
            self.context.save()
        self.assertEqual(
            {(each.object, each.key, each.rule, each.value) for each in caught.exception.failures},
            {(even, "pages", Rule.TOO_LARGE, 1001), (even, "pages", Rule.HOOK, 1001)})
        self.assertTrue(even.is_inserted)
        even.pages = 1000
        self.context.save()

    def test_validate_from_outside_checks_rules_and_the_methods_of_all_classes(self) -> None:
        small = self.context.add(EvenSmall(pages=5, code="xyz"))
        self.assertEqual(self.failures(small.validate), {("code", Rule.PATTERN), ("pages", Rule.HOOK)})
        small.pages = 6
        self.assertEqual(self.failures(small.validate), {("code", Rule.PATTERN), ("", Rule.HOOK)})
        small.pages, small.code = 4, "abc"
        small.validate()
        with self.assertRaises(quire.InvalidState):
            EvenSmall().validate()

    def test_another_exception_of_validate_ends_the_save_as_it_is(self) -> None:
        even = self.context.add(Even())
        even.__dict__["pages"] = "no number"
        with self.assertRaises(TypeError):
            self.context.save()
        self.assertTrue(even.is_inserted)
        even.pages = 2
        self.context.save()


class OldStores(FileTestCase):
    def test_what_is_wrong_in_the_file_hinders_no_save_of_something_else(self) -> None:
        unruled: Any = type("Item", (quire.Model,), {
            "__module__": __name__, "__annotations__": {"pages": "quire.Attr[int]", "note": "quire.Attr[str]"}})
        ruled: Any = type("Item", (quire.Model,), {
            "__module__": __name__, "__annotations__": {"pages": "quire.Attr[int]", "note": "quire.Attr[str]"},
            "pages": quire.attr(maximum=10)})
        with quire.open(self.path, [unruled]) as store:
            store.context.add(unruled(pages=11, note="a"))
            store.context.save()
        self.assertTrue(os.path.exists(self.path))
        with quire.open(self.path, [ruled]) as store:
            item = store.context.query(ruled).one()
            item.note = "b"
            store.context.save()
            with self.assertRaises(quire.ValidationError):
                item.validate()
            item.pages = 12
            with self.assertRaises(quire.ValidationError):
                store.context.save()


if __name__ == "__main__":
    unittest.main()
