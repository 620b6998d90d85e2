"""Tables of Arrow and arrays of NumPy as columns of `insert_many` and `insert_rows`.

Needs pyarrow, polars, pandas, DuckDB and numpy, and is skipped without.
"""

import math
import random
import unittest
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import quire
from support import seeds
from test_arrow import MISSING, NAMES, Sample, random_values

if not MISSING:
    import duckdb
    import numpy
    import pandas
    import polars
    import pyarrow

ARROW_TYPES = {} if MISSING else {
    "place": [pyarrow.int64(), pyarrow.int32(), pyarrow.uint16(), pyarrow.int16()],
    "flag": [pyarrow.bool_()],
    "whole": [pyarrow.int64()],
    "single": [pyarrow.float32(), pyarrow.float64()],
    "real": [pyarrow.float64()],
    "moment": [pyarrow.timestamp("us", "UTC"), pyarrow.timestamp("us", "Europe/Berlin"), pyarrow.timestamp("us")],
    "text": [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(),
             pyarrow.dictionary(pyarrow.int8(), pyarrow.string())],
    "link": [pyarrow.string(), pyarrow.large_string()],
    "data": [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()],
    "key": [pyarrow.binary(16), pyarrow.uuid()],
    "amount": [pyarrow.decimal128(38, 6), pyarrow.decimal256(60, 6)],
}


_NOW = datetime.now(timezone.utc)


