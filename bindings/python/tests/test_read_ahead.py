"""What a live list reads before it is asked for, as the log of the store tells it."""

import gc
import unittest

import quire
from support import Quote, WatchedFileTestCase

COUNT = 300
REACH = 64


class ReadAheadTests(WatchedFileTestCase):
    def setUp(self):
        super().setUp()
        self.query = self.context.query(Quote).order_by(Quote.price)

    def quotes(self):
        return [{"contents": "text", "price": number} for number in range(COUNT)]

    def look(self, live, places):
        for place in places:
            live[place]
        gc.collect()

    def assert_read(self, count, look):
        """Takes contents of rows, for which so many statements read rows."""
        with self.reading() as read:
            self.assertEqual(set(look()), {"text"})
        self.assertEqual(read, ["ZQUOTE"] * count)

    def test_who_asks_for_row_after_row_has_the_next_ones_read(self):
        live = self.query.live()
        self.look(live, (10, 11))
        self.assert_read(0, lambda: [live[place].contents for place in range(11, 11 + REACH + 1)])
        self.assert_read(1, lambda: [live[11 + REACH + 1].contents])

    def test_and_in_the_other_direction_those_before_it(self):
        live = self.query.live()
        self.look(live, (100, 99))
        self.assert_read(0, lambda: [live[place].contents for place in range(99, 99 - REACH - 1, -1)])
        self.assert_read(1, lambda: [live[99 - REACH - 1].contents])

    def test_a_row_elsewhere_is_read_alone(self):
        live = self.query.live()
        self.look(live, (10, 200))
        for place in 11, 13, 202, 199:
            with self.subTest(place):
                self.assert_read(1, lambda place=place: [live[place].contents])

    def test_windows_that_follow_each_other_are_read_ahead_too(self):
        live = self.query.live()
        live[0:20], live[20:40]
        gc.collect()
        self.assert_read(0, lambda: [each.contents for each in live[40:60]])
        self.assert_read(1, lambda: [each.contents for each in live[200:220]])

    def test_what_was_read_ahead_follows_what_others_save(self):
        live = self.query.live()
        live[0], live[1]
        with self.store.background() as context:
            context.query(Quote).where("price == 2").first().contents = "changed"
        self.store.context.merge()
        self.assertEqual(live[2].contents, "changed")

    def test_rows_that_are_gone_stop_nobody_who_scrolls_past_them(self):
        live = self.query.live()
        self.sql("DELETE FROM ZQUOTE WHERE ZPRICE IN (5, 40)")
        found = []
        with live.suspended():
            self.context.merge()
            for place in range(80):
                try:
                    found.append(live[place].price)
                except quire.NotFound:
                    pass
        self.assertEqual(found, [place for place in range(80) if place not in (5, 40)])

    def test_what_a_query_prefetches_is_read_with_the_rows(self):
        for query, is_read in (self.query.prefetch(Quote.author), False), (self.query, True):
            with self.subTest(is_read):
                live = query.live()
                quotes = live[0:50]
                with self.reading() as read:
                    self.assertEqual(len({quote.author.name for quote in quotes}), 3)
                self.assertEqual("ZAUTHOR" in read, is_read)
                self.assertEqual(bool(read), is_read)
                live.close()
                del quotes, live
                gc.collect()


if __name__ == "__main__":
    unittest.main()
