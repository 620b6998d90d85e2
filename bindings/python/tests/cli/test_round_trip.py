"""Export and import of a whole store, with its relationships: the new store has the same."""

from __future__ import annotations

import enum
import io
import math
import os
import random
import sqlite3
import struct
import unittest
import unittest.mock
from collections.abc import Iterable
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional, Union
from uuid import UUID

import quire

from .command import HAS_ARROW, CommandTestCase

FIRST = datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc)


class Country(quire.Model):
    code: quire.Attr[str]
    areas: quire.ToMany["Area"] = quire.relation(inverse="country")
    __unique__ = ["code"]


class Area(quire.Model):
    """Known by two attributes; mandatory for a shop; leads to its own kind."""

    name: quire.Attr[str]
    number: quire.Attr[int]
    country: quire.ToOne[Country] = quire.relation(inverse="areas")
    above: quire.ToOne[Optional["Area"]] = quire.relation(inverse="below")
    below: quire.ToMany["Area"] = quire.relation(inverse="above")
    shops: quire.ToMany["Shop"] = quire.relation(inverse="area")
    __unique__ = [("name", "number")]


class Label(quire.Model):
    word: quire.Attr[str]
    shops: quire.ToMany["Shop"] = quire.relation(inverse="labels")
    __unique__ = ["word"]


class Shop(quire.Model):
    """Relationships of every kind, and values of every type."""

    key: quire.Attr[UUID]
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    whole: quire.Attr[Optional[int]] = quire.attr(default=None)
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    exact: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    open: quire.Attr[Optional[bool]] = quire.attr(default=None)
    since: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    picture: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    area: quire.ToOne[Area] = quire.relation(inverse="shops")
    labels: quire.ToMany[Label] = quire.relation(inverse="shops")
    goods: quire.ToMany["Good"] = quire.relation(inverse="shops", ordered=True)
    partner: quire.ToOne[Optional["Shop"]] = quire.relation(inverse="partner")
    sign: quire.ToOne[Optional["Sign"]] = quire.relation(inverse="shop")
    __unique__ = ["key"]


class Bakery(Shop):
    ovens: quire.Attr[int] = quire.attr(default=1)


class Good(quire.Model):
    name: quire.Attr[str]
    shops: quire.ToMany[Shop] = quire.relation(inverse="goods")
    __unique__ = ["name"]


class Sign(quire.Model):
    """Nothing of it is unique, so a shop is named here."""

    colour: quire.Attr[str]
    shop: quire.ToOne[Optional[Shop]] = quire.relation(inverse="sign")


MODELS = [Country, Area, Label, Shop, Bakery, Good, Sign]
# What a row leads to comes before it.
ORDER = ["Country", "Area", "Good", "Shop", "Bakery", "Label", "Sign"]
SHOPS = 40


def make(path: str) -> None:
    with quire.open(path, MODELS) as store, store.context.transaction() as context:
        countries = [context.add(Country(code=code)) for code in ("DE", "SE")]
        areas = [
            context.add(Area(name=f"Area {n // 2}", number=n % 2, country=countries[n % 2])) for n in range(6)]
        for place, area in enumerate(areas):
            # Most lead to rows that come later.
            area.above = areas[(place + 1) % 6] if place != 2 else None
        labels = [context.add(Label(word=word)) for word in ("new", "old, \"very\"", "東京\n\x1b")]
        goods = [context.add(Good(name=f"Good {n}")) for n in range(5)]
        shops: list[Shop] = []
        for n in range(SHOPS):
            kind = Bakery if n % 4 == 3 else Shop
            shop = context.add(kind(key=UUID(int=n + 1), area=areas[n % 6]))
            if n % 3:
                shop.text, shop.whole, shop.real = f"text {n}", 2**62 + n, n / 7
                shop.exact, shop.open, shop.since = Decimal(n) / 8, n % 2 == 0, FIRST + timedelta(days=n * 0.7)
                shop.picture = os.urandom(n * 10)
            shop.labels = labels[: n % 4]
            shop.goods = [goods[(n * 3 + step * 2) % 5] for step in range(n % 5)]
            shops.append(shop)
        for n in range(0, 20, 2):
            shops[n].partner = shops[n + 1]
            shops[n + 1].partner = shops[n]
        for n in range(0, 30, 3):
            context.add(Sign(colour=f"colour {n % 2}", shop=shops[n]))


