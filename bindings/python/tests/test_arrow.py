"""Columns as Arrow arrays: pyarrow, polars, pandas and DuckDB read what Python reads, without a copy of numbers.

Needs these packages, and is skipped without.
"""

import gc
import random
import tempfile
import threading
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Optional
from uuid import UUID

import quire
from quire._c import _arrow
from support import seeds

try:
    import duckdb
    import numpy
    import pandas
    import polars
    import pyarrow
    MISSING = ""
except ImportError as missing:
    MISSING = f"skipped: columns as Arrow arrays: {missing}"
    print(MISSING, flush=True)


class Sample(quire.Model):
    place: quire.Attr[int]
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)
    whole: quire.Attr[Optional[int]] = quire.attr(default=None)
    single: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float)
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    moment: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    link: quire.Attr[Optional[str]] = quire.attr(default=None, type=quire.URI)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    key: quire.Attr[Optional[UUID]] = quire.attr(default=None)
    amount: quire.Attr[Optional[Decimal]] = quire.attr(default=None)


NAMES = [name for name in Sample.__annotations__]
PIECES = ["", "a", "é", "😀", "\u0301", "語", "\0", "\n", "ab" * 40]


def random_values(dice: random.Random, place: int, nil: float, has_nul: bool) -> dict[str, object]:
    pieces = PIECES if has_nul else [piece for piece in PIECES if piece != "\0"]
    values: dict[str, object] = {
        "flag": dice.random() < 0.5,
        "whole": dice.choice([0, -1, 2**63 - 1, -(2**63), dice.randrange(1000)]),
        "single": dice.choice([0.5, -2.25, float(dice.randrange(1000))]),
        "real": dice.choice([0.1, -1e300, 5e-324, dice.random()]),
        "moment": datetime(1, 1, 2, tzinfo=timezone.utc) + timedelta(
            seconds=dice.uniform(0, 3e11), microseconds=dice.randrange(1000000)),
        "text": "".join(dice.choices(pieces, k=dice.randrange(4))),
        "link": f"quire:{dice.randrange(1000)}",
        "data": dice.randbytes(dice.randrange(6)),
        "key": UUID(int=dice.getrandbits(128)),
        "amount": Decimal(dice.randrange(-10**9, 10**9)).scaleb(-dice.randrange(6)),
    }
    return {"place": place, **{name: None if dice.random() < nil else value for name, value in values.items()}}


