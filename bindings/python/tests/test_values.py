"""Values of all types go in and come back."""

import enum
import random
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import quire
from quire._c import _values
from support import Everything, FileTestCase, StoreTestCase, MODELS

SAMPLES = {
    "text": ["", "x", "Göthe", "a\0b", "\0", "😀 𝄞", "e\u0301", "line\nend", "\ufeff", "\U0010ffff", "x" * 5000],
    "whole": [0, 1, -1, 2**63 - 1, -(2**63)],
    "small": [0, 32767, -32768],
    "middle": [2**31 - 1, -(2**31)],
    "real": [0.0, -0.5, 1e308, 5e-324, float("inf"), float("-inf")],
    "single": [0.5, 3.4e38],
    "flag": [True, False],
    "instant": [
        datetime(2001, 1, 1, tzinfo=timezone.utc), datetime(1970, 1, 1, tzinfo=timezone.utc),
        datetime(1815, 12, 10, 1, 2, 3, tzinfo=timezone.utc), datetime(2024, 2, 29, 23, 59, 59, 999999, timezone.utc),
        datetime(1, 1, 1, tzinfo=timezone.utc), datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)],
    "exact": [Decimal("0"), Decimal("-12.5"), Decimal("1e3"), Decimal("0.25")],
    "data": [b"", b"\0", b"\xff\0\xfe" * 100],
    "uid": [UUID(int=0), UUID("12345678-1234-5678-1234-567812345678")],
    "link": ["https://example.org/a?b=%20c#d", "urn:isbn:0451450523"],
    "coded": [b"", b"bplist00\0"],
}


class ValueTests(FileTestCase):
    def test_every_value_comes_back_from_the_file_in_every_way(self):
        expected = {}
        with quire.open(self.path, MODELS) as store:
            context = store.context
            for name, samples in SAMPLES.items():
                for sample in [*samples, None]:
                    item = context.add(Everything(**{name: sample}))
                    self.assertEqual(getattr(item, name), self.as_stored(name, sample))
                    expected[item] = (name, sample)
            context.save()
            expected = {item.id: value for item, value in expected.items()}
        with quire.open(self.path, MODELS) as store:
            for item in store.context.query(Everything):
                name, sample = expected[item.id]
                self.assertEqual(getattr(item, name), self.as_stored(name, sample), (name, sample))
                self.assertIs(type(getattr(item, name)), type(sample))
            alone = store.create_context()
            for id, (name, sample) in expected.items():
                self.assertEqual(getattr(alone.get(Everything, id), name), self.as_stored(name, sample))
            ids = alone.query(Everything).ids()
            for name in SAMPLES:
                for id, (value,) in zip(ids, alone.query(Everything).values(name)):
                    at, sample = expected[id]
                    self.assertEqual(value, self.as_stored(name, sample) if at == name else None)

    def test_dates_are_rounded_as_by_timedelta(self):
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        dice = random.Random(7)
        first, last = -62135596800, 253402300800
        seconds = [first, first - 1e-5, last - 1e-4, last - 1e-7, last, -0.5e-6, 0.5e-6, 1.5e-6, float("nan"), 1e300]
        for _ in range(3000):
            seconds += [
                dice.uniform(first, last), dice.uniform(-1e-5, 1e-5), dice.randrange(first, last),
                dice.randrange(2**31) + dice.randrange(10**6) / 1e6 + 5e-7]
        expected = []
        for each in map(float, seconds):
            try:
                expected.append(epoch + timedelta(seconds=each))
            except (OverflowError, ValueError):
                since_2001 = str(each - 978307200)
                self.assertEqual(str(_values.instant(each)), since_2001)
                self.assertEqual(list(map(str, _values.instants([0.0, each]))), [str(epoch), since_2001])
                expected.append(None)
            else:
                self.assertEqual((each, _values.instant(each)), (each, expected[-1]))
        inside = [(each, moment) for each, moment in zip(seconds, expected) if moment is not None]
        self.assertEqual(_values.instants([float(each) for each, _ in inside]), [moment for _, moment in inside])
        moments = [moment for _, moment in inside]
        self.assertEqual(list(_values.all_seconds(moments)), list(map(_values.seconds, moments)))

    def test_the_last_moment_is_stored_as_one_that_datetime_knows(self):
        last = datetime.max.replace(tzinfo=timezone.utc)
        with quire.open(self.path, MODELS) as store:
            context = store.context
            context.add(Everything(instant=last))
            context.insert_many(Everything, {"instant": [last, last - timedelta(microseconds=1)]})
            context.save()
            found = context.query(Everything).values("instant")
            self.assertEqual(len(found), 3)
            for (moment,) in found:
                self.assertLessEqual(moment, last)
                self.assertLess(last - moment, timedelta(microseconds=100))
            self.assertEqual(context.query(Everything).where(Everything.instant == last).count(), 3)
            # Of another time zone it is a moment of the year 10000.
            with self.assertRaisesRegex(quire.InvalidArgument, "outside of the years"):
                context.add(Everything(instant=datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))).instant

    @staticmethod
    def as_stored(name, sample):
        return sample if name != "single" or sample is None else quire.Float.canonical(sample)

    def test_many_at_once_come_back_too(self):
        rows = max(map(len, SAMPLES.values())) + 1
        columns = {name: (samples + [None] * rows)[:rows] for name, samples in SAMPLES.items()}
        with quire.open(self.path, MODELS) as store:
            ids = store.context.insert_many(Everything, columns)
            self.assertEqual(ids, range(1, 1 + rows))
            store.context.save()
            found = store.context.query(Everything).all()
            for row, item in enumerate(found):
                for name in SAMPLES:
                    self.assertEqual(getattr(item, name), self.as_stored(name, columns[name][row]), (name, row))

    def test_columns_without_none_take_the_fast_way_and_come_back(self):
        count = 64
        columns = {
            name: [samples[row % len(samples)] for row in range(count)] for name, samples in SAMPLES.items()}
        with quire.open(self.path, MODELS) as store:
            store.context.insert_many(Everything, columns)
            store.context.save()
            for name in SAMPLES:
                values = [value for (value,) in store.context.query(Everything).values(name)]
                self.assertEqual(values, [self.as_stored(name, value) for value in columns[name]], name)


class CheckTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.item = self.context.add(Everything())

    def test_a_datetime_without_a_zone_is_refused_by_name(self):
        with self.assertRaisesRegex(ValueError, "Everything.instant: a datetime without a time zone"):
            self.item.instant = datetime(2024, 1, 1)
        with self.assertRaisesRegex(ValueError, "without a time zone"):
            self.context.query(Everything).where("instant > %@", datetime(2024, 1, 1))
        with self.assertRaisesRegex(ValueError, "Row 1, counted from 0: Everything.instant"):
            self.context.insert_many(
                Everything, {"instant": [datetime(2024, 1, 1, tzinfo=timezone.utc), datetime(2024, 1, 1)]})

    def test_a_datetime_of_another_zone_comes_back_in_utc(self):
        self.item.instant = datetime(2024, 6, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))
        self.assertEqual(self.item.instant, datetime(2024, 6, 1, 12, 30, tzinfo=timezone.utc))
        self.assertEqual(self.item.instant.tzinfo, timezone.utc)

    def test_microseconds_survive_the_file(self):
        instant = datetime(2024, 6, 1, 14, 30, 5, 123457, tzinfo=timezone.utc)
        self.item.instant = instant
        self.context.save()
        other = self.store.create_context()
        self.assertEqual(other.get(Everything, self.item.id).instant, instant)

    def test_numbers_that_do_not_fit_are_refused_by_name(self):
        for name, value in (("small", 32768), ("middle", 2**31), ("whole", 2**63), ("single", 1e39)):
            with self.assertRaisesRegex(quire.InvalidArgument, f"Everything.{name}: .* does not fit"):
                setattr(self.item, name, value)
            with self.assertRaisesRegex(ValueError, f"Row 2, counted from 0: Everything.{name}: .* does not fit"):
                self.context.insert_many(Everything, {name: [0, 1, value]})

    def test_other_types_are_refused_by_name(self):
        wrong = {
            "text": b"x", "whole": 1.5, "real": "1", "flag": 1, "instant": "2024", "exact": 1.5, "data": "x",
            "uid": "12345678-1234-5678-1234-567812345678", "link": 5, "coded": [1]}
        for name, value in wrong.items():
            with self.assertRaisesRegex(TypeError, rf"Everything.{name} expects \w+, not {type(value).__name__}"):
                setattr(self.item, name, value)
            with self.assertRaisesRegex(TypeError, f"Row 0, counted from 0: Everything.{name} expects"):
                self.context.insert_many(Everything, {name: [value]})
        self.assertEqual(self.context.query(Everything).count(), 1)

    def test_types_that_python_counts_as_numbers_are_taken(self):
        class Index:
            def __index__(self):
                return 7

        self.item.whole = True
        self.assertIs(type(self.item.whole), int)
        self.item.whole = Index()
        self.assertEqual(self.item.whole, 7)
        self.item.real = 3
        self.assertIs(type(self.item.real), float)
        self.item.data = bytearray(b"ab")
        self.assertEqual(self.item.data, b"ab")

    def test_members_of_enumerations_are_stored_as_their_values(self):
        class Color(str, enum.Enum):
            RED = "red"

        class Size(enum.IntEnum):
            LARGE = 3

        self.item.text, self.item.whole = Color.RED, Size.LARGE
        self.assertEqual((type(self.item.text), self.item.text), (str, "red"))
        self.assertEqual((type(self.item.whole), self.item.whole), (int, 3))
        self.context.insert_many(Everything, {"text": [Color.RED], "whole": [Size.LARGE]})
        self.context.save()
        found = self.context.query(Everything).where("text == %@ AND whole == %@", Color.RED, Size.LARGE)
        self.assertEqual(found.values("text", "whole"), [("red", 3)] * 2)

    def test_text_without_utf8_form_is_refused(self):
        with self.assertRaisesRegex(quire.InvalidText, r"Everything.text: the text '\\ud800' has no UTF-8 form"):
            self.item.text = "\ud800"
        with self.assertRaises(quire.InvalidText):
            self.context.query(Everything).where("text == %@", "\ud800")
        with self.assertRaises(quire.InvalidText):
            self.context.query(Everything).where("text == '\ud800'")
        with self.assertRaises(quire.InvalidText):
            self.context.insert_many(Everything, {"text": ["a", "\ud800"]})

    def test_not_a_number_is_refused(self):
        for value in (float("nan"),):
            with self.assertRaises(quire.InvalidArgument):
                self.item.real = value
        with self.assertRaises(quire.InvalidArgument):
            self.item.exact = Decimal("NaN")

    def test_decimals_have_limits_and_messages_name_who_breaks_them(self):
        for digits in ("1e127", "9" * 15 + "e-128", "-1.5e-127", "1." + "0" * 60, "1" + "0" * 127, "0e999"):
            self.item.exact = Decimal(digits)
            self.assertEqual(self.item.exact, Decimal(digits))
        for wrong, reason in (
            ("1e128", "from -128 to 127"), ("1.5e-128", "from -128 to 127"), ("1." + "1" * 38, "38 significant digits"),
        ):
            for call, name in (
                (lambda value: setattr(self.item, "exact", value), "Everything.exact"),
                (lambda value: quire.Predicate("a == 1 AND b == %@", value), "Argument 1"),
                (lambda value: quire.Predicate("a == $x").substituting(x=value), ""),
                (lambda value: self.context.insert_rows(Everything, {"exact": [Decimal(1), value]}), "Row 1"),
                (lambda value: self.context.query(Everything).update(exact=value), "Everything.exact"),
            ):
                with self.assertRaisesRegex(quire.InvalidArgument, reason) as caught:
                    call(Decimal(wrong))
                self.assertIn(name, str(caught.exception))
                self.assertIn(str(Decimal(wrong)), str(caught.exception))

    def test_a_refused_value_changes_nothing(self):
        self.item.text = "before"
        for value in (5, "\ud800"):
            with self.assertRaises((TypeError, ValueError)):
                self.item.text = value
        self.assertEqual(self.item.text, "before")
        with self.assertRaises(quire.InvalidArgument):
            self.item.real = float("nan")
        self.assertIsNone(self.item.real)

    def test_a_single_is_rounded_at_the_assignment(self):
        self.item.single = 0.1
        self.assertEqual(self.item.single, 0.10000000149011612)
        self.context.save()
        self.assertEqual(self.store.create_context().get(Everything, self.item.id).single, 0.10000000149011612)

    def test_a_transient_value_lives_in_memory_only(self):
        self.item.draft = "thinking"
        self.context.save()
        self.assertEqual(self.item.draft, "thinking")
        self.assertIsNone(self.store.create_context().get(Everything, self.item.id).draft)

    def test_predicates_take_every_type(self):
        for name, samples in SAMPLES.items():
            if name == "coded":
                continue
            sample = samples[1]
            item = self.context.add(Everything(**{name: sample}))
            for saved in (False, True):
                if saved:
                    self.context.save()
                found = self.context.query(Everything).where(f"{name} == %@", getattr(item, name)).all()
                self.assertIn(item, found, (name, saved))


if __name__ == "__main__":
    unittest.main()