def contents(path: str) -> dict[str, list[Any]]:
    """All that a store has, by what is unique and not by ids."""
    with quire.open(path, MODELS, read_only=True) as store:
        every = {kind.__name__: store.context.query(kind).excluding_subentities().all() for kind in MODELS}
        return {name: sorted((described(each) for each in found), key=repr) for name, found in every.items()}


def described(instance: Any, follows: bool = True) -> Any:
    if instance is None:
        return None
    found: list[Any] = [type(instance).__name__]
    for name, each in sorted(type(instance)._quire_entity.properties.items()):
        if isinstance(each, quire.Attr):
            found.append((name, getattr(instance, name)))
        elif follows:
            value = getattr(instance, name)
            if isinstance(each, quire.ToMany):
                members = [described(member, False) for member in value]
                found.append((name, members if name == "goods" else sorted(members, key=repr)))
            else:
                found.append((name, described(value, False)))
    return found


class RoundTripTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.made = self.place("made.sqlite")
        make(self.made)

    def move(self, ending: str, *options: str) -> str:
        """Every entity into a file, and from there into a new store."""
        other = self.place("other.sqlite")
        for name in ORDER:
            out = self.place(f"{name}{ending}")
            self.succeed("export", self.made, name, out, "--relationships", "--own", *options)
            first = list(self.headings(out)) if name == "Shop" else []
            columns = ["--columns", ",".join(each for each in first if each != "partner.key")] if first else []
            self.succeed("import", other, name, out, "--model", self.made, *options, *columns)
        # Shops lead to bakeries, which come from the next file.
        out = self.place(f"Shop{ending}")
        self.succeed("import", other, "Shop", out, "--upsert", "--columns", "key,partner.key", *options)
        return other

    def headings(self, path: str) -> list[str]:
        from quire.cli.exporting import format_of
        from quire.cli.sources import open_source

        with open_source(path, format_of(None, path), "") as source:
            return source.names

    def test_json_lines(self) -> None:
        self.assertEqual(contents(self.move(".jsonl")), contents(self.made))

    def test_csv(self) -> None:
        self.assertEqual(contents(self.move(".csv", "--null", "NULL")), contents(self.made))

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_parquet(self) -> None:
        self.assertEqual(contents(self.move(".parquet")), contents(self.made))

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_arrow(self) -> None:
        self.assertEqual(contents(self.move(".arrow")), contents(self.made))

    def test_a_second_import_updates_and_changes_nothing(self) -> None:
        other = self.move(".jsonl")
        for name in ORDER[:-1]:
            self.succeed("import", other, name, self.place(f"{name}.jsonl"), "--upsert")
        self.assertEqual(contents(other), contents(self.made))
        self.succeed("check", other)


class Mood(enum.Enum):
    CALM = "calm"
    WILD = "wild 🌊"


class Sample(quire.Model):
    """An attribute of every type, and of every form that a program can have them in."""

    number: quire.Attr[int]
    whole16: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer16)
    whole32: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer32)
    whole64: quire.Attr[Optional[int]] = quire.attr(default=None)
    double: quire.Attr[Optional[float]] = quire.attr(default=None)
    single: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    exact: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    link: quire.Attr[Optional[str]] = quire.attr(default=None, type=quire.URI)
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)
    moment: quire.Attr[Union[datetime, float, None]] = quire.attr(default=None)
    day: quire.Attr[Optional[date]] = quire.attr(default=None)
    clock: quire.Attr[Optional[time]] = quire.attr(default=None)
    key: quire.Attr[Optional[UUID]] = quire.attr(default=None)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    coded: quire.Attr[Optional[bytes]] = quire.attr(default=None, type=quire.Transformable)
    mood: quire.Attr[Optional[Mood]] = quire.attr(default=None)
    other: quire.ToOne[Optional["Sample"]] = quire.relation(inverse="other")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type, misc]


