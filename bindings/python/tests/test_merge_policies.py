"""Merge policies, conflicts and upserts."""

from __future__ import annotations

import gc
import unittest
import weakref
from typing import Optional

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


if __name__ == "__main__":
    unittest.main()
