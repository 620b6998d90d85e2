"""The sections of live lists as a sequence, which are made when they are asked for."""

import random
import unittest
from datetime import datetime, timezone
from unittest import mock

import quire
from quire import sections as rules
from support import Author, Everything, Quote, StoreTestCase, day, seeds

SECTIONS = 400


class SectionsTestCase(StoreTestCase):
    def setUp(self):
        super().setUp()
        names = [f"author {number % SECTIONS:03}" for number in range(2 * SECTIONS)]
        texts = [f"text {number}" for number in range(2 * SECTIONS)]
        self.context.insert_many(Quote, {"contents": texts, "note": names})
        self.context.save()
        self.query = self.context.query(Quote).order_by(Quote.note, Quote.contents)
        self.live = self.query.live(section_by=Quote.note)

    def change(self):
        self.live[0].contents += "!"
        self.context.process()

    def counted(self, results=None):
        """How often the library is asked for a section and for all of them, and how many are made."""
        results = type(results or self.live)
        counts = mock.Mock(one=0, all=0, made=0)

        def counting(name, call):
            def count(*arguments):
                setattr(counts, name, getattr(counts, name) + 1)
                return call(*arguments)

            return count

        made = mock.patch.object(quire.Section, "__init__", counting("made", quire.Section.__init__))
        one = mock.patch.object(results, "_section_at", staticmethod(counting("one", results._section_at)))
        every = mock.patch.object(results, "_sections_page", staticmethod(counting("all", results._sections_page)))
        for each in made, one, every:
            each.start()
            self.addCleanup(each.stop)
        return counts


class LazySectionsTests(SectionsTestCase):
    def test_after_a_change_only_the_sections_that_are_asked_for_are_read(self):
        counts = self.counted()
        for _ in range(3):
            self.change()
            sections = self.live.sections
            self.assertEqual((len(sections), bool(sections)), (SECTIONS, True))
            self.assertEqual(repr(sections), f"<Sections {SECTIONS} of {self.live!r}>")
            self.assertEqual((counts.one, counts.all, counts.made), (0, 0, 0))
            self.assertEqual((sections[0].name, sections[0].value), ("author 000", "author 000"))
            self.assertEqual((sections[-1].name, sections[-1].start), (f"author {SECTIONS - 1}", 2 * SECTIONS - 2))
            self.assertEqual([each.name for each in sections[2:6:2]], ["author 002", "author 004"])
            self.assertEqual((counts.one, counts.all, counts.made), (4, 0, 4))
            counts.one = counts.made = 0

    def test_a_composite_reads_only_the_sections_that_are_asked_for(self):
        other = self.context.query(Quote).live(section_by=Quote.contents)
        both = quire.Composite(self.live, other)
        counts = self.counted(both)
        self.change()
        self.assertEqual(len(both.sections), 3 * SECTIONS)
        self.assertEqual((both.sections[1].name, both.sections[-1].name), ("author 001", "text 99"))
        self.assertEqual((counts.one, counts.all, counts.made), (2, 0, 2))

    def test_iterating_and_names_take_one_call_for_all(self):
        counts = self.counted()
        sections = self.live.sections
        first = sections[0]
        self.assertEqual(len(sections.names), SECTIONS)
        self.assertEqual(sections["author 007"].name, "author 007")
        self.assertIn("author 399", sections)
        self.assertNotIn("nobody", sections)
        self.assertEqual((counts.one, counts.all, counts.made), (2, 1, 2))
        found = list(sections)
        self.assertEqual((counts.one, counts.all, counts.made), (2, 2, SECTIONS))
        self.assertIs(found[0], first)
        self.assertTrue(all(map(lambda one, other: one is other, sections, found)))
        self.assertEqual((counts.one, counts.all, counts.made), (2, 2, SECTIONS))

    def test_an_object_is_read_with_its_section_alone(self):
        live = self.query.prefetch(Quote.author).live(section_by=Quote.note)
        counts = self.counted()
        self.assertEqual([quote.note for quote in live[10:14]], ["author 005"] * 2 + ["author 006"] * 2)
        self.assertEqual(counts.all, 0)

    def test_what_was_asked_for_stays_and_what_was_not_says_that_the_list_has_changed(self):
        sections = self.live.sections
        first, going = sections[0], iter(sections)
        next(going)
        self.change()
        self.assertEqual((first.name, len(first), sections[0]), ("author 000", 2, first))
        self.assertEqual(len(list(going)), SECTIONS - 1)
        sections = self.live.sections
        kept, names = sections[5], self.live.sections.names
        self.change()
        self.assertIs(sections[5], kept)
        self.assertEqual((len(sections), sections.names), (SECTIONS, names))
        for ask in (lambda: sections[6], lambda: sections[-1], lambda: list(sections), lambda: sections[0:2]):
            with self.assertRaisesRegex(quire.InvalidState, "has changed since"):
                ask()
        self.assertNotEqual(sections, self.live.sections)
        self.assertEqual(self.live.sections, self.live.sections)


