"""Blocks of a context that span an `await`, and the other tasks of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import types
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Optional
from unittest import mock

import quire

from support import Author, FileTestCase, Quote

IN_TRANSACTION = (
    r"Task 'first' is inside a transaction\(\) block of this context, .*commit or take back.*"
    r"End that block before the next await, or .* a context of its own: store.create_context\(\)")


class Left(Exception):
    """What ends a block."""


class Woken(quire.Model):
    text: quire.Attr[str]
    shown: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True)

    def awake_from_fetch(self) -> None:
        self.shown = self.text.upper()


class TaskCase(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, [Author, Quote, Woken])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.context.enable_undo()
        self.author = self.context.add(Author(name="Goethe"))
        self.quote = self.context.add(Quote(contents="old", author=self.author))
        self.other = self.context.add(Quote(contents="other"))
        self.context.add(Woken(text="woken"))
        self.context.save()

    def saved(self) -> list[str]:
        with self.store.create_context() as context:
            return sorted(each for each, in context.query(Quote).values("contents"))

    def beside(
        self, block: Callable[[], Any], second: Callable[[], object], first: Optional[Callable[[], object]] = None
    ) -> None:
        """Calls `second` in a task while the task 'first' waits inside of a block, which is left by an exception."""

        async def hold(entered: asyncio.Event, leave: asyncio.Event) -> None:
            with contextlib.suppress(Left), block():
                if first is not None:
                    first()
                entered.set()
                await leave.wait()
                raise Left

        async def run() -> None:
            entered, leave = asyncio.Event(), asyncio.Event()
            holder = asyncio.create_task(hold(entered, leave), name="first")
            await entered.wait()
            try:
                result = second()
                if isinstance(result, Awaitable):
                    await result
            finally:
                leave.set()
                await holder

        asyncio.run(run())


class TransactionTests(TaskCase):
    def test_a_save_of_another_task_is_not_taken_back_with_the_transaction(self) -> None:
        async def first() -> None:
            with self.context.transaction():
                self.context.add(Quote(contents="first"))
                entered.set()
                await leave.wait()
                raise Left

        async def second() -> None:
            await entered.wait()
            with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                self.context.add(Quote(contents="second"))
            with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                self.context.save()
            leave.set()
            with contextlib.suppress(Left):
                await holder
            self.context.add(Quote(contents="second"))
            self.context.save()

        async def run() -> None:
            nonlocal entered, leave, holder
            entered, leave = asyncio.Event(), asyncio.Event()
            holder = asyncio.create_task(first(), name="first")
            await second()

        entered: asyncio.Event
        leave: asyncio.Event
        holder: asyncio.Task[None]
        asyncio.run(run())
        self.assertEqual(self.saved(), ["old", "other", "second"])

    def test_whatever_writes_is_rejected_and_leaves_everything_as_it_was(self) -> None:
        context, quote = self.context, self.quote
        quotes = context.query(Quote)
        calls: dict[str, Callable[[], object]] = {
            "add": lambda: context.add(Quote(contents="x")),
            "find_or_add": lambda: context.find_or_add(Author, name="Schiller"),
            "delete": lambda: context.delete(quote),
            "an attribute": lambda: setattr(quote, "contents", "x"),
            "a relationship to one": lambda: setattr(quote, "author", None),
            "a relationship to many": lambda: setattr(self.author, "quotes", []),
            "add to many": lambda: self.author.quotes.add(self.other),
            "clear of many": lambda: self.author.quotes.clear(),
            "insert_many": lambda: context.insert_many(Quote, {"contents": ["x"]}),
            "insert_rows": lambda: context.insert_rows(Quote, {"contents": ["x"]}),
            "update": lambda: quotes.update(contents="x"),
            "delete of a query": lambda: quotes.delete(),
            "save": context.save,
            "transaction": lambda: context.transaction().__enter__(),
            "rollback": context.rollback,
            "reset": context.reset,
            "undo": context.undo,
            "redo": context.redo,
            "undo_group": lambda: context.undo_group().__enter__(),
            "without_undo": lambda: context.without_undo().__enter__(),
            "disable_undo": context.disable_undo,
            "remove_undo_actions": context.remove_undo_actions,
            "obtain_permanent_ids": context.obtain_permanent_ids,
            "refresh without merge": lambda: quote.refresh(merge=False),
        }

        def second() -> None:
            for name, call in calls.items():
                with self.subTest(name), self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                    call()
            self.assertEqual((added[0].is_inserted, quote.contents, quote.author), (True, "old", self.author))
            self.assertEqual(sorted(each.contents for each in quotes), ["added", "old", "other"])

        added: list[Quote] = []
        self.beside(context.transaction, second, lambda: added.append(context.add(Quote(contents="added"))))
        self.assertEqual(self.saved(), ["old", "other"])
        self.assertTrue(context.undo_enabled)
        # The block is over.
        quote.contents = "new"
        context.save()
        self.assertEqual(self.saved(), ["new", "other"])

    def test_another_task_may_read(self) -> None:
        context = self.context
        live = context.query(Quote).order_by("contents").live()

        def second() -> None:
            self.assertEqual([each.contents for each in context.query(Quote).order_by("contents")], [
                "added", "old", "other"])
            context.process()
            context.merge()
            context.refresh_all()
            self.quote.refresh()
            self.assertEqual((len(live), self.quote.author, list(self.author.quotes)), (
                3, self.author, [self.quote]))
            self.assertIs(context.get(Quote, self.quote.id), self.quote)
            self.assertIs(context.add(self.quote), self.quote)
            self.assertEqual(context.find_or_add(Author, name="Goethe"), (self.author, False))
            # Which assigns what is shown.
            self.assertEqual(context.query(Woken).one().shown, "WOKEN")
            self.assertTrue(context.has_changes)
            new = Quote(contents="in no context")
            new.contents = "x"

        self.beside(context.transaction, second, lambda: context.add(Quote(contents="added")))
        self.assertEqual(len(live), 2)

    def test_a_handler_that_another_task_calls_may_write(self) -> None:
        context = self.context
        live = context.query(Quote).live()

        @live.on_change
        def follow(change: quire.ChangeSet[Quote]) -> None:
            if isinstance(next(iter(change)), quire.Insert):
                self.author.name = "Schiller"
                names.append(self.author.name)

        names: list[str] = []
        self.beside(context.transaction, context.process, lambda: context.add(Quote(contents="added")))
        self.assertEqual((names, self.author.name), (["Schiller"], "Goethe"))
        live.close()

    def test_another_context_is_another_matter(self) -> None:
        def second() -> None:
            with self.store.create_context() as own:
                self.assertEqual(own.query(Quote).count(), 2)
                own.add(Quote(contents="own"))
                self.assertTrue(own.has_changes)
                own.rollback()

        self.beside(self.context.transaction, second)

    def test_the_task_itself_goes_on_after_an_await(self) -> None:
        async def run() -> None:
            with self.context.transaction():
                self.context.add(Quote(contents="1"))
                await asyncio.sleep(0)
                self.context.add(Quote(contents="2"))
                self.context.save()
                await asyncio.sleep(0)
                self.context.insert_rows(Quote, {"contents": ["3"]})
                with self.assertRaisesRegex(quire.InvalidState, "do not nest"), self.context.transaction():
                    pass

        asyncio.run(run())
        self.assertEqual(self.saved(), ["1", "2", "3", "old", "other"])

    def test_a_task_that_the_block_starts_is_another_one(self) -> None:
        async def write() -> None:
            self.context.add(Quote(contents="x"))

        async def run() -> None:
            with self.context.transaction():
                (failed,) = await asyncio.gather(write(), return_exceptions=True)
                self.assertIsInstance(failed, quire.InvalidState)

        asyncio.run(run())
        self.assertEqual(self.saved(), ["old", "other"])

    def test_callbacks_of_the_loop_and_other_threads_are_other_ones(self) -> None:
        failures: list[BaseException] = []

        def write() -> None:
            try:
                self.context.save()
            except quire.InvalidState as failed:
                failures.append(failed)

        async def second() -> None:
            asyncio.get_running_loop().call_soon(write)
            await asyncio.sleep(0)
            await asyncio.get_running_loop().run_in_executor(None, write)

        self.beside(self.context.transaction, second)
        self.assertEqual(len(failures), 2)

    def test_a_cancelled_task_ends_its_block(self) -> None:
        async def first() -> None:
            with self.context.transaction():
                self.context.add(Quote(contents="first"))
                self.context.save()
                await asyncio.sleep(100)

        async def run() -> None:
            task = asyncio.create_task(first())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self.context.add(Quote(contents="second"))
            self.context.save()

        asyncio.run(run())
        self.assertEqual(self.saved(), ["old", "other", "second"])

    def test_a_block_may_outlive_its_task_and_end_in_another_one(self) -> None:
        """As the block of a fixture that a framework of tests begins in one task, and ends in another."""

        async def fixture() -> AsyncIterator[quire.Context]:
            with self.context.transaction():
                yield self.context

        async def write(made: AsyncIterator[quire.Context]) -> None:
            self.context.add(Quote(contents="x"))
            self.context.save()

        async def run() -> None:
            made = fixture()
            await asyncio.create_task(made.__anext__())  # type: ignore[arg-type]
            await asyncio.create_task(write(made))
            with contextlib.suppress(StopAsyncIteration):
                await asyncio.create_task(made.__anext__())  # type: ignore[arg-type]

        asyncio.run(run())
        self.assertEqual(self.saved(), ["old", "other", "x"])

    def test_a_block_that_no_task_has_begun_is_for_everything_within_it(self) -> None:
        async def write(number: int) -> None:
            self.context.add(Quote(contents=f"{number}"))
            await asyncio.sleep(0)
            self.context.save()
            await asyncio.get_running_loop().run_in_executor(
                None, self.context.insert_many, Quote, {"contents": [f"thread {number}"]})

        async def run() -> None:
            await asyncio.gather(write(1))
            await asyncio.gather(write(2))

        with self.context.transaction():
            asyncio.run(run())
        self.assertEqual(self.saved(), ["1", "2", "old", "other", "thread 1", "thread 2"])

    def test_children_save_into_no_transaction_of_another_task(self) -> None:
        child = self.context.create_child()
        child.add(Quote(contents="child"))

        def second() -> None:
            for call in (child.save, lambda: child.transaction().__enter__()):
                with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                    call()
            child.add(Quote(contents="another"))

        self.beside(self.context.transaction, second)
        child.save()
        self.context.save()
        self.assertEqual(self.saved(), ["another", "child", "old", "other"])

    def test_a_transaction_of_a_child_is_of_its_task(self) -> None:
        child = self.context.create_child()

        def second() -> None:
            with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                child.add(Quote(contents="x"))
            with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                child.save()
            self.context.add(Quote(contents="parent"))
            self.context.save()

        self.beside(child.transaction, second, lambda: child.add(Quote(contents="child")))
        self.assertEqual(self.saved(), ["old", "other", "parent"])

    def test_a_list_may_be_awaited_inside_and_beside_a_transaction(self) -> None:
        async def second() -> None:
            live = await self.context.query(Quote).live(wait=False)
            self.assertEqual(len(live), 3)

        self.beside(self.context.transaction, second, lambda: self.context.add(Quote(contents="added")))

        async def run() -> None:
            before = self.context.query(Quote).live(wait=False)
            with self.context.transaction():
                self.context.add(Quote(contents="added"))
                live = await self.context.query(Quote).live(wait=False)
                self.assertEqual((len(live), len(await before)), (3, 3))
                self.context.add(Quote(contents="more"))
            self.assertEqual((len(live), len(before)), (4, 4))

        asyncio.run(run())


class OtherBlockTests(TaskCase):
    def test_an_undo_group_has_the_changes_of_its_task_alone(self) -> None:
        expected = r"'first' is inside an undo_group\(\) block of this context, .*undone together.*End that block"
        self.other.contents = "unsaved"

        def second() -> None:
            calls = (
                lambda: setattr(self.other, "contents", "x"), lambda: self.context.undo_group().__enter__(),
                lambda: self.context.without_undo().__enter__(), self.context.undo, self.context.rollback)
            for call in calls:
                with self.assertRaisesRegex(quire.InvalidState, expected):
                    call()
            # What is in the file is no matter of undo.
            self.context.save()
            self.context.insert_rows(Quote, {"contents": ["row"]})

        self.beside(
            lambda: self.context.undo_group("Rename"), second, lambda: setattr(self.quote, "contents", "renamed"))
        self.assertEqual(self.saved(), ["renamed", "row", "unsaved"])
        self.other.contents = "x"
        self.context.process()
        self.context.undo()
        self.context.undo()
        self.assertEqual((self.quote.contents, self.other.contents), ("old", "unsaved"))

    def test_changes_beside_a_block_without_undo_can_be_undone(self) -> None:
        def second() -> None:
            expected = r"inside a without_undo\(\) block of this context, .*could not be undone"
            with self.assertRaisesRegex(quire.InvalidState, expected):
                self.other.contents = "x"
            with self.assertRaisesRegex(quire.InvalidState, expected), self.context.without_undo():
                pass

        self.beside(self.context.without_undo, second)
        self.other.contents = "x"
        self.context.process()
        self.context.undo()
        self.assertEqual(self.other.contents, "other")

    def test_a_transaction_inside_of_an_undo_group_rejects_saves_too(self) -> None:
        @contextlib.contextmanager
        def both() -> Iterator[None]:
            with self.context.undo_group("x"), self.context.transaction():
                yield

        def second() -> None:
            with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                self.context.save()

        self.beside(both, second)
        self.context.save()

    def test_a_context_stays_pinned_until_the_last_block_ends(self) -> None:
        async def hold(leave: asyncio.Event) -> None:
            with self.context.pinned():
                await leave.wait()

        async def run() -> None:
            leave = [asyncio.Event(), asyncio.Event()]
            tasks = [asyncio.create_task(hold(each)) for each in leave]
            await asyncio.sleep(0)
            leave[0].set()
            await tasks[0]
            self.assertTrue(self.context.is_pinned)
            leave[1].set()
            await tasks[1]
            self.assertFalse(self.context.is_pinned)
            self.context.pin()
            with self.context.pinned(), self.context.pinned():
                pass
            self.assertTrue(self.context.is_pinned)

        asyncio.run(run())

    def test_another_task_neither_unpins_a_context_nor_pins_it_elsewhere(self) -> None:
        moment = self.context.moment

        def second() -> None:
            calls = (
                self.context.unpin, self.context.pin, lambda: self.context.pin(moment),
                lambda: self.context.pinned(moment).__enter__())
            for call in calls:
                with self.assertRaisesRegex(quire.InvalidState, r"'first' is inside a pinned\(\) block"):
                    call()
            self.assertTrue(self.context.is_pinned)
            with self.context.pinned():
                self.assertEqual(self.context.query(Quote).count(), 2)
            self.assertTrue(self.context.is_pinned)
            self.context.merge()

        self.beside(self.context.pinned, second)
        self.assertFalse(self.context.is_pinned)


class LoopTests(TaskCase):
    def test_trio_has_tasks_too(self) -> None:
        class Task:
            def __init__(self, name: str) -> None:
                self.name, self.coro = name, types.SimpleNamespace(cr_frame=1)

        tasks = [Task("first"), Task("x")]
        current: list[Any] = tasks[:1]

        def current_task() -> Any:
            if not current:
                raise RuntimeError("must be called from async context")
            return current[0]

        trio = types.SimpleNamespace(lowlevel=types.SimpleNamespace(current_task=current_task))
        with mock.patch.dict(sys.modules, {"trio": trio}):  # type: ignore[dict-item]
            with self.context.transaction():
                self.context.add(Quote(contents="1"))
                for others in (tasks[1:], []):
                    current[:] = others
                    with self.assertRaisesRegex(quire.InvalidState, IN_TRANSACTION):
                        self.context.save()
                current[:] = tasks[1:]
                # It has ended.
                tasks[0].coro.cr_frame = None
                self.context.add(Quote(contents="2"))
        self.assertEqual(self.saved(), ["1", "2", "old", "other"])

    def test_a_program_without_an_event_loop_loads_none(self) -> None:
        program = (
            "import sys, quire\n"
            "class A(quire.Model): x: quire.Attr[int]\n"
            "with quire.open(':memory:', [A]) as store:\n"
            "    with store.context.transaction() as context: context.add(A(x=1))\n"
            "    context.enable_undo()\n"
            "    with context.undo_group(), context.without_undo(), context.pinned(): context.add(A(x=2))\n"
            "print('asyncio' in sys.modules)")
        self.assertEqual(subprocess.check_output([sys.executable, "-c", program], text=True), "False\n")


if __name__ == "__main__":
    unittest.main()
