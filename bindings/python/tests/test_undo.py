"""Undoing and redoing; what was changed and what was saved; reading anew."""

import unittest

import quire
from support import Author, Everything, Quote, StoreTestCase


class UndoTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.context.enable_undo()

    def test_undo_is_off_until_it_is_enabled(self):
        context = self.store.create_context()
        self.assertFalse(context.undo_enabled or context.can_undo or context.can_redo)
        with self.assertRaises(quire.InvalidState):
            context.undo()
        with self.assertRaises(quire.InvalidState), context.undo_group("x"):
            pass
        with self.assertRaises(ValueError):
            context.enable_undo(-1)
        with self.assertRaises(TypeError):
            context.enable_undo("many")
        context.enable_undo(levels=3)
        self.assertTrue(context.undo_enabled)
        context.disable_undo()
        self.assertFalse(context.undo_enabled)

    def test_objects_show_what_was_undone_and_redone(self):
        quote = self.quote("first", price=1)
        self.context.save()
        quote.price, quote.note = 2, "x"
        self.context.save()
        self.assertEqual((quote.price, quote.note), (2, "x"))
        self.context.undo()
        self.assertEqual((quote.price, quote.note), (1, None))
        self.context.redo()
        self.assertEqual((quote.price, quote.note), (2, "x"))
        self.context.undo()
        self.context.undo()
        self.assertTrue(quote.is_deleted)
        self.context.save()
        id = quote.id
        self.context.redo()
        self.context.save()
        self.assertEqual((quote.id, quote.price, quote.is_deleted), (id, 1, False))
        self.assertIs(self.context.get(Quote, id), quote)

    def test_an_object_from_a_page_shows_what_was_undone(self):
        self.quote("first", price=1)
        self.context.save()
        self.context.query(Quote).one().price = 2
        self.context.save()
        shown = self.context.query(Quote).one()
        self.assertEqual(shown.price, 2)
        self.context.undo()
        self.assertEqual(shown.price, 1)

    def test_a_deletion_comes_back_with_what_its_rule_deleted(self):
        author = self.context.add(Author(name="Ann"))
        quotes = [self.quote(text) for text in "abc"]
        author.quotes = quotes
        self.context.save()
        with self.context.undo_group("Delete author"):
            self.context.delete(author)
        self.assertEqual(self.context.undo_name, "Delete author")
        self.context.save()
        self.assertEqual(self.context.query(Quote).count(), 0)
        self.context.undo()
        self.context.save()
        self.assertEqual(list(author.quotes), quotes)
        self.assertEqual(self.context.redo_name, "Delete author")
        self.assertEqual(self.context.undo_name, "")

    def test_groups_nest_and_live_lists_follow(self):
        live = self.context.query(Quote).order_by("contents").live()
        told = []
        live.on_change(told.append)
        with self.context.undo_group("Add"):
            self.quote("b")
            with self.context.undo_group("Inner"):
                self.quote("a")
                self.context.process()
            with self.assertRaises(quire.InvalidState):
                self.context.undo()
        self.assertEqual([quote.contents for quote in live], ["a", "b"])
        del told[:]
        self.context.undo()
        self.assertEqual(list(live), [])
        self.assertEqual(len(told), 1)
        self.context.redo()
        self.assertEqual([quote.contents for quote in live], ["a", "b"])
        self.assertEqual(self.context.undo_name, "Add")

    def test_a_group_that_raises_keeps_its_changes_and_ends(self):
        quote = self.quote("first")
        with self.assertRaises(ZeroDivisionError), self.context.undo_group():
            quote.price = 7
            1 / 0
        self.assertEqual(quote.price, 7)
        self.context.undo()
        self.assertEqual(quote.price, 1)

    def test_what_is_done_without_undo_is_for_good(self):
        quote = self.quote("first")
        self.context.process()
        with self.context.without_undo():
            quote.price = 5
        quote.note = "x"
        self.context.undo()
        self.assertEqual((quote.price, quote.note), (5, None))
        self.context.remove_undo_actions()
        self.assertFalse(self.context.can_undo or self.context.can_redo)

    def test_levels_rollback_and_new_changes_end_what_can_be_undone(self):
        quote = self.quote("first")
        self.context.save()
        self.context.enable_undo(levels=1)
        for price in (2, 3):
            quote.price = price
            self.context.process()
        self.context.undo()
        self.assertFalse(self.context.can_undo)
        self.assertTrue(self.context.can_redo)
        quote.note = "x"
        self.assertFalse(self.context.can_redo)
        self.context.rollback()
        self.assertFalse(self.context.can_undo)


