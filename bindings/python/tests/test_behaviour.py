"""Facts of Core Data's behaviour that no other test shows; docs/behaviour lists them all."""

from __future__ import annotations

import sqlite3
import threading
import unittest
import unittest.mock
from typing import Any, Callable, ClassVar, Optional

import quire

from support import MODELS, Author, Everything, FileTestCase, Quote, StoreTestCase


class Draft(quire.Model):
    """Writes down the hooks that are called for it."""

    size: quire.Attr[int] = quire.attr(default=1, maximum=3)
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    log: ClassVar[list[str]] = []
    saving: ClassVar[list[Callable[[Draft], None]]] = []
    """What else a save calls."""

    def awake_from_insert(self) -> None:
        self.log.append("awake_from_insert")

    def validate(self) -> None:
        super().validate()
        self.log.append("validate")

    def will_save(self) -> None:
        for each in self.saving:
            each(self)


class SavingTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Draft])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.draft = self.context.add(Draft())
        self.context.save()
        Draft.log.clear()

    def test_rules_are_checked_before_conflicts_are_looked_for(self) -> None:
        other = self.store.create_context()
        theirs = other.get(Draft, self.draft.id)
        theirs.size = 9
        self.draft.size = 2
        self.context.save()
        with self.assertRaises(quire.ValidationError):
            other.save()
        theirs.size = 3
        with self.assertRaises(quire.Conflict):
            other.save()

    def test_a_deletion_breaks_no_rule_but_deny(self) -> None:
        self.draft.size = 9
        with self.assertRaises(quire.ValidationError):
            self.context.save()
        Draft.log.clear()
        self.context.delete(self.draft)
        self.context.save()
        self.assertEqual(Draft.log, [])
        self.assertEqual(self.store.create_context().query(Draft).count(), 0)

    def test_redoing_an_insertion_does_not_call_awake_from_insert_again(self) -> None:
        self.context.enable_undo()
        draft = self.context.add(Draft())
        self.context.undo()
        self.assertTrue(draft.is_deleted)
        self.context.redo()
        self.assertTrue(draft.is_inserted)
        self.context.save()
        self.assertEqual(Draft.log.count("awake_from_insert"), 1)
        # Nor does it when the insertion had been saved and is then done again.
        self.context.undo()
        self.context.save()
        self.context.redo()
        self.context.save()
        self.assertEqual(Draft.log.count("awake_from_insert"), 1)
        self.assertEqual(self.store.create_context().query(Draft).count(), 2)

    def test_a_child_and_its_parent_count_as_one_context_for_threads(self) -> None:
        child = self.context.create_child()
        answers: list[Any] = []

        def meddle() -> None:
            for context in (child, self.context, self.store.create_context()):
                try:
                    answers.append(context.query(Draft).count())
                except quire.WrongThread:
                    answers.append("refused")

        def let_another_thread_in(_: Draft) -> None:
            thread = threading.Thread(target=meddle)
            thread.start()
            thread.join()

        for busy in (self.context, child):
            answers.clear()
            busy.get(Draft, self.draft.id).size += 1
            with unittest.mock.patch.object(Draft, "saving", [let_another_thread_in]):
                busy.save()
            self.assertEqual(answers, ["refused", "refused", 1])


class FileTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.quote = self.context.add(Quote(contents="one", price=1))
        self.context.save()
        self.file = sqlite3.connect(self.path)
        self.addCleanup(self.file.close)

    def sql(self, statement: str) -> list[tuple]:
        with self.file:
            return self.file.execute(statement).fetchall()

    def test_a_save_without_changes_does_not_touch_the_file(self) -> None:
        before = self.sql("PRAGMA data_version")
        self.context.save()
        self.quote.price = 2
        self.quote.price = 1
        self.context.save()
        self.assertEqual(self.sql("PRAGMA data_version"), before)
        self.quote.price = 2
        self.context.save()
        self.assertNotEqual(self.sql("PRAGMA data_version"), before)

    def test_a_row_that_another_program_changed_is_a_conflict_of_the_same_kind(self) -> None:
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'theirs', Z_OPT = Z_OPT + 1")
        self.quote.contents = "mine"
        with self.assertRaises(quire.Conflict) as caught:
            self.context.save()
        (conflict,) = caught.exception.conflicts
        self.assertEqual((conflict.kind, conflict.object), ("changed", self.quote))
        versions = (conflict.committed, conflict.stored, conflict.current)
        self.assertEqual([each and each["contents"] for each in versions], ["one", "theirs", "mine"])

    def test_what_another_store_on_the_file_saves_is_there_when_the_context_moves_on(self) -> None:
        live = self.context.query(Quote).order_by("contents").live()
        with quire.open(self.path, MODELS) as store:
            theirs = store.context.get(Quote, self.quote.id)
            theirs.contents = "two"
            store.context.save()
            store.context.add(Quote(contents="new"))
            store.context.save()
        self.context.process()
        self.assertEqual((self.quote.contents, [each.contents for each in live]), ("one", ["one"]))
        self.assertEqual(self.store.create_context().get(Quote, self.quote.id).contents, "two")
        self.context.merge()
        self.assertEqual((self.quote.contents, [each.contents for each in live]), ("two", ["new", "two"]))
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'three', Z_OPT = Z_OPT + 1 WHERE ZCONTENTS = 'two'")
        self.quote.refresh()
        self.assertEqual(self.quote.contents, "three")
        self.context.merges_automatically = True
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'four', Z_OPT = Z_OPT + 1 WHERE ZCONTENTS = 'three'")
        self.context.process()
        self.assertEqual((self.quote.contents, [each.contents for each in live]), ("four", ["four", "new"]))
        self.context.merges_automatically = False
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'five', Z_OPT = Z_OPT + 1 WHERE ZCONTENTS = 'four'")
        id = self.quote.id
        self.assertEqual(self.quote.contents, "four")
        self.context.reset()
        self.assertEqual(self.context.get(Quote, id).contents, "five")

    def test_a_context_that_has_only_saved_takes_over_what_others_save_then(self) -> None:
        self.sql("UPDATE ZQUOTE SET ZCONTENTS = 'two', Z_OPT = Z_OPT + 1")
        self.context.merge()
        self.assertEqual(self.quote.contents, "two")
        self.assertEqual(self.context.query(Quote).where("contents == 'two'").all(), [self.quote])

    def test_a_context_reads_one_moment_from_its_first_read_on(self) -> None:
        early, other = self.store.create_context(), self.store.create_context()
        self.assertEqual(other.query(Quote).count(), 1)
        second = self.context.add(Quote(contents="second"))
        self.context.save()
        self.assertEqual(early.query(Quote).count(), 2)
        self.assertEqual(other.query(Quote).count(), 1)
        with self.assertRaises(quire.NotFound):
            other.get(Quote, second.id)
        self.assertEqual(early.get(Quote, second.id).contents, "second")

    def test_merges_saves_and_a_reset_move_a_context_on(self) -> None:
        other = self.store.create_context()
        moves: dict[str, Callable[[], object]] = {
            "merge": other.merge, "reset": other.reset, "refresh_all": other.refresh_all,
            "save": lambda: (other.add(Quote(contents="theirs")), other.save()),
            "insert_rows": lambda: other.insert_rows(Quote, {"contents": ["theirs"]}),
        }
        for name, move in moves.items():
            with self.subTest(name):
                before = other.query(Quote).where("contents == 'mine'").count()
                self.context.add(Quote(contents="mine"))
                self.context.save()
                self.assertEqual(other.query(Quote).where("contents == 'mine'").count(), before)
                move()
                self.assertEqual(other.query(Quote).where("contents == 'mine'").count(), before + 1)
                # What another program changes is of a later moment, too.
                self.sql("DELETE FROM ZQUOTE WHERE ZCONTENTS = 'mine'")
                self.assertEqual(other.query(Quote).where("contents == 'mine'").count(), before + 1)
                move()
                self.assertEqual(other.query(Quote).where("contents == 'mine'").count(), 0)

    def test_a_context_holds_up_a_checkpoint_until_it_moves_on(self) -> None:
        def folds_all() -> bool:
            ((_, size, folded),) = self.sql("PRAGMA wal_checkpoint(PASSIVE)")
            return size == folded

        other = self.store.create_context()
        found = other.query(Quote).all()
        self.assertEqual(found[0].contents, "one")
        self.quote.price = 5
        self.context.save()
        self.assertFalse(folds_all())
        self.assertEqual(found[0].price, 1)
        other.merge()
        self.assertTrue(folds_all())
        self.assertEqual(found[0].price, 5)

    def test_no_history_is_written(self) -> None:
        self.quote.price = 5
        self.context.save()
        self.context.delete(self.quote)
        self.context.save()
        tables = {name for (name,) in self.sql("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.assertIn("ZQUOTE", tables)
        self.assertFalse({"ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"} & tables)


class PolicyTests(StoreTestCase):
    def test_merge_policies_have_the_numbers_of_core_data(self) -> None:
        self.assertEqual(
            {policy.name: policy.value for policy in quire.MergePolicy},
            {"ERROR": 0, "STORE_WINS": 1, "OBJECT_WINS": 2, "OVERWRITE": 3, "ROLLBACK": 4})

    def test_versions_in_a_conflict_leave_out_to_many_relationships(self) -> None:
        author = self.context.add(Author(name="Goethe"))
        self.quote(author=author)
        self.context.save()
        other = self.store.create_context()
        other.get(Author, author.id).name = "mine"
        author.name = "theirs"
        self.context.save()
        with self.assertRaises(quire.Conflict) as caught:
            other.save()
        (conflict,) = caught.exception.conflicts
        for version in (conflict.committed, conflict.stored, conflict.current):
            self.assertEqual(set(version or ()), {"name"})


class StayingCurrentTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.mine = self.quote("one", price=1)
        self.context.save()
        self.other = self.store.create_context()
        self.theirs = self.other.get(Quote, self.mine.id)
        self.assertEqual(self.theirs.contents, "one")

    def test_a_rollback_gives_back_what_was_read_and_not_what_is_stored_now(self) -> None:
        self.theirs.price = 5
        self.mine.contents = "two"
        self.context.save()
        self.other.rollback()
        self.assertEqual((self.theirs.contents, self.theirs.price), ("one", 1))

    def test_a_save_after_a_reset_writes_nothing(self) -> None:
        self.theirs.price = 5
        self.other.add(Quote(contents="new"))
        self.other.reset()
        self.assertFalse(self.other.has_changes)
        self.other.save()
        fresh = self.store.create_context().query(Quote).one()
        self.assertEqual((fresh.contents, fresh.price), ("one", 1))

    def test_what_is_merged_is_not_pending(self) -> None:
        live = self.other.query(Quote).order_by("contents").live()
        second = self.quote("second")
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge()
        self.assertEqual([(each.contents, each.is_inserted) for each in live], [("second", False)])
        self.assertIs(live[0], self.other.get(Quote, second.id))
        self.assertTrue(self.theirs.is_deleted)
        self.assertEqual((self.other.inserted, self.other.updated, self.other.deleted), ([], [], []))
        self.assertFalse(self.other.has_changes)

    def test_an_object_that_another_context_deleted_says_so_when_it_is_read(self) -> None:
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge()
        with self.assertRaisesRegex(quire.InvalidState, f"Quote {self.mine.id} was deleted"):
            self.theirs.contents
        with self.assertRaisesRegex(quire.InvalidState, "cannot be changed"):
            self.theirs.contents = "two"

    def test_fetches_leave_out_what_another_context_deleted(self) -> None:
        kept = self.quote("kept")
        self.context.delete(self.mine)
        self.context.save()
        self.other.merge()
        self.assertEqual([each.id for each in self.other.query(Quote)], [kept.id])
        self.assertIsNone(self.other.get(Quote, self.theirs.id, None))

    def test_contexts_do_not_merge_by_themselves_unless_told_so(self) -> None:
        self.assertFalse(self.other.merges_automatically)
        self.assertFalse(self.other.create_child().merges_automatically)
        self.mine.contents = "two"
        self.context.save()
        self.other.process()
        self.assertEqual(self.theirs.contents, "one")
        self.other.merges_automatically = True
        self.other.process()
        self.assertEqual(self.theirs.contents, "two")

    def test_batch_requests_are_merged_automatically_too(self) -> None:
        self.other.merges_automatically = True
        self.context.query(Quote).update(contents="two")
        self.context.insert_rows(Quote, {"contents": ["three"]})
        self.assertEqual(self.theirs.contents, "one")
        self.other.process()
        self.assertEqual(self.theirs.contents, "two")
        self.context.query(Quote).where("contents == 'two'").delete()
        self.other.process()
        self.assertTrue(self.theirs.is_deleted)


class ChildTests(StoreTestCase):
    def test_an_object_of_a_child_is_refreshed_from_its_parent(self) -> None:
        theirs = self.quote("one", price=1)
        self.context.save()
        child = self.context.create_child()
        mine = child.get(Quote, theirs.id)
        self.assertEqual(mine.contents, "one")
        theirs.contents, mine.price = "two", 5
        self.assertEqual(mine.contents, "one")
        mine.refresh()
        self.assertEqual((mine.contents, mine.price), ("two", 5))
        mine.refresh(merge=False)
        self.assertEqual((mine.contents, mine.price), ("two", 1))

    def test_an_id_is_the_same_in_a_child_its_parent_and_the_store(self) -> None:
        child = self.context.create_child().create_child()
        made = child.add(Quote(contents="made"))
        id, uri = made.id, made.uri
        self.assertGreater(id, 0)
        context: Optional[quire.Context] = child
        while context is not None:
            context.save()
            self.assertEqual((made.id, made.uri), (id, uri))
            self.assertEqual(context.get(Quote, id).uri, uri)
            context = context.parent
        self.assertEqual(self.store.create_context().get_by_uri(uri).id, id)


class UriTests(StoreTestCase):
    def test_a_uri_is_any_text_unless_a_pattern_says_otherwise(self) -> None:
        thing = self.context.add(Everything(link="no URI %%"))
        thing.validate()
        self.context.save()
        self.assertEqual(self.store.create_context().query(Everything).one().link, "no URI %%")


if __name__ == "__main__":
    unittest.main()
