"""Merge policies, conflicts and upserts."""

from __future__ import annotations

import gc
import itertools
import unittest
import weakref
from collections.abc import Callable
from datetime import date
from typing import Any, Optional

import quire

from support import Author, Quote, StoreTestCase, day


class Account(quire.Model):
    email: quire.Attr[str]
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    visits: quire.Attr[int] = quire.attr(default=0)
    __unique__ = ["email"]


class MergePolicyTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.first = self.quote("Alice", price=10.0)
        self.context.save()
        self.late = self.store.create_context()
        self.addCleanup(self.late.close)
        self.mine = self.late.get(Quote, self.first.id)
        self.assertEqual((self.mine.contents, self.mine.price), ("Alice", 10.0))

    def race(self, theirs: dict, mine: dict) -> None:
        """Both change the quote; the first has saved."""
        for key, value in mine.items():
            setattr(self.mine, key, value)
        for key, value in theirs.items():
            setattr(self.first, key, value)
        self.context.save()

    def stored(self) -> tuple:
        with self.store.create_context() as fresh:
            return fresh.query(Quote).values("contents", "price")[0]

    def test_each_policy_merges_as_its_name_says(self) -> None:
        late = {"contents": "FromCtx2"}
        for policy, theirs, mine, result in (
            (quire.MergePolicy.STORE_WINS, {"contents": "FromCtx1"}, {**late, "price": 99.0}, ("FromCtx1", 99.0)),
            (quire.MergePolicy.OBJECT_WINS, {"contents": "FromCtx1", "price": 50.0}, late, ("FromCtx2", 50.0)),
            (quire.MergePolicy.OVERWRITE, {"contents": "FromCtx1", "price": 77.0}, late, ("FromCtx2", 10.0)),
            (quire.MergePolicy.ROLLBACK, {"contents": "FromCtx1"}, late, ("FromCtx1", 10.0)),
        ):
            with self.subTest(policy):
                self.setUp()
                self.late.merge_policy = policy
                self.assertIs(self.late.merge_policy, policy)
                self.race(theirs, mine)
                self.late.save()
                self.assertEqual((self.mine.contents, self.mine.price), result)
                self.assertEqual(self.stored(), result)
                self.assertFalse(self.late.has_changes)

    def test_the_error_tells_all_versions(self) -> None:
        self.assertIs(self.late.merge_policy, quire.MergePolicy.ERROR)
        author = self.context.add(Author(name="Goethe"))
        self.race({"contents": "FromCtx1", "author": author, "created_at": day(1)}, {"contents": "FromCtx2"})
        with self.assertRaises(quire.Conflict) as caught:
            self.late.save()
        (conflict,) = caught.exception.conflicts
        self.assertEqual((conflict.kind, conflict.object, conflict.other), ("changed", self.mine, None))
        versions = (conflict.committed, conflict.stored, conflict.current)
        self.assertEqual([each["contents"] for each in versions], ["Alice", "FromCtx1", "FromCtx2"])
        self.assertEqual([each["author"] for each in versions], [None, author.id, None])
        self.assertEqual(conflict.stored["created_at"], day(1))
        self.late.rollback()
        self.assertEqual(self.mine.contents, "FromCtx1")

    def test_deleted_rows(self) -> None:
        self.mine.contents = "mine"
        self.context.delete(self.first)
        self.context.save()
        with self.assertRaises(quire.Conflict) as caught:
            self.late.save()
        (conflict,) = caught.exception.conflicts
        self.assertEqual((conflict.kind, conflict.stored, conflict.current["contents"]), ("deleted", None, "mine"))
        self.late.merge_policy = quire.MergePolicy.OBJECT_WINS
        self.late.save()
        self.assertEqual(self.stored(), ("mine", 10.0))
        self.assertFalse(self.mine.is_deleted)

    def test_a_function_decides_and_what_it_raises_comes_out(self) -> None:
        asked: list[quire.ObjectConflict] = []

        def decide(conflict: quire.ObjectConflict) -> quire.MergePolicy:
            asked.append(conflict)
            with self.assertRaises(quire.InvalidState):
                conflict.object.contents = "other"
            with self.assertRaises(quire.InvalidState):
                self.late.save()
            self.assertEqual(self.late.query(Quote).count(), 1)
            if len(asked) == 1:
                raise KeyError("not now")
            return quire.MergePolicy.OBJECT_WINS if len(asked) == 2 else "nonsense"

        self.late.merge_policy = decide
        self.assertIs(self.late.merge_policy, decide)
        self.race({"price": 3.0}, {"contents": "mine"})
        with self.assertRaisesRegex(KeyError, "not now"):
            self.late.save()
        self.late.save()
        self.assertEqual(self.stored(), ("mine", 3.0))
        self.assertIs(asked[1].object, self.mine)
        self.context.merge()
        self.race({"price": 4.0}, {"contents": "again"})
        with self.assertRaisesRegex(TypeError, "nonsense"):
            self.late.save()
        with self.assertRaises(TypeError):
            self.late.merge_policy = "error"

    def test_a_function_does_not_keep_its_context(self) -> None:
        context = self.store.create_context()
        context.merge_policy = lambda conflict, context=context: quire.MergePolicy.ERROR
        gone = weakref.ref(context)
        del context
        gc.collect()
        self.assertIsNone(gone())


class UpsertTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Account])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.first = self.context.add(Account(email="a", name="old", visits=5))
        self.context.save()

    def rows(self) -> list[tuple]:
        return list(self.context.query(Account).order_by("email").values("email", "name", "visits"))

    def test_a_duplicate_names_both(self) -> None:
        fresh = self.context.add(Account(email="a", name="new"))
        with self.assertRaises(quire.ConstraintError) as caught:
            self.context.save()
        (conflict,) = caught.exception.conflicts
        self.assertEqual((conflict.kind, conflict.object, conflict.other), ("unique", fresh, self.first))
        self.assertEqual((conflict.committed, conflict.stored["visits"]), (None, 5))

    def test_a_new_object_is_folded_into_the_row(self) -> None:
        fresh = self.context.add(Account(email="a", name="new"))
        self.context.merge_policy = quire.MergePolicy.OBJECT_WINS
        self.context.save()
        self.assertEqual(self.rows(), [("a", "new", 5)])
        self.assertEqual(self.first.name, "new")
        self.assertTrue(fresh.is_deleted)

    def test_rows_are_upserted(self) -> None:
        ids = self.context.insert_rows(Account, {"email": ["b", "a", "b"], "name": ["x", "y", "z"]}, upsert=True)
        self.assertEqual((ids[1], ids[0]), (self.first.id, ids[2]))
        self.assertEqual(self.rows(), [("a", "y", 5), ("b", "z", 0)])
        self.assertEqual(self.first.name, "y")
        with self.assertRaises(quire.ConstraintError):
            self.context.insert_rows(Account, {"email": ["a"]})


class Marked:
    """What two branches of a tree have each for itself."""

    mark: quire.Attr[Optional[str]] = quire.attr(default=None)


OWN = {"Thing": ("code", "shelf", "part_of"), "Fruit": ("mark", "kind", "ripe"), "Apple": ("sort",),
       "Tool": ("mark", "weight")}
"""What each class of a tree declares, less the relationship to many."""

VALUES: dict[str, dict[str, Any]] = {
    "Thing": {"shelf": 1},
    "Fruit": {"shelf": 2, "kind": "pome", "ripe": date(2024, 9, 1), "mark": "f"},
    "Apple": {"shelf": 3, "kind": "stone", "ripe": None, "mark": None, "sort": "Boskoop"},
    "Tool": {"shelf": 4, "weight": 2.5, "mark": "t"},
}
"""What objects of each class have beside their unique values."""

CONSTRAINTS: tuple[tuple[dict[str, list[Any]], dict[str, Any]], ...] = (
    ({"Thing": ["code"]}, {"code": "same"}),
    ({"Thing": [("code", "shelf")]}, {"code": "same", "shelf": 7}),
    ({"Fruit": ["kind"]}, {"kind": "same"}),
    ({"Fruit": [("code", "ripe")]}, {"code": "same", "ripe": date(2020, 2, 2)}),
    ({"Apple": ["sort"]}, {"sort": "same"}),
    ({"Apple": [("sort", "mark", "code")]}, {"sort": "same", "mark": "x", "code": "same"}),
    ({"Thing": ["code"], "Fruit": ["code"], "Apple": [("sort", "mark")]}, {"code": "same"}),
)
"""Unique values by class, and those that two objects then share."""

NEW: dict[type, Any] = {str: "new", int: 8, date: date(2021, 1, 1)}


def tree(unique: dict[str, list[Any]]) -> dict[str, Any]:
    """The classes of a tree by name."""

    class Thing(quire.Model):
        code: quire.Attr[str] = quire.attr(name="zCode")
        shelf: quire.Attr[int]
        part_of: quire.ToOne[Optional["Thing"]] = quire.relation(inverse="parts")
        parts: quire.ToMany["Thing"] = quire.relation(inverse="part_of")
        __unique__ = unique.get("Thing", [])

    class Fruit(Marked, Thing):
        kind: quire.Attr[Optional[str]] = quire.attr(default=None)
        ripe: quire.Attr[Optional[date]] = quire.attr(default=None)
        __unique__ = unique.get("Fruit", [])

    class Apple(Fruit):
        sort: quire.Attr[Optional[str]] = quire.attr(default=None)
        __unique__ = unique.get("Apple", [])

    class Tool(Marked, Thing):
        weight: quire.Attr[Optional[float]] = quire.attr(default=None)

    return {each.__name__: each for each in (Thing, Fruit, Apple, Tool)}