class ChangeTests(StoreTestCase):
    def test_changed_and_committed_values(self):
        quote = Quote(contents="new", price=3)
        self.assertEqual(quote.changed_values, {"contents": "new", "price": 3.0})
        with self.assertRaises(quire.InvalidState):
            quote.committed_values()
        self.context.add(quote)
        self.assertEqual(quote.changed_values, {"contents": "new", "price": 3.0})
        self.assertEqual(quote.committed_values("price", "author"), {"price": None, "author": None})
        first, second = self.context.add(Author(name="Ann")), self.context.add(Author(name="Bob"))
        quote.author = first
        self.context.save()
        self.assertEqual(quote.changed_values, {})
        quote.price, quote.author = 4, second
        self.assertEqual(quote.changed_values, {"price": 4.0, "author": second})
        self.assertEqual((first.changed_values, second.changed_values), ({"quotes": []}, {"quotes": [quote]}))
        self.assertEqual(quote.committed_values("price", "author"), {"price": 3.0, "author": first})
        self.assertEqual(first.committed_values(), {"name": "Ann", "quotes": [quote]})
        with self.assertRaises(quire.InvalidArgument):
            quote.committed_values("nothing")

    def test_a_transient_change_is_no_changed_value(self):
        thing = self.context.add(Everything(whole=1))
        self.context.save()
        thing.draft = "x"
        self.assertTrue(thing.is_updated)
        self.assertEqual(thing.changed_values, {})

    def test_refresh_merges_or_drops_changes(self):
        quote = self.quote("first", price=1)
        self.context.save()
        other = self.store.create_context()
        mine = other.get(Quote, quote.id)
        mine.price = 5
        quote.note = "theirs"
        self.context.save()
        with self.assertRaises(quire.Conflict):
            other.save()
        mine.refresh()
        self.assertEqual((mine.price, mine.note), (5, "theirs"))
        other.save()
        self.assertEqual(quote.price, 1)
        self.context.refresh_all()
        self.assertTrue(quote.is_fault)
        self.assertEqual((quote.price, quote.is_fault), (5, False))
        quote.price = 8
        quote.refresh(merge=False)
        self.assertEqual((quote.price, self.context.has_changes), (5, False))
        with self.assertRaises(quire.InvalidState):
            Quote(contents="x").refresh()
        other.delete(mine)
        other.save()
        self.assertEqual(quote.price, 5)
        with self.assertRaises(quire.NotFound):
            quote.refresh()

    def test_an_object_from_a_page_is_refreshed(self):
        quote = self.quote("first", price=1)
        self.context.save()
        other = self.store.create_context()
        shown = other.query(Quote).all()[0]
        self.assertEqual((shown.price, shown.is_fault), (1, False))
        quote.price = 2
        self.context.save()
        self.assertEqual(shown.price, 1)
        shown.refresh()
        self.assertEqual(shown.price, 2)

    def test_reset_forgets_objects_and_live_lists_give_new_ones(self):
        quote = self.quote("first", price=1)
        self.context.save()
        untouched = self.store.create_context()
        paged = untouched.query(Quote).all()[0]
        untouched.reset()
        with self.assertRaisesRegex(quire.InvalidState, "forgotten"):
            paged.price
        live = self.context.query(Quote).live()
        self.quote("unsaved")
        self.context.process()
        self.assertEqual(len(live), 2)
        quote.price = 9
        self.context.reset()
        self.assertFalse(self.context.has_changes)
        for use in (
            lambda: quote.price, lambda: setattr(quote, "price", 3), lambda: quote.author, lambda: quote.refresh(),
            lambda: self.context.delete(quote), lambda: quote.changed_values, lambda: quote.uri,
        ):
            with self.assertRaisesRegex(quire.InvalidState, "forgotten"):
                use()
        self.assertFalse(quote.is_inserted or quote.is_updated)
        again = live[0]
        self.assertIsNot(again, quote)
        self.assertEqual((len(live), again.id, again.price), (1, quote.id, 1.0))
        self.assertIs(self.context.get(Quote, quote.id), again)


if __name__ == "__main__":
    unittest.main()
