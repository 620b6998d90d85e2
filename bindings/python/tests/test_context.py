"""Adding, deleting, saving, rolling back."""

import unittest
from array import array

import quire
from support import Author, Everything, Quote, StoreTestCase, day


class PendingTests(StoreTestCase):
    def test_the_pending_sets_follow_what_happens(self):
        self.assertFalse(self.context.has_changes)
        quote = self.quote()
        self.assertEqual(self.context.inserted, [quote])
        self.context.save()
        self.assertEqual(self.context.inserted, [])
        self.assertFalse(self.context.has_changes)
        quote.price = 5
        self.assertTrue(quote.is_updated)
        self.assertEqual(self.context.updated, [quote])
        quote.price = 1
        self.assertFalse(quote.is_updated)
        self.assertFalse(self.context.has_changes)
        self.context.delete(quote)
        self.assertEqual(self.context.deleted, [quote])
        self.context.save()
        self.assertEqual(self.context.deleted, [])

    def test_a_change_is_seen_at_once(self):
        quote = self.quote(price=3)
        self.assertEqual(self.context.query(Quote).where("price > 4").count(), 0)
        quote.price = 5
        self.assertEqual(self.context.query(Quote).where("price > 4").all(), [quote])
        self.assertTrue(quire.Predicate("price == 5").matches(quote))
        self.context.delete(quote)
        self.assertEqual(self.context.query(Quote).count(), 0)

    def test_rollback_restores_what_was_saved(self):
        kept, gone = self.quote("kept", price=1), self.quote("gone")
        self.context.save()
        kept.price, kept.note = 2, "x"
        self.context.delete(gone)
        new = self.quote("new")
        self.context.rollback()
        self.assertFalse(self.context.has_changes)
        self.assertEqual((kept.price, kept.note), (1.0, None))
        self.assertEqual(self.context.query(Quote).order_by("contents").all(), [gone, kept])
        self.assertFalse(gone.is_deleted)
        self.assertTrue(new.is_deleted)
        with self.assertRaises(quire.InvalidState):
            new.price = 3
        with self.assertRaisesRegex(quire.InvalidState, "was in a context before"):
            self.context.add(new)

    def test_rollback_drops_changes_of_objects_that_nobody_holds(self):
        self.quote(price=1)
        self.context.save()
        self.context.query(Quote).one().price = 2
        self.context.rollback()
        self.assertEqual(self.context.query(Quote).one().price, 1)

    def test_adding_again_does_nothing(self):
        quote = self.quote()
        self.assertIs(self.context.add(quote), quote)
        self.assertEqual(self.context.query(Quote).count(), 1)

    def test_what_cannot_be_added_is_refused(self):
        with self.assertRaisesRegex(TypeError, "not str"):
            self.context.add("x")
        with self.assertRaisesRegex(quire.InvalidState, "was in a context before"):
            self.store.create_context().add(self.quote())

        class Stranger(quire.Model):
            name: quire.Attr[str]

        with self.assertRaisesRegex(quire.InvalidModel, "opened without the model class 'Stranger'"):
            self.context.add(Stranger(name="x"))
        with self.assertRaisesRegex(quire.InvalidModel, "Stranger"):
            self.context.query(Stranger)

    def test_a_refused_object_leaves_nothing_behind(self):
        with self.assertRaises(quire.InvalidArgument):
            self.context.add(Everything(real=float("nan")))
        self.assertEqual(self.context.query(Everything).count(), 0)
        self.assertFalse(self.context.has_changes)

    def test_a_deleted_object_cannot_be_changed_but_shows_what_it_had(self):
        quote = self.quote("x")
        self.context.save()
        self.context.delete(quote)
        self.context.delete(quote)
        self.assertEqual(quote.contents, "x")
        with self.assertRaises(quire.InvalidState):
            quote.contents = "y"
        with self.assertRaises(quire.NotFound):
            self.context.get(Quote, quote.id)
        self.assertIsNone(self.context.get(Quote, quote.id, None))
        self.context.save()
        self.assertTrue(quote.is_deleted)
        self.context.delete(quote)

    def test_what_cannot_be_deleted_is_refused(self):
        with self.assertRaises(TypeError):
            self.context.delete("x")
        with self.assertRaisesRegex(quire.InvalidState, "in no context"):
            self.context.delete(Quote(contents="x"))
        with self.assertRaisesRegex(quire.InvalidArgument, "another context"):
            self.store.create_context().delete(self.quote())

    def test_getting_by_strange_ids_is_answered(self):
        for id in (0, 5, -5, 2**63 - 1, -(2**63), 2**200):
            with self.assertRaises(quire.NotFound):
                self.context.get(Quote, id)
            self.assertEqual(self.context.get(Quote, id, "none"), "none")
        with self.assertRaises(TypeError):
            self.context.get(Quote, "1")
        with self.assertRaises(ValueError):
            self.context.get_by_uri("nonsense")
        for wrong in (None, 5, b"x-coredata://"):
            with self.assertRaisesRegex(TypeError, "a URI is a text"):
                self.context.get_by_uri(wrong)

    def test_ids_of_other_libraries_are_numbers_too(self):
        class Number:
            def __index__(self):
                return 1

        quote = self.quote()
        self.context.save()
        self.assertIs(self.context.get(Quote, Number()), quote)


