"""What live lists do in the situations that lists.md, list-scenarios.md and pains.md in docs/behaviour name."""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import time
import unittest
from typing import Any

import quire
from list_scenarios import applied, is_in_documented_order, told
from support import Author, Everything, FileTestCase, Quote, Recording, StoreTestCase, day, seeds


read: list[str] = []


class Seen(quire.Model):
    """Notes which of its objects were read."""

    name: quire.Attr[str]

    def awake_from_fetch(self) -> None:
        read.append(self.name)


class ProcessingTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.quotes = [self.quote(f"text {price}", price=price) for price in range(4)]
        self.context.save()
        self.live = self.context.query(Quote).order_by(Quote.price).live()
        self.recording = Recording(self.live)

    def test_the_first_fetch_tells_nothing(self) -> None:
        self.quote("unsaved", price=9)
        live = self.context.query(Quote).live()
        self.addCleanup(live.close)
        recording = Recording(live)
        live.fetch()
        self.context.process()
        self.assertEqual((len(live), recording.take()), (5, []))

    def test_paths_stay_until_changes_are_processed(self) -> None:
        self.quotes[0].price = 9
        self.context.delete(self.quotes[1])
        self.assertEqual([self.live.path_of(quote) for quote in self.quotes], [(0, place) for place in range(4)])
        self.assertEqual((len(self.live), self.recording.take()), (4, []))
        self.context.process()
        self.assertEqual([self.live.path_of(quote) for quote in self.quotes], [(0, 2), None, (0, 0), (0, 1)])

    def test_all_that_happened_since_the_last_time_is_one_bracket_on_the_processing_thread(self) -> None:
        threads = []
        self.live.on_change(lambda change: threads.append(threading.get_ident()))
        self.quotes[0].contents = "other"
        self.quote("new", price=1.5)
        self.quotes[0].contents = "yet another"
        self.context.delete(self.quotes[3])
        self.context.save()
        self.assertEqual(self.recording.take(), [["Delete 0.3", "Insert 0.2", "Update 0.0/0.0"]])
        self.assertEqual(threads, [threading.get_ident()])

    def test_what_comes_and_goes_before_changes_are_processed_is_not_told(self) -> None:
        self.context.delete(self.quote("new"))
        self.quotes[0].price = 9
        self.quotes[0].price = 0
        self.context.process()
        self.assertEqual(self.recording.take(), [])

    def test_an_unsaved_object_is_told_of_each_time_it_changes(self) -> None:
        quote = self.quote("new", price=1.5)
        self.context.process()
        quote.contents = "other"
        self.context.process()
        quote.price = 9
        self.context.process()
        self.context.save()
        self.context.save()
        self.assertEqual(self.recording.take(), [["Insert 0.2"], ["Update 0.2/0.2"], ["Move 0.2/0.4"]])

    def test_an_update_leaves_the_rows_in_place(self) -> None:
        before = list(self.live.ids)
        self.quotes[2].note = "other"
        self.context.save()
        self.assertEqual((list(self.live.ids), self.recording.take()), (before, [["Update 0.2/0.2"]]))

    def test_an_update_has_object_and_both_paths(self) -> None:
        changes: list[Any] = []
        self.live.on_change(changes.extend)
        self.context.delete(self.quotes[0])
        self.quotes[2].note = "other"
        self.context.process()
        update = changes[-1]
        self.assertIs(update.object, self.quotes[2])
        self.assertEqual((update.old, update.new), ((0, 2), (0, 1)))
        self.assertIs(self.live[update.new], self.quotes[2])
        self.assertEqual(update.keys, ("note",))

    def test_a_list_is_emptied_by_a_query_that_nothing_fulfils(self) -> None:
        self.live.set_query(self.context.query(Quote).where("FALSEPREDICATE"))
        self.assertEqual(self.recording.take(), [["Delete 0.3", "Delete 0.2", "Delete 0.1", "Delete 0.0"]])
        self.assertEqual(len(self.live), 0)

    def test_one_list_is_spared_what_the_others_are_told(self) -> None:
        other = self.context.query(Quote).order_by(Quote.price).live()
        self.addCleanup(other.close)
        heard = Recording(other)
        with self.live.suspended(tell=False):
            self.quotes[0].price = 2.5
        self.assertEqual((self.recording.take(), heard.take()), ([], [["Move 0.0/0.2"]]))
        self.assertEqual(list(self.live.ids), list(other.ids))

    def test_keys_say_which_changes_concern_a_view(self) -> None:
        concerned: list[tuple[str, ...]] = []
        self.live.on_change(lambda change: concerned.extend(each.keys for each in change if "note" in each.keys))
        self.quotes[0].price = 9
        self.context.process()
        self.quotes[0].note = "x"
        self.context.process()
        for _ in range(2):
            self.quotes[0].note = "x"
            self.quotes[0].price = 9
            self.context.process()
        self.assertEqual((concerned, len(self.recording.take())), ([("note",)], 2))

    def test_rows_that_are_shown_and_deleted_can_still_be_displayed(self) -> None:
        shown = self.live.values(Quote.contents)
        snapshot = self.live.snapshot()
        gone = self.quotes[1]
        self.assertEqual(gone.contents, "text 1")
        self.context.delete(gone)
        self.context.save()
        self.assertEqual(shown[1], ("text 1",))
        self.assertEqual(snapshot.position_of(gone.id), 1)
        self.assertEqual(gone.contents, "text 1")
        self.assertNotIn(gone, self.live)