@unittest.skipIf(MISSING, MISSING)
class ArrowTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = quire.open(Path(self.folder.name) / "arrow.sqlite", [Sample])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def fill(self, dice, count, nil=0.3, has_nul=False, saved=True):
        for place in range(count):
            self.context.add(Sample(**random_values(dice, place, nil, has_nul)))
        if saved:
            self.context.save()

    def test_random_columns_are_valid_and_equal(self):
        for seed in seeds(12):
            dice = random.Random(seed)
            count = dice.choice([0, 1, 2, 7, 8, 9, 64, 300, 700])
            with self.subTest(seed=seed, count=count):
                self.context.query(Sample).delete()
                self.fill(dice, count, dice.choice([0, 0.3, 0.9, 1]), dice.random() < 0.3, dice.random() < 0.7)
                query = self.context.query(Sample).order_by(Sample.place)
                if dice.random() < 0.5:
                    query = query.where("modulus:by:(place, 3) != 1")
                objects = query.all()
                columns = query.columns(*dice.sample(NAMES, k=dice.randrange(1, len(NAMES))))
                table = pyarrow.table(columns)
                table.validate(full=True)
                self.assertEqual(table.column_names, list(columns))
                for name in columns:
                    expected = [getattr(each, name) for each in objects]
                    self.assertEqual(table[name].to_pylist(), expected)
                    self.assertEqual(columns[name].to_list(), expected)
                    alone = pyarrow.array(columns[name])
                    alone.validate(full=True)
                    self.assertEqual(alone.to_pylist(), expected)
                for rows in (1, 3, 8, 1000):
                    batches = pyarrow.RecordBatchReader.from_stream(columns.batches(rows))
                    taken = pyarrow.Table.from_batches(list(batches), batches.schema)
                    taken.validate(full=True)
                    self.assertEqual(taken, table)
                frame = polars.DataFrame(columns)
                self.assertEqual(frame.shape, (len(objects), len(columns)))
                for name in set(columns) - {"key"}:
                    self.assertEqual(frame[name].to_list(), columns[name].to_list())
                self.assertEqual(len(pandas.DataFrame.from_arrow(columns)), len(objects))
                self.assertEqual(duckdb.sql("SELECT * FROM columns").fetchall(), list(zip(*(
                    columns[name].to_list() for name in columns))))

    def test_numbers_stay_where_they_are(self):
        self.fill(random.Random(1), 500, nil=0)
        columns = self.context.query(Sample).columns(Sample.whole, Sample.real)
        for name in columns:
            address = numpy.asarray(columns[name].data).__array_interface__["data"][0]
            frame, table = polars.DataFrame(columns), pyarrow.table(columns)
            self.assertEqual(frame[name].to_numpy().__array_interface__["data"][0], address)
            self.assertEqual(table[name].chunk(0).buffers()[1].address, address)
            batches = list(pyarrow.RecordBatchReader.from_stream(columns.batches(100)))
            self.assertEqual([each[name].buffers()[1].address for each in batches], [address] * 5)

    def test_arrays_outlive_their_store(self):
        self.fill(random.Random(2), 100)
        columns = self.context.query(Sample).columns()
        expected = {name: columns[name].to_list() for name in columns}
        table, frame = pyarrow.table(columns), polars.DataFrame(columns)
        reader = pyarrow.RecordBatchReader.from_stream(columns.batches(7))
        del columns
        self.store.close()
        gc.collect()
        table.validate(full=True)
        self.assertEqual(table.to_pydict(), expected)
        self.assertEqual(reader.read_all(), table)
        self.assertEqual(frame["text"].to_list(), expected["text"])

    def test_live_lists_and_queries_are_tables(self):
        self.fill(random.Random(3), 20)
        query = self.context.query(Sample).order_by("-place")
        live = query.live()
        self.context.add(Sample(place=99))
        self.context.process()
        self.assertEqual(pyarrow.table(live)["place"].to_pylist(), [99, *range(19, -1, -1)])
        self.assertEqual(pyarrow.table(query)["place"].to_pylist(), [99, *range(19, -1, -1)])
        window = live.columns(Sample.place, first=2, count=3)
        self.assertEqual(pyarrow.table(window).to_pydict(), {"place": [18, 17, 16]})
        self.assertEqual(pyarrow.schema(live), pyarrow.schema(query))
        grouped = self.context.query(Sample).group_by(Sample.flag).columns()
        self.assertEqual(pyarrow.table(grouped).column_names, ["flag"])

    def test_rows_of_a_range_with_gaps(self):
        """Many rows are read by a scan, which passes those that are deleted and what others wrote in between."""
        self.fill(random.Random(4), 1000)
        self.context.query(Sample).where("modulus:by:(place, 7) == 3").delete()
        self.context.query(Sample).where("modulus:by:(place, 5) == 1").update(text="changed")
        objects = self.context.query(Sample).all()
        objects[5].text = "pending"
        columns = self.context.query(Sample).where("modulus:by:(place, 2) == 0").columns(Sample.place, Sample.text)
        kept = [each for each in objects if each.place % 2 == 0]
        self.assertEqual(columns["place"].to_list(), [each.place for each in kept])
        self.assertEqual(columns["text"].to_list(), [each.text for each in kept])

    def test_decimals_that_no_type_holds_are_texts(self):
        for amount in (Decimal("1e-30"), Decimal("1e30")):
            self.context.add(Sample(place=0, amount=amount))
        table = pyarrow.table(self.context.query(Sample).columns(Sample.amount))
        self.assertEqual(table.schema.field("amount").type, pyarrow.large_string())
        self.assertEqual([Decimal(each) for each in table["amount"].to_pylist()], [Decimal("1e-30"), Decimal("1e30")])

    def test_a_date_beyond_timestamps_is_an_error(self):
        self.context.add(Sample(place=0, moment=1e14))
        columns = self.context.query(Sample).columns(Sample.moment)
        with self.assertRaisesRegex(quire.InvalidArgument, "date in row 0 of 'moment'"):
            pyarrow.table(columns)

    def test_what_no_consumer_took_is_released(self):
        self.fill(random.Random(5), 10)
        columns = self.context.query(Sample).columns()
        _arrow.sweep()
        before = len(_arrow._lent)
        capsule = columns.__arrow_c_stream__()
        _arrow.sweep()
        self.assertEqual(len(_arrow._lent), before + 1)
        del capsule
        both = columns["place"].__arrow_c_array__()
        self.assertEqual(len(_arrow._lent), before + 2)
        del both
        _arrow.sweep()
        self.assertEqual(len(_arrow._lent), before)

    def test_threads_take_the_same_columns(self):
        self.fill(random.Random(6), 200)
        columns = self.context.query(Sample).columns()
        expected = pyarrow.table(columns)
        wrong = []

        def take():
            for _ in range(50):
                if pyarrow.RecordBatchReader.from_stream(columns.batches(64)).read_all() != expected:
                    wrong.append(True)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
