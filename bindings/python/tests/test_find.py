"""Finding one object by a value, or adding it."""

import unittest

import quire
from support import MODELS, Author, Cat, Dog, Kitten, Quote, StoreTestCase


class FindTests(StoreTestCase):
    def test_finds_what_is_saved_and_what_is_not(self):
        for number in range(60):
            self.context.add(Author(name=f"author {number}"))
            self.assertEqual(self.context.find(Author, name=f"author {number // 2}").name, f"author {number // 2}")
        self.context.save()
        found = self.context.find(Author, name="author 7")
        self.assertIs(found, self.context.query(Author).where(Author.name == "author 7").one())
        found.name = "another"
        self.assertIsNone(self.context.find(Author, name="author 7"))
        self.assertIs(self.context.find(Author, name="another"), found)

    def test_finds_by_an_object_and_by_none(self):
        goethe = self.context.add(Author(name="Goethe"))
        quote = self.quote(author=goethe)
        self.assertIs(self.context.find(Quote, author=goethe), quote)
        self.assertIsNone(self.context.find(Quote, author=None))
        self.assertIs(self.context.find(Quote, note=None), quote)

    def test_finds_objects_of_classes_that_inherit(self):
        felix = self.context.add(Kitten(name="Felix"))
        self.assertIs(self.context.find(Cat, name="Felix"), felix)
        self.assertIsNone(self.context.find(Dog, name="Felix"))

    def test_adds_what_is_not_there(self):
        quote, is_added = self.context.find_or_add(Quote, contents="More light!", defaults={"price": 3.0})
        self.assertTrue(is_added)
        self.assertEqual((quote.contents, quote.price), ("More light!", 3.0))
        again, is_added = self.context.find_or_add(Quote, contents="More light!", defaults={"price": 5.0})
        self.assertIs(again, quote)
        self.assertFalse(is_added)
        self.assertEqual(quote.price, 3.0)

    def test_handlers_hear_nothing_of_what_is_pending(self):
        told = []
        live = self.context.query(Author).live()
        self.addCleanup(live.close)
        live.on_change(lambda changes: told.append(len(changes)))
        self.context.add(Author(name="Goethe"))
        # It is found, and reported by the next call that processes changes.
        self.assertIsNotNone(self.context.find(Author, name="Goethe"))
        self.assertEqual(told, [])
        self.context.process()
        self.assertEqual(told, [1])

    def test_wrong_calls_are_refused_and_add_nothing(self):
        with self.assertRaises(quire.InvalidArgument):
            self.context.find(Author)
        with self.assertRaises(quire.InvalidArgument):
            self.context.find(Quote, contents="a", note="b")
        with self.assertRaises(quire.InvalidArgument):
            self.context.find(Author, title="Faust")
        with self.assertRaises(quire.InvalidArgument):
            self.context.find(Author, quotes=[])
        with self.assertRaises(quire.InvalidArgument):
            self.context.find(Author, name=5)
        with self.assertRaises(TypeError):
            self.context.find(Author, name=object())
        with self.assertRaises(quire.InvalidArgument):
            self.context.find_or_add(Quote, contents="a", defaults={"contents": "b"})
        with self.assertRaises(TypeError):
            self.context.find_or_add(Quote, contents="a", defaults={"none": 1})
        self.assertFalse(self.context.has_changes)

    def test_children_find_what_their_parent_has(self):
        goethe = self.context.add(Author(name="Goethe"))
        child = self.context.create_child()
        self.assertEqual(child.find(Author, name="Goethe").id, goethe.id)

    def test_other_context_finds_after_the_save_when_it_has_merged(self):
        with quire.open(":memory:", MODELS) as store:
            other = store.create_context()
            store.context.add(Author(name="Goethe"))
            self.assertIsNone(other.find(Author, name="Goethe"))
            store.context.save()
            self.assertIsNone(other.find(Author, name="Goethe"))
            other.merge()
            self.assertIsNotNone(other.find(Author, name="Goethe"))


if __name__ == "__main__":
    unittest.main()
