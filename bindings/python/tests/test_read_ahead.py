"""What a live list reads before it is asked for, seen by changing the file behind it."""

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
        return [{"contents": "old", "price": number} for number in range(COUNT)]

    def look(self, live, places):
        for place in places:
            live[place]
        gc.collect()
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'new', ZNOTE = 'new'")

    def test_who_asks_for_row_after_row_has_the_next_ones_read(self):
        live = self.query.live()
        self.look(live, (10, 11))
        self.assertEqual({live[place].contents for place in range(11, 11 + REACH + 1)}, {"old"})
        self.assertEqual(live[11 + REACH + 1].contents, "new")

    def test_and_in_the_other_direction_those_before_it(self):
        live = self.query.live()
        self.look(live, (100, 99))
        self.assertEqual({live[place].contents for place in range(99, 99 - REACH - 1, -1)}, {"old"})
        self.assertEqual(live[99 - REACH - 1].contents, "new")

    def test_a_row_elsewhere_is_read_alone(self):
        live = self.query.live()
        self.look(live, (10, 200))
        self.assertEqual({live[place].contents for place in (11, 12, 201, 199)}, {"new"})

    def test_windows_that_follow_each_other_are_read_ahead_too(self):
        live = self.query.live()
        live[0:20], live[20:40]
        gc.collect()
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'new'")
        self.assertEqual({each.contents for each in live[40:60]}, {"old"})
        self.assertEqual({each.contents for each in live[200:220]}, {"new"})

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
        for place in range(80):
            try:
                found.append(live[place].price)
            except quire.NotFound:
                pass
        self.assertEqual(found, [place for place in range(80) if place not in (5, 40)])

    def test_what_a_query_prefetches_is_read_with_the_rows(self):
        for query, shown in (self.query.prefetch(Quote.author), "author"), (self.query, "changed"):
            with self.subTest(shown):
                live = query.live()
                quotes = live[0:50]
                self.sql("UPDATE ZAUTHOR SET ZNAME = 'changed'")
                self.assertEqual({quote.author.name.split()[0] for quote in quotes}, {shown})
                self.sql("UPDATE ZAUTHOR SET ZNAME = 'author'")
                live.close()
                del quotes, live
                gc.collect()


if __name__ == "__main__":
    unittest.main()