def chain(thing: Any) -> list[str]:
    return [each.__name__ for each in type(thing).__mro__ if each.__name__ in OWN]


def values_of(thing: Any) -> dict[str, Any]:
    """By plain attributes."""
    found = {name: getattr(thing, name) for each in chain(thing) for name in OWN[each]}
    found["part_of"] = None if thing.part_of is None else thing.part_of.id
    return found


Check = Callable[[quire.Context, Any, Any, dict[str, Any]], None]


class UniqueInTreesTests(unittest.TestCase):
    """Objects of all pairs of classes of a tree that have the same unique values."""

    def of_each_pair(self, check: Check) -> None:
        """Calls it with a saved object, and a new one that is not in the context and has other values."""
        for unique, same in CONSTRAINTS:
            for names in itertools.product(VALUES, repeat=2):
                models = tree(unique)
                if all(issubclass(models[name], models[next(iter(unique))]) for name in names):
                    with self.subTest(unique=unique, names=names), quire.open(":memory:", models.values()) as store:
                        first, second = (models[name](code=name, **VALUES[name]) for name in names)
                        second.code += " too"
                        for name in same.keys() & VALUES[names[1]].keys() - {"shelf"}:
                            setattr(second, name, None)
                        store.context.add(first)
                        first.part_of = store.context.add(models["Tool"](code="whole", **VALUES["Tool"]))
                        self.put(first, same)
                        store.context.save()
                        check(store.context, first, second, same)

    def put(self, thing: Any, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(thing, name, value)

    def conflict_of(self, context: quire.Context) -> quire.ObjectConflict:
        with self.assertRaises(quire.ConstraintError) as caught:
            context.save()
        (conflict,) = caught.exception.conflicts
        self.assertEqual(conflict.kind, "unique")
        return conflict

    def test_a_new_object_has_the_unique_values_of_a_saved_one(self) -> None:
        def check(context: quire.Context, first: Any, second: Any, same: dict[str, Any]) -> None:
            self.put(context.add(second), same)
            conflict = self.conflict_of(context)
            self.assertEqual((conflict.object, conflict.other), (second, first))
            self.assertEqual((conflict.committed, conflict.current), (None, values_of(second)))
            self.assertEqual(conflict.stored, values_of(first))

        self.of_each_pair(check)

    def test_a_changed_object_has_the_unique_values_of_another_one(self) -> None:
        def check(context: quire.Context, first: Any, second: Any, same: dict[str, Any]) -> None:
            context.add(second)
            context.save()
            before, saved = values_of(second), values_of(first)
            self.put(second, same)
            # Of the other object, what is saved counts.
            first.shelf += 0 if "shelf" in same else 100
            conflict = self.conflict_of(context)
            self.assertEqual((conflict.object, conflict.other), (second, first))
            self.assertEqual((conflict.committed, conflict.current), (before, values_of(second)))
            self.assertEqual(conflict.stored, saved)

        self.of_each_pair(check)

    def test_two_new_objects_have_the_same_unique_values(self) -> None:
        def check(context: quire.Context, first: Any, second: Any, same: dict[str, Any]) -> None:
            third = type(first)(code="third", **VALUES[type(first).__name__])
            new = {name: NEW[type(value)] for name, value in same.items()}
            self.put(context.add(third), new)
            self.put(context.add(second), new)
            conflict = self.conflict_of(context)
            self.assertEqual({conflict.object.id, conflict.other.id}, {third.id, second.id})
            self.assertEqual((conflict.committed, conflict.stored), (None, None))
            self.assertEqual(conflict.current, values_of(conflict.object))

        self.of_each_pair(check)

    def test_a_function_is_asked_with_the_same_values(self) -> None:
        def check(context: quire.Context, first: Any, second: Any, same: dict[str, Any]) -> None:
            asked: list[quire.ObjectConflict] = []
            context.merge_policy = lambda conflict: asked.append(conflict) or quire.MergePolicy.ERROR
            self.put(context.add(second), same)
            self.assertEqual(self.conflict_of(context), asked[0])
            self.assertEqual(asked[0].stored, values_of(first))

        self.of_each_pair(check)

    def test_a_policy_folds_an_object_into_one_of_its_class_alone(self) -> None:
        def check(context: quire.Context, first: Any, second: Any, same: dict[str, Any]) -> None:
            before = values_of(first)
            context.merge_policy = quire.MergePolicy.ROLLBACK
            self.put(context.add(second), same)
            if isinstance(first, type(second)):
                context.save()
                self.assertTrue(second.is_deleted)
            else:
                self.conflict_of(context)
            self.assertEqual(values_of(first), before)

        self.of_each_pair(check)


if __name__ == "__main__":
    unittest.main()
