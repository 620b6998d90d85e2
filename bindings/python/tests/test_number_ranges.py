"""Sections by ranges of numbers: decimal bounds, whatever doubles make of them."""

import math
import random
import unittest
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Optional

import quire
from quire import sections
from support import seeds

EXACT = Context(prec=80)


class Number(quire.Model):
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    exact: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    whole: quire.Attr[int] = quire.attr(default=0)


def bound(value: float, width: float, origin: float = 0) -> Decimal:
    """The greatest bound whose nearest double is not above the value, by decimals of any length."""
    exact_width, exact_origin = Decimal(repr(width)), Decimal(repr(origin))
    step = EXACT.divide(EXACT.subtract(Decimal(value), exact_origin), exact_width).to_integral_value(ROUND_FLOOR)

    def at(step: Decimal) -> Decimal:
        return EXACT.add(exact_origin, EXACT.multiply(step, exact_width))

    while float(at(step + 1)) <= value:
        step += 1
    while float(at(step)) > value:
        step -= 1
    return at(step)


class NumberRangeTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Number])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def shown(self, rule: sections.SectionRule, values: list[float]) -> list[tuple[str, float, list[float]]]:
        """The sections of rows with these values: names, values, rows."""
        self.context.query(Number).delete()
        exact = [Decimal(f"{each:.15g}") if each == 0 or 1e-100 < abs(each) < 1e30 else None for each in values]
        self.context.insert_rows(Number, {"real": values, "exact": exact})
        live = self.context.query(Number).order_by("real").live(section_by=rule)
        return [(each.name, each.value, [row.real for row in each]) for each in live.sections if each.name]

    def test_each_number_is_in_its_decimal_range(self) -> None:
        for seed in seeds(4):
            dice = random.Random(seed)
            for width in (0.1, 0.01, 0.3, 1.1, 0.25, 7, 1e-6, 12.5, dice.randrange(1, 10**6) / 10**dice.randrange(7)):
                origin = dice.choice([0, 0, 0.05, -3, 1.7])
                values = [float(Decimal(repr(width)) * step + Decimal(repr(origin))) for step in range(-30, 60)]
                values += [math.nextafter(each, dice.choice([-math.inf, math.inf])) for each in dice.sample(values, 30)]
                values += [dice.uniform(-50, 50) * width for _ in range(30)] + [-0.0, 5e-324, 1e16, -1e17 - 5, 1e300]
                for key in ("real", "exact"):
                    names = set()
                    for name, value, rows in self.shown(sections.by_number(key, width=width, origin=origin), values):
                        self.assertNotIn(name, names)
                        names.add(name)
                        for row in rows:
                            stored = row if key == "real" else float(f"{row:.15g}")
                            with self.subTest(seed=seed, width=width, origin=origin, key=key, row=row):
                                self.assertLessEqual(value, stored)
                                if abs(stored) < 1e12 * width:
                                    self.assertEqual(value, float(bound(stored, width, origin)))
                                    self.assertEqual(Decimal(name), bound(stored, width, origin))

    def test_names_are_as_people_write_them(self) -> None:
        for width, value, name in (
            (0.1, 0.3, "0.3"), (0.1, 0.7000000000000001, "0.7"), (0.3, -2.7, "-2.7"), (0.3, 0.9, "0.9"),
            (0.00001, 0.00003, "0.00003"), (0.1, -0.05, "-0.1"), (0.1, 0.0, "0"), (10, 25, "20"),
            (0.1, 1000000000000000.1, "1000000000000000.1"), (2.5, 1e300, "1e+300"),
        ):
            self.assertEqual([each[0] for each in self.shown(sections.by_number("real", width=width), [value])], [name])

    def test_integers_beyond_doubles_are_in_ranges(self) -> None:
        self.context.add(Number(whole=2**53 + 1))
        self.context.save()
        (section,) = self.context.query(Number).live(section_by=sections.by_number("whole", width=10)).sections
        self.assertEqual((section.name, section.value), ("9007199254740990", 9007199254740990.0))

    def test_an_origin_that_no_range_reaches_is_rejected(self) -> None:
        for width, origin in ((0.1, 1e30), (0, 0), (-1, 0), (math.inf, 0), (math.nan, 0), (1, math.nan)):
            with self.assertRaisesRegex(quire.InvalidArgument, "Give a width greater than 0"):
                sections.by_number("real", width=width, origin=origin)


if __name__ == "__main__":
    unittest.main()
