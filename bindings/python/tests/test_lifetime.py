"""Closing, collecting, forking, threads."""

import gc
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import traceback
import unittest
import warnings

import quire
from support import MODELS, PATIENCE, Author, FileTestCase, Quote, StoreTestCase


class ClosingTests(StoreTestCase):
    def test_everything_of_a_closed_store_says_so(self):
        quote = self.quote(author=self.context.add(Author(name="x")))
        self.context.save()
        quote.price
        query = self.context.query(Quote)
        live = query.live(section_by=Quote.note)
        columns = query.columns("price")
        iterator = iter(query)
        fault = self.store.create_context().query(Quote).one().author
        self.store.close()
        self.store.close()
        self.assertTrue(self.store.closed and self.context.closed and live.closed)
        uses = [
            self.store.create_context, self.store.__enter__, self.context.save, self.context.process,
            self.context.rollback, lambda: self.context.add(Quote(contents="x")), lambda: self.context.delete(quote),
            lambda: self.context.get(Quote, 1), lambda: self.context.has_changes, lambda: self.context.inserted,
            lambda: self.context.query(Quote), query.all, query.count, query.ids, lambda: next(iterator),
            lambda: query.live(), lambda: len(live), lambda: live[0], lambda: live.sections, lambda: live.ids,
            lambda: live.path_of(quote), lambda: live.index_titles, live.fetch, lambda: live.generation,
            lambda: live.on_change(print), lambda: setattr(quote, "price", 3), lambda: quote.author, lambda: quote.uri,
            lambda: fault.name, lambda: self.context.insert_many(Quote, {"contents": ["x"]}),
            lambda: self.context.get_by_uri("x-coredata:///Quote/t1"), self.context.obtain_permanent_ids,
            lambda: self.context.transaction().__enter__(), lambda: quire.Predicate("price > 1").matches(quote),
        ]
        for number, use in enumerate(uses):
            with self.assertRaises(quire.StoreClosed, msg=f"use {number}"):
                use()
        with self.assertRaises(ValueError):
            query.all()
        self.assertEqual(quote.price, 1.0)
        self.assertEqual(columns["price"][0], 1.0)
        self.assertEqual(repr(self.store), "<Store ':memory:' (closed)>")
        self.assertEqual(repr(self.context), "<Context (closed)>")
        self.assertEqual(repr(live), "<Results Quote (closed)>")
        self.assertIn("Quote", repr(query))

    def test_a_closed_context_leaves_the_store_open(self):
        other = self.store.create_context()
        quote = other.add(Quote(contents="lost"))
        with other:
            pass
        with self.assertRaises(quire.StoreClosed):
            quote.contents = "x"
        self.assertEqual(self.context.query(Quote).count(), 0)

    def test_a_closed_list_is_not_told(self):
        told = []
        with self.context.query(Quote).live() as live:
            live.on_change(told.append)
        self.quote()
        self.context.process()
        self.assertEqual(told, [])

    def test_a_closed_predicate_is_refused(self):
        predicate = quire.Predicate("price > 1")
        predicate.close()
        with self.assertRaises(quire.StoreClosed):
            self.context.query(Quote).where(predicate)
        self.assertEqual(repr(predicate), "<Predicate (closed)>")

    def test_change_sets_and_columns_outlive_the_store(self):
        sets = []
        live = self.context.query(Quote).live()
        live.on_change(sets.append)
        self.quote()
        self.context.save()
        self.store.close()
        self.assertEqual(len(sets[0].steps()), 1)
        self.assertEqual(len(list(sets[0])), 1)


class ClosingWhileUsedTests(unittest.TestCase):
    def test_threads_inside_of_a_store_that_is_closed_are_told_so(self):
        found = []

        def use(store, started):
            try:
                context = store.create_context()
                author = context.add(Author(name="x"))
                started.set()
                while True:
                    context.add(Quote(contents="x", author=author)).price = 3
                    live = context.query(Quote).live(section_by="author.name")
                    list(live), len(author.quotes), live.sections.names
                    context.rollback()
                    author = context.add(Author(name="x"))
            except Exception as error:
                found.append(type(error))
            finally:
                started.set()

        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        sys.setswitchinterval(1e-6)
        for _ in range(20):
            store = quire.open(":memory:", MODELS)
            events = [threading.Event() for _ in range(3)]
            threads = [threading.Thread(target=use, args=(store, event)) for event in events]
            for thread in threads:
                thread.start()
            for event in events:
                event.wait()
            store.close()
            for thread in threads:
                thread.join()
        self.assertEqual(found, [quire.StoreClosed] * 60)

    def test_a_handler_may_close_the_store(self):
        store = quire.open(":memory:", MODELS)
        live = store.context.query(Quote).live()
        live.on_change(lambda change: store.close())
        store.context.add(Quote(contents="x"))
        store.context.save()
        self.assertTrue(store.closed and store.context.closed and live.closed)


