"""Handlers of live lists: which state of the list they see, and what becomes of what they raise."""

import unittest

import quire


class Line(quire.Model):
    text: quire.Attr[str]
    rank: quire.Attr[int] = quire.attr(default=0)
    equals: quire.Fetched["Line"] = quire.fetched("rank == $FETCH_SOURCE.rank", "text")
    __templates__ = {"ranked": "rank == $rank"}


class HandlerTestCase(unittest.TestCase):
    """A list of five lines, whose objects are held."""

    def setUp(self):
        self.store = quire.open(":memory:", [Line])
        self.addCleanup(self.store.close)
        with self.store.context.transaction() as context:
            for number in range(5):
                context.add(Line(text=f"t{number}"))
        self.follow(context)

    def follow(self, context):
        self.context = context
        self.query = context.query(Line).order_by("text")
        self.live = self.query.live()
        self.lines = list(self.live)
        for line in self.lines:
            line.committed_values("text")  # which the library reads for
        self.told, self.wrong = [], []
        self.watch(self.live)

    def watch(self, live):
        """Notes what is told of a list, and rows that it does not show where that says."""

        @live.on_change
        def handler(change):
            self.told.append((live, len(change)))
            for each in change:
                place = each.new_flat
                if place is not None and (place >= len(live) or live[place].id != each.id):
                    self.wrong.append((live, each))

    def times(self, live):
        return sum(each is live for each, _ in self.told)


class RaisingTests(HandlerTestCase):
    def raising(self, live, error):
        @live.on_change
        def handler(change):
            raise error

    def test_all_handlers_are_called_before_one_that_was_interrupted_ends_the_call(self):
        for interruption in (KeyboardInterrupt, SystemExit):
            live, other = self.query.live(), self.query.live()
            self.raising(live, ValueError("other"))
            self.raising(live, interruption("stop"))
            for each in (live, other):
                self.watch(each)
            self.context.add(Line(text="p"))
            with self.assertLogs("quire", "ERROR") as logged, self.assertRaisesRegex(interruption, "stop"):
                self.context.save()
            self.assertIn("other", str(logged.records[0].exc_info[1]))
            self.assertEqual((self.times(live), self.times(other), len(logged.records)), (1, 1, 1))
            self.assertFalse(self.context.has_changes)
            self.context.process()
            self.assertEqual((self.times(live), self.times(other)), (1, 1))
            live.close()

    def test_an_interruption_beside_a_failed_call_comes_out_with_what_that_failed_with(self):
        self.raising(self.live, KeyboardInterrupt())
        self.context.add(Line())
        with self.assertRaises(KeyboardInterrupt) as raised:
            self.context.save()
        self.assertIsInstance(raised.exception.__cause__, quire.ValidationError)
