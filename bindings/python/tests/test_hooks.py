"""Methods of classes that the library calls."""

from __future__ import annotations

import gc
import unittest
import weakref
from typing import Any, ClassVar, Optional

import quire


class Folder(quire.Model):
    notes: quire.ToMany["Note"] = quire.relation(inverse="folder", on_delete="cascade")


class Plain(quire.Model):
    text: quire.Attr[Optional[str]] = quire.attr(default=None)


class Note(quire.Model):
    text: quire.Attr[Optional[str]] = quire.attr(default="blank")
    edits: quire.Attr[int] = quire.attr(default=0)
    shout: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True)
    folder: quire.ToOne["Folder | None"] = quire.relation(inverse="notes")

    log: ClassVar[list[str]] = []
    acting: ClassVar[dict[str, Any]] = {}

    def _hook(self, name: str) -> None:
        self.log.append(name)
        body = self.acting.get(name)
        if body is not None:
            body(self)

    def awake_from_insert(self) -> None:
        self._hook("awake_from_insert")

    def awake_from_fetch(self) -> None:
        self._hook("awake_from_fetch")

    def prepare_for_deletion(self) -> None:
        self._hook("prepare_for_deletion")

    def will_save(self) -> None:
        self._hook("will_save")

    def validate(self) -> None:
        self._hook("validate")

    def did_save(self) -> None:
        self._hook("did_save")


class Draft(Note):
    pass


def fail(_: Note) -> None:
    raise KeyError("of the hook")


class HookTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Folder, Note, Draft, Plain])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        Note.log.clear()
        Note.acting.clear()
        self.addCleanup(Note.acting.clear)

    def take(self) -> list[str]:
        found = Note.log[:]
        Note.log.clear()
        return found


class Inserting(HookTestCase):
    def test_awake_from_insert_is_called_once_with_defaults_and_given_values(self) -> None:
        seen: list[Any] = []

        def awake(note: Note) -> None:
            seen.append((note, note.text, note.edits, note.is_inserted, note.id > 0))
            note.edits = 7

        Note.acting["awake_from_insert"] = awake
        first = self.context.add(Note())
        second = self.context.add(Draft(text="given"))
        self.assertEqual(seen, [(first, "blank", 0, True, True), (second, "given", 0, True, True)])
        self.context.add(first)
        self.context.save()
        self.assertEqual(self.take().count("awake_from_insert"), 2)
        self.assertEqual([each.edits for each in self.store.create_context().query(Note)], [7, 7])

    def test_awake_from_insert_is_called_for_each_of_many(self) -> None:
        seen: list[Any] = []
        Note.acting["awake_from_insert"] = lambda note: seen.append((note.id, note.text))
        ids = self.context.insert_many(Note, {"text": ["a", "b"]})
        self.assertEqual(seen, list(zip(ids, ["a", "b"])))

    def test_when_it_raises_nothing_was_added(self) -> None:
        Note.acting["awake_from_insert"] = fail
        with self.assertRaises(KeyError):
            self.context.add(Note())
        with self.assertRaises(KeyError):
            self.context.insert_many(Note, {"text": ["a", "b"]})
        self.assertFalse(self.context.has_changes)
        self.assertEqual(self.context.query(Note).count(), 0)

    def test_a_hook_may_add_other_objects(self) -> None:
        Note.acting["awake_from_insert"] = lambda note: setattr(note, "folder", self.context.add(Folder()))
        note = self.context.add(Note())
        self.assertEqual(list(note.folder.notes) if note.folder else None, [note])


class Fetching(HookTestCase):
    def test_awake_from_fetch_is_called_at_the_first_use_and_what_it_sets_is_no_change(self) -> None:
        for text in ("one", "two"):
            self.context.add(Note(text=text))
        self.context.save()
        self.take()
        Note.acting["awake_from_fetch"] = lambda note: setattr(note, "shout", (note.text or "").upper())
        other = self.store.create_context()
        notes = list(other.query(Note).order_by("text"))
        self.assertEqual(self.take(), [])
        self.assertEqual([each.shout for each in notes], ["ONE", "TWO"])
        self.assertEqual([each.text for each in notes], ["one", "two"])
        self.assertEqual(self.take(), ["awake_from_fetch"] * 2)
        self.assertFalse(other.has_changes)
        self.assertEqual([each.shout for each in other.query(Note).order_by("text")], ["ONE", "TWO"])
        notes[0].text = "three"
        other.save()
        self.assertEqual(notes[0].shout, "ONE")

    def test_it_may_not_change_relationships_and_what_it_raises_comes_out_of_the_read(self) -> None:
        folder = self.context.add(Folder())
        id = self.context.add(Note()).id
        self.context.save()
        gc.collect()
        Note.acting["awake_from_fetch"] = lambda note: setattr(note, "folder", folder)
        note = self.context.get(Note, id)
        with self.assertRaises(quire.InvalidState):
            note.text
        Note.acting["awake_from_fetch"] = fail
        with self.assertRaises(KeyError):
            note.text
        del Note.acting["awake_from_fetch"]
        self.assertEqual(note.text, "blank")

    def test_classes_without_hooks_read_their_rows_in_pages(self) -> None:
        self.context.insert_many(Plain, {"text": ["a"] * 300})
        self.context.save()
        found = list(self.store.create_context().query(Plain))
        self.assertTrue(all(each._quire_reference.page is not None for each in found))  # type: ignore[union-attr]