class CollectingTests(FileTestCase):
    def test_a_store_that_is_left_open_warns(self):
        store = quire.open(self.path, MODELS)
        with self.assertWarnsRegex(ResourceWarning, "quotes.store"):
            del store
            gc.collect()

    def test_a_closed_one_does_not(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with quire.open(self.path, MODELS):
                pass
            gc.collect()

    def test_parts_keep_the_store_open(self):
        def make():
            return quire.open(self.path, MODELS).context

        context = make()
        gc.collect()
        self.assertEqual(context.query(Quote).count(), 0)
        context.store.close()

    def test_an_interpreter_that_ends_with_everything_open_ends_well(self):
        program = textwrap.dedent("""
            import quire
            from support import MODELS, Author, Quote
            store = quire.open({path!r}, MODELS)
            author = store.context.add(Author(name="x"))
            quotes = [store.context.add(Quote(contents=str(n), author=author)) for n in range(100)]
            live = store.context.query(Quote).live()
            live.on_change(print)
            iterator = iter(store.context.query(Quote)); next(iterator)
            class Loop: pass
            loop = Loop(); loop.me = loop; loop.quote = quotes[0]
            def suspend():
                with live.suspended():
                    yield
            suspended = suspend(); next(suspended)
            print("end")
        """).format(path=self.path)
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
            cwd=os.path.dirname(os.path.abspath(__file__)),
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(quire.__file__)))})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.endswith("end\n"))


    def test_threads_that_outlive_the_interpreter_find_their_store_closed(self):
        program = textwrap.dedent("""
            import sys, threading
            import quire
            from support import MODELS, Author, Quote
            store = quire.open({path!r}, MODELS, relaxed_durability=True)
            live = store.context.query(Quote).live()
            live.on_change(print)
            def write(number):
                context = store.create_context()
                author = context.add(Author(name=str(number)))
                try:
                    for n in range(10**9):
                        context.add(Quote(contents=str(n), author=author))
                        for quote in context.query(Quote).where(Quote.author == author).limit(20):
                            quote.contents += "."
                        context.save()
                        if n == 3:
                            writing.release()
                except quire.StoreClosed:
                    pass
            writing = threading.Semaphore(0)
            for number in range(3):
                threading.Thread(target=write, args=(number,), daemon=True).start()
            for number in range(3):
                writing.acquire()
        """).format(path=self.path)
        for _ in range(8):
            run = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
                cwd=os.path.dirname(os.path.abspath(__file__)),
                env={**os.environ, "MALLOC_PERTURB_": "77", "PYTHONPATH": os.path.dirname(
                    os.path.dirname(os.path.abspath(quire.__file__)))})
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        with quire.open(self.path, MODELS) as store:
            self.assertEqual(store.check(), 0)


@unittest.skipUnless(hasattr(os, "fork"), "no fork here")
class DroppedListTests(StoreTestCase):
    def test_a_list_without_handlers_and_one_that_is_closed_go_silently(self):
        def without(live):
            live.on_change(self.fail)
            live.remove_handler(self.fail)

        def closed(live):
            live.on_change(self.fail)
            live.close()

        def with_its_store(_):
            with quire.open(":memory:", [Author, Quote]) as store:
                live = store.context.query(Quote).live()
                live.on_change(self.fail)

        def with_its_context(_):
            context = self.store.create_context()
            live = context.query(Quote).live()
            live.on_change(lambda change: live)
            context.live = live

        for leave in without, closed, with_its_context, with_its_store:
            with self.subTest(leave.__name__), warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                leave(self.context.query(Quote).live())
                gc.collect()
                self.assertEqual([str(each.message) for each in found], [])