RANDOM = random.Random(70)
# Dates beyond the years 1 to 9999, as seconds since 2001.
FAR: list[Any] = [1e15, -1e15, 1e300, math.inf, -math.inf]
VALUES: dict[str, list[Any]] = {
    "whole16": [-(2**15), 2**15 - 1, 0],
    "whole32": [-(2**31), 2**31 - 1, 0],
    "whole64": [-(2**63), 2**63 - 1, 2**53 + 1],
    "double": [-0.0, 0.1, 1 / 3, 123456789012345.6, 5e-324, -1.7976931348623157e308, math.inf, -math.inf],
    "single": [-0.0, 0.5, 0.1, 3.4028234e38, 1e-45, math.inf, -math.inf],
    "price": [Decimal("19.99"), *(Decimal(RANDOM.randint(-999999, 999999)) / 100 for _ in range(2000))],
    "exact": [
        Decimal("999999999999999"), Decimal("-0.000000000000001"), Decimal("-0.0"), Decimal("1e100"), Decimal("1e-100"),
        *(Decimal(RANDOM.randint(-(10**15), 10**15)).scaleb(RANDOM.randint(-20, 0)) for _ in range(500))],
    "text": [
        "", " ", "NULL", "nil", "nan", "0", '"quoted", and\r\nlines\n', "\t\x01\x1b\x7f", "\ufeffmark", "a\0b",
        "\u2028\u200e", "é", "e\u0301", "😀 👩\u200d👩\u200d👧 🇸🇪"],
    "link": ["", "https://example.org/?a=b&c=%20#d", "urn:x"],
    "flag": [True, False],
    "moment": [
        utc(1, 1, 1), utc(9999, 12, 31, 23, 59, 59), utc(1582, 10, 4), utc(1883, 11, 18, 12, 3, 58),
        utc(1969, 12, 31, 23, 59, 59, 999999), utc(2001, 1, 1), utc(2026, 3, 29, 1, 30, 0, 1),
        datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
        datetime(1900, 1, 1, tzinfo=timezone(-timedelta(hours=11, minutes=30, seconds=20)))],
    "day": [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)],
    "clock": [time(0), time(23, 59, 59, 999999)],
    "key": [UUID(int=0), UUID(int=2**128 - 1), UUID("12345678-90ab-cdef-1234-567890abcdef")],
    "data": [b"", b"\0", bytes(range(256))],
    "coded": [b"", b"\xff\xfe"],
    "mood": [Mood.CALM, Mood.WILD],
}
TABLES = (".parquet", ".arrow", ".arrows") if HAS_ARROW else ()


def bits(value: Any) -> Any:
    """A value to compare exactly: a floating-point number by its bits. SQLite keeps -0.0 as 0.0."""
    return struct.pack("<d", value + 0.0) if isinstance(value, float) else value


