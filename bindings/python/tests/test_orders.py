"""Orderings of what has no order: a fetch, an object and plain values give one answer, or one error."""

import datetime
import itertools
import unittest
import uuid
from typing import Any, Optional

import quire

NOON = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.timezone.utc)
KEY = uuid.UUID(int=7)


class Thing(quire.Model):
    number: quire.Attr[int]
    real: quire.Attr[float]
    text: quire.Attr[str]
    moment: quire.Attr[datetime.datetime]
    data: quire.Attr[bytes]
    key: quire.Attr[uuid.UUID]
    note: quire.Attr[Optional[str]] = quire.attr(default=None)
    other: quire.ToOne["Thing | None"] = quire.relation(inverse="others")
    others: quire.ToMany["Thing"] = quire.relation(inverse="other")


VALUES: dict[str, Any] = {"number": 2, "real": 2.5, "text": "x", "moment": NOON, "data": b"x", "key": KEY}


class OrderTests(unittest.TestCase):
    def setUp(self) -> None:
        store = quire.open(":memory:", [Thing])
        self.addCleanup(store.close)
        self.context = store.context
        inner = self.context.add(Thing(**VALUES))
        self.thing = self.context.add(Thing(**VALUES, other=inner))
        inner.other = self.thing
        self.context.save()
        inside = dict(VALUES)
        self.values = {**VALUES, "note": None, "other": inside, "others": [inside]}

    def answers(self, predicate: quire.Predicate) -> list[object]:
        def fetched() -> bool:
            return self.context.query(Thing).where(predicate).count() > 0

        def unsaved() -> bool:
            return predicate.matches(self.context.add(Thing(**VALUES, other=self.thing)))

        found: list[object] = []
        for ask in (fetched, lambda: predicate.matches(self.thing), unsaved, lambda: predicate.matches(self.values)):
            try:
                found.append(ask())
            except quire.PredicateError as error:
                found.append(str(error).replace("a dictionary", "an object"))
        self.context.rollback()
        return found

    def test_every_pair_of_values_has_one_answer(self) -> None:
        operands: list[tuple[str, list[object]]] = [(key, []) for key in [*VALUES, "SELF", "other", "other.text"]]
        operands += [("%@", [value]) for value in VALUES.values()] + [("{1}", []), ("nil", [])]
        refused = answered = 0
        for (left, first), (right, second) in itertools.product(operands, operands):
            for format, more in (
                (f"{left} < {right}", []), (f"NOT {left} >= {right}", []),
                (f"{left} BETWEEN {{{right}, {left}}}", first),
            ):
                with self.subTest(format, arguments=[*first, *second]):
                    found = self.answers(quire.Predicate(format, *first, *second, *more))
                    if "is no date" in str(found[0]):
                        # Without an entity nothing says that the text is to be a date.
                        self.assertIn("have no order", str(found.pop()))
                    self.assertEqual(found, [found[0]] * len(found))
                    refused += isinstance(found[0], str)
                    answered += isinstance(found[0], bool)
        self.assertGreater(refused, 300)
        self.assertGreater(answered, 100)

    def test_a_part_that_decides_nothing_is_refused_too(self) -> None:
        for format in ("text == 'x' OR text < 1", "FALSEPREDICATE AND NOT (number > 'a')", "text < 1 AND number == 5"):
            found = self.answers(quire.Predicate(format))
            self.assertEqual(found, [found[0]] * 4, format)
            self.assertIn("have no order", str(found[0]))

    def test_what_is_none_has_no_class_without_a_declaration(self) -> None:
        predicate = quire.Predicate("note < 1")
        for ask in (self.context.query(Thing).where(predicate).count, lambda: predicate.matches(self.thing)):
            with self.assertRaisesRegex(quire.PredicateError, "text and a number have no order"):
                ask()
        for values in (self.values, {}, [], None):
            self.assertFalse(predicate.matches(values))
        with self.assertRaisesRegex(quire.PredicateError, "text and a number have no order"):
            predicate.matches({"note": "a"})

    def test_elements_of_lists_are_compared_one_by_one(self) -> None:
        for format in ("ANY others.text < 1", "others < 1", "ANY {text} < 1", "others.number.@max < 'a'"):
            self.assertFalse(quire.Predicate(format).matches(self.values), format)

    def test_single_values_are_subjects_too(self) -> None:
        for subject in (5, "x", NOON, b"x", KEY, {"a": 1}):
            other = 5 if subject != 5 else "x"
            with self.assertRaisesRegex(quire.PredicateError, "have no order"):
                quire.Predicate("SELF < %@", other).matches(subject)
        self.assertFalse(quire.Predicate("SELF < 'x'").matches(None))
        self.assertTrue(quire.Predicate("SELF < 6").matches(5))


if __name__ == "__main__":
    unittest.main()
