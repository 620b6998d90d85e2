"""Snapshots of live lists."""

import threading
import unittest

import quire
from support import Author, Quote, StoreTestCase


class SnapshotTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        goethe = self.context.add(Author(name="Goethe"))
        for number in range(6):
            self.quote(f"text {number}", author=goethe if number % 2 else None, price=number)
        self.context.save()
        self.live = self.context.query(Quote).order_by(Quote.price).live(section_by="author.name")

    def test_it_stays_what_it_was(self):
        before = self.live.snapshot()
        ids, names = list(self.live.ids), self.live.sections.names
        self.assertEqual(before, self.live.snapshot())
        self.live[0].price = 7
        self.quote("new")
        self.context.delete(self.live[3])
        self.context.save()
        self.assertEqual((list(before.ids), [each.name for each in before.sections]), (ids, names))
        self.assertEqual([(each.start, each.count) for each in before.sections], [(0, 3), (3, 3)])
        self.assertEqual([before.position_of(id) for id in ids], list(range(6)))
        self.assertIsNone(before.position_of(2**70))
        after = self.live.snapshot()
        self.assertNotEqual(before, after)
        self.assertNotEqual(before, 5)
        self.assertGreater(after.generation, before.generation)
        self.assertEqual((len(before), len(after)), (6, 6))

    def test_the_changes_of_any_two_replay(self):
        snapshots = [self.live.snapshot()]
        for price in (9, 2.5, -1):
            self.live[1].price = price
            self.quote("new", price=price)
            self.context.process()
            snapshots.append(self.live.snapshot())
        for one in snapshots:
            for other in snapshots:
                mirror = [list(one.ids[each.start : each.start + each.count]) for each in one.sections]
                for step in one.changes_to(other).steps():
                    kinds = quire.StepKind
                    if step.kind is kinds.INSERT_SECTION:
                        mirror.insert(step.section, [])
                    elif step.kind is kinds.DELETE_SECTION:
                        del mirror[step.section]
                    elif step.kind is kinds.INSERT_ROW:
                        mirror[step.section].insert(step.row, step.id)
                    elif step.kind is not kinds.UPDATE_ROW:
                        id = mirror[step.section].pop(step.row)
                        if step.kind is kinds.MOVE_ROW:
                            mirror[step.to_section].insert(step.to_row, id)
                self.assertEqual([id for section in mirror for id in section], list(other.ids))

    def test_a_row_that_shows_other_values_is_an_update(self):
        before = self.live.snapshot()
        self.live[2].contents = "other"
        self.context.save()
        (change,) = before.changes_to(self.live.snapshot())
        self.assertEqual((type(change), change.object), (quire.Update, self.live[2]))

    def test_any_thread_reads_it(self):
        snapshot, found = self.live.snapshot(), []
        thread = threading.Thread(target=lambda: found.append((len(snapshot), list(snapshot.ids))))
        thread.start()
        thread.join()
        self.assertEqual(found, [(6, list(self.live.ids))])

    def test_it_outlives_its_list(self):
        with self.live.snapshot() as snapshot:
            self.live.close()
            self.assertEqual(len(snapshot), 6)
        with self.assertRaises(ValueError):
            len(snapshot)


if __name__ == "__main__":
    unittest.main()
