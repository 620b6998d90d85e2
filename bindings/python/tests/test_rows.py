"""Live lists whose objects come, go and change while they are read."""

import gc
import unittest

import quire
from support import Animal, Dog, Quote, StoreTestCase


class IteratingTests(StoreTestCase):
    """Long lists, whose values are read some at a time."""

    def setUp(self):
        super().setUp()
        self.context.insert_many(Quote, {"contents": [f"{n:04}" for n in range(2500)]})
        self.context.save()
        self.context.insert_many(Quote, {"contents": [f"{n:04}" for n in range(2500, 2600)]})
        self.live = self.context.query(Quote).order_by("contents").live(section_by=Quote.note)

    def assert_stands_still(self, rows):
        seen = []
        for quote in rows:
            seen.append(quote.contents)
            if len(seen) == 10:
                self.context.save()
            elif len(seen) in (20, 1500):
                quote.contents = "moved"
                self.quote("", note="another section")
                self.context.process()
        self.assertEqual(seen, [f"{n:04}" for n in range(2600)])
        self.assertEqual((len(self.live), len(self.live.sections)), (2602, 2))

    def test_what_happens_to_a_list_meanwhile_changes_nothing(self):
        self.assert_stands_still(self.live)

    def test_what_happens_to_a_section_meanwhile_changes_nothing(self):
        self.assert_stands_still(self.live.sections[0])

    def test_the_beginning_is_when_the_iterator_is_made(self):
        for rows in (lambda: self.live, lambda: self.live.sections[0]):
            iterator = iter(rows())
            gone = self.live[-1]
            self.context.delete(gone)
            self.context.process()
            found = list(iterator)
            self.assertEqual((len(found) - len(self.live), found[-1]), (1, gone))

    def test_objects_that_are_deleted_meanwhile_come_all_the_same(self):
        seen = []
        for quote in self.live:
            seen.append(quote)
            if len(seen) == 10:
                for each in self.live[1200:1300]:
                    self.context.delete(each)
                self.context.save()
        self.assertEqual(len(seen), 2600)
        self.assertEqual([each.is_deleted for each in seen], [n in range(1200, 1300) for n in range(2600)])

    def test_a_row_that_is_gone_keeps_no_more_than_its_neighbours_from_being_read_together(self):
        self.context.save()
        rows = iter(self.context.query(Quote).order_by("contents"))
        seen = [next(rows)]
        with self.store.create_context() as other:
            other.query(Quote).where("contents == '2400'").delete()
        self.context.merge()
        seen += rows
        self.assertEqual(len(seen), 2600)
        # Those that were read before the merge have forgotten their rows.
        alone = [n for n, each in enumerate(seen) if n >= 2000 and each._quire_reference.page is None]
        self.assertTrue(2400 in alone and alone[-1] - alone[0] < 256, f"{len(alone)} from {alone[:1]} to {alone[-1:]}")
        self.assertEqual(
            [each.contents for n, each in enumerate(seen) if n != 2400], [f"{n:04}" for n in range(2600) if n != 2400])
        with self.assertRaises(quire.NotFound):
            seen[2400].contents

    def test_a_list_that_is_closed_meanwhile_says_so(self):
        iterator = iter(self.live)
        next(iterator)
        self.live.close()
        with self.assertRaises(quire.StoreClosed):
            list(iterator)


class DeletedRowTests(StoreTestCase):
    """Between a deletion and the processing of changes, a list still shows what was deleted."""

    def test_rows_of_deleted_objects_can_be_read_until_the_list_moves(self):
        for model, values in ((Quote, {"contents": "x"}), (Animal, {"name": "x"})):
            made = Dog if model is Animal else model
            for saved in (True, False):
                for _ in range(4):
                    self.context.add(made(**values))
                self.context.process()
                if saved:
                    self.context.save()
                live = self.context.query(model).live(section_by="contents" if model is Quote else "name")
                count = len(live)
                self.context.delete(live[-2])
                gc.collect()
                with self.subTest(model=model, saved=saved):
                    self.assertTrue(live[-2].is_deleted)
                    for rows in (live[:], list(live), list(live.sections[0])):
                        self.assertEqual(len(rows), count)
                        self.assertEqual([each.is_deleted for each in rows].count(True), 1)
                        self.assertEqual({type(each) for each in rows}, {made})
                    self.context.process()
                    self.assertEqual(len(live[:]), count - 1)


if __name__ == "__main__":
    unittest.main()