class ValueTests(CommandTestCase):
    """Values of every type leave a store and come into another one as they were."""

    def setUp(self) -> None:
        super().setUp()
        self.made, self.empty = self.place("made.sqlite"), self.place("empty.sqlite")
        quire.open(self.empty, [Sample]).close()

    def make(self, values: dict[str, list[Any]]) -> None:
        count = max(map(len, values.values())) + 1
        with quire.open(self.made, [Sample]) as store:
            store.context.insert_rows(Sample, {"number": range(count), **{
                name: [*given, *[None] * (count - len(given))] for name, given in values.items()}})

    def contents(self, path: str, name: str) -> list[Any]:
        with quire.open(path, [Sample], read_only=True) as store:
            return [bits(value) for value, in store.context.query(Sample).order_by("number").values(name)]

    def move(self, ending: str, *names: str, options: tuple[str, ...] = ()) -> str:
        out, other = self.place(f"out{ending}"), self.place(f"other{ending}.sqlite")
        self.succeed("export", self.made, "Sample", out, "--columns", ",".join(("number", *names)), *options, "--force")
        self.succeed("import", other, "Sample", out, "--model", self.empty, *options)
        return other

    def check(self, endings: Iterable[str], *names: str, options: tuple[str, ...] = ()) -> None:
        for ending in endings:
            other = self.move(ending, *names, options=options)
            for name in names:
                with self.subTest(ending=ending, name=name):
                    self.assertEqual(self.contents(other, name), self.contents(self.made, name))
            quire.delete_store(other)

    def test_every_value_of_every_type_comes_back_bit_by_bit_from_each_format(self) -> None:
        self.make(VALUES)
        for name, given in VALUES.items():
            # The store has what was given, but that single precision rounds.
            if name != "single":
                self.assertEqual(self.contents(self.made, name)[: len(given)], [bits(value) for value in given])
        self.check((".csv", ".jsonl", *TABLES), *VALUES)
        self.check([".csv"], *VALUES, options=("--null", "NULL"))

    def test_dates_beyond_the_calendar_come_back_from_text(self) -> None:
        self.make({"moment": FAR})
        self.check((".csv", ".jsonl"), "moment")
        self.fail_with(
            5, "line 2, moment: 'nan' is no date in ISO 8601", "import", self.empty, "Sample",
            given="number,moment\n1,nan\n")

    def test_a_zone_may_lead_beyond_the_calendar(self) -> None:
        self.succeed(
            "import", self.empty, "Sample",
            given="number,moment\n1,0001-01-01T00:00:00+00:01\n2,9999-12-31T23:59:59-00:01\n")
        calendar = [(each - utc(2001, 1, 1)).total_seconds() for each in (utc(1, 1, 1), utc(9999, 12, 31, 23, 59, 59))]
        self.assertEqual(
            self.contents(self.empty, "moment"), [bits(calendar[0] - 60), bits(calendar[1] + 60)])

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_prices_in_tables_are_the_doubles_of_the_store(self) -> None:
        import pyarrow
        import pyarrow.parquet

        self.make({"price": VALUES["price"], "exact": VALUES["exact"]})
        with closing(sqlite3.connect(self.made)) as file:
            kept = file.execute("SELECT ZPRICE, ZEXACT FROM ZSAMPLE ORDER BY ZNUMBER").fetchall()
        columns = "--columns", "price,exact"
        out = self.place("prices.parquet")
        self.succeed("export", self.made, "Sample", out, *columns, "--sort", "number")
        stream = io.BytesIO()
        with unittest.mock.patch("quire.cli.querying.binary_output", lambda: stream):
            self.succeed("query", self.made, "Sample", *columns, "--sort", "number", "--format", "arrow")
        for table in (
            pyarrow.parquet.read_table(out), pyarrow.ipc.open_stream(stream.getvalue()).read_all(),
        ):
            self.assertEqual([str(each) for each in table.schema.types], ["double", "double"])
            self.assertEqual(list(zip(*(table[name].to_pylist() for name in ("price", "exact")))), kept)

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_days_times_and_moments_of_tables_are_dates_and_numbers(self) -> None:
        import pyarrow
        import pyarrow.parquet

        at, day = utc(2026, 3, 29, 1, 30, 5, 678901), utc(2026, 3, 29)
        nanoseconds = 1774747805678901234
        far = bits(float(10**15) - 978307200)
        clock = time(23, 59, 59)
        moments = {
            pyarrow.date32(): (date(2026, 3, 29), day),
            pyarrow.date64(): (date(2026, 3, 29), day),
            pyarrow.timestamp("us"): (at.replace(tzinfo=None), at),
            pyarrow.timestamp("us", "Asia/Kathmandu"): (at, at),
            pyarrow.timestamp("us", "-11:30"): (at, at),
            # The store has microseconds of this time.
            pyarrow.timestamp("ns"): (nanoseconds, at),
            pyarrow.timestamp("ns", "UTC"): (nanoseconds, at),
            pyarrow.timestamp("s"): (10**15, far),
            pyarrow.timestamp("s", "UTC"): (10**15, far),
        }
        numbers = {
            pyarrow.time32("s"): (clock, 86399000000), pyarrow.time32("ms"): (clock, 86399000000),
            pyarrow.time64("us"): (time(0, 0, 0, 7), 7), pyarrow.time64("ns"): (7001, 7)}
        for name, kinds in (("moment", moments), ("whole64", numbers)):
            for kind, (given, expected) in kinds.items():
                table = pyarrow.table({
                    "number": [1, 2], name: pyarrow.array([given, None], kind), "other.number": [None, 1]})
                with self.subTest(name=name, kind=kind):
                    self.assertEqual(self.imported(table, name), [expected, None])
        # A value of another type is named with its row.
        for name, given, sentence in (
            ("whole64", date(2026, 3, 29), "row 1, whole64: a date is not what Integer64 holds"),
            ("moment", clock, "row 1, moment: a time is not what Date holds"),
        ):
            out = self.place("wrong.parquet")
            pyarrow.parquet.write_table(pyarrow.table({"number": [1, 2], name: [None, given]}), out)
            self.fail_with(5, sentence, "import", self.empty, "Sample", out)

        # The package rejects a time outside of a day.
        late = pyarrow.array([None, -1], pyarrow.int64()).cast(pyarrow.time64("us"))
        pyarrow.parquet.write_table(pyarrow.table({"number": [1, 2], "whole64": late}), out)
        self.fail_with(
            5, r"whole64: Row 1, .* outside of a day\.\n\Z", "import", self.empty, "Sample", out)

    def imported(self, table: Any, name: str) -> list[Any]:
        """What the rows of a table become, which is imported as Parquet, as Arrow, and with a relationship."""
        import pyarrow.parquet

        found: list[list[Any]] = []
        parquet, arrow = self.place("in.parquet"), self.place("in.arrow")
        pyarrow.parquet.write_table(table, parquet)
        with pyarrow.ipc.new_file(arrow, table.schema) as file:
            file.write_table(table)
        for source, columns in ((parquet, name), (arrow, name), (arrow, f"{name},other.number")):
            self.succeed("import", self.empty, "Sample", source, "--columns", f"number,{columns}")
            found.append(self.contents(self.empty, name))
            with quire.open(self.empty, [Sample]) as store:
                store.context.query(Sample).delete()
        self.assertEqual(found, [found[0]] * len(found))
        return found[0]

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_a_number_that_is_too_large_for_its_type_is_named(self) -> None:
        self.make({"whole16": [1, 2], "whole32": [1, 2]})
        with closing(sqlite3.connect(self.made)) as file, file:
            file.execute("UPDATE ZSAMPLE SET ZWHOLE16 = 40000, ZWHOLE32 = 3000000000 WHERE Z_PK = 2")
        for name, number, kind in (("whole16", 40000, 16), ("whole32", 3000000000, 32)):
            self.fail_with(
                5, f"The number {number} in row 1 of '{name}' does not fit into {kind} bits, which the model gives it. "
                "CSV and JSON take it.", "export", self.made, "Sample", self.place("out.parquet"), "--columns", name)
            self.assertIn(str(number), self.succeed("export", self.made, "Sample", "--columns", name))


