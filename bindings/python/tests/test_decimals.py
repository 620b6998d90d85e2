"""Decimals: the digits that are kept, and sums that are the same wherever they are asked for."""

import random
import sqlite3
import unittest
from decimal import Decimal
from typing import Any, Optional

import quire
from support import FileTestCase, seeds


class Invoice(quire.Model):
    number: quire.Attr[int]
    lines: quire.ToMany["Line"] = quire.relation(inverse="invoice")
    total: quire.Attr[Decimal] = quire.derived("lines.price.@sum")
    mean: quire.Attr[Optional[Decimal]] = quire.derived("lines.price.@avg")


class Line(quire.Model):
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    text: quire.Attr[Optional[Decimal]] = quire.attr(default=None, as_=(str, Decimal))
    invoice: quire.ToOne[Optional[Invoice]] = quire.relation(inverse="lines")


class DecimalTestCase(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, [Invoice, Line])
        self.addCleanup(self.store.close)
        self.context = self.store.context


class DigitTests(DecimalTestCase):
    TOO_LONG = [
        Decimal(1) / 3, Decimal("1234567890.123456"), 1234567890123456, Decimal("-0.1234567890123456"),
        Decimal("1E+20") + 1]

    def test_more_than_fifteen_digits_are_rejected_with_the_way_out(self) -> None:
        line = self.context.add(Line(price=Decimal("1.5")))
        self.context.save()
        way_out = r"Line\.price.* significant digits.* Round it, or keep it as text, with as_=\(str, Decimal\)"
        for value in self.TOO_LONG:
            def insert(value: Any = value) -> None:
                self.context.insert_rows(Line, {"price": [Decimal(1), value]})

            def update(value: Any = value) -> None:
                self.context.query(Line).update(price=value)

            def assign(value: Any = value) -> None:
                line.price = value

            def construct(value: Any = value) -> None:
                Line(price=value)

            for call in (insert, update, assign, construct):
                with self.subTest(value=value, call=call.__name__):
                    with self.assertRaisesRegex(quire.InvalidArgument, way_out):
                        call()
        self.assertEqual([each.price for each in self.context.query(Line)], [Decimal("1.5")])
        self.assertFalse(self.context.has_changes)

    def test_fifteen_digits_come_back_and_are_found(self) -> None:
        for seed in seeds(3):
            dice = random.Random(seed)
            values = [
                Decimal(dice.randrange(-10**15 + 1, 10**15)).scaleb(dice.choice([0, -2, -6, -15, -30, 4, 40]))
                for _ in range(200)]
            self.context.query(Line).delete()
            self.context.insert_rows(Line, {"price": values})
            self.context.refresh_all()
            self.assertEqual([each.price for each in self.context.query(Line)], values, seed)
            for value in dice.sample(values, 20):
                found = self.context.query(Line).where(Line.price == value).count()
                self.assertEqual(found, values.count(value), (seed, value))

    def test_text_keeps_all_digits(self) -> None:
        self.context.add(Line(text=Decimal(1) / 3))
        self.context.save()
        self.context.refresh_all()
        (line,) = self.context.query(Line)
        self.assertEqual(line.text, Decimal(1) / 3)

    def test_what_is_calculated_is_rounded_to_fifteen_digits(self) -> None:
        self.context.insert_rows(Line, {"price": [Decimal("0.1"), Decimal("0.7"), Decimal("19.99")]})
        self.context.query(Line).update(price=Line.price * 3)
        self.assertEqual([str(each.price) for each in self.context.query(Line)], ["0.3", "2.1", "59.97"])
        self.context.query(Line).update(price=Line.price / 7)
        self.assertEqual(
            [str(each.price) for each in self.context.query(Line)], ["0.0428571428571429", "0.3", "8.56714285714286"])

    def test_whole_numbers_of_another_program_are_read_in_one_way(self) -> None:
        self.context.insert_rows(Line, {"price": [Decimal(1)]})
        self.store.close()
        with sqlite3.connect(self.path) as plain:
            plain.execute("UPDATE ZLINE SET ZPRICE = 9007199254740993")
        with quire.open(self.path, [Invoice, Line]) as store:
            query = store.context.query(Line)
            (line,) = query
            self.assertEqual(line.price, Decimal("9007199254740993"))
            self.assertEqual(query.values("price"), [(line.price,)])
            self.assertEqual(query.where(Line.price == line.price).count(), 1)