class SectionTests(StoreTestCase):
    def test_what_concerns_one_section_is_told_by_paths(self) -> None:
        quotes = {text: self.quote(text, note=text[0]) for text in ("apple", "banana", "box")}
        self.context.save()
        live = self.context.query(Quote).order_by(Quote.contents).live(section_by=Quote.note)
        mirrors: dict[str, list[str]] = {"a": ["apple"], "b": ["banana", "box"]}
        names = ["a", "b"]
        concerned: list[set[str]] = []

        @live.on_change
        def follow(change: quire.ChangeSet[Quote]) -> None:
            old, new = list(names), live.sections.names
            concerned.append(set())
            gone = [each for each in change if each.old is not None]
            for each in sorted(gone, key=lambda each: each.old, reverse=True):
                concerned[-1].add(old[each.old.section])
                del mirrors[old[each.old.section]][each.old.row]
            come = [each for each in change if each.new is not None]
            for each in sorted(come, key=lambda each: each.new):
                concerned[-1].add(new[each.new.section])
                mirrors[new[each.new.section]].insert(each.new.row, each.object.contents)
            names[:] = new

        self.context.delete(quotes["apple"])
        self.context.delete(quotes["banana"])
        self.context.save()
        self.assertEqual(mirrors, {"a": [], "b": ["box"]})
        quotes["box"].contents = "bog"
        self.quote("bag", note="b")
        self.context.save()
        self.quote("app", note="a")
        self.context.save()
        self.assertEqual(mirrors, {"a": ["app"], "b": ["bag", "bog"]})
        self.assertEqual(concerned, [{"a", "b"}, {"b"}, {"a"}])

    def test_sections_are_counted_without_reading_objects(self) -> None:
        with quire.open(":memory:", [Seen]) as store:
            other = store.create_context()
            for name in ("Goethe", "Grimm", "Kant"):
                other.add(Seen(name=name))
            other.save()
            read.clear()
            live = store.context.query(Seen).live(section_by=quire.sections.by_letter(Seen.name))
            self.assertEqual([(each.name, each.index_title, len(each)) for each in live.sections], [
                ("G", "G", 2), ("K", "K", 1)])
            self.assertEqual((len(live), len(live.ids)), (3, 3))
            self.assertEqual(read, [])
            self.assertEqual(live[2].name, "Kant")
            self.assertEqual(read, ["Kant"])

    def test_sections_gather_what_is_equal_whatever_orders_the_rows(self) -> None:
        for text, note in (("a", "x"), ("b", "y"), ("c", "x"), ("d", None), ("e", "")):
            self.quote(text, note=note)
        live = self.context.query(Quote).order_by("-contents").live(section_by=Quote.note)
        self.assertEqual(
            [(each.name, [quote.contents for quote in each]) for each in live.sections],
            [("", ["d", "e"]), ("x", ["c", "a"]), ("y", ["b"])])

    def test_sections_by_numbers_dates_and_truth_values_have_these_values(self) -> None:
        for number in (2, 10, None, -1):
            instant = None if number is None else day(number)
            self.context.add(Everything(whole=number, instant=instant, flag=number == 2))
        query = self.context.query(Everything)
        self.assertEqual([each.value for each in query.live(section_by="whole").sections], [None, -1, 2, 10])
        self.assertEqual([each.name for each in query.live(section_by="whole").sections], ["", "-1", "2", "10"])
        self.assertEqual(
            [each.value for each in query.live(section_by="instant").sections], [None, day(-1), day(2), day(10)])
        self.assertEqual([each.value for each in query.live(section_by="flag").sections], [False, True])

    def test_a_list_needs_no_order(self) -> None:
        for text in "cab":
            self.quote(text)
        self.context.save()
        live = self.context.query(Quote).live()
        self.addCleanup(live.close)
        self.assertEqual([quote.contents for quote in live], ["c", "a", "b"])
        recording = Recording(live)
        self.quote("d")
        self.context.process()
        self.assertEqual(recording.take(), [["Insert 0.3"]])

    def test_the_difference_of_moments_replays_when_sections_were_ordered_anew_in_between(self) -> None:
        names = "abcdef"
        for seed in seeds(20):
            dice = random.Random(seed)
            quotes = [self.quote("x", note=dice.choice(names), price=dice.randrange(9)) for _ in range(20)]
            live = self.context.query(Quote).order_by(Quote.price).live(section_by=Quote.note)
            numbers = {quote.id: place for place, quote in enumerate(quotes)}
            moments = []
            for _ in range(6):
                shown = [[each.value, [numbers[row.id] for row in each]] for each in live.sections]
                moments.append((live.snapshot(), shown))
                if dice.randrange(2):
                    fixed = dice.sample(names, dice.randrange(len(names)))
                    live.set_query(
                        self.context.query(Quote).where("price > %d", dice.randrange(4)).order_by(Quote.price),
                        section_by=quire.sections.by_value(Quote.note, fixed=fixed))
                else:
                    dice.choice(quotes).price = dice.randrange(9)
                    self.context.process()
            for old, before in moments:
                for new, after in moments:
                    with self.subTest(seed=seed):
                        events = told(old.changes_to(new), numbers.__getitem__)
                        self.assertEqual(applied(events, before), after)
            for quote in quotes:
                self.context.delete(quote)
            live.close()