class Deleting(HookTestCase):
    def test_prepare_for_deletion_sees_the_relationships_in_cascades_too(self) -> None:
        folder = self.context.add(Folder())
        for _ in range(2):
            self.context.add(Note(folder=folder))
        self.context.save()
        seen: list[Any] = []
        Note.acting["prepare_for_deletion"] = lambda note: seen.append((note.folder, note.is_deleted))
        first = next(iter(folder.notes))
        self.context.delete(first)
        self.context.delete(first)
        self.assertEqual(seen, [(folder, False), (folder, True)])
        self.context.delete(folder)
        self.context.process()
        self.assertEqual(len(seen), 3)
        self.assertFalse(seen[2][1])

    def test_when_it_raises_the_object_stays(self) -> None:
        note = self.context.add(Note())
        self.context.save()
        Note.acting["prepare_for_deletion"] = fail
        with self.assertRaises(KeyError):
            self.context.delete(note)
        self.assertFalse(note.is_deleted or self.context.has_changes)


class Saving(HookTestCase):
    def test_the_order_of_a_save(self) -> None:
        quotes = self.context.query(Note).live()
        self.addCleanup(quotes.close)
        quotes.on_change(lambda change: Note.log.append("processed"))
        self.context.add(Note())
        self.context.process()
        self.context.save()
        self.assertEqual(self.take(), ["awake_from_insert", "processed", "will_save", "validate", "did_save"])
        self.context.save()
        self.assertEqual(self.take(), [])

    def test_will_save_changes_what_is_saved_and_is_called_again_while_it_does(self) -> None:
        def count(note: Note) -> None:
            if note.edits < 3:
                note.edits += 1

        Note.acting["will_save"] = count
        note = self.context.add(Note())
        self.context.save()
        self.assertEqual(note.edits, 3)
        self.assertEqual(self.take().count("will_save"), 4)
        self.assertEqual(self.store.create_context().query(Note).one().edits, 3)

    def test_will_save_and_did_save_are_called_for_deleted_objects_too(self) -> None:
        note = self.context.add(Note())
        self.context.save()
        self.context.delete(note)
        self.take()
        self.context.save()
        self.assertEqual(self.take(), ["will_save", "did_save"])

    def test_an_endless_will_save_is_an_error_and_everything_stays_pending(self) -> None:
        def grow(note: Note) -> None:
            note.edits += 1

        Note.acting["will_save"] = grow
        note = self.context.add(Note())
        with self.assertRaises(quire.InvalidState):
            self.context.save()
        self.assertTrue(note.is_inserted)
        self.assertEqual(self.take().count("will_save"), 1000)
        Note.acting.clear()
        self.context.save()
        self.assertEqual(note.edits, 1000)

    def test_what_hooks_raise_comes_out_of_the_save_with_everything_pending(self) -> None:
        note = self.context.add(Note())
        for name in ("will_save", "validate"):
            Note.acting.clear()
            Note.acting[name] = fail
            with self.subTest(name), self.assertRaises(KeyError) as caught:
                self.context.save()
            self.assertEqual(caught.exception.args, ("of the hook",))
            self.assertTrue(note.is_inserted and self.context.has_changes)
        Note.acting.clear()
        self.context.save()
        self.assertFalse(note.is_inserted)

    def test_what_did_save_raises_comes_out_after_the_save_which_is_made(self) -> None:
        Note.acting["did_save"] = fail
        note = self.context.add(Note())
        with self.assertRaises(KeyError):
            self.context.save()
        self.assertFalse(note.is_inserted or self.context.has_changes)
        self.assertEqual(self.store.create_context().query(Note).count(), 1)

    def test_did_save_dirties_the_context_again_and_cannot_save(self) -> None:
        refused: list[bool] = []

        def change(note: Note) -> None:
            note.text = "later"
            try:
                self.context.save()
            except quire.InvalidState:
                refused.append(True)

        Note.acting["did_save"] = change
        note = self.context.add(Note())
        self.context.save()
        self.assertEqual((note.text, note.is_updated, refused), ("later", True, [True]))

    def test_a_hook_that_deletes_and_inserts_during_a_save_has_it_saved(self) -> None:
        def replace(note: Note) -> None:
            if note.text == "old" and not note.is_deleted:
                self.context.delete(note)
                self.context.add(Note(text="new"))

        Note.acting["will_save"] = replace
        self.context.add(Note(text="old"))
        self.context.save()
        self.assertEqual([each.text for each in self.store.create_context().query(Note)], ["new"])

    def test_a_context_that_ends_leaves_nothing_behind(self) -> None:
        other = self.store.create_context()
        other.add(Note())
        other.close()
        gone = weakref.ref(other)
        del other
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