@unittest.skipIf(MISSING, MISSING)
class ArrowInsertTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Sample])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def stored(self, columns, names=NAMES, by_rows=False):
        """What is there after an insertion, in the order of the rows."""
        (self.context.insert_rows if by_rows else self.context.insert_many)(Sample, columns)
        self.context.save()
        found = [tuple(getattr(each, name) for name in names) for each in self.context.query(Sample).order_by("place")]
        self.context.query(Sample).delete()
        return found

    def table(self, rows, dice):
        columns = {}
        for name in NAMES:
            kind = dice.choice(ARROW_TYPES[name])
            values = [row[name] for row in rows]
            if name == "moment" and kind.tz is None:
                values = [value and value.replace(tzinfo=None) for value in values]
            if name == "key":
                values = [value and value.bytes for value in values]
                columns[name] = pyarrow.array(values, pyarrow.binary(16)).cast(kind)
            elif kind in (pyarrow.string_view(), pyarrow.binary_view()):
                plain = pyarrow.string() if kind == pyarrow.string_view() else pyarrow.binary()
                columns[name] = pyarrow.array(values, plain).cast(kind)
            else:
                columns[name] = pyarrow.array(values, kind)
        return pyarrow.table(columns)

    def test_random_tables_come_back_as_they_were(self):
        for seed in seeds(25):
            dice = random.Random(seed)
            count = dice.choice([0, 1, 8, 9, 100, 300])
            nil = dice.choice([0, 0.3, 0.9])
            rows = [random_values(dice, place, nil, dice.random() < 0.2) for place in range(count)]
            # As files keep them: a date is a double.
            expected = self.stored({name: [row[name] for row in rows] for name in NAMES})
            moment = NAMES.index("moment")
            for row, found in zip(rows, expected):
                given = tuple(row[name] for name in NAMES)
                self.assertEqual(found[:moment] + found[moment + 1 :], given[:moment] + given[moment + 1 :])
                self.assertLess(abs((found[moment] or _NOW) - (row["moment"] or _NOW)), timedelta(milliseconds=1))
            table = self.table(rows, dice)
            with self.subTest(seed=seed, schema=str(table.schema)):
                self.assertEqual(self.stored(table), expected)
                self.assertEqual(self.stored(table, by_rows=True), expected)
                # Slices of slices, in batches.
                padded = pyarrow.concat_tables([table.slice(0, 3), table, table.slice(0, 5)])
                part = padded.slice(min(3, count), count)
                self.assertEqual(self.stored(pyarrow.Table.from_batches(
                    part.to_batches(max_chunksize=7), part.schema)), expected)
                if table.schema.field("amount").type == pyarrow.decimal128(38, 6):
                    plain = table.set_column(
                        table.column_names.index("key"), "key", table["key"].cast(pyarrow.binary(16)))
                    self.assertEqual(self.stored(polars.DataFrame(plain)), expected)
                    self.assertEqual(self.stored(duckdb.sql("SELECT * FROM plain")), expected)

    def test_a_table_of_quire_comes_back(self):
        dice = random.Random(1)
        for place in range(200):
            self.context.add(Sample(**random_values(dice, place, 0.3, False)))
        columns = self.context.query(Sample).columns()
        expected = list(zip(*(columns[name].to_list() for name in NAMES)))
        frame = polars.DataFrame(columns)
        self.context.rollback()
        for each in (columns, columns.batches(7), frame, pyarrow.table(columns)):
            self.assertEqual(self.stored(each), expected)

    def test_columns_of_numpy(self):
        found = self.stored({
            "place": numpy.arange(3, dtype="i2"), "flag": numpy.array([True, False, True]),
            "real": numpy.array([0.5, 1, 2], dtype="f4"),
            "moment": numpy.array(["2020-01-01", "2020-01-02", "2021-05-05T01:02:03.000004"], "M8[ns]"),
        }, ["place", "flag", "real", "moment"])
        utc = timezone.utc
        self.assertEqual(found, [
            (0, True, 0.5, datetime(2020, 1, 1, tzinfo=utc)),
            (1, False, 1.0, datetime(2020, 1, 2, tzinfo=utc)),
            (2, True, 2.0, datetime(2021, 5, 5, 1, 2, 3, 4, tzinfo=utc))])
        sample = Sample(place=numpy.int64(1), flag=numpy.bool_(True), moment=numpy.datetime64("2020-01-01"))
        self.assertIs(sample.flag, True)
        self.assertEqual(sample.moment, datetime(2020, 1, 1, tzinfo=utc))
        listed = self.stored({"place": [1], "flag": [numpy.bool_(False)]}, ["flag"])
        self.assertEqual(listed, [(False,)])

    def test_columns_of_other_libraries(self):
        found = self.stored({
            Sample.place: polars.Series([1, 2]), "text": pandas.Series(["a", None]),
            "moment": pyarrow.array([date(2020, 2, 3), None])}, ["place", "text", "moment"])
        self.assertEqual(found, [(1, "a", datetime(2020, 2, 3, tzinfo=timezone.utc)), (2, None, None)])
        frame = pandas.DataFrame({"place": [1, 2], "real": [0.5, None], "text": ["a", None]})
        self.assertEqual(self.stored(frame, ["place", "real", "text"]), [(1, 0.5, "a"), (2, None, None)])

    def test_nan_for_none_says_so(self):
        for name, column in {
            "real": [1.0, math.nan], "single": [math.nan, 1.0], "text": ["a", math.nan], "whole": [1, math.nan],
            "flag": [True, math.nan], "moment": [datetime.now(timezone.utc), pandas.NaT],
            "amount": [Decimal(1), math.nan], "key": [UUID(int=1), math.nan],
        }.items():
            with self.subTest(name=name), self.assertRaises(quire.Error) as caught:
                self.context.insert_many(Sample, {"place": [1, 2], name: column})
            self.assertRegex(str(caught.exception), f"(?i)row {0 if name == 'single' else 1}.*(nan|nat).*ive None")
            self.assertEqual((caught.exception.key, self.context.query(Sample).count()), (name, 0))
        with self.assertRaisesRegex(quire.InvalidArgument, "NaN.*Give None"):
            self.context.insert_many(Sample, {"place": [1], "real": numpy.array([numpy.nan])})

    def test_what_does_not_fit_is_refused(self):
        for columns, message in (
            (polars.DataFrame({"zz": [1]}), "no property 'zz'"),
            (polars.DataFrame({"place": ["x"]}), "Row 0.*place expects int, not str"),
            (polars.DataFrame({"place": [[1]]}), "column 'place' has the type '\\+"),
            (polars.Series([1]), "takes a table"),
            ({"place": polars.Series([[1]])}, "Sample.place.*type '\\+"),
            ({"place": polars.Series([timedelta(1)])}, "Sample.place.*type 'tD"),
            (pyarrow.table([[1], [2]], names=["place", "place"]), "several columns"),
            (polars.DataFrame({"place": [1, 2], "flag": [None, None], "whole": [2**63, 1]}), "whole.*64 bits"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(quire.Error, message):
                self.context.insert_many(Sample, columns)
            self.assertFalse(self.context.has_changes)

    def test_a_stream_that_fails_says_why(self):
        def batches():
            yield pyarrow.record_batch({"place": [1]})
            raise ValueError("the source is broken")

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"place": pyarrow.int64()}), batches())
        with self.assertRaisesRegex(quire.InvalidArgument, "the source is broken"):
            self.context.insert_many(Sample, reader)
        self.assertFalse(self.context.has_changes)


if __name__ == "__main__":
    unittest.main()
