"""Comparisons with numbers that an attribute cannot hold."""

from __future__ import annotations

import itertools
import unittest
from typing import Optional

import quire


class Item(quire.Model):
    number: quire.Attr[Optional[int]] = quire.attr(default=None)
    small: quire.Attr[Optional[int]] = quire.attr(type=quire.Integer16, default=None)
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)


class OddNumberTests(unittest.TestCase):
    def test_beside_a_calculation_they_equal_nothing(self) -> None:
        with quire.open(":memory:", [Item]) as store:
            context = store.context
            for number, flag in itertools.product((None, 0, 1, 3, 2 ** 53), (None, True, False)):
                context.add(Item(number=number, small=number if (number or 0) < 9 else None, flag=flag))
            for is_saved in (False, True):
                if is_saved:
                    context.save()
                for key, odd in itertools.product(
                        ("number", "small", "flag"),
                        ("3.5", "0.5", "1e30", "-1e30", "3.0", "70000", "{3.5}", "{3.5, 1}")):
                    comparison = "IN" if odd.startswith("{") else "=="
                    for other in (
                            f"{key} + 0 == 1", f"TERNARY({key} > 0, 1, 2) == 1", f"NOT {key} + 0 == 1",
                            f"{key} != {odd.strip('{}').split(',')[0]}"):
                        for condition in (
                                f"{other} AND {key} {comparison} {odd}", f"{key} {comparison} {odd} AND {other}",
                                f"{other} AND NOT {key} {comparison} {odd}"):
                            with self.subTest(condition, saved=is_saved):
                                predicate = quire.Predicate(condition)
                                self.assertEqual(
                                    set(context.query(Item).where(condition).all()),
                                    {each for each in context.query(Item) if predicate.matches(each)})


if __name__ == "__main__":
    unittest.main()
