"""What live lists are divided into sections by."""

import random
import unittest
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import quire
from quire import sections
from support import Author, Everything, Quote, Recording, StoreTestCase, day, seeds


def zone(name):
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        raise unittest.SkipTest(f"there is no data of the time zone {name} here") from None


class SectionRuleTests(StoreTestCase):
    def live(self, section_by, model=Quote, order=None):
        query = self.context.query(model)
        return (query if order is None else query.order_by(order)).live(section_by=section_by)

    def shown(self, live):
        return {section.name: len(section) for section in live.sections}

    def test_sections_of_dates_that_python_does_not_know_are_told_in_seconds(self):
        live = self.live(sections.by_year(Quote.created_at, time_zone="Europe/Berlin"))
        recording = Recording(live)
        told = []
        live.on_change(told.append)
        # There the year 1 begins before that of UTC, and so before Python's first datetime.
        self.quote("distant past", created_at=datetime(1, 1, 1, tzinfo=timezone.utc))
        self.quote("today", created_at=datetime(2026, 11, 21, tzinfo=timezone.utc))
        self.context.save()
        self.assertEqual(recording.take(), [["InsertSection 0", "InsertSection 1", "Insert 0.0", "Insert 1.0"]])
        self.assertEqual(
            [(each.name, each.value) for each in told[0].section_changes],
            [("0001", -63113904000.0 - 3208), ("2026", datetime(2025, 12, 31, 23, tzinfo=timezone.utc))])

    def test_sections_that_are_ordered_anew_stay_where_they_can(self):
        for text in "aabbbc":
            self.quote(text, note=text)
        live = self.context.query(Quote).live(section_by=sections.by_value(Quote.note, fixed=["a", "b", "c"]))
        self.addCleanup(live.close)
        recording = Recording(live)
        query = self.context.query(Quote)
        live.set_query(query, section_by=sections.by_value(Quote.note, fixed=["z", "a", "b", "c"]))
        self.assertEqual(recording.take(), [["InsertSection 0"]])
        live.set_query(query, section_by=sections.by_value(Quote.note, fixed=["b", "a", "c", "z"]))
        self.assertEqual(recording.take(), [
            # b and c have more rows than a and c: they stay.
            ["DeleteSection 1", "DeleteSection 0", "InsertSection 1", "InsertSection 3", "Move 1.0/1.0",
             "Move 1.1/1.1"]])
        live.set_query(query, section_by=sections.by_value(Quote.note))
        self.assertEqual(recording.take(), [
            ["DeleteSection 3", "DeleteSection 1", "InsertSection 0", "Move 1.0/0.0", "Move 1.1/0.1"]])

    def test_texts_are_gathered_by_their_first_letter(self):
        for text in ("zoo", "Äpple", "apple", "Zebra", "7", "Öl", ""):
            self.quote(text)
        live = self.live(sections.by_letter(Quote.contents, locale="sv"), order=Quote.contents)
        self.assertEqual(self.shown(live), {"": 1, "#": 1, "A": 1, "Z": 2, "Ä": 1, "Ö": 1})
        self.assertEqual(live.index_titles, ["", "#", "A", "Z", "Ä", "Ö"])
        self.assertEqual(live.section_for_index_title(3), 3)
        self.assertEqual([quote.contents for quote in live.sections["Z"]], ["Zebra", "zoo"])
        self.assertEqual([section.value for section in live.sections][:3], [None, "#", "A"])
        told = []
        live.on_change(told.append)
        live.set_query(self.context.query(Quote), sections.by_letter(Quote.contents, locale="de", descending=True))
        self.assertEqual(list(self.shown(live)), ["Z", "O", "A", "#", ""])
        self.assertEqual(len(told), 1)
        both = self.live(sections.by_letter("contents", locale=["ja", "en"]))
        self.assertIn("A", both.sections)

    def test_days_are_those_of_a_time_zone(self):
        berlin = zone("Europe/Berlin")
        for hour in (22, 23, 24):
            self.quote(created_at=datetime(2026, 3, 28, tzinfo=timezone.utc) + timedelta(hours=hour))
        self.quote(created_at=None)
        live = self.live(sections.by_day(Quote.created_at, time_zone="Europe/Berlin", descending=True))
        self.assertEqual(self.shown(live), {"2026-03-29": 2, "2026-03-28": 1, "": 1})
        self.assertEqual(live.sections[0].value, datetime(2026, 3, 29, tzinfo=berlin))
        self.assertIsNone(live.sections[2].value)
        self.assertEqual(live.index_titles, ["2026", ""])
        weeks = self.live(sections.by_week("created_at", time_zone="Europe/Berlin", locale="en_US"))
        self.assertEqual(self.shown(weeks), {"": 1, "2026-03-22": 1, "2026-03-29": 2})
        self.assertEqual(self.shown(self.live(sections.by_month("created_at"))), {"": 1, "2026-03": 3})
        self.assertEqual(self.shown(self.live(sections.by_year("created_at"))), {"": 1, "2026": 3})

    def test_periods_are_those_of_the_standard_library(self):
        for seed in seeds(1):
            dice = random.Random(seed)
            for name in ("Europe/Berlin", "America/Havana", "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo"):
                clock = zone(name)
                self.context.query(Everything).delete()
                for _ in range(60):
                    moment = datetime(1990, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=dice.randrange(10**9))
                    self.context.add(Everything(instant=moment))
                self.context.save()
                for rule, begins in (
                    (sections.by_day, lambda date: date),
                    (sections.by_month, lambda date: date.replace(day=1)),
                    (sections.by_year, lambda date: date.replace(month=1, day=1)),
                ):
                    live = self.live(rule(Everything.instant, time_zone=name), Everything)
                    for section in live.sections:
                        for each in section:
                            local = begins(each.instant.astimezone(clock).date())
                            self.assertTrue(local.isoformat().startswith(section.name), (seed, name, each.instant))
                            self.assertLessEqual(section.value, each.instant)

    def test_numbers_are_gathered_by_ranges(self):
        for price in (-1, 0, 9.5, 10, 25):
            self.quote(price=price)
        live = self.live(sections.by_number(Quote.price, width=10))
        self.assertEqual(self.shown(live), {"-10": 1, "0": 2, "10": 1, "20": 1})
        self.assertEqual([section.value for section in live.sections], [-10.0, 0.0, 10.0, 20.0])
        live = self.live(sections.by_number(Quote.price, bounds=[0, 10]))
        self.assertEqual(self.shown(live), {"<0": 1, "0": 2, "10": 2})
        self.assertEqual(live.sections[0].value, float("-inf"))

    def test_values_of_every_type_are_sections(self):
        values = {
            "whole": (1, 2), "flag": (False, True), "real": (0.5, 1.5), "text": ("a", "b"), "instant": (day(1), day(2)),
        }
        for each in range(2):
            self.context.add(Everything(**{name: pair[each] for name, pair in values.items()}))
        for name, pair in values.items():
            live = self.live(name, Everything)
            self.assertEqual([section.value for section in live.sections], list(pair), name)
            live = self.live(sections.by_value(name, descending=True, fixed=[pair[0]]), Everything)
            self.assertEqual([section.value for section in live.sections], list(pair), name)
            self.assertEqual([each.value for each in live.snapshot().sections], list(pair), name)

    def test_expressions_and_registered_functions_make_sections(self):
        goethe = self.context.add(Author(name="Goethe"))
        for price in (1, 50, 200):
            self.quote(price=price, author=goethe)
        quire.register_function("size_of", lambda price: "large" if price > 100 else "small")
        self.addCleanup(quire.unregister_function, "size_of")
        live = self.live(sections.by_expression("size_of(price)", fixed=["none"]))
        self.assertEqual(self.shown(live), {"none": 0, "large": 1, "small": 2})
        live = self.live(quire.Expression("author.quotes.@count"))
        self.assertEqual([section.value for section in live.sections], [3])
        told = []
        live.on_change(told.append)
        self.quote(author=goethe)
        self.context.process()
        self.assertEqual([section.value for section in live.sections], [4])
        self.assertEqual(
            [(type(each).__name__, each.value) for each in told[0].section_changes],
            [("DeleteSection", 3), ("InsertSection", 4)])

    def test_fixed_sections_are_there_without_rows(self):
        quote = self.quote(price=3)
        live = self.live(sections.by_value(Quote.price, fixed=[3, 1]))
        self.assertEqual(self.shown(live), {"3": 1, "1": 0})
        told = []
        live.on_change(told.append)
        quote.price = 1
        self.context.process()
        self.assertEqual(self.shown(live), {"3": 0, "1": 1})
        self.assertEqual(told[0].section_changes, ())
        self.assertEqual(live.sections[1][0], quote)
        self.context.delete(quote)
        self.context.process()
        self.assertEqual(self.shown(live), {"3": 0, "1": 0})
        self.assertEqual(list(live.sections[0]), [])

    def test_what_cannot_be_is_refused(self):
        for wrong in (
            lambda: sections.by_letter("contents", locale="xx_nowhere"),
            lambda: sections.by_day("created_at", time_zone="Nowhere/At"),
            lambda: sections.by_number("price"),
            lambda: sections.by_number("price", bounds=[2, 1]),
            lambda: sections.by_value("price", fixed=[1, 1.0]),
            lambda: self.live(sections.by_letter("price")),
            lambda: self.live(sections.by_expression("now()")),
            lambda: self.live(sections.by_value("nothing")),
        ):
            with self.assertRaises(quire.InvalidArgument):
                wrong()
        with self.assertRaises(quire.PredicateError):
            sections.by_expression("price >")
        rule = sections.by_letter("contents")
        self.assertEqual(repr(rule), "<SectionRule contents>")
        rule.close()
        with self.assertRaises(quire.StoreClosed):
            self.live(rule)


if __name__ == "__main__":
    unittest.main()
