"""Stores go over to other models in stages, with functions of the program."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any, Optional

import quire

from test_migration import notes as searchable, rest_of


def notes(version: int, hooks: Optional[list[str]] = None) -> type[Any]:
    """Notes have a number as a text (1), both (2), or as a number with the name of the text (3)."""

    class Note(quire.Model):
        title: quire.Attr[str] = quire.attr(searchable=True, min_length=1)
        if version < 3:
            size: quire.Attr[Optional[str]] = quire.attr(default=None)
        if version == 2:
            amount: quire.Attr[Optional[int]] = quire.attr(default=None)
        if version == 3:
            size: quire.Attr[Optional[int]] = quire.attr(default=None, renamed_from="amount")  # type: ignore[no-redef]
        if hooks is not None:

            def will_save(self) -> None:
                hooks.append(self.title)

    return Note


class StageTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "notes.sqlite")
        note = notes(1)
        with quire.open(self.path, [note], track_history=True) as store:
            for number in range(3):
                store.context.add(note(title=f"note {number}", size=str(number)))
            store.context.save()
        self.second, self.third = notes(2), notes(3)

    def convert(self, context: quire.Context) -> None:
        for note in context.query(self.second):
            note.amount = int(note.size)

    def stages(self, **functions: Any) -> list[quire.MigrationStage]:
        functions.setdefault("did_migrate", self.convert)
        return [quire.MigrationStage([self.second], **functions), quire.MigrationStage([self.third])]

    def version(self) -> int:
        for version in (1, 2, 3):
            try:
                quire.open(self.path, [notes(version)], read_only=True).close()
                return version
            except quire.ModelMismatch:
                pass
        raise AssertionError("The file is of no version.")

    def sizes(self) -> list[Any]:
        with quire.open(self.path, [self.third], must_exist=True) as store:
            return [note.size for note in store.context.query(self.third).order_by(self.third.title)]

    def test_a_dry_run_tells_the_steps_of_the_run_and_leaves_every_byte(self) -> None:
        before = rest_of(self.path)
        steps = quire.migrate(self.path, stages=self.stages(), dry_run=True)
        self.assertEqual(rest_of(self.path), before)
        self.assertEqual({step.stage for step in steps}, {0, 1})
        self.assertEqual(quire.migrate(self.path, stages=self.stages()), steps)
        self.assertEqual(self.sizes(), [0, 1, 2])
        self.assertEqual(quire.migrate(self.path, stages=self.stages(will_migrate=self.fail)), [])

    def test_the_functions_have_the_classes_of_their_time(self) -> None:
        seen = []

        def will(context: quire.Context) -> None:
            former = context.store.classes["Note"]
            self.assertIsNot(former, self.second)
            found: Any = context.query(former).where("title CONTAINS[c] 'NOTE 1'").one()
            seen.append(found.size)
            found.size = "7"

        def did(context: quire.Context) -> None:
            self.assertIs(context.store.classes["Note"], self.second)
            self.assertIs(context.store.context, context)
            seen.append(context.query(self.second).where("title CONTAINS 'note 1'").one().size)
            self.convert(context)
            context.add(self.second(title="more", amount=8))

        quire.migrate(self.path, stages=self.stages(will_migrate=will, did_migrate=did))
        self.assertEqual((seen, self.sizes()), (["1", "7"], [8, 0, 7, 2]))
        with quire.open(self.path, [self.third]) as store:
            kinds = [{change.kind for change in each.changes} for each in store.history()]
        self.assertEqual(kinds, [{"insert"}, {"update"}, {"insert", "update"}])

    def test_a_refusal_says_which_stage_cannot_be_inferred(self) -> None:
        class Note(quire.Model):
            title: quire.Attr[str] = quire.attr(searchable=True, min_length=1)
            size: quire.Attr[Optional[int]] = quire.attr(default=None)

        before = rest_of(self.path)
        stages = [quire.MigrationStage([self.second]), quire.MigrationStage([Note])]
        for dry_run in (True, False):
            with self.subTest(dry_run), self.assertRaisesRegex(quire.Unsupported, "^In stage 1, counted from 0: The"):
                quire.migrate(self.path, stages=stages, dry_run=dry_run)
            self.assertEqual(rest_of(self.path), before)

    def test_the_source_gives_the_first_function_its_classes(self) -> None:
        first = notes(1)
        given = []
        quire.migrate(
            self.path, source=[first],
            stages=self.stages(will_migrate=lambda context: given.append(context.query(first).count())))
        self.assertEqual(given, [3])

    def test_what_a_function_raises_comes_out_and_its_stage_is_taken_back(self) -> None:
        class Broken(Exception):
            pass

        broken = Broken("no")

        def fails(context: quire.Context) -> None:
            self.convert(context)
            context.save()
            raise broken

        for name in ("will_migrate", "did_migrate"):
            with self.subTest(name), self.assertRaises(Broken) as caught:
                quire.migrate(self.path, stages=self.stages(**{
                    "did_migrate": None, name: fails if name == "did_migrate" else self.raising(broken)}))
            self.assertIs(caught.exception, broken)
            self.assertEqual(self.version(), 1)
        # The next stage alone.
        stages = self.stages()
        with self.assertRaises(KeyboardInterrupt):
            stages[1] = stages[1]._replace(did_migrate=self.raising(KeyboardInterrupt()))
            quire.migrate(self.path, stages=stages)
        self.assertEqual(self.version(), 2)
        steps = quire.migrate(self.path, stages=self.stages(did_migrate=self.fail))
        self.assertEqual({step.stage for step in steps}, {1})
        self.assertEqual(self.sizes(), [0, 1, 2])

    @staticmethod
    def raising(error: BaseException) -> Any:
        def function(_: quire.Context) -> None:
            raise error

        return function

    def test_what_a_save_afterwards_refuses_comes_out(self) -> None:
        def empties(context: quire.Context) -> None:
            context.query(self.second).first().title = ""

        with self.assertRaises(quire.ValidationError) as caught:
            quire.migrate(self.path, stages=self.stages(did_migrate=empties))
        self.assertEqual(caught.exception.failures[0].key, "title")
        self.assertEqual(self.version(), 1)

    def test_hooks_of_the_classes_are_called(self) -> None:
        called: list[str] = []
        self.second = notes(2, called)
        quire.migrate(self.path, stages=self.stages())
        self.assertEqual(sorted(called), ["note 0", "note 1", "note 2"])

    def test_a_context_that_is_kept_is_closed(self) -> None:
        kept: list[Any] = []

        def keeps(context: quire.Context) -> None:
            self.convert(context)
            kept.extend([context, context.query(self.second).first(), context.store, context.store.create_context()])

        quire.migrate(self.path, stages=self.stages(did_migrate=keeps))
        context, note, store, other = kept
        for call in (
            lambda: context.query(self.second).count(), context.save, lambda: setattr(note, "title", "late"),
            lambda: store.create_context(), lambda: other.query(self.second).count(), lambda: store.check(),
        ):
            with self.assertRaises(quire.StoreClosed):
                call()
        store.close()
        self.assertEqual(self.sizes(), [0, 1, 2])

    def test_what_a_function_may_not_do_is_refused(self) -> None:
        def tries(context: quire.Context) -> None:
            with self.assertRaises(quire.InvalidState), context.transaction():
                pass
            with self.assertRaises(quire.InvalidState):
                context.store.close()
            with self.assertRaises(quire.InvalidState):
                quire.open(self.path, [notes(1)])
            with self.assertRaises(quire.InvalidState):
                quire.migrate(self.path, [notes(2)])
            with self.assertRaises(quire.Busy):
                context.store.create_context().query(self.second).count()
            self.convert(context)

        quire.migrate(self.path, stages=self.stages(did_migrate=tries))
        self.assertEqual(self.sizes(), [0, 1, 2])

    def test_text_indexes_derived_attributes_and_metadata_are_those_of_an_open_store(self) -> None:
        for mode in ("wal", "delete"):
            path = f"{self.path}.{mode}"
            with self.subTest(mode):
                self.migrate_searchable(path, mode)

    def migrate_searchable(self, path: str, mode: str) -> None:
        line, note = searchable(1)
        with quire.open(path, [line, note], track_history=True) as store:
            store.context.add(line(note=store.context.add(note(title="Über alles"))))
            store.context.save()
        connection = sqlite3.connect(path)
        self.assertEqual(connection.execute(f"PRAGMA journal_mode = {mode}").fetchone(), (mode,))
        connection.close()
        line, note = searchable(2)

        def will(context: quire.Context) -> None:
            former_line, former = context.store.classes["Line"], context.store.classes["Note"]
            found: Any = context.query(former).where("title CONTAINS[cd] 'uber'").one()
            context.add(former_line(note=found))
            context.save()
            self.assertEqual(found.count, 2)
            context.query(former).update(title="Nothing else")

        def did(context: quire.Context) -> None:
            found = context.query(note).where("name CONTAINS[cd] 'nothing'").one()
            self.assertEqual(found.count, 2)
            context.add(line(note=found))
            context.store.metadata["done"] = "yes"

        stages = [quire.MigrationStage([line, note], will, did)]
        self.assertEqual(quire.migrate(path, stages=stages, dry_run=True), quire.migrate(path, stages=stages))
        with quire.open(path, [line, note]) as store:
            found = store.context.query(note).where("name CONTAINS 'else'").one()
            self.assertEqual((found.count, store.check(), store.metadata["done"]), (3, 0, "yes"))
            self.assertEqual([len(each.changes) for each in store.history()], [2, 2, 1, 2])

    def test_a_process_that_is_killed_in_a_function_leaves_the_stage_before(self) -> None:
        program = textwrap.dedent("""
            import os, signal, sys
            import quire
            from test_migration_stages import notes

            second, third = notes(2), notes(3)

            def convert(context):
                for note in context.query(second):
                    note.amount = int(note.size)

            def dies(context):
                context.query(third).first().title = "lost"
                context.save()
                os.kill(os.getpid(), signal.SIGKILL)

            quire.migrate(sys.argv[1], stages=[
                quire.MigrationStage([second], did_migrate=convert), quire.MigrationStage([third], did_migrate=dies)])
            """)
        done = subprocess.run(
            [sys.executable, "-c", program, self.path], cwd=os.path.dirname(os.path.abspath(__file__)), check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(self.version(), 2)
        quire.migrate(self.path, stages=self.stages(did_migrate=self.fail))
        self.assertEqual(self.sizes(), [0, 1, 2])
        with quire.open(self.path, [self.third]) as store:
            self.assertEqual((store.context.query(self.third).where("title == 'lost'").count(), store.check()), (0, 0))

    def test_bad_arguments_are_refused(self) -> None:
        before = rest_of(self.path)

        async def do_later(context: quire.Context) -> None:
            context.save()

        for error, call in (
            (quire.InvalidModel, lambda: quire.migrate(self.path)),
            (quire.InvalidArgument, lambda: quire.migrate(self.path, [self.second], stages=self.stages())),
            (quire.InvalidArgument, lambda: quire.migrate(self.path, stages=[])),
            (TypeError, lambda: quire.migrate(self.path, stages=[[self.second]])),  # type: ignore[list-item]
            (TypeError, lambda: quire.migrate(self.path, stages=self.stages()[0])),  # type: ignore[arg-type]
            (TypeError, lambda: quire.migrate(self.path, stages=self.stages(did_migrate=1))),
            (TypeError, lambda: quire.migrate(self.path, stages=self.stages(did_migrate=do_later))),
            (quire.InvalidModel, lambda: quire.migrate(self.path, stages=[*self.stages(), *self.stages()])),
            (quire.Unsupported, lambda: quire.migrate(self.path, stages=[quire.MigrationStage([self.third])])),
            (quire.Unsupported, lambda: quire.migrate(
                self.path, stages=[quire.MigrationStage([self.third])], dry_run=True)),
            (quire.ModelMismatch, lambda: quire.migrate(
                self.path, source=[self.second], stages=[quire.MigrationStage([self.third])], dry_run=True)),
        ):
            with self.assertRaises(error):
                call()
        self.assertEqual(rest_of(self.path), before)


if __name__ == "__main__":
    unittest.main()