class TransactionTests(StoreTestCase):
    def test_the_end_saves(self):
        with self.context.transaction() as context:
            self.assertIs(context, self.context)
            self.quote()
        self.assertFalse(self.context.has_changes)
        self.assertEqual(self.store.create_context().query(Quote).count(), 1)

    def test_an_exception_drops_everything(self):
        with self.assertRaises(KeyError):
            with self.context.transaction():
                self.quote()
                raise KeyError("x")
        self.assertFalse(self.context.has_changes)
        self.assertEqual(self.context.query(Quote).count(), 0)

    def test_a_failed_save_drops_everything(self):
        with self.assertRaises(quire.ValidationError):
            with self.context.transaction():
                self.context.insert_many(Quote, {"note": ["a quote without contents"]})
        self.assertFalse(self.context.has_changes)

    def test_what_fails_while_changes_are_dropped_is_logged_beside_the_exception(self):
        live = self.context.query(Quote).live()

        @live.on_change
        def fails(change):
            raise ValueError("handler")

        with self.assertLogs("quire", "ERROR"), self.assertRaisesRegex(KeyError, "mine"):
            with self.context.transaction():
                self.quote()
                with self.assertRaisesRegex(ValueError, "handler"):
                    self.context.process()
                raise KeyError("mine")
        self.assertEqual((self.context.has_changes, len(live)), (False, 0))

    def test_it_does_not_begin_with_unsaved_changes_or_inside_another(self):
        self.quote()
        with self.assertRaisesRegex(quire.InvalidState, "unsaved changes"):
            with self.context.transaction():
                pass
        self.context.save()
        with self.context.transaction():
            with self.assertRaisesRegex(quire.InvalidState, "do not nest"):
                with self.context.transaction():
                    pass


class InsertManyTests(StoreTestCase):
    def test_rows_come_with_defaults(self):
        ids = self.context.insert_many(Quote, {"contents": ["a", "b", "c"], Quote.note: [None, "x", None]})
        self.assertEqual(list(ids), [1, 2, 3])
        self.assertEqual(self.context.get(Quote, ids[1]).note, "x")
        self.context.save()
        self.assertEqual(
            self.context.query(Quote).values("contents", "note", "price"),
            [("a", None, 1.0), ("b", "x", 1.0), ("c", None, 1.0)])

    def test_columns_may_be_any_iterables(self):
        self.context.insert_many(Quote, {"contents": (str(n) for n in range(3)), "price": array("d", [1, 2, 3])})
        self.assertEqual(self.context.query(Quote).order_by("price").values("contents"), [("0",), ("1",), ("2",)])

    def test_text_of_all_kinds_arrives_whole(self):
        texts = ["", "a\0b", "Ä", "😀", "plain", "\0"] * 50
        self.context.insert_many(Quote, {"contents": texts})
        self.context.save()
        self.assertEqual([text for (text,) in self.context.query(Quote).values("contents")], texts)

    def test_nothing_is_added_when_a_value_does_not_fit(self):
        with self.assertRaisesRegex(TypeError, "Row 1, counted from 0: Quote.contents expects str, not int"):
            self.context.insert_many(Quote, {"contents": ["a", 5]})
        with self.assertRaises(quire.InvalidArgument):
            self.context.insert_many(Quote, {"contents": ["a", "b"], "price": [1.0, float("nan")]})
        self.assertEqual(self.context.query(Quote).count(), 0)

    def test_wrong_columns_are_refused(self):
        for columns, message in (
            ({}, "at least one column"),
            ({"contents": ["a"], "price": [1, 2]}, "different lengths: Quote.contents has 1 values, Quote.price has 2"),
            ({"autor": ["a"]}, "Quote has no property 'autor'"),
            ({"author": [None]}, "author is no attribute of Quote"),
            ({Author.name: ["x"]}, "Author.name is a key of Author, and Quote has no such key"),
            ({Everything.text: ["x"]}, "Everything.text is a key of Everything, and Quote has no such key"),
        ):
            with self.assertRaisesRegex(quire.InvalidArgument, message):
                self.context.insert_many(Quote, columns)

    def test_what_is_no_column_is_refused(self):
        for column in ("abc", b"abc", 5):
            with self.assertRaisesRegex(TypeError, "The column for Quote.contents is an iterable of its values"):
                self.context.insert_many(Quote, {"contents": column})

    def test_empty_columns_add_nothing(self):
        self.assertEqual(len(self.context.insert_many(Quote, {"contents": []})), 0)


class TwoContextTests(StoreTestCase):
    def test_what_one_saves_the_other_can_read_when_it_has_merged(self):
        other = self.store.create_context()
        quote = self.quote(created_at=day(1))
        self.assertEqual(other.query(Quote).count(), 0)
        self.context.save()
        self.assertEqual(other.query(Quote).count(), 0)
        other.merge()
        self.assertEqual(other.query(Quote).one().created_at, quote.created_at)


if __name__ == "__main__":
    unittest.main()
