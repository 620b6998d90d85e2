"""Arrays of NumPy, masked ones and those of pandas as columns: their dates, and what is missing in them.

Needs pyarrow, polars, pandas, DuckDB and numpy, and is skipped without.
"""

import unittest
from datetime import date, datetime, timedelta, timezone
from typing import Any, Optional

import quire
from test_arrow import MISSING

if not MISSING:
    import numpy
    import pandas

UTC = timezone.utc


class Reading(quire.Model):
    moment: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    day: quire.Attr[Optional[date]] = quire.attr(default=None)
    whole: quire.Attr[Optional[int]] = quire.attr(default=None)
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    extra: quire.Attr[Any] = quire.attr(as_=quire.JSON, default=None)
    code: quire.Attr[int] = quire.attr(default=0)


@unittest.skipIf(MISSING, MISSING)
class NumPyTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Reading])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def stored(self, name, column):
        ways = []
        for insert in (self.context.insert_many, self.context.insert_rows):
            insert(Reading, {name: column})
            self.context.save()
            ways.append([each[0] for each in self.context.query(Reading).values(name)])
            self.context.query(Reading).delete()
        self.assertEqual(*ways)
        return ways[0]

    def refused(self, name, column, message):
        with self.assertRaisesRegex(quire.Error, message) as caught:
            self.context.insert_many(Reading, {name: column})
        self.assertEqual((caught.exception.entity, caught.exception.key), ("Reading", name))
        self.assertFalse(self.context.has_changes)
        return caught.exception

    def test_moments_of_each_unit(self):
        moment = datetime(2021, 5, 4, 3, 2, 1, 654321)
        for unit, expected in {
            "Y": datetime(2021, 1, 1), "M": datetime(2021, 5, 1), "W": datetime(2021, 4, 29), "D": datetime(2021, 5, 4),
            "h": moment.replace(minute=0, second=0, microsecond=0), "m": moment.replace(second=0, microsecond=0),
            "s": moment.replace(microsecond=0), "ms": moment.replace(microsecond=654000), "us": moment, "ns": moment,
            "25s": datetime(2021, 5, 4, 3, 1, 40),
        }.items():
            for order in "<>":
                column = numpy.array([moment] * 3, "M8[us]").astype(f"M8[{unit}]").astype(f"{order}M8[{unit}]")
                with self.subTest(unit=unit, order=order):
                    found = self.stored("moment", column)
                    self.assertEqual(len(found), 3)
                    for each in found:
                        self.assertLess(abs(each - expected.replace(tzinfo=UTC)), timedelta(microseconds=2))
                    self.assertEqual(self.stored("moment", column[::2]), found[::2])

    def test_dates_beyond_those_of_python(self):
        def seconds(days):
            return float(days * 86400 - 978307200)

        year_10000 = (date.max - date(1970, 1, 1)).days + 1
        for column, expected in (
            (numpy.array(["10000-01-01"], "M8[D]"), seconds(year_10000)),
            (numpy.array(["10000-01-01"], "M8[us]"), seconds(year_10000)),
            (numpy.array(["10000-01-01T00:00:00.5"], "M8[ms]"), seconds(year_10000) + 0.5),
            (numpy.array(["0000-12-31"], "M8[s]"), seconds(-719163)),
            (numpy.array([10400], "M8[Y]") - numpy.timedelta64(1970, "Y"), seconds(year_10000 + 146097)),
            # Beyond 64 bits of microseconds.
            (numpy.array([10**9], "M8[D]"), seconds(10**9)),
            (numpy.array([-10**15], "M8[s]"), -1e15 - 978307200),
            (numpy.array([2**62], "M8[25us]"), 2.0**62 * 25 / 1e6 - 978307200),
            (numpy.array([2**62], "M8[ms]"), 2.0**62 / 1e3 - 978307200),
            (numpy.array([400 * 1000 + 30], "M8[Y]"), seconds(146097 * 1000 + 10957)),
        ):
            with self.subTest(column=str(column.dtype)):
                mixed = numpy.concatenate([numpy.array([0], column.dtype), column])
                self.assertEqual(self.stored("moment", mixed), [datetime(1970, 1, 1, tzinfo=UTC), expected])
                self.assertEqual(Reading(moment=column[0]).moment, expected)
                if column.dtype.name == "datetime64[D]":
                    error = self.refused("day", mixed, "Row 1, counted from 0: Reading.day: its year is not one from 1")
                    self.assertEqual(error.row, 1)
        far = numpy.array([0, 2**40], "M8[Y]")
        self.assertEqual(self.refused("moment", far, "Row 1, .*Reading.moment: it is too far from 1970").row, 1)
        self.refused("day", far, "Row 1, .*Reading.day: its year")
        with self.assertRaisesRegex(quire.InvalidArgument, "Reading.moment: it is too far") as caught:
            Reading(moment=far[1])
        self.assertIsNone(caught.exception.row)

    def test_days(self):
        days = [date(2024, 2, 29), date(1, 1, 1), date.max]
        self.assertEqual(self.stored("day", numpy.array(days, "M8[D]")), days)
        self.assertEqual(self.stored("day", numpy.array(["2024-02"], "M8[M]")), [date(2024, 2, 1)])
        self.assertEqual(Reading(day=numpy.datetime64("2024-02-29")).day, days[0])
        self.assertEqual(self.stored("day", [numpy.datetime64("2024-02-29")]), days[:1])
        self.refused("day", numpy.array(["2024-02-29T01:00"], "M8[m]"), "Row 0.*a moment and no day")

    def test_nat_is_refused_and_its_remedy_works(self):
        for name, unit in (("moment", "ns"), ("moment", "s"), ("moment", "D"), ("day", "D"), ("day", "s")):
            column = numpy.array(["2024-01-01", "NaT"], f"M8[{unit}]")
            with self.subTest(name=name, unit=unit):
                error = self.refused(name, column, f"Row 1, counted from 0: Reading.{name}: NaT is no date; give None")
                self.assertEqual(error.row, 1)
                remedy = str(error).partition("as in ")[2]
                if (name, unit) != ("day", "s"):
                    masked = eval(remedy, {"numpy": numpy, "column": column})
                    first = date(2024, 1, 1) if name == "day" else datetime(2024, 1, 1, tzinfo=UTC)
                    self.assertEqual(self.stored(name, masked), [first, None])
        self.refused("day", [pandas.NaT], "Row 0.*Reading.day: NaT is no date")

    def test_what_is_masked_is_nil(self):
        mask = [False, True, False]
        for name, values, kind in (
            ("whole", [1, 2, 3], "i4"), ("real", [0.5, numpy.nan, 1.5], "f8"), ("flag", [True, True, False], "?"),
            ("text", ["a", "b", "c"], "U1"), ("text", ["a", None, "c"], object),
        ):
            with self.subTest(name=name, kind=kind):
                plain = numpy.array(values, kind)
                expected = [values[0], None, values[2]]
                self.assertEqual(self.stored(name, numpy.ma.array(plain, mask=mask)), expected)
                self.assertEqual(self.stored(name, numpy.ma.array(plain[::2])), expected[::2])
        day, far = datetime(2024, 1, 1, tzinfo=UTC), 10**9
        moments = numpy.ma.array(numpy.array(["2024-01-01", far, far], "M8[D]"), mask=mask)
        self.assertEqual(self.stored("moment", moments), [day, None, far * 86400.0 - 978307200])
        self.assertEqual(self.stored("day", moments[:2]), [day.date(), None])
        self.assertEqual(self.stored("moment", numpy.ma.array(moments.data[:1])), [day])
        error = self.refused("code", numpy.ma.array([1, 2], mask=[False, True]), "Row 1.*code expects int, not None")
        self.assertEqual(error.row, 1)
        self.refused("real", numpy.ma.array([1, numpy.nan, 2], mask=[True, False, False]), "Row 1.*NaN")
        self.refused("moment", numpy.ma.array(["NaT", "NaT"], "M8[s]", mask=[True, False]), "Row 1.*NaT is no date")

    def test_arrays_of_pandas_know_what_is_missing(self):
        for name, column, expected in (
            ("whole", pandas.array([1, None]), [1, None]), ("flag", pandas.array([True, None]), [True, None]),
            ("text", pandas.array(["a", None], dtype="string"), ["a", None]),
            ("text", pandas.Categorical(["a", None]), ["a", None]), ("text", pandas.Index(["a", None]), ["a", None]),
            ("moment", pandas.array(["2024-01-01", None], dtype="datetime64[ns, UTC]"),
             [datetime(2024, 1, 1, tzinfo=UTC), None]),
        ):
            with self.subTest(column=type(column).__name__):
                self.assertEqual(self.stored(name, column), expected)
                self.assertEqual(self.stored(name, pandas.Series(column)), expected)
        self.refused("text", pandas.MultiIndex.from_tuples([(1, 2)]), "Row 0.*expects str, not tuple")

    def test_what_is_missing_in_lists_says_so(self):
        for missing, given in ((pandas.NA, "pandas.NA"), (numpy.ma.masked, "numpy.ma.masked")):
            for name, value in (
                ("whole", 1), ("whole", 1.0), ("real", 1.5), ("text", "a"), ("flag", True), ("day", date.max),
                ("moment", datetime(2024, 1, 1, tzinfo=UTC)),
            ):
                for column in ([value, missing], numpy.array([value, missing], object)):
                    with self.subTest(name=name, given=given, column=type(column).__name__):
                        if type(value) is float and name == "whole":
                            self.refused(name, list(column), "Row 0.*whole expects int, not float")
                            continue
                        error = self.refused(name, column, f"Row 1.*Reading.{name} expects .*missing value.*{given}")
                        self.assertEqual(error.row, 1)
            with self.assertRaisesRegex(quire.WrongType, "Reading.whole expects int.*missing value"):
                Reading(whole=missing)
        self.refused("whole", [1, numpy.zeros(2)], "Row 1.*Reading.whole")

    def test_what_is_no_column(self):
        for column in (numpy.array(5), numpy.float64(5), numpy.ma.masked, numpy.array("2024", "M8[Y]")):
            with self.subTest(column=repr(column)):
                self.refused("real", column, "column for Reading.real is an iterable")
        self.refused("real", numpy.zeros((2, 2)), "Row 0.*expects float, not list")
        self.refused("moment", numpy.zeros((2, 2), "M8[s]"), "Row 0.*expects datetime, not list")
        self.assertEqual(self.stored("extra", numpy.arange(4).reshape(2, 2)), [[0, 1], [2, 3]])
        self.assertEqual(self.stored("moment", numpy.array([], "M8[s]")), [])


if __name__ == "__main__":
    unittest.main()
