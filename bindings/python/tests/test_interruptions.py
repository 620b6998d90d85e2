"""A KeyboardInterrupt that comes as a call of the library returns leaves nothing open behind it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import unittest
from collections.abc import Iterator
from typing import IO, Any

import quire
from quire._c._load import library, quick

from support import AWAIT_SLEEP, Author, FileTestCase, Quote

# Interrupts its parent, once that has written a line and its first thread waits.
INTERRUPT = f"""
import signal, sys
if not sys.stdin.readline():
    sys.exit()
{AWAIT_SLEEP}
os.kill(os.getppid(), signal.SIGINT)
print("interrupted", flush=True)
"""

# Holds the lock of an empty file meanwhile, as a program that is making a store of it.
HOLD = f"""
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
{INTERRUPT}
connection.execute("ROLLBACK")
"""

# Calls that hand out a handle, with what gives it back.
HANDLES = {
    "quire_store_open": "quire_store_release", "quire_context_create": "quire_context_release",
    "quire_context_create_child": "quire_context_release", "quire_context_insert": "quire_object_release",
    "quire_context_fetch": "quire_list_release", "quire_context_fetch_page": "quire_page_release",
    "quire_results_create": "quire_results_release",
    "quire_composite_create": "quire_composite_release", "quire_context_batch_insert": "quire_list_release",
    "quire_context_batch_update": "quire_list_release", "quire_context_batch_delete": "quire_list_release",
}


@contextlib.contextmanager
def interrupted(name: str, skips: int = 0) -> Iterator[list[int]]:
    """The call of this name is interrupted as it returns; gives the handles that it left with its caller."""
    call, left, calls = getattr(library, name), [], iter(range(1_000_000))

    def interrupts(*arguments: Any) -> int:
        status = call(*arguments)
        if next(calls) < skips:
            return int(status)
        # The handle comes before the error.
        out = arguments[-2]
        if name in HANDLES and hasattr(out, "_obj") and isinstance(out._obj, ctypes.c_void_p):
            left.append(out._obj.value)
        raise KeyboardInterrupt

    setattr(library, name, interrupts)
    try:
        yield left
    finally:
        setattr(library, name, call)


@contextlib.contextmanager
def counted(release: str) -> Iterator[list[int]]:
    """The handles that were given back meanwhile."""
    released: list[int] = []
    calls = [(each, getattr(each, release)) for each in (library, quick)]

    def counting(call: Any) -> Any:
        def gives_back(pointer: Any) -> None:
            released.append(getattr(pointer, "value", pointer))
            call(pointer)
        return gives_back

    for each, call in calls:
        setattr(each, release, counting(call))
    try:
        yield released
        gc.collect()
    finally:
        for each, call in calls:
            setattr(each, release, call)


class InterruptionTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, previous)

    @contextlib.contextmanager
    def program(self, text: str, *arguments: str) -> Iterator[tuple[IO[str], IO[str]]]:
        """Runs a program of Python with these arguments and the id of this thread; gives its input and its output."""
        command = [sys.executable, "-c", text, *arguments, str(threading.get_native_id())]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as running:
            assert running.stdin is not None and running.stdout is not None
            yield running.stdin, running.stdout

    def other_holds(self, store: quire.Store, until: IO[str]) -> threading.Thread:
        begun = threading.Event()

        def hold() -> None:
            context = store.create_context()
            with context.transaction():
                context.add(Author(name="other"))
                begun.set()
                until.readline()

        thread = threading.Thread(target=hold)
        thread.start()
        begun.wait()
        return thread

    def names(self, store: quire.Store) -> list[str]:
        with quire.open(store.path, [Author, Quote]) as other:
            return sorted(each.name for each in other.context.query(Author))

    def test_transaction_that_was_waited_for_is_not_left_open(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store, self.program(INTERRUPT) as (go, said):
            thread = self.other_holds(store, until=said)
            with self.assertRaises(KeyboardInterrupt):
                go.write("\n")
                with store.context.transaction():
                    self.fail("the block was entered")
            thread.join()
            store.context.add(Author(name="plain"))
            store.context.save()
            with store.context.transaction():
                store.context.add(Author(name="in a block"))
        self.assertEqual(self.names(store), ["in a block", "other", "plain"])

    def test_transaction_that_has_just_begun_is_taken_back(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            with interrupted("quire_context_begin_transaction"), self.assertRaises(KeyboardInterrupt):
                with store.context.transaction():
                    self.fail("the block was entered")
            store.context.add(Author(name="plain"))
            store.context.save()
        self.assertEqual(self.names(store), ["plain"])

    def test_block_within_a_block_leaves_the_outer_one_open(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            with context.transaction():
                context.add(Author(name="kept"))
                context.save()
                with self.assertRaisesRegex(quire.InvalidState, "do not nest"):
                    with context.transaction():
                        self.fail("the block was entered")
                context.add(Author(name="too"))
        self.assertEqual(self.names(store), ["kept", "too"])

    def test_block_that_cannot_begin_keeps_what_is_pending(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            context.add(Author(name="pending"))
            for each in (context, context.create_child()):
                each.add(Author(name="pending"))
                with self.assertRaisesRegex(quire.InvalidState, "unsaved changes from before"):
                    with each.transaction():
                        self.fail("the block was entered")
                self.assertTrue(each.has_changes)

    def test_store_that_was_waited_for_is_not_left_open(self) -> None:
        path = self.path + "-made"
        with self.program(HOLD, path) as (go, held):
            held.readline()
            try:
                go.write("\n")
                quire.open(path, [Author, Quote])
                self.fail("the store was opened")
            except KeyboardInterrupt:
                # At once, and not when the exception is forgotten.
                quire.delete_store(path)

    def test_store_is_closed_wherever_its_opening_is_interrupted(self) -> None:
        for name in ("quire_store_open", "quire_context_create"):
            with self.subTest(name), interrupted(name):
                try:
                    quire.open(self.path, [Author, Quote])
                    self.fail("the store was opened")
                except KeyboardInterrupt:
                    quire.delete_store(self.path)

    def test_handles_are_given_back(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            context.add(Author(name="Goethe"))
            context.save()
            query = context.query(Author)
            live = query.live()
            calls: dict[str, list[Any]] = {
                "quire_context_create": [store.create_context],
                "quire_context_create_child": [context.create_child],
                "quire_context_insert": [lambda: context.add(Author(name="Schiller"))],
                "quire_context_fetch": [query.all, query.ids],
                "quire_context_fetch_page": [lambda: query.values(Author.name), query.columns],
                "quire_results_create": [query.live],
                "quire_composite_create": [lambda: quire.Composite(live)],
                "quire_context_batch_insert": [lambda: context.insert_rows(Author, {"name": ["Kleist"]})],
                "quire_context_batch_update": [lambda: query.update(name="Wieland")],
                "quire_context_batch_delete": [query.delete],
            }
            self.assertEqual(set(calls) | {"quire_store_open"}, set(HANDLES))
            for name, runs in calls.items():
                for run in runs:
                    with self.subTest(name), counted(HANDLES[name]) as released:
                        with interrupted(name) as left:
                            with self.assertRaises(KeyboardInterrupt):
                                run()
                        self.assertEqual(len(left), 1)
                        self.assertIsNotNone(left[0])
                    self.assertEqual(released.count(left[0]), 1, name)
            self.assertFalse(context.has_changes)

    def test_undo_group_that_has_just_begun_ends(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            context.enable_undo()
            with interrupted("quire_context_begin_undo_group"), self.assertRaises(KeyboardInterrupt):
                with context.undo_group("never"):
                    self.fail("the block was entered")
            for name in ("one", "two"):
                context.add(Author(name=name))
                context.process()
            context.undo()
            self.assertEqual([each.name for each in context.query(Author)], ["one"])

    def test_list_that_has_just_been_suspended_goes_on(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            live = context.query(Author).live()
            with interrupted("quire_results_suspend"), self.assertRaises(KeyboardInterrupt):
                with live.suspended():
                    self.fail("the block was entered")
            context.add(Author(name="Goethe"))
            context.process()
            self.assertEqual(len(live), 1)

    def test_merging_is_as_it_was(self) -> None:
        with quire.open(self.path, [Author, Quote]) as store:
            context = store.context
            context.enable_undo()
            context.merges_automatically = True
            live = context.query(Author).live()
            with interrupted("quire_context_process_pending"):
                with self.assertRaises(KeyboardInterrupt):
                    context.undo()
            with store.background() as other:
                other.add(Author(name="Goethe"))
            # As an event loop has it processed, without a call of the package.
            self.assertEqual(library.quire_context_process(context._raw, None), 0)
            self.assertEqual(len(live), 1)


if __name__ == "__main__":
    unittest.main()
