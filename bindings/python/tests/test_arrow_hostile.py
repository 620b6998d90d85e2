"""Arrow arrays as they may come: slices, odd types, streams that fail, memory that is given back once.

Needs pyarrow, polars, pandas and numpy, and is skipped without.
"""

import ctypes
import gc
import random
import unittest
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Optional
from unittest import mock

import quire
from quire._c import _arrow
from test_arrow import MISSING, Sample
from test_conversions import Color, Shirt, random_values as shirt_values

if not MISSING:
    import numpy
    import pandas
    import polars
    import pyarrow

UTC = timezone.utc


class Narrow(quire.Model):
    place: quire.Attr[int]
    whole: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer16)
    needed: quire.Attr[str] = quire.attr(default="")


class Watched:
    """A stream that counts how often it and its arrays are released, and may fail before an array."""

    def __init__(self, reader, fails_before=None):
        self.released, self.given, self.rows = 0, 0, 0
        self._fails_before = fails_before
        self._inner = _arrow.ArrowArrayStream()
        reader._export_to_c(ctypes.addressof(self._inner))
        self._message = ctypes.create_string_buffer(b"the disk is wet")
        self._say = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self._said)
        fields = dict(_arrow.ArrowArrayStream._fields_)
        self._struct = _arrow.ArrowArrayStream(
            fields["get_schema"](self._schema), fields["get_next"](self._next),
            ctypes.cast(self._say, fields["get_last_error"]), _arrow.Release(self._release), None)
        self._kept = []
        self.arrays_released = []

    def __arrow_c_stream__(self, requested_schema=None):
        return _arrow._new_capsule(ctypes.addressof(self._struct), _arrow.STREAM, None)

    def _schema(self, _, out):
        return self._inner.get_schema(ctypes.addressof(self._inner), out)

    def _next(self, _, out):
        if self.given == self._fails_before:
            return 5
        code = self._inner.get_next(ctypes.addressof(self._inner), out)
        array = _arrow.ArrowArray.from_address(out)
        if array.release:
            place, inner = self.given, ctypes.cast(array.release, ctypes.c_void_p).value
            self.given += 1
            self.arrays_released.append(0)

            def release(address):
                self.arrays_released[place] += 1
                _arrow.Release(inner)(address)

            self._kept.append(_arrow.Release(release))
            array.release = self._kept[-1]
        return code

    def _said(self, _):
        return ctypes.addressof(self._message)

    def _release(self, address):
        self.released += 1
        self._inner.release(ctypes.addressof(self._inner))
        _arrow.ArrowArrayStream.from_address(address).release = _arrow.Release()