class RelationshipTests(CommandTestCase):
    """Relationships by keys that are chosen."""

    def insert(self, text: str, *options: str) -> None:
        self.succeed("import", self.path, "Book", *options, given=text)

    def refuse(self, sentence: str, text: str, *options: str) -> None:
        before = self.titles()
        self.fail_with(5, sentence, "import", self.path, "Book", *options, given=text)
        self.assertEqual(self.titles(), before)

    def titles(self) -> str:
        return self.succeed("query", self.path, "Book", "-c", "title,author.name", "--format", "csv")

    def test_one_by_an_attribute(self) -> None:
        self.insert("title,author.name\nNew,Goethe\nAlone,\n")
        self.assertTrue(self.titles().endswith("New,Goethe\nAlone,\n"))
        self.succeed("check", self.path)

    def test_many_by_lists(self) -> None:
        lines = '{"name": "Kleist", "books.isbn": ["978-0", "978-1"]}\n{"name": "Alone", "books.isbn": []}\n'
        self.succeed("import", self.path, "Author", "--format", "jsonl", given=lines)
        found = self.succeed(
            "query", self.path, "Author", "-c", "name,books.isbn", "--format", "csv", "-w",
            "name IN {'Kleist', 'Alone'}")
        self.assertEqual(found, 'name,books.isbn\nKleist,"[""978-0"", ""978-1""]"\nAlone,[]\n')

    def test_what_leads_nowhere_is_named_with_its_line(self) -> None:
        self.refuse(
            "line 3, author.name: there is no Author with name 'Zorro'; import each Author first",
            "title,author.name\nA,Goethe\nB,Zorro\n")
        self.insert("title,isbn\nBook 1,x\n")
        self.fail_with(
            5, "line 2, book.title: there are several Book with title 'Book 1'", "import", self.path, "Cover",
            given="colour,book.title\nred,Book 1\n")

    def test_columns_that_are_no_key(self) -> None:
        self.refuse("^quire: 'author' is a relationship, and .* no ids. .* as in 'author.name'", "title,author\nA,1\n")
        self.refuse("'author.nmae' names no attribute of 'Author'", "title,author.nmae\nA,1\n")
        self.refuse("line 2, author.book_count: 'x' is no whole number", "title,author.book_count\nA,x\n")
        self.fail_with(
            5, "line 2, books.isbn: 'x' is no list", "import", self.path, "Author", given="name,books.isbn\nA,x\n")

    def test_mistakes_in_values_name_the_line_here_too(self) -> None:
        self.refuse("line 3, pages: 'many' is no whole number", "title,pages,author.name\nA,1,Goethe\nB,many,Goethe\n")
        self.refuse("line 3: .*must be unique by isbn", "title,isbn,author.name\nA,x,Goethe\nB,978-1,Goethe\n")
        self.refuse("line 2: .*99999", "title,pages,author.name\nA,99999,Goethe\n")
        self.refuse("line 2: .*title", "pages,author.name\n1,Goethe\n")

    def test_what_no_file_can_say_is_no_export(self) -> None:
        self.sql("UPDATE ZBOOK SET ZISBN = NULL WHERE Z_PK = 1")
        self.fail_with(
            5, "1 of the rows lead by books to a Book without isbn", "export", self.path, "Author", "--relationships")
        ran = self.run_command("export", self.path, "Book", "--relationships", "--columns", "title,author.name")
        self.assertEqual(ran.code, 0, ran.err)


