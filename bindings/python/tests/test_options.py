"""What a query reads beside its objects, templates, and queries that are ended."""

import gc
import os
import signal
import sys
import threading
import time
import unittest

import quire
from support import Author, Quote, StoreTestCase, WatchedFileTestCase


class PrefetchTests(WatchedFileTestCase):
    def test_related_objects_are_read_with_the_query(self):
        query = self.context.query(Quote).order_by(Quote.contents)
        for query in query.prefetch(Quote.author), query.batch_size(2).prefetch("author"):
            with self.reading() as read:
                quotes = list(query)
            self.assertIn("ZAUTHOR", read)
            with self.reading() as read:
                self.assertEqual([quote.author.name for quote in quotes], [f"author {n % 3}" for n in range(9)])
            self.assertEqual(read, [])
            del quotes
            gc.collect()

    def test_without_prefetching_they_are_read_when_touched(self):
        with self.reading() as read:
            quotes = self.context.query(Quote).all()
        self.assertNotIn("ZAUTHOR", read)
        with self.reading() as read:
            self.assertEqual(len({quote.author.name for quote in quotes}), 3)
        self.assertIn("ZAUTHOR", read)

    def test_members_are_read_with_the_query(self):
        authors = self.context.query(Author).order_by(Author.name).prefetch(Author.quotes, "quotes.author").all()
        with self.reading() as read:
            for number, author in enumerate(authors):
                contents = [f"text {n}" for n in range(number, 9, 3)]
                self.assertEqual([quote.contents for quote in author.quotes], contents)
                self.assertEqual({quote.author for quote in author.quotes}, {author})
        self.assertEqual(read, [])

    def test_they_stay_read_as_long_as_an_object_of_the_result(self):
        quote = self.context.query(Quote).order_by(Quote.contents).prefetch(Quote.author).first()
        gc.collect()
        with self.reading() as read:
            self.assertEqual(quote.author.name, "author 0")
        self.assertEqual(read, [])

    def test_wrong_paths_are_refused(self):
        for path in "contents", "nothing", "author.name":
            with self.assertRaises(quire.InvalidArgument):
                self.context.query(Quote).prefetch(path).all()

    def test_refreshing_shows_what_the_store_has_now(self):
        query = self.context.query(Quote).order_by(Quote.contents)
        kept = query.all()
        kept[0].note = "mine"
        kept[1].note = "mine too"
        names = [quote.contents for quote in kept]
        self.sql("UPDATE ZQUOTE SET ZPRICE = 5, Z_OPT = Z_OPT + 1")
        self.sql("UPDATE ZQUOTE SET ZNOTE = 'theirs' WHERE ZCONTENTS = 'text 1'")
        self.assertEqual({quote.price for quote in query.all()[:2]}, {1.0})
        for refreshed in query.refreshing().all(), list(query.batch_size(2).refreshing()):
            self.assertEqual(refreshed, kept)
            self.assertEqual([quote.contents for quote in kept], names)
            self.assertEqual({quote.price for quote in kept}, {5.0})
            self.assertEqual([quote.note for quote in kept[:3]], ["mine", "mine too", None])
        # The context has moved on, so that its changes are the later ones.
        self.context.save()
        self.assertEqual([quote.note for quote in kept[:2]], ["mine", "mine too"])

    def test_live_lists_hear_what_refreshing_finds(self):
        live = self.context.query(Quote).order_by(Quote.price).live()
        changes = []
        live.on_change(changes.append)
        live[:]
        # The list shows rows; only an object that was changed, or is in use, is known to the library.
        kept = self.context.get(Quote, live.ids[0])
        kept.price
        kept.is_updated
        self.sql(f"UPDATE ZQUOTE SET ZPRICE = 9, Z_OPT = Z_OPT + 1 WHERE Z_PK = {kept.id}")
        self.context.query(Quote).refreshing().all()
        self.assertEqual(len(changes), 1)
        self.assertEqual(live[-1], kept)

    def test_live_lists_hear_of_what_is_refreshed(self):
        query = self.context.query(Quote).order_by(Quote.price)
        for refresh in lambda each: each.refresh(), lambda each: self.context.refresh_all():
            live, changes = query.live(), []
            live.on_change(changes.append)
            # They came from a page of the list, and the library does not know that the program has them.
            shown = list(live)
            first, second = shown[:2]
            self.assertLess(first.price, 50)
            self.sql(f"UPDATE ZQUOTE SET ZPRICE = ZPRICE + 100, Z_OPT = Z_OPT + 1 WHERE Z_PK = {first.id}")
            self.sql(f"DELETE FROM ZQUOTE WHERE Z_PK = {second.id}")
            refresh(first)
            self.context.process()
            self.assertGreater(first.price, 50)
            self.assertIs(live[-1], first)
            self.assertTrue(changes)
            self.sql(f"UPDATE ZQUOTE SET ZPRICE = 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = {first.id}")
            first.refresh()