class SumTests(DecimalTestCase):
    def check(self, expected: "dict[Any, list[Decimal]]", live: Any, seed: int) -> None:
        """All sums against Python's, which are exact. `live` is a list with sections by invoices."""
        values = [each for prices in expected.values() for each in prices]
        query = self.context.query(Line)
        found = query.aggregate(all="sum:(price)", mean="average:(price)")
        self.assertEqual((found["all"], live.aggregates["all"]), (sum(values), sum(values)), seed)
        mean = float(sum(values)) / len(values)
        self.assertEqual((found["mean"], live.aggregates["mean"]), (mean, mean), seed)
        rows = query.group_by("invoice.number").dictionaries("invoice.number", all="sum:(price)")
        sums = {number: sum(prices) for number, prices in expected.items()}
        self.assertEqual({row["invoice.number"]: row["all"] for row in rows}, sums, seed)
        self.assertEqual({each.value: each.aggregates["all"] for each in live.sections}, sums, seed)
        for number, total in sums.items():
            invoices = self.context.query(Invoice)
            self.assertEqual(invoices.where("lines.@sum.price == %@", total).where("number == %@", number).count(), 1)
            self.assertEqual(invoices.where("sum:(lines.price) == %@", total).where("number == %@", number).count(), 1)
            (invoice,) = invoices.where("number == %@", number)
            self.assertTrue(quire.Predicate("lines.@sum.price == %@", total).matches(invoice))
            self.assertEqual(invoice.total, total, (seed, number))
            self.assertEqual(invoice.mean, Decimal(f"{float(total) / len(expected[number]):.15g}"), (seed, number))
            groups = query.group_by("invoice.number").having("sum:(price) == %@", total).dictionaries("invoice.number")
            self.assertIn({"invoice.number": number}, groups)

    def test_every_sum_is_exact_and_the_same(self) -> None:
        for seed in seeds(4):
            dice = random.Random(seed)
            self.context.query(Line).delete()
            self.context.query(Invoice).delete()
            invoices = {number: self.context.add(Invoice(number=number)) for number in range(5)}
            self.context.save()
            live = self.context.query(Line).where("invoice != nil").live(
                section_by="invoice.number", aggregates={"all": "sum:(price)", "mean": "average:(price)"})
            expected: "dict[Any, list[Decimal]]" = {}
            lines = []
            for _ in range(6):
                for _ in range(dice.randrange(40, 80)):
                    price = Decimal(dice.randrange(-10**dice.randrange(1, 8), 10**8))
                    price = price.scaleb(-dice.choice([2, 2, 2, 4, 6]))
                    number = dice.randrange(5)
                    lines.append(self.context.add(Line(price=price, invoice=invoices[number])))
                    expected.setdefault(number, []).append(price)
                self.context.save()
                self.check(expected, live, seed)
                for line in dice.sample(lines, 15):
                    lines.remove(line)
                    expected[line.invoice.number].remove(line.price)
                    self.context.delete(line)
                self.context.save()
                self.check(expected, live, seed)

    def test_sums_of_many_rows_have_no_tail(self) -> None:
        invoice = self.context.add(Invoice(number=1))
        for _ in range(10_000):
            self.context.add(Line(price=Decimal("0.01"), invoice=invoice))
        self.context.save()
        self.assertEqual(self.context.query(Line).aggregate(all="sum:(price)")["all"], Decimal(100))
        self.assertEqual(invoice.total, Decimal(100))

    def test_a_sum_may_have_more_digits_than_a_decimal_in_a_file(self) -> None:
        values = [Decimal("123456789012345"), Decimal("0.123456789012345")] * 3
        invoice = self.context.add(Invoice(number=1))
        for value in values:
            self.context.add(Line(price=value, invoice=invoice))
        self.context.save()
        query = self.context.query(Line)
        live = query.live(aggregates={"all": "sum:(price)"})
        for found in (query.aggregate(all="sum:(price)")["all"], live.aggregates["all"]):
            self.assertEqual(found, Decimal("370370367037035.370370367037035"))
        # What is stored has fifteen digits again.
        self.assertEqual(invoice.total, Decimal("370370367037035"))

    def test_groups_are_ordered_by_their_sums(self) -> None:
        for number in range(12):
            invoice = self.context.add(Invoice(number=number))
            for _ in range(number * 7 % 12):
                self.context.add(Line(price=Decimal("0.1"), invoice=invoice))
            self.context.add(Line(price=Decimal("-0.35"), invoice=invoice))
        self.context.save()
        rows = self.context.query(Line).group_by("invoice.number").order_by("all").dictionaries(
            "invoice.number", all="sum:(price)")
        sums = [row["all"] for row in rows]
        self.assertEqual(sums, sorted(Decimal("0.1") * (number * 7 % 12) - Decimal("0.35") for number in range(12)))
        rows = self.context.query(Line).group_by("invoice.number").distinct().dictionaries(all="sum:(price)")
        self.assertEqual([row["all"] for row in rows], sums)

    def test_nothing_has_a_sum_of_zero_and_no_average(self) -> None:
        self.assertEqual(
            self.context.query(Line).aggregate(all="sum:(price)", mean="average:(price)"), {"all": 0, "mean": None})
        self.context.insert_rows(Line, {"price": [None, None]})
        self.assertEqual(
            self.context.query(Line).aggregate(all="sum:(price)", mean="average:(price)"), {"all": 0, "mean": None})

    def test_plain_sql_leaves_sums_to_be_set_right(self) -> None:
        invoice = self.context.add(Invoice(number=1))
        for _ in range(3000):
            self.context.add(Line(price=Decimal("0.1"), invoice=invoice))
        self.context.save()
        self.store.close()
        with sqlite3.connect(self.path) as plain:
            plain.execute("UPDATE ZLINE SET ZPRICE = 1234567.01")
        with quire.open(self.path, [Invoice, Line]) as store:
            (invoice,) = store.context.query(Invoice)
            self.assertEqual(invoice.total, Decimal("1234567.01") * 3000)


if __name__ == "__main__":
    unittest.main()
