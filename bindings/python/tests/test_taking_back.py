"""What is taken back takes nothing along, and what a save of a child does to its parent is one step."""

from __future__ import annotations

import unittest
from typing import Callable, Optional

import quire
from quire import Attr, MergePolicy, ToMany, ToOne, relation


class Cover(quire.Model):
    color: Attr[Optional[str]] = quire.attr(default=None)


class Owner(quire.Model):
    name: Attr[Optional[str]] = quire.attr(default=None)
    one: ToOne["Cover | None"] = relation(on_delete="cascade")
    many: ToMany["Cover"] = relation(on_delete="cascade")
    label: ToOne["Label | None"] = relation()


class Label(quire.Model):
    text: Attr[Optional[str]] = quire.attr(default=None)


class Folder(quire.Model):
    name: Attr[Optional[str]] = quire.attr(default=None)
    notes: ToMany["Note"] = relation(inverse="folder", on_delete="cascade")


class Note(quire.Model):
    text: Attr[Optional[str]] = quire.attr(default=None)
    folder: ToOne["Folder | None"] = relation(inverse="notes")

    def prepare_for_deletion(self) -> None:
        hooks.get(self.context, lambda: None)()


# What the hook of a note does, by context.
hooks: dict[quire.Context, Callable[[], None]] = {}


class TakingBackTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Cover, Owner, Label, Folder, Note])
        self.context = self.store.context
        self.addCleanup(self.store.close)
        self.addCleanup(hooks.clear)

    def covers(self) -> int:
        return len(self.store.create_context().query(Cover).all())

    def test_undoing_an_insertion_deletes_nothing_that_it_held(self) -> None:
        cover = self.context.add(Cover(color="red"))
        self.context.save()
        self.context.enable_undo()
        owner = self.context.add(Owner(one=cover))
        owner.many = [cover]
        self.context.process()
        self.context.undo()
        self.context.save()
        self.assertFalse(cover.is_deleted)
        self.assertEqual(self.covers(), 1)
        self.context.redo()
        self.assertIs(owner.one, cover)
        self.context.delete(owner)
        self.context.save()
        self.assertEqual(self.covers(), 0)

    def test_undoing_a_saved_insertion_keeps_what_others_have_added(self) -> None:
        self.context.enable_undo()
        folder = self.context.add(Folder(name="f"))
        self.context.save()
        other = self.store.create_context()
        other.add(Note(text="n", folder=other.get(Folder, folder.id)))
        other.save()
        self.context.merge()
        self.context.undo()
        self.context.save()
        self.assertEqual([(n.text, n.folder) for n in self.store.create_context().query(Note)], [("n", None)])

    def test_redoing_a_deletion_takes_along_what_came_since(self) -> None:
        folder = self.context.add(Folder(name="f"))
        self.context.save()
        self.context.enable_undo()
        self.context.delete(folder)
        self.context.process()
        self.context.undo()
        self.context.save()
        other = self.store.create_context()
        other.add(Note(text="n", folder=other.get(Folder, folder.id)))
        other.save()
        self.context.merge()
        self.context.redo()
        self.context.save()
        self.assertEqual(self.store.create_context().query(Note).all(), [])

    def test_a_refused_save_of_a_child_deletes_nothing_in_the_parent(self) -> None:
        cover, label = self.context.add(Cover()), self.context.add(Label())
        self.context.save()
        child = self.context.create_child()
        owner = child.add(Owner(one=child.get(Cover, cover.id)))
        owner.many = [child.get(Cover, cover.id)]
        child.add(Owner(label=child.get(Label, label.id)))
        self.context.delete(label)
        with self.assertRaises(quire.Conflict):
            child.save()
        self.assertEqual([set(), set()], [set(self.context.inserted), set(self.context.updated)])
        self.context.save()
        self.assertEqual(self.covers(), 1)

    def test_an_insertion_that_a_hook_refuses_deletes_nothing(self) -> None:
        class Refused(quire.Model):
            cover: ToOne["Cover | None"] = relation(on_delete="cascade")

            def awake_from_insert(self) -> None:
                self.cover = self.context.query(Cover).one()
                raise RuntimeError("no")

        with quire.open(":memory:", [Cover, Refused]) as store:
            store.context.add(Cover())
            store.context.save()
            with self.assertRaises(RuntimeError):
                store.context.add(Refused())
            store.context.save()
            self.assertEqual(store.create_context().query(Cover).count(), 1)

    def test_a_hook_that_looks_around_does_not_split_the_save_of_a_child(self) -> None:
        for fails in (False, True):
            with self.subTest(fails=fails), quire.open(":memory:", [Folder, Note]) as store:
                parent = store.context
                old = parent.add(Folder(name="old"))
                parent.save()
                parent.enable_undo()
                child = parent.create_child()
                child.add(Folder(name="new"))
                child.delete(child.get(Folder, old.id))
                child.process()
                parent.add(Note(folder=old))
                parent.process()

                def preparing() -> None:
                    parent.query(Note).count()
                    if fails:
                        raise RuntimeError("no")

                hooks[parent] = preparing
                if fails:
                    with self.assertRaises(RuntimeError):
                        child.save()
                else:
                    child.save()
                    parent.undo()
                hooks.clear()
                self.assertEqual([folder.name for folder in parent.query(Folder)], ["old"])
                self.assertEqual(len(old.notes), 1)

    def test_a_hook_cannot_end_what_a_child_is_saving(self) -> None:
        parent = self.context
        parent.enable_undo()
        folder = parent.add(Folder(name="f"))
        parent.save()
        child = parent.create_child()
        child.delete(child.get(Folder, folder.id))
        child.process()
        parent.add(Note(folder=folder))
        parent.process()
        refused: list[str] = []

        def preparing() -> None:
            for body in (
                parent.save, parent.rollback, parent.reset, parent.undo, parent.enable_undo, parent.disable_undo,
                parent.obtain_permanent_ids,
            ):
                try:
                    body()
                except quire.Error as error:
                    refused.append(str(error))

        hooks[parent] = preparing
        child.save()
        self.assertEqual(len(refused), 7)
        self.assertTrue(all("A child is saving into this context" in message for message in refused))
        parent.undo()
        self.assertFalse(folder.is_deleted)

    def test_a_merge_handler_of_a_child_cannot_change_the_parent(self) -> None:
        cover = self.context.add(Cover(color="a"))
        self.context.save()
        child = self.context.create_child()
        mine = child.get(Cover, cover.id)
        self.assertEqual(mine.color, "a")
        mine.color, cover.color = "mine", "theirs"
        refused: list[BaseException] = []

        def handler(conflict: quire.ObjectConflict) -> MergePolicy:
            for body in (self.context.rollback, self.context.save, lambda: setattr(cover, "color", "x")):
                try:
                    body()
                except quire.Error as error:
                    refused.append(error)
            return MergePolicy.OBJECT_WINS

        child.merge_policy = handler
        child.save()
        self.assertEqual(len(refused), 3)
        self.assertEqual(cover.color, "mine")

    def test_an_unread_object_whose_row_is_gone_has_nothing_to_be_kept(self) -> None:
        for policy in (MergePolicy.OBJECT_WINS, MergePolicy.OVERWRITE):
            folder, note = self.context.add(Folder()), self.context.add(Note())
            self.context.save()
            other = self.store.create_context()
            other.merge_policy = policy
            mine, member = other.get(Folder, folder.id), other.get(Note, note.id)
            mine.refresh(merge=False)
            mine.notes = [member]
            self.context.delete(folder)
            self.context.save()
            other.save()
            self.assertTrue(mine.is_deleted)
            self.assertIsNone(member.folder)
        self.assertEqual(self.store.create_context().query(Folder).all(), [])


if __name__ == "__main__":
    unittest.main()