class Book(quire.Model):
    title: quire.Attr[str]
    price: quire.Attr[float]
    __templates__ = {
        "cheaper": "price < $limit", "between": ("price > $low AND price < $high", "-price"),
        "named": (quire.Predicate("title IN $titles"), quire.Order("title")),
    }


class TemplateTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Book])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        for number in range(10):
            self.context.add(Book(title=f"book {number}", price=number))

    def prices(self, query):
        return [book.price for book in query]

    def test_a_template_is_a_query(self):
        self.assertEqual(self.context.template(Book, "cheaper", limit=3).count(), 3)
        between = self.context.template(Book, "between", low=2, high=6)
        self.assertEqual(self.prices(between), [5, 4, 3])
        self.assertEqual(self.prices(between.where("price != %d", 4).limit(1)), [5])
        self.assertEqual(self.prices(between.where("price != %d", 5).where("price != 3")), [4])
        self.assertEqual(self.prices(self.context.template(Book, "cheaper", limit=3).order_by("-price")), [2, 1, 0])
        found = self.context.template(Book, "named", titles=iter(["book 7", "book 1"]))
        self.assertEqual(self.prices(found), [1, 7])
        self.assertEqual(self.prices(found), [1, 7])
        self.assertIn("Book.between", repr(between))

    def test_a_template_can_be_live(self):
        live = self.context.template(Book, "cheaper", limit=3).order_by(Book.price).live()
        self.context.add(Book(title="new", price=2.5))
        self.context.process()
        self.assertEqual([book.price for book in live], [0, 1, 2, 2.5])

    def test_every_variable_needs_a_value(self):
        for variables in {}, {"low": 1}, {"low": 1, "high": 2, "limit": 3}:
            with self.assertRaisesRegex(quire.InvalidArgument, r"\$(high|limit)"):
                self.context.template(Book, "between", **variables)
        with self.assertRaisesRegex(quire.InvalidArgument, "cheaper, between, named"):
            self.context.template(Book, "nothing")

    def test_templates_are_checked_when_a_store_is_opened(self):
        for written in ({"x": 5}, "x", {"x": ()}):
            with self.subTest(written):
                model = type("Wrong", (quire.Model,), {"__annotations__": {}, "__templates__": written})
                with self.assertRaises((quire.InvalidModel, TypeError)):
                    quire.open(":memory:", [model])


