"""What live lists and calculations have of attributes whose values a program has in another form than the store."""

import enum
import itertools
import json
import math
import random
import unittest
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, Optional

import quire
from quire import sections
from support import seeds
from test_conversions import NAMES, Color, Money, Shirt, Size, random_values


class Weekday(enum.Enum):
    """One whose class says how a member is written."""

    MONDAY = 1
    SUNDAY = 7

    def __str__(self) -> str:
        return self.name.title()


class Meeting(quire.Model):
    day: quire.Attr[Optional[date]] = quire.attr(default=None, name="onDay")
    at: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    weekday: quire.Attr[Optional[Weekday]] = quire.attr(default=None)
    shirt: quire.ToOne["Worn | None"] = quire.relation(inverse="meetings")


class Worn(Shirt):
    meetings: quire.ToMany["Meeting"] = quire.relation(inverse="shirt")


def printed(name: str, value: Any) -> str:
    """What a section of such values is called."""
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Money):
        return value.to_text() if name == "price" else str(value.cents)
    if name in ("extra", "labels"):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return value.isoformat()


class ConvertedListTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Worn, Meeting])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.query = self.context.query(Worn)

    def add(self, **values):
        return self.context.add(Worn(**{"color": Color.RED, **values}))

    def fill(self, dice):
        self.query.delete()
        return [self.add(**random_values(dice)) for _ in range(30)]

    def check_sections(self, live, name):
        """Compares the sections of a list with those that Python makes of its rows."""
        expected = {}
        for row in live:
            expected.setdefault(printed(name, getattr(row, name)), []).append(row)
        found = list(live.sections)
        self.assertEqual({each.name: list(each) for each in found}, expected)
        for place, each in enumerate(found):
            value = getattr(each[0], name)
            self.assertEqual((each.value, type(each.value)), (value, type(value)))
            self.assertEqual((live.sections[each.name], live.sections[place].value), (each, value))
            self.assertEqual(each.index_title, each.name[:1].upper())
        names = [each.name for each in found]
        self.assertEqual((live.sections.names, names[0] in live.sections), (names, True))
        titles = [title for title, _ in itertools.groupby(each[:1].upper() for each in names)]
        self.assertEqual(live.index_titles, titles)
        for place, title in enumerate(titles):
            self.assertEqual(live.sections[live.section_for_index_title(place)].index_title, title)
        with self.assertRaises(quire.NotFound):
            live.section_for_index_title(len(titles))
        self.assertEqual(
            [(each.name, each.value, each.start, each.count) for each in live.snapshot().sections],
            [(each.name, each.value, each.start, len(each)) for each in found])

    def test_sections_have_the_values_of_their_rows(self):
        for seed in seeds(3):
            self.fill(random.Random(seed))
            for name in NAMES:
                key = getattr(Worn, name)
                for by in (key, name, sections.by_value(key), sections.by_value(name, descending=True),
                           quire.Expression(name)):
                    with self.subTest(seed=seed, name=name, by=by), self.query.live(section_by=by) as live:
                        self.check_sections(live, name)

    def test_sections_have_values_that_relationships_lead_to(self):
        shirt = self.add(color=Color.BLUE, made=date(2024, 2, 29))
        self.context.add(Meeting(shirt=None))
        self.context.add(Meeting()).shirt = shirt
        query = self.context.query(Meeting)
        for by in (Meeting.shirt.to(Worn.color), "shirt.color", sections.by_value(Meeting.shirt.to(Worn.color))):
            live = query.live(section_by=by)
            self.assertEqual([(each.name, each.value) for each in live.sections], [("", None), ("BLUE", Color.BLUE)])
        with self.assertRaisesRegex(quire.InvalidArgument, "Shirt.made has days"):
            sections.by_month(Meeting.shirt.to(Worn.made), time_zone="Europe/Rome")

    def test_changes_of_sections_have_the_values_before_and_after(self):
        for seed in seeds(4):
            dice = random.Random(seed)
            rows = self.fill(dice)
            self.context.save()
            live = self.query.live(section_by=Worn.color)
            chain = quire.Composite(self.query.live(section_by=Worn.made), self.query.live(section_by=Worn.cost))
            shown = {each: [(s.name, s.value) for s in each.sections] for each in (live, chain)}

            def follow(change, of):
                for each in change.section_changes:
                    if isinstance(each, quire.DeleteSection):
                        self.assertEqual(shown[of].pop(each.index), (each.name, each.value))
                    else:
                        shown[of].insert(each.index, (each.name, each.value))

            for each in (live, chain):
                each.on_change(lambda change, of=each: follow(change, of))
            for step in range(12):
                before = live.snapshot()
                for row in dice.sample(rows, 5):
                    for name, value in random_values(dice).items():
                        setattr(row, name, value)
                if dice.random() < 0.5:
                    changed = dice.choice((live, *chain.lists))
                    # Costs and sizes have values in common in the store: see the next test.
                    name = dice.choice([each for each in NAMES if each != "size"])
                    changed.set_query(self.query, section_by=getattr(Worn, name))
                self.context.process()
                for each in (live, chain):
                    self.assertEqual(shown[each], [(s.name, s.value) for s in each.sections], (seed, step))
                after = live.snapshot()
                told = [(s.name, s.value) for s in before.sections]
                for each in before.changes_to(after).section_changes:
                    if isinstance(each, quire.DeleteSection):
                        self.assertEqual(told.pop(each.index), (each.name, each.value))
                    else:
                        told.insert(each.index, (each.name, each.value))
                self.assertEqual(told, [(s.name, s.value) for s in after.sections])
            chain.close()
            live.close()

    def test_sections_that_stay_under_another_query_have_its_values(self):
        self.add(cost=Money(10), size=Size.LARGE)
        live, told = self.query.live(section_by=Worn.cost), []
        live.on_change(told.append)
        self.assertEqual([(each.name, each.value) for each in live.sections], [("10", Money(10))])
        live.set_query(self.query, section_by=Worn.size)
        # To the library both sections are those of 10.
        self.assertEqual(told, [])
        self.assertEqual([(each.name, each.value) for each in live.sections], [("LARGE", Size.LARGE)])

    def test_a_moment_within_a_day_has_a_section_of_its_own(self):
        moment = datetime(2024, 1, 2, 9, 30, tzinfo=timezone.utc)
        self.add(made=date(2024, 1, 2))
        other = self.add(made=date(2024, 1, 3))
        self.context.save()
        # As another program may write it.
        self.query.where(Worn.made == date(2024, 1, 3)).update(made=quire.Expression("%@", moment))
        self.assertEqual(other.made, date(2024, 1, 2))
        live = self.query.live(section_by=Worn.made)
        self.assertEqual([(each.name, each.value, len(each)) for each in live.sections], [
            ("2024-01-02", date(2024, 1, 2), 1), ("2024-01-02T09:30:00Z", date(2024, 1, 2), 1)])
        self.assertEqual(list(live.sections["2024-01-02T09:30:00Z"]), [other])
        self.assertEqual([each.name for each in live.snapshot().sections], live.sections.names)
        live.set_query(self.query, section_by=sections.by_day(Worn.made))
        self.assertEqual([(each.name, each.value, len(each)) for each in live.sections], [
            ("2024-01-02", date(2024, 1, 2), 2)])

    def test_a_query_that_a_handler_sets_has_its_own_values(self):
        red, told = self.add(color=Color.RED, made=date(2024, 1, 2)), []
        live = self.query.live(section_by=Worn.color)

        @live.on_change
        def follow(change):
            told.append([(type(each), each.value) for each in change.section_changes])
            if len(told) == 1:
                live.set_query(self.query, section_by=Worn.made)

        red.color = Color.BLUE
        self.context.process()
        self.assertEqual(told, [
            [(quire.DeleteSection, Color.RED), (quire.InsertSection, Color.BLUE)],
            [(quire.DeleteSection, Color.BLUE), (quire.InsertSection, date(2024, 1, 2))]])

    def test_fixed_sections_are_given_as_values(self):
        for seed in seeds(3):
            dice = random.Random(seed)
            self.fill(dice)
            for name in NAMES:
                # Equal values of some types have no order and no hash.
                given = {printed(name, value): value for value in (random_values(dice)[name] for _ in range(6))}
                given.pop("", None)
                given.pop('""', None)
                for key in (getattr(Worn, name), name):
                    rule = sections.by_value(key, fixed=given.values())
                    with self.subTest(seed=seed, key=key), self.query.live(section_by=rule) as live:
                        found = [(each.name, each.value) for each in live.sections]
                        self.assertEqual(found[:len(given)], list(given.items()))
                        for each in live.sections:
                            wanted = [row for row in live if printed(name, getattr(row, name)) == each.name]
                            self.assertEqual(list(each), wanted)

    def test_fixed_sections_that_no_value_equals_are_rejected(self):
        for key, fixed, message in (
            (Worn.color, "green", "Shirt.color expects Color, not str .'green'."),
            (Worn.made, datetime(2024, 1, 1, tzinfo=timezone.utc), "Shirt.made: .* is a moment and no day"),
            (Worn.packed_at, time(1, tzinfo=timezone.utc), "Shirt.packed_at: .*has a time zone"),
            (Worn.extra, {1, 2}, "Shirt.extra: .*not JSON serializable"),
        ):
            with self.subTest(key=key), self.assertRaisesRegex(quire.Error, message):
                sections.by_value(key, fixed=[fixed])
            with self.subTest(key=key.path), self.assertRaisesRegex(quire.Error, message):
                self.query.live(section_by=sections.by_value(key.path, fixed=[fixed]))
        # A name may be that of an attribute that has such values; at the latest a list knows.
        rule = sections.by_value("at", fixed=[date(2024, 1, 1)])
        with self.assertRaisesRegex(quire.WrongType, "give a moment of that day"):
            self.context.query(Meeting).live(section_by=rule)
        with self.assertRaisesRegex(quire.InvalidArgument, "time zone"):
            sections.by_day("at", fixed=[date(2024, 1, 1)], time_zone="Nowhere/At")

    def test_bounds_are_values_and_their_sections_too(self):
        for cents, hour in ((-5, 1), (0, 2), (99, 3), (100, 4), (5000, 9)):
            self.add(cost=Money(cents), packed_at=time(hour), size=Size.LARGE if cents else Size.SMALL)
        for key, bounds, expected in (
            (Worn.cost, [Money(0), Money(100)], {"<0": 1, "0": 2, "100": 2}),
            (Worn.packed_at, [time(4), time(8, 30)], {"<04:00:00": 3, "04:00:00": 1, "08:30:00": 1}),
            (Worn.size, [Size.SMALL, Size.LARGE], {"SMALL": 1, "LARGE": 4}),
        ):
            for rule in (sections.by_number(key, bounds=bounds), sections.by_number(key.path, bounds=bounds)):
                live = self.query.live(section_by=rule)
                self.assertEqual({each.name: len(each) for each in live.sections}, expected)
                values = [-math.inf, *bounds] if len(expected) > 2 else bounds
                self.assertEqual([each.value for each in live.sections], values)
                self.assertEqual(live.index_titles, list(expected))
        # Numbers are those of the store.
        live = self.query.live(section_by=sections.by_number(Worn.cost, width=100))
        self.assertEqual([(each.name, each.value) for each in live.sections][:2], [("-100", -100.0), ("0", 0.0)])
        with self.assertRaisesRegex(quire.WrongType, "bounds are numbers"):
            self.query.live(section_by=sections.by_number("cost", bounds=[time(1)]))

    def test_days_are_the_same_in_every_time_zone(self):
        days = [date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 3), date(2023, 12, 31)]
        for each in days:
            self.context.add(Meeting(day=each, at=datetime(each.year, each.month, each.day, 3, tzinfo=timezone.utc)))
        query = self.context.query(Meeting)
        for make, begin, name in (
            (sections.by_day, lambda each: each, "%Y-%m-%d"),
            (sections.by_week, lambda each: each - timedelta(days=(each.weekday() + 1) % 7), "%Y-%m-%d"),
            (sections.by_month, lambda each: each.replace(day=1), "%Y-%m"),
            (sections.by_year, lambda each: each.replace(month=1, day=1), "%Y"),
        ):
            begins = sorted({begin(each) for each in days})
            expected = [(each.strftime(name), each) for each in begins]
            moved = sorted({begin(each - timedelta(days=1)).strftime(name) for each in days})
            named = make("onDay", time_zone="America/New_York")
            for rule in (make(Meeting.day), make(Meeting.day, time_zone="UTC"), make("onDay"), named):
                live = query.live(section_by=rule)
                self.assertEqual([(each.name, each.value) for each in live.sections], expected)
                self.assertEqual([(each.name, each.value) for each in live.snapshot().sections], expected)
                self.assertEqual(live.index_titles, sorted({each.strftime("%Y") for each in begins}))
            with self.assertRaisesRegex(quire.InvalidArgument, "Meeting.day has days.*'Asia/Tokyo'.*leave it out"):
                make(Meeting.day, time_zone="Asia/Tokyo")
            # In New York it is the evening before.
            at = query.live(section_by=make("at", time_zone="America/New_York"))
            self.assertEqual(at.sections.names, moved)
        live = query.live(section_by=sections.by_month(Meeting.day, fixed=[date(2030, 5, 17)]))
        self.assertEqual((live.sections[0].value, len(live.sections[0])), (date(2030, 5, 1), 0))

    def test_one_rule_serves_days_and_moments_of_one_name(self):
        class Day(quire.Model):
            begins: quire.Attr[date]

        class Moment(quire.Model):
            begins: quire.Attr[datetime]

        class Hour(quire.Model):
            begins: quire.Attr[time]

        with quire.open(":memory:", [Day, Moment, Hour]) as store:
            context = store.context
            context.add(Day(begins=date(2026, 3, 1)))
            context.add(Moment(begins=datetime(2026, 3, 1, 3, tzinfo=timezone.utc)))
            rule = sections.by_day("begins", time_zone="America/New_York")
            for _ in range(2):
                found = [context.query(each).live(section_by=rule).sections[0] for each in (Day, Moment)]
                self.assertEqual([each.name for each in found], ["2026-03-01", "2026-02-28"])
                self.assertEqual(
                    [each.value for each in found],
                    [date(2026, 3, 1), datetime(2026, 2, 28, 5, tzinfo=timezone.utc)])
            with self.assertRaisesRegex(quire.InvalidArgument, "begins"):
                context.query(Hour).live(section_by=rule)
            rule.close()
            for each in (Day, Moment):
                with self.assertRaises(quire.StoreClosed):
                    context.query(each).live(section_by=rule)

    def test_members_are_called_by_their_names_or_as_their_class_says(self):
        self.context.add(Meeting(weekday=Weekday.SUNDAY))
        live = self.context.query(Meeting).live(section_by=Meeting.weekday)
        self.assertEqual([(each.name, each.value) for each in live.sections], [("Sunday", Weekday.SUNDAY)])

    def test_a_section_that_cannot_be_decoded_says_so_when_it_is_read(self):
        self.add()
        self.context.save()
        live = self.query.live(section_by=Worn.color, aggregates={"first": "min:(color)"})
        told = []
        live.on_change(told.append)
        self.query.update(color=quire.Expression("'green'"))
        self.assertEqual(live.sections.names, ["green"])
        change, = told
        self.assertEqual((change.deleted_sections, change.inserted_sections), ((0,), (0,)))
        for read in (
            lambda: live.sections[0].value, lambda: change.section_changes, lambda: live.snapshot().sections,
            lambda: live.aggregates["first"], lambda: change.aggregate_changes, lambda: self.query.values("color"),
            lambda: self.query.aggregate(first="min:(color)"),
        ):
            with self.assertRaisesRegex(quire.InvalidArgument, "^Shirt.color: the store has 'green', which cannot be"):
                read()

    def test_the_least_and_the_greatest_are_values(self):
        for seed in seeds(3):
            rows = self.fill(random.Random(seed))
            self.context.save()
            for name in NAMES:
                key = getattr(Worn, name)
                kind = type(self)._stored(name)
                values = sorted((getattr(row, name) for row in rows if getattr(row, name) is not None), key=kind)
                expected = {"least": values[0], "most": values[-1]}
                made = {"least": f"min:({name})", "most": quire.function("max", key)}
                with self.subTest(seed=seed, name=name), self.query.live(section_by="made", aggregates=made) as live:
                    self.assertEqual(self.query.aggregate(**made), expected)
                    self.assertEqual(self.query.dictionaries(**made), [expected])
                    self.assertEqual(dict(live.aggregates), expected)
                    for section in live.sections:
                        own = [getattr(row, name) for row in section if getattr(row, name) is not None]
                        own.sort(key=kind)
                        self.assertEqual(
                            dict(section.aggregates),
                            {"least": own[0] if own else None, "most": own[-1] if own else None})
                    told = []
                    live.on_change(told.append)
                    for row in rows[1:]:
                        self.context.delete(row)
                    self.context.process()
                    left = getattr(rows[0], name)
                    self.assertEqual(dict(live.aggregates), {"least": left, "most": left})
                    for each in told[-1].aggregate_changes:
                        if each.section is None:
                            self.assertEqual(each.value, left)
                    self.context.rollback()

    @staticmethod
    def _stored(name):
        return {"color": lambda each: each.value, "cost": lambda each: each.cents}.get(
            name, lambda each: printed(name, each) if name in ("extra", "labels", "price") else each)


if __name__ == "__main__":
    unittest.main()