class SequenceTests(SectionsTestCase):
    def test_they_are_a_sequence_like_a_list_of_them(self):
        for seed in seeds(3):
            dice = random.Random(seed)
            self.change()
            sections, wanted = self.live.sections, list(self.query.live(section_by=Quote.note).sections)

            def described(each):
                if isinstance(each, list):
                    return [described(one) for one in each]
                return each.name, each.value, each.index_title, each.start, len(each)

            def bound():
                return dice.choice([None, dice.randrange(-2 * SECTIONS, 2 * SECTIONS)])

            for _ in range(40):
                place = dice.randrange(-SECTIONS, SECTIONS)
                self.assertEqual(described(sections[place]), described(wanted[place]), f"seed {seed}: {place}")
                cut = slice(bound(), bound(), dice.choice([None, 1, -1, 3, -7, SECTIONS]))
                self.assertEqual(described(sections[cut]), described(wanted[cut]), f"seed {seed}: {cut}")
            self.assertEqual(described(list(sections)), described(wanted))
            self.assertEqual(described(list(reversed(sections))), described(wanted[::-1]))
            some = sections[dice.randrange(SECTIONS)]
            self.assertEqual(sections.index(some), some.start // 2)
            self.assertEqual(sections.count(some), 1)
            self.assertIn(some, sections)
            self.assertNotIn(wanted[0], sections)
            self.assertEqual(sections, list(sections))
            self.assertNotEqual(sections, list(sections)[1:])
            self.assertNotEqual(sections, wanted)

    def test_places_that_there_are_not_are_refused(self):
        for wrong in SECTIONS, -SECTIONS - 1, 2**70, -(2**70):
            with self.assertRaisesRegex(IndexError, f"has {SECTIONS} sections"):
                self.live.sections[wrong]
        for wrong in 1.0, None, (1, 2):
            with self.assertRaises(TypeError):
                self.live.sections[wrong]
        with self.assertRaisesRegex(quire.NotFound, "nobody"):
            self.live.sections["nobody"]

    def test_a_list_equals_the_list_of_its_objects(self):
        both = quire.Composite(self.query.live())
        for shown in self.live, both:
            self.assertEqual(shown, list(shown))
            self.assertEqual(list(shown), shown)
            self.assertNotEqual(shown, list(shown)[1:])
            self.assertNotEqual(shown, list(shown)[::-1])
            self.assertNotEqual(shown, self.query.live())
            self.assertEqual(len({shown, shown}), 1)
        column = self.live.columns("price")["price"]
        self.assertEqual(column, [quote.price for quote in self.live])
        self.assertNotEqual(column, [])

    def test_a_section_equals_the_list_of_its_objects(self):
        section = self.live.sections[3]
        self.assertEqual(section, list(section))
        self.assertNotEqual(section, list(section)[::-1])
        self.assertNotEqual(section, self.live.sections[4])
        self.assertEqual(len({section, self.live.sections[3], self.live.sections[4]}), 2)


class ValueTests(StoreTestCase):
    def assert_the_same_alone_and_among_all(self, live, wanted):
        self.assertEqual([live.sections[place].value for place in range(len(live.sections))], wanted)
        live.fetch()
        self.assertEqual([each.value for each in live.sections], wanted)

    def test_values_of_every_type_are_the_same_alone_and_among_all(self):
        from decimal import Decimal
        from uuid import UUID

        values = {
            "whole": (1, 2), "flag": (False, True), "real": (0.5, 1.5), "single": (0.5, 1.5), "text": ("a", "b\0c"),
            "instant": (day(1), day(2)), "exact": (Decimal("0.5"), Decimal(7)), "data": (b"\0b", b"c"),
            "uid": (UUID(int=1), UUID(int=2)), "link": ("http://a", "http://b"),
        }
        for each in range(2):
            self.context.add(Everything(**{name: pair[each] for name, pair in values.items()}))
        self.context.save()
        for name, pair in values.items():
            with self.subTest(name):
                self.assert_the_same_alone_and_among_all(self.context.query(Everything).live(name), list(pair))
        self.context.add(Everything())
        for name, pair in values.items():
            with self.subTest(name, nothing=True):
                self.assert_the_same_alone_and_among_all(self.context.query(Everything).live(name), [None, *pair])

    def test_objects_have_their_ids_for_values(self):
        author = self.context.add(Author(name="Goethe"))
        self.quote(author=author)
        self.assert_the_same_alone_and_among_all(self.context.query(Quote).live(Quote.author), [author.id])

    def test_an_expression_of_several_types_gives_each_section_its_own_value(self):
        for price in (1, 2, 50):
            self.quote(price=price)
        live = self.context.query(Quote).live(rules.by_expression("TERNARY(price > 10, 'dear', price)"))
        self.assert_the_same_alone_and_among_all(live, [1.0, 2.0, "dear"])
        query = self.context.query(Quote)
        both = quire.Composite(query.live(Quote.price), query.live(Quote.contents))
        self.assert_the_same_alone_and_among_all(both, [1.0, 2.0, 50.0, "More light!"])

    def test_a_date_that_python_does_not_know_is_told_in_seconds(self):
        live = self.context.query(Quote).live(rules.by_year(Quote.created_at, time_zone="Europe/Berlin"))
        # There the year 1 begins before that of UTC, and so before Python's first datetime.
        self.quote("distant past", created_at=datetime(1, 1, 1, tzinfo=timezone.utc))
        self.quote("today", created_at=datetime(2026, 11, 21, tzinfo=timezone.utc))
        self.context.process()
        for found in list(live.sections), [live.sections[0], live.sections[1]]:
            self.assertEqual([each.name for each in found], ["0001", "2026"])
            self.assertEqual(found[1].value, datetime(2025, 12, 31, 23, tzinfo=timezone.utc))
            self.assertEqual(found[0].value, -63113904000.0 - 3208)


if __name__ == "__main__":
    unittest.main()