class ForkTests(FileTestCase):
    def test_in_the_child_all_handles_are_dead_and_the_parent_goes_on(self):
        with quire.open(self.path, MODELS) as store:
            quote = store.context.add(Quote(contents="x"))
            store.context.save()
            live = store.context.query(Quote).live()
            iterator = iter(store.context.query(Quote))
            report = multiprocessing.get_context("fork").Queue()
            process = multiprocessing.get_context("fork").Process(
                target=in_child, args=(report, self.path, store, quote, live, iterator))
            with warnings.catch_warnings():
                # Newer versions of Python warn of forking with threads, which the queue has.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            self.assertEqual(report.get(timeout=PATIENCE), ["StoreClosed"] * 5 + ["CannotOpen"])
            process.join()
            self.assertEqual(process.exitcode, 0)
            report.close()
            report.join_thread()
            quote.contents = "y"
            store.context.save()
            self.assertEqual(len(live), 1)


    def test_what_is_in_memory_alone_goes_on_in_the_child(self):
        predicate = quire.Predicate("price > %f", 1)
        with quire.open(self.path, MODELS) as store:
            changes = []
            live = store.context.query(Quote).live()
            live.on_change(changes.append)
            store.context.add(Quote(contents="x", price=2))
            store.context.save()
            prices = store.context.query(Quote).columns("price")["price"]
            text = str(predicate)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    with quire.open(self.path + "-other", MODELS) as mine:
                        mine.context.add(Quote(contents="x", price=2))
                        assert mine.context.query(Quote).where(predicate).count() == 1
                    assert str(predicate) == text and prices.to_list() == [2.0]
                    assert len(changes[0].steps()) == 1
                    status = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(store.context.query(Quote).where(predicate).count(), 1)

    def test_a_store_that_was_closed_before_the_fork_is_opened_by_each(self):
        with quire.open(self.path, MODELS) as store:
            store.context.add(Quote(contents="x"))
            store.context.save()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with quire.open(self.path, MODELS) as mine:
                    mine.context.add(Quote(contents="y"))
                    mine.context.save()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        with quire.open(self.path, MODELS) as store:
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(store.context.query(Quote).count(), 2)


def in_child(report, path, store, quote, live, iterator):
    found = []
    for use in (
        store.create_context, store.context.save, lambda: quote.author, lambda: len(live), lambda: next(iterator),
    ):
        try:
            use()
            found.append("worked")
        except quire.StoreClosed as error:
            assert "parent process" in str(error), error
            found.append("StoreClosed")
        except Exception as error:
            found.append(repr(error))
    store.close()
    live.close()
    try:
        quire.open(path, MODELS)
    except quire.CannotOpen as error:
        assert "before the fork" in str(error), error
        found.append("CannotOpen")
    report.put(found)


class ThreadTests(StoreTestCase):
    def test_calls_that_overlap_are_refused(self):
        self.context.insert_many(Quote, {"contents": [f"text {n}" for n in range(20_000)]})
        self.context.save()
        query = self.context.query(Quote).where("contents MATCHES %@", ".*(1|2|3)+.*(4|5)")
        results = []
        start = threading.Barrier(2)

        def use():
            start.wait()
            while not any(isinstance(each, quire.WrongThread) for each in results):
                try:
                    results.append(query.count())
                except quire.WrongThread as error:
                    results.append(error)

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        refused = [each for each in results if isinstance(each, quire.WrongThread)]
        self.assertIsInstance(refused[0], RuntimeError)
        counts = {each for each in results if isinstance(each, int)}
        self.assertLessEqual(len(counts), 1)
        self.assertIsInstance(query.count(), int)

    def test_each_thread_can_have_a_context(self):
        def work(number):
            with self.store.create_context() as context:
                for each in range(20):
                    context.add(Quote(contents=f"{number} {each}"))
                    context.save()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.context.query(Quote).count(), 80)

    def test_objects_may_be_dropped_on_another_thread(self):
        self.context.insert_many(Quote, {"contents": [str(n) for n in range(500)]})
        self.context.save()
        found = self.context.query(Quote).all()
        for quote in found:
            quote.author
        thread = threading.Thread(target=found.clear)
        thread.start()
        thread.join()
        gc.collect()
        self.assertEqual(self.context.query(Quote).count(), 500)

    def test_a_context_can_be_handed_over(self):
        seen = []
        quote = self.quote()
        thread = threading.Thread(target=lambda: (setattr(quote, "price", 5), self.context.save(), seen.append(1)))
        thread.start()
        thread.join()
        self.assertEqual((seen, quote.price), ([1], 5.0))


if __name__ == "__main__":
    unittest.main()