class MandatoryTests(CommandTestCase):
    """A track cannot be without its album, which keeps an order of its tracks."""

    def make(self, ordered: bool, *unique: str) -> str:
        class Album(quire.Model):
            title: quire.Attr[str]
            tracks: quire.ToMany["Track"] = quire.relation(inverse="album", ordered=ordered)
            __unique__ = ["title"] if "Album" in unique else []

        class Track(quire.Model):
            name: quire.Attr[str]
            album: quire.ToOne[Album] = quire.relation(inverse="tracks")
            __unique__ = ["name"] if "Track" in unique else []

        path = self.place(f"music{len(os.listdir(self.folder))}.sqlite")
        with quire.open(path, [Album, Track]) as store, store.context.transaction() as context:
            album = context.add(Album(title="A"))
            for name in ("b", "a"):
                context.add(Track(name=name, album=album))
        return path

    def test_a_mandatory_one_is_in_the_file_or_named_as_left_out(self) -> None:
        for ordered in (False, True):
            path = self.make(ordered, "Album", "Track")
            self.assertEqual(self.succeed("export", path, "Track", "-r"), "name,album.title\nb,A\na,A\n")
            for unique in ((), ("Track",)):
                ran = self.run_command("export", self.make(ordered, *unique), "Track", "-r")
                self.assertEqual((ran.code, ran.out), (0, "name\nb\na\n"))
                self.assertIn("Left out: album. Nothing is unique in what is there", ran.err)

    def test_an_order_comes_back_beside_a_mandatory_one(self) -> None:
        path, other = self.make(True, "Album", "Track"), self.place("other.sqlite")
        for name in ("Album", "Track"):
            self.succeed("export", path, name, self.place(f"{name}.csv"), "-r")
        albums = self.place("Album.csv")
        self.succeed("import", other, "Album", albums, "--columns", "title", "--model", path)
        self.succeed("import", other, "Track", self.place("Track.csv"))
        self.succeed("import", other, "Album", albums, "--upsert")
        self.assertEqual(
            self.succeed("query", other, "Album", "-c", "title,tracks.name", "--format", "csv"),
            'title,tracks.name\nA,"[""b"", ""a""]"\n')

    def test_an_import_says_what_a_mandatory_one_needs(self) -> None:
        path = self.make(False, "Album", "Track")
        sentence = (
            "'Track.album' is mandatory, and no column says where it leads. Give a column .* 'Album' is found, as in "
            "'album.title'; `quire export --relationships` writes it.")
        for options in ((), ("--upsert",)):
            self.fail_with(5, sentence, "import", path, "Track", *options, given="name\nnew\n")
        # What is there has its album.
        self.succeed("import", path, "Track", "--upsert", given="name\na\n")
        self.fail_with(
            5, "line 2, album.title: there is no value, and the model wants one", "import", path, "Track",
            given="name,album.title\nx,\n")


if __name__ == "__main__":
    unittest.main()
