"""What live lists calculate of their rows."""

import math
import random
import unittest
from decimal import Decimal

import quire
from support import Author, Everything, Quote, StoreTestCase, day, seeds


class AggregateTests(StoreTestCase):
    def test_a_list_and_its_sections_have_aggregates_that_follow(self):
        first = self.quote("a", price=1.5)
        self.quote("b", price=2.0)
        live = self.context.query(Quote).order_by(Quote.contents).live(
            Quote.contents, aggregates={"total": "sum:(price)", "dearest": quire.Expression("max:(%K)", "price")})
        self.assertEqual(dict(live.aggregates), {"total": 3.5, "dearest": 2.0})
        self.assertEqual([section.aggregates["total"] for section in live.sections], [1.5, 2.0])
        told = []
        live.on_change(told.append)
        section = live.sections[0]
        first.price = 7.0
        self.context.process()
        (change,) = told
        self.assertEqual(
            change.aggregate_changes,
            (quire.AggregateChange(None, "total", 9.0), quire.AggregateChange(None, "dearest", 7.0),
             quire.AggregateChange(0, "total", 7.0), quire.AggregateChange(0, "dearest", 7.0)))
        with self.assertRaises(quire.InvalidState):
            section.aggregates["total"]
        with self.assertRaises(KeyError):
            live.aggregates["other"]
        self.assertNotIn("other", live.aggregates)
        live.set_query(self.context.query(Quote).where("price < 5"))
        self.assertEqual(dict(live.aggregates), {"total": 2.0, "dearest": 2.0})
        self.assertEqual(list(self.context.query(Quote).live().aggregates), [])

    def test_an_aggregate_beyond_the_years_of_datetime_is_told_in_seconds(self):
        quote = self.quote("a", created_at=day(0))
        distant = self.quote("b", created_at=day(1))
        self.context.save()
        live = self.context.query(Quote).live(aggregates={"last": "max:(created_at)"})
        told = []
        live.on_change(told.append)
        # More than the year 9999, which other programs write.
        distant_future = quire.Expression("CAST(1000000000000, 'NSDate')")
        self.context.query(Quote).where("contents == 'b'").update({Quote.created_at: distant_future})
        (change,) = told
        self.assertEqual([each.value for each in change.aggregate_changes], [1e12, 1e12])
        self.context.delete(distant)
        self.context.process()
        self.assertEqual([each.value for each in told[1].aggregate_changes], [quote.created_at] * 2)

    def test_related_objects_change_aggregates_and_no_rows(self):
        author = self.context.add(Author(name="Ann"))
        self.context.add(Quote(author=author, contents="a"))
        self.context.save()
        live = self.context.query(Quote).live(aggregates={"last": "max:(author.name)"})
        told = []
        live.on_change(told.append)
        author.name = "Zoe"
        self.context.process()
        (change,) = told
        self.assertEqual((len(change), len(change.aggregate_changes)), (0, 2))
        self.assertEqual(live.aggregates["last"], "Zoe")

    def test_aggregates_have_the_types_of_their_values(self):
        live = self.context.query(Everything).live(aggregates={
            "exact": "sum:(exact)", "whole": "sum:(whole)", "latest": "max:(instant)", "mean": "average:(exact)",
            "flags": "sum:(flag)", "weighted": "sum:(real * whole) / sum:(whole)"})
        self.assertEqual(dict(live.aggregates), {
            "exact": 0, "whole": 0, "latest": None, "mean": None, "flags": 0, "weighted": None})
        for text in ("0.1", "0.2"):
            self.context.add(Everything(exact=Decimal(text), whole=2**62, instant=day(1), flag=True, real=3.0))
        self.context.process()
        found = dict(live.aggregates)
        self.assertEqual(found, {
            "exact": Decimal("0.3"), "whole": 2.0**63, "latest": day(1), "mean": 0.15, "flags": 2, "weighted": 3.0})
        self.assertIsInstance(found["exact"], Decimal)

    def test_what_is_no_aggregate_is_refused(self):
        for expression, error in (
            ("price", quire.InvalidArgument), ("sum:(contents)", quire.PredicateError),
            ("median:(price)", quire.Unsupported), ("sum:(nothing)", quire.InvalidArgument),
            ("sum:(", quire.PredicateError)):
            with self.assertRaises(error, msg=expression):
                self.context.query(Quote).live(aggregates={"x": expression})
        with self.assertRaises(TypeError):
            self.context.query(Quote).live(aggregates={5: "sum:(price)"})

    def test_any_history_leaves_what_a_look_at_all_rows_gives(self):
        for seed in seeds(2):
            dice = random.Random(seed)
            live = self.context.query(Everything).order_by("real", "text").limit(40).live("text", aggregates={
                "sum": "sum:(real)", "mean": "average:(real)", "exact": "sum:(exact)", "least": "min:(real)",
                "rows": "count:(SELF)", "product": "sum:(real * whole)"})
            kept = []
            for step in range(120):
                if len(kept) < 20 or dice.random() < 0.3:
                    kept.append(self.context.add(Everything()))
                each = dice.choice(kept)
                if dice.random() < 0.2:
                    kept.remove(each)
                    self.context.delete(each)
                else:
                    each.text = dice.choice("abc")
                    each.real = dice.choice((None, dice.uniform(-1, 1) * 10.0 ** dice.randrange(-20, 20)))
                    each.whole = dice.choice((None, dice.randrange(-9, 9)))
                    each.exact = Decimal(dice.randrange(-10**9, 10**9)).scaleb(dice.randrange(-6, 3))
                (self.context.save if dice.random() < 0.3 else self.context.process)()
                for section in [live, *live.sections]:
                    rows = list(section)
                    reals = [row.real for row in rows if row.real is not None]
                    products = [row.real * row.whole for row in rows if None not in (row.real, row.whole)]
                    self.assertEqual(dict(section.aggregates), {
                        "sum": math.fsum(reals) if reals else 0,
                        "mean": math.fsum(reals) / len(reals) if reals else None,
                        "exact": sum(row.exact for row in rows if row.exact is not None),
                        "least": min(reals, default=None),
                        "rows": len(rows),
                        "product": math.fsum(products) if products else 0,
                    }, f"step {step} of seed {seed}")
            self.context.query(Everything).delete()


if __name__ == "__main__":
    unittest.main()