class WatchTests(StoreTestCase):
    COUNT = 100_000

    def setUp(self):
        super().setUp()
        author = self.context.add(Author(name="Goethe"))
        self.context.save()
        del author
        self.context.insert_many(Author, {"name": [f"author {number}" for number in range(self.COUNT)]})
        self.context.save()
        self.slow = self.context.query(Author).where(
            "name MATCHES '.*a.*u.*t.*h.*[0-9]+.*' AND NOT name MATCHES '.*(t.*)+x'")

    @staticmethod
    def elsewhere(call):
        """A progress function, so that a query runs: it has another thread make the call."""
        def report(rows):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()

        return report

    def interrupt_when_busy(self):
        """Has another thread send the signal of Ctrl-C once this one has used 50 ms more of a processor."""
        clock = time.pthread_getcpuclockid(threading.get_ident())
        end = time.clock_gettime(clock) + 0.05

        def interrupt():
            while time.clock_gettime(clock) < end:
                time.sleep(0)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.addCleanup(thread.join)

    def check_usable(self):
        self.assertEqual(self.context.query(Author).count(), self.COUNT + 1)

    def test_another_thread_ends_a_query(self):
        for run in (
            lambda query: query.all(), lambda query: query.ids(), lambda query: query.values(Author.name),
            lambda query: query.count(), lambda query: next(iter(query)), lambda query: query.live(),
        ):
            with quire.Cancellation() as cancellation:
                cancel = self.elsewhere(cancellation.cancel)
                with self.assertRaises(quire.Cancelled):
                    run(self.slow.watched(cancellation=cancellation, progress=cancel))
                self.assertTrue(cancellation.cancelled)
                with self.assertRaises(quire.Cancelled):
                    run(self.slow.watched(cancellation=cancellation))
        self.check_usable()

    def test_progress_is_told(self):
        told = []
        self.assertEqual(len(self.slow.watched(progress=told.append).ids()), self.COUNT)
        self.assertGreater(len(told), 1)
        self.assertEqual(told, sorted(told))
        self.assertLessEqual(told[-1], self.COUNT)
        live = self.slow.watched(progress=told.append).live()
        count = len(told)
        live.fetch()
        self.assertGreater(len(told), count)

    def test_progress_ends_the_query(self):
        with self.assertRaises(quire.Cancelled):
            self.slow.watched(progress=lambda rows: False).all()
        self.check_usable()

    def test_what_progress_raises_comes_out_of_the_query(self):
        def fail(rows):
            raise LookupError(f"at {rows}")

        for run in (lambda query: query.ids(), lambda query: query.count(), lambda query: query.live()):
            with self.assertRaisesRegex(LookupError, "^at "):
                run(self.slow.watched(progress=fail))
        self.check_usable()

    def test_the_store_is_not_to_be_used_from_progress(self):
        other = self.store.create_context()
        raised = []

        def call_in(rows):
            for call in (
                self.context.query(Author).count, other.query(Author).count, self.context.save, self.context.process,
                lambda: self.context.add(Author(name="x")), lambda: self.context.get(Author, 1),
                self.context.close, self.store.close,
            ):
                try:
                    call()
                except quire.Error as error:
                    raised.append(type(error))

        self.assertEqual(self.slow.watched(progress=call_in).count(), self.COUNT)
        self.assertEqual(set(raised), {quire.InvalidState})
        self.assertEqual(len(raised) % 8, 0)
        self.assertFalse(self.context.closed or self.store.closed or other.closed)
        self.check_usable()

    def test_wrong_arguments_are_refused(self):
        for wrong in ({"progress": 5}, {"cancellation": True}):
            with self.assertRaises(TypeError):
                self.slow.watched(**wrong)
        closed = quire.Cancellation()
        closed.close()
        with self.assertRaises(quire.StoreClosed):
            self.slow.watched(cancellation=closed)

    def check_unchanged(self):
        """Nothing that the batch requests below do is to be seen."""
        with self.store.create_context() as other:
            self.assertEqual(other.query(Author).count(), self.COUNT + 1)
            self.assertEqual(other.query(Author).where("NOT name BEGINSWITH 'author '").count(), 1)
        self.assertFalse(self.context.has_changes)

    def batches(self):
        """Calls that change the store, given what `watched` takes, and the rows that each knows of at least."""
        names = {"name": [f"new {number}" for number in range(self.COUNT)]}
        everyone = self.context.query(Author)
        return (
            lambda **watch: everyone.watched(**watch).update(name="x"),
            lambda **watch: everyone.watched(**watch).update(name=quire.Expression("uppercase:(name)")),
            lambda **watch: everyone.watched(**watch).delete(),
            lambda **watch: self.context.insert_rows(Author, names, **watch),
        )

    def test_a_batch_request_that_was_ended_has_changed_nothing(self):
        def fail(rows):
            raise LookupError(f"at {rows}")

        for run in self.batches():
            told = []
            with self.assertRaises(quire.Cancelled):
                run(progress=lambda rows: told.append(rows) or len(told) < 2)
            self.assertEqual(told, sorted(told))
            self.assertEqual(len(told), 2)
            self.check_unchanged()
            with quire.Cancellation() as cancellation:
                with self.assertRaises(quire.Cancelled):
                    run(cancellation=cancellation, progress=self.elsewhere(cancellation.cancel))
                with self.assertRaises(quire.Cancelled):
                    run(cancellation=cancellation)
            self.check_unchanged()
            with self.assertRaisesRegex(LookupError, "^at "):
                run(progress=fail)
            self.check_unchanged()
            for wrong in ({"progress": 5}, {"cancellation": True}):
                with self.assertRaises(TypeError):
                    run(**wrong)

    def test_a_batch_request_tells_its_progress(self):
        update, calculate, delete, insert = self.batches()
        for run in (insert, update, calculate, delete):
            told = []
            run(progress=told.append)
            self.assertGreater(len(told), 1)
            self.assertGreater(told[-1], self.COUNT // 2)
        self.assertEqual(self.context.query(Author).count(), 0)

    @unittest.skipUnless(hasattr(signal, "raise_signal"), "needs signals")
    def test_control_c_ends_a_query(self):
        # Too slow to be done before the signal: each match tries many ways.
        slow = self.context.query(Author).where("name MATCHES '(.*.*.*.*.*)x'")
        reported = []
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, previous)
        hook = sys.unraisablehook
        sys.unraisablehook = reported.append
        try:
            for run in (
                lambda: slow.all(), lambda: slow.count(), lambda: slow.live(), lambda: slow.update(name="x"),
                lambda: slow.delete(),
            ):
                self.interrupt_when_busy()
                begin = time.thread_time()
                with self.assertRaises(KeyboardInterrupt):
                    run()
                # Time of this thread on a processor, which other programs do not lengthen.
                self.assertLess(time.thread_time() - begin, 5)
            for run in (self.batches()[1], self.batches()[3]):
                # They may be done before a signal that comes by the clock.
                with self.assertRaises(KeyboardInterrupt):
                    run(progress=lambda rows: signal.raise_signal(signal.SIGINT))
        finally:
            sys.unraisablehook = hook
        self.assertEqual(reported, [])
        self.check_usable()


if __name__ == "__main__":
    unittest.main()
