"""What the changes of live lists name."""

import unittest

import quire
from support import Author, Quote, StoreTestCase


class ChangedKeyTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.goethe = self.context.add(Author(name="Goethe"))
        self.first = self.quote("a", author=self.goethe, price=1)
        self.second = self.quote("b", author=self.goethe, price=2)
        self.context.save()
        self.live = self.context.query(Quote).order_by(Quote.price).live()
        self.told = []
        self.live.on_change(lambda change: self.told.extend((type(each).__name__, each.keys) for each in change))

    def process(self):
        self.told.clear()
        self.context.process()
        return self.told

    def test_properties_that_changed_are_named(self):
        self.first.note = "x"
        self.second.price = 0
        self.second.contents = "c"
        self.assertEqual(self.process(), [("Move", ("contents", "price")), ("Update", ("note",))])
        self.context.delete(self.first)
        self.quote("new", price=9)
        self.assertEqual(self.process(), [("Delete", ()), ("Insert", ())])

    def test_displayed_key_paths_are_followed(self):
        self.goethe.name = "Schiller"
        self.assertEqual(self.process(), [])
        self.live.display("author.name", "author.quotes.@count")
        self.goethe.name = "Lessing"
        self.assertEqual(self.process(), [("Update", ("author.name",))] * 2)
        self.second.author = None
        told = self.process()
        self.assertEqual(told[0], ("Update", ("author.quotes.@count",)))
        self.assertEqual(told[1], ("Update", ("author", "author.name", "author.quotes.@count")))
        self.live.display()
        self.goethe.name = "Goethe"
        self.assertEqual(self.process(), [])
        for wrong in ("author.nothing", "contents.more"):
            with self.assertRaises(quire.InvalidArgument):
                self.live.display(wrong)

    def test_between_snapshots_nothing_is_named(self):
        before = self.live.snapshot()
        self.first.note = "x"
        self.context.process()
        self.assertEqual([each.keys for each in before.changes_to(self.live.snapshot())], [()])


if __name__ == "__main__":
    unittest.main()