@unittest.skipIf(MISSING, MISSING)
class ArrowHostileTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Sample, Narrow])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def stored(self, columns, *names, model=Sample):
        """What is there after an insertion, in the order of the rows."""
        self.context.insert_rows(model, columns)
        found = self.context.query(model).order_by("place").values(*names)
        self.context.query(model).delete()
        return [row[0] for row in found] if len(names) == 1 else found

    def refused(self, columns, pattern, model=Sample, error=quire.Error):
        """The error of an insertion, of which nothing stays."""
        for insert in (self.context.insert_rows, self.context.insert_many):
            with self.assertRaisesRegex(error, pattern) as caught:
                insert(model, columns)
            self.assertEqual(self.context.query(model).count(), 0)
            self.assertFalse(self.context.has_changes)
        return caught.exception

    def test_slices_begin_anywhere(self):
        texts = [None if place % 3 == 1 else "é" * place for place in range(40)]
        flags = [None if place % 5 == 1 else place % 2 == 0 for place in range(40)]
        moments = [None if place % 4 == 1 else datetime(1969, 12, 31, 23, 59, place, tzinfo=UTC) for place in range(40)]
        table = pyarrow.table({
            "place": pyarrow.array(range(40), pyarrow.int16()), "text": pyarrow.array(texts, pyarrow.large_string()),
            "flag": flags, "moment": pyarrow.array(moments, pyarrow.timestamp("us", "UTC"))})
        views = table.set_column(1, "text", table["text"].cast(pyarrow.string_view()))
        for source in (table, views):
            for first, count in ((0, 40), (1, 7), (7, 9), (9, 31), (39, 1), (3, 0)):
                part = source.slice(first, count)
                found = self.stored(part, "text", "flag", "moment")
                rows = slice(first, first + count)
                self.assertEqual(found, list(zip(texts[rows], flags[rows], moments[rows])))
                # The offset of a struct counts for what is in it.
                for batch in part.to_batches():
                    whole = pyarrow.RecordBatch.from_struct_array(batch.to_struct_array()[2:])
                    self.assertEqual(self.stored(whole, "text", "flag", "moment"), found[2:])

    def test_nothing_at_all(self):
        schema = pyarrow.schema({"place": pyarrow.int64(), "text": pyarrow.string(), "data": pyarrow.binary_view()})
        for source in (
                schema.empty_table(), pyarrow.RecordBatchReader.from_batches(schema, []),
                polars.DataFrame({"place": [], "text": []}, schema={"place": polars.Int64, "text": polars.String})):
            self.assertEqual(self.stored(source, "text"), [])
        nothing = {"place": [1, 2], "whole": pyarrow.nulls(2), "text": pyarrow.array(["", ""])}
        self.assertEqual(self.stored(nothing, "whole", "text"), [(None, ""), (None, "")])
        self.assertEqual(
            self.stored(pyarrow.table({"place": [1, 2], "data": pyarrow.array([b"", b""])}), "data"), [b"", b""])

    def test_dictionaries(self):
        words = pyarrow.array(["a", None, "c" * 20])
        encoded = pyarrow.DictionaryArray.from_arrays(pyarrow.array([2, None, 1, 0, 2], pyarrow.uint8()), words)
        expected = ["c" * 20, None, None, "a", "c" * 20]
        table = pyarrow.table({"place": range(5), "text": encoded})
        self.assertEqual(self.stored(table, "text"), expected)
        self.assertEqual(self.stored(table.slice(1, 3), "text"), expected[1:4])
        frame = polars.DataFrame({"place": [0, 1], "text": polars.Series(["x", "y"], dtype=polars.Categorical)})
        self.assertEqual(self.stored(frame, "text"), ["x", "y"])
        both = pandas.DataFrame({"place": [0, 1], "text": pandas.Categorical(["x", None])})
        self.assertEqual(self.stored(both, "text"), ["x", None])

    def test_types_of_which_no_attribute_is(self):
        for kind, values in {
            pyarrow.list_(pyarrow.int64()): [[1], None], pyarrow.struct({"a": pyarrow.int64()}): [{"a": 1}, None],
            pyarrow.map_(pyarrow.string(), pyarrow.int64()): [[("a", 1)], None],
            pyarrow.duration("us"): [timedelta(1), None], pyarrow.month_day_nano_interval(): [None, None],
            pyarrow.run_end_encoded(pyarrow.int32(), pyarrow.int64()): None,
        }.items():
            column = (
                pyarrow.array(values, kind) if values is not None else
                pyarrow.RunEndEncodedArray.from_arrays([2], [7]))
            error = self.refused(pyarrow.table({"place": [1, 2], "whole": column}), "'whole'.*Arrow's format.*Cast it")
            self.assertIsInstance(error, quire.WrongType)
            self.refused({"place": [1, 2], "whole": column}, "Sample.whole.*Arrow's format")
        self.refused(pyarrow.table({"place": [1], "wrong": [1]}), "wrong")
        self.refused(pyarrow.table([[1], [2]], ["place", "place"]), "several columns.*'place'")
        self.refused(pyarrow.array([1, 2]), "takes a table")
        self.refused(pyarrow.array([{"place": 1}, None]), "null as a whole")

    def test_values_that_do_not_fit(self):
        place = pyarrow.array([1, 2, 3])
        for column, name, row in (
            (pyarrow.array([1, 2, 2**63], pyarrow.uint64()), "whole", 2),
            (polars.Series([1, 2**64 - 1, 0], dtype=polars.UInt64), "whole", 1),
            (pyarrow.array([1.0, 2.0, float("nan")]), "real", 2),
            (pyarrow.array(["a", "b", "c"]), "whole", 0),
            (pyarrow.array([1, 2, 3]), "text", 0),
        ):
            with self.subTest(name=name, column=column):
                error = self.refused({"place": place, name: column}, f"(?i)row {row}")
                self.assertEqual((error.key, error.row), (name, row))
        # pandas makes floats of whole numbers with gaps.
        frame = pandas.DataFrame({"place": [1, 2], "whole": [1, None]})
        for source in (frame, dict(frame), {"place": [1, 2], "whole": frame["whole"].to_numpy()}):
            error = self.refused(source, "Row 0.*whole expects int, not float.*some are missing.*astype.*Int64")
            self.assertEqual((error.key, error.row), ("whole", 0))
        frame["whole"] = frame["whole"].astype("Int64")
        for source in (frame, dict(frame)):
            self.assertEqual(self.stored(source, "whole"), [1, None])
        for wide, row in ((pyarrow.int64(), 1), (pyarrow.int32(), 1), (pyarrow.uint16(), 1)):
            values = pyarrow.array([32767, 32768], wide)
            error = self.refused(
                pyarrow.table({"place": [1, 2], "whole": values}), "16 bits|Integer 16|32,?767|does not fit", Narrow)
            self.assertEqual((error.key, error.row), ("whole", row))
        self.assertEqual(
            self.stored(pyarrow.table({"place": [1, 2], "whole": pyarrow.array([-32768, None], pyarrow.int64())}),
                        "whole", model=Narrow), [-32768, None])
        # Whatever stands where there is no value.
        hidden = pyarrow.Array.from_buffers(
            pyarrow.int64(), 2,
            [pyarrow.py_buffer(b"\1"), pyarrow.py_buffer(b"\7" + bytes(7) + b"\xff\xff\xff" + bytes(5))])
        self.assertEqual(
            self.stored({"place": [1, 2], "whole": hidden}, "whole", model=Narrow), [7, None])
        error = self.refused(pyarrow.table({"place": [1, 2], "needed": ["a", None]}), "needed", Narrow)
        self.assertEqual((error.key, error.row), ("needed", 1))

    def test_values_of_a_program_come_in_the_form_of_the_store(self):
        with quire.open(":memory:", [Shirt]) as store:
            dice = random.Random(3)
            for _ in range(50):
                store.context.add(Shirt(**shirt_values(dice)))
            store.context.save()
            query = store.context.query(Shirt)
            expected, columns = query.values(), query.columns()
            for source in (columns, polars.DataFrame(columns), pyarrow.table(columns)):
                store.context.query(Shirt).delete()
                store.context.insert_rows(Shirt, source)
                self.assertEqual(query.values(), expected)
            days = pyarrow.table({"color": ["red"], "made": [date(2024, 2, 3)], "packed_at": [time(1, 2, 3)]})
            store.context.query(Shirt).delete()
            store.context.insert_rows(Shirt, days)
            self.assertEqual(query.values(Shirt.made, Shirt.packed_at), [(date(2024, 2, 3), time(1, 2, 3))])
            for name, value in (("color", "green"), ("size", 7), ("packed_at", -1), ("extra", "{"), ("price", "a")):
                table = pyarrow.table({"color": ["red", "red"], name: [None, value]})
                if name == "color":
                    table = pyarrow.table({"color": ["red", value]})
                with self.assertRaisesRegex(quire.Error, f"Row 1.*Shirt.{name}") as caught:
                    store.context.insert_many(Shirt, table)
                self.assertEqual((caught.exception.key, caught.exception.row), (name, 1))

    def test_moments_of_every_unit(self):
        for unit, step in {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}.items():
            for zone in (None, "UTC", "Asia/Kolkata"):
                numbers = pyarrow.array([-1, 0, None, 5 * step], pyarrow.int64())
                column = numbers.cast(pyarrow.timestamp(unit, zone))
                first = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=max(-(10**6) // step, -(10**6)))
                self.assertEqual(
                    self.stored(pyarrow.table({"place": range(4), "moment": column}), "moment"),
                    [first, datetime(1970, 1, 1, tzinfo=UTC), None, datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)])
        far = pyarrow.array([2**62], pyarrow.timestamp("us"))
        self.assertEqual(
            self.stored(pyarrow.table({"place": [0], "moment": far}), "moment"), [2**62 / 1000000 - 978307200])
        days = pyarrow.array([18262, None], pyarrow.date32())
        self.assertEqual(
            self.stored(pyarrow.table({"place": [0, 1], "moment": days}), "moment"),
            [datetime(2020, 1, 1, tzinfo=UTC), None])

    def test_days_and_times_that_python_does_not_have(self):
        days = [2**31 - 1, None, -(2**31), 18262]
        self.assertEqual(
            self.stored({"place": range(4), "moment": pyarrow.array(days, pyarrow.date32())}, "moment"),
            [days[0] * 86400 - 978307200, None, days[2] * 86400 - 978307200, datetime(2020, 1, 1, tzinfo=UTC)])
        far = pyarrow.array([0, 2**62 // 86400000 * 86400000], pyarrow.int64()).cast(pyarrow.date64())
        self.assertEqual(
            self.stored({"place": range(2), "moment": far}, "moment"),
            [datetime(1970, 1, 1, tzinfo=UTC), 2**62 // 86400000 * 86400 - 978307200])
        times = pyarrow.array([1, None, 2**62, -1, 86400000000], pyarrow.int64())
        with quire.open(":memory:", [Shirt]) as store:
            for first, count, row in ((0, 5, 2), (3, 1, 0), (4, 1, 0), (1, 3, 1)):
                chunks = pyarrow.chunked_array([times.slice(first, 1), times.slice(first + 1, count - 1)])
                table = pyarrow.table({
                    "color": ["red"] * count, "packed_at": chunks.cast(pyarrow.time64("us"), safe=False)})
                with self.assertRaisesRegex(quire.InvalidArgument, f"Row {row},.*'packed_at'.*a day") as caught:
                    store.context.insert_rows(Shirt, table)
                self.assertEqual((caught.exception.key, caught.exception.row), ("packed_at", row))
            table = pyarrow.table({"color": ["red"] * 2, "made": pyarrow.array(days[1:3], pyarrow.date32())})
            with self.assertRaisesRegex(quire.InvalidArgument, "Row 1,.*Shirt.made.*1 to 9999") as caught:
                store.context.insert_rows(Shirt, table)
            self.assertEqual((caught.exception.key, caught.exception.row), ("made", 1))

    def test_what_a_day_or_a_time_would_lose_is_refused(self):
        hour = datetime(2026, 1, 2, 3, tzinfo=UTC)
        midnight = datetime(2026, 1, 2, tzinfo=UTC)
        zoned = pyarrow.timestamp("s", "Europe/Berlin")
        moments = "Row 1, counted from 0: Shirt.made: 2026-01-02T03:00:00\\+00:00 .*within a day.*cast .* date32"
        for name, column, message in (
            ("made", pyarrow.array([midnight, hour], pyarrow.timestamp("us")), moments),
            ("made", pyarrow.array([None, hour], pyarrow.timestamp("ns", "UTC")), moments),
            # A day that begins in Berlin is within one of UTC.
            ("made", pyarrow.array([None, datetime(2026, 1, 1, 23, tzinfo=UTC)], zoned), "2026-01-01T23.*within a day"),
            ("made", polars.Series([midnight, hour]), moments),
            ("made", pyarrow.array([86400000, 1], pyarrow.int64()).cast(pyarrow.date64()),
             "Row 1.*date64 is a moment within a day"),
            ("made", pyarrow.array(["2026-01-02"] * 2), "Row 0.*Shirt.made: .*it is no date"),
            ("packed_at", pyarrow.array([1.0, 1.5]), "Row 1.*Shirt.packed_at: 1.5.*no whole number of microseconds"),
            ("packed_at", pyarrow.array([Decimal("1"), Decimal("0.1")]), "Row 0.*packed_at: Decimal.*no whole number"),
            ("packed_at", pyarrow.array([None, "01:00"]), "Row 1.*Shirt.packed_at.*no whole number"),
        ):
            table = pyarrow.table({"color": ["red"] * 2, name: column})
            for given in (table, {"color": [Color.RED] * 2, name: column}):
                with self.subTest(message=message), quire.open(":memory:", [Shirt]) as store:
                    for insert in (store.context.insert_rows, store.context.insert_many):
                        with self.assertRaisesRegex(quire.InvalidArgument, message) as caught:
                            insert(Shirt, given)
                        self.assertEqual((caught.exception.key, store.context.query(Shirt).count()), (name, 0))
        with quire.open(":memory:", [Shirt]) as store:
            table = pyarrow.table({
                "color": ["red"] * 2, "made": pyarrow.array([midnight, None], pyarrow.timestamp("ns")),
                "packed_at": [5.0, None]})
            store.context.insert_rows(Shirt, table)
            self.assertEqual(store.context.query(Shirt).values("made", "packed_at"), [
                (date(2026, 1, 2), time(0, 0, 0, 5)), (None, None)])

    def test_text_that_is_no_text(self):
        invalid = pyarrow.array([b"fine", b"\xff\xfe", b"\xc3"])
        for kind in (pyarrow.string(), pyarrow.large_string()):
            texts = pyarrow.Array.from_buffers(pyarrow.string(), 3, invalid.buffers())
            for column in (texts, pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), texts)):
                self.refused(pyarrow.table({"place": [1, 2, 3], "text": column}), "(?i)utf-8", error=quire.InvalidText)

    def test_a_stream_that_fails_leaves_nothing(self):
        def batches():
            yield pyarrow.record_batch({"place": [1, 2]})
            raise OSError("the line is cut")

        schema = pyarrow.schema({"place": pyarrow.int64()})
        for insert in (self.context.insert_rows, self.context.insert_many):
            with self.assertRaisesRegex(quire.InvalidArgument, "stream failed.*the line is cut"):
                insert(Sample, pyarrow.RecordBatchReader.from_batches(schema, batches()))
        self.assertEqual(self.context.query(Sample).count(), 0)

    def test_all_is_released_once(self):
        table = pyarrow.table({"place": range(20), "text": [str(place) * 9 for place in range(20)]})
        wrong = pyarrow.table({"place": range(20), "text": range(20)})
        for source, fails_before in ((table, None), (table, 0), (table, 2), (wrong, None)):
            for insert in (self.context.insert_rows, self.context.insert_many):
                watched = Watched(
                    pyarrow.RecordBatchReader.from_batches(source.schema, source.to_batches(7)), fails_before)
                try:
                    insert(Sample, watched)
                except quire.Error as error:
                    self.assertTrue("wet" in str(error) or source is wrong)
                gc.collect()
                self.assertEqual(watched.released, 1)
                self.assertEqual(watched.arrays_released, [1] * (3 if fails_before is None else fails_before))
                with self.assertRaisesRegex(quire.InvalidArgument, "used already"):
                    insert(Sample, watched)
                self.assertEqual(watched.released, 1)
                self.context.save()
        self.assertEqual(self.context.query(Sample).count(), 40)

    def test_slices_read_no_more_than_the_whole(self):
        values = pyarrow.table({
            "place": range(9000), "flag": [None if place % 9 == 4 else place % 2 == 0 for place in range(9000)],
            "text": pyarrow.array([f"{place} is longer than a view" if place % 5 else None for place in range(9000)])})
        amounts = [format(place, "030") for place in range(9000)]
        for table in (
                values, values.set_column(2, "text", values["text"].cast(pyarrow.string_view())),
                # Of this type, values are read one by one.
                values.append_column("key", pyarrow.array(amounts, pyarrow.binary_view()))):
            sizes = []
            for batch in (9000, 100):
                with mock.patch.object(ctypes, "string_at", side_effect=ctypes.string_at) as read:
                    source = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(batch))
                    try:
                        self.context.insert_rows(Sample, source)
                    except quire.Error as error:
                        self.assertIn("Sample.key", str(error))
                sizes.append(sum(call.args[1] for call in read.call_args_list))
            self.assertLess(sizes[1], 1.2 * sizes[0])

    def test_many_batches_share_what_is_long(self):
        texts = [f"{place} " + "long " * 10 for place in range(5000)]
        table = pyarrow.table({"place": range(5000), "text": pyarrow.array(texts).cast(pyarrow.string_view())})
        small = pyarrow.Table.from_batches(table.to_batches(max_chunksize=3))
        self.assertEqual(self.stored(small, "text"), texts)


if __name__ == "__main__":
    unittest.main()