class ReportTests(StoreTestCase):
    def test_a_change_of_a_long_list_costs_about_what_it_costs_in_a_short_one(self) -> None:
        def seconds(count: int) -> float:
            """What the fastest of many changes, each of which moves a row, takes of a processor."""
            with quire.open(":memory:", [Author, Quote]) as store:
                context = store.context
                context.insert_many(Quote, {"contents": ["x"] * count, "price": range(count)})
                context.save()
                live = context.query(Quote).order_by(Quote.price).live(section_by=Quote.contents)
                changes: list[int] = []
                live.on_change(lambda change: changes.append(len(change)))
                quote, fastest = live[0], math.inf
                for number in range(40):
                    quote.price = (number * 7919) % count + 0.5
                    start = time.thread_time()
                    context.process()
                    fastest = min(fastest, time.thread_time() - start)
                self.assertEqual((set(changes), len(changes)), ({1}, 40))
                return fastest

        # Comparing lists takes a hundred times as long.
        self.assertLess(seconds(50_000), 20 * seconds(500))

    def test_reports_have_the_documented_order_and_each_row_once(self) -> None:
        for seed in seeds(10):
            with self.subTest(seed=seed):
                dice = random.Random(seed)
                quotes = [self.quote("x", note=dice.choice("abcd"), price=dice.randrange(9)) for _ in range(30)]
                self.context.process()
                live = self.context.query(Quote).order_by(Quote.price).live(section_by=Quote.note)
                changes: list[quire.ChangeSet[Quote]] = []
                live.on_change(changes.append)
                for _ in range(20):
                    for quote in dice.sample(quotes, 5):
                        quote.price, quote.note = dice.randrange(9), dice.choice("abcdef")
                    for quote in dice.sample(quotes, 2):
                        quotes.remove(quote)
                        self.context.delete(quote)
                    quotes += [self.quote("x", note=dice.choice("abcdef"), price=dice.randrange(9)) for _ in range(2)]
                    self.context.process()
                self.assertEqual(len(changes), 20)
                for change in changes:
                    events = told(change, lambda id: id)
                    self.assertTrue(is_in_documented_order(events), events)
                    ids = [each.id for each in change]
                    self.assertEqual(len(set(ids)), len(ids))
                    # A place that is the same in both frames is that of another row, or of another section.
                    for each in change:
                        self.assertFalse(isinstance(each, quire.Move) and not change.section_changes and (
                            each.old == each.new and len(change) == 1))
                for quote in quotes:
                    self.context.delete(quote)
                live.close()


class FailureTests(FileTestCase):
    def test_a_list_that_cannot_be_read_says_so_and_stays(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            context.add(Quote(contents="a"))
            context.save()
            view = store.create_context()
            live = view.query(Quote).where("author.name != 'x'").order_by(Quote.contents).live()
            recording = Recording(live)
            context.add(Quote(contents="b"))
            context.save()
            with sqlite3.connect(self.path) as other:
                other.execute("ALTER TABLE ZQUOTE RENAME TO ZGONE")
            other.close()
            with self.assertRaisesRegex(quire.Error, "ZQUOTE"):
                view.merge()
            self.assertEqual((len(live), recording.take()), (1, []))
            with sqlite3.connect(self.path) as other:
                other.execute("ALTER TABLE ZGONE RENAME TO ZQUOTE")
            other.close()
            view.merge()
            self.assertEqual((len(live), recording.take()), (2, [["Insert 0.1"]]))


if __name__ == "__main__":
    unittest.main()
