"""Histories that the random ones of Tests/Checks/graph/graph.py have found, each made short."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Optional

import quire


class Crate(quire.Model):
    mark: quire.Attr[Optional[int]] = quire.attr(default=None)
    items: quire.ToMany["Item"] = quire.relation(inverse="crate", on_delete="deny")


class Item(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    crate: quire.ToOne["Crate | None"] = quire.relation(inverse="items")
    parent: quire.ToOne["Item | None"] = quire.relation(inverse="children")
    children: quire.ToMany["Item"] = quire.relation(inverse="parent")
    tags: quire.ToMany["Tag"] = quire.relation(inverse="items", ordered=True)
    key: quire.ToOne["Key | None"] = quire.relation(inverse="item")
    origin: quire.ToOne["Tag | None"] = quire.relation(on_delete="no action")


class Key(quire.Model):
    item: quire.ToOne["Item | None"] = quire.relation(inverse="key")


class Tag(quire.Model):
    word: quire.Attr[Optional[str]] = quire.attr(default=None)
    items: quire.ToMany["Item"] = quire.relation(inverse="tags")


class Box(Item):
    size: quire.Attr[Optional[int]] = quire.attr(default=None)


class Album(quire.Model):
    tags: quire.ToMany["Tag"] = quire.relation()


class HistoryTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = quire.open(os.path.join(folder.name, "found.sqlite"), [Album, Box, Crate, Item, Key, Tag])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def item(self, **values: object) -> Item:
        return self.context.add(Item(**values))

    def other(self) -> quire.Context:
        made = self.store.create_context()
        self.addCleanup(made.close)
        return made


class OtherProgramTests(HistoryTestCase):
    def test_a_row_that_became_one_of_another_entity_is_gone(self) -> None:
        # A query of the other entity reads a name, which both have.
        for name, reads_the_other_first in (("name", False), ("size", False), ("size", True)):
            with self.subTest(name=name, reads_the_other_first=reads_the_other_first):
                box = self.context.add(Box(name="a", size=3))
                self.context.save()
                self.context.refresh_all()
                with contextlib.closing(sqlite3.connect(self.store.path)) as file, file:
                    item = file.execute("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'").fetchone()
                    file.execute("UPDATE ZITEM SET Z_ENT = ? WHERE Z_PK = ?", [*item, box.id])
                self.context.refresh_all()
                if reads_the_other_first:
                    self.assertIn(box.id, [each.id for each in self.context.query(Item).all()])
                # The context has moved on, and knows that the box is gone.
                with self.assertRaises(quire.InvalidState):
                    getattr(box, name)


class OneContextTests(HistoryTestCase):
    def test_undo_has_an_object_refer_again_to_one_whose_deletion_it_denies(self) -> None:
        first, second, item = self.context.add(Crate()), self.context.add(Crate()), self.item()
        item.crate = first
        self.context.save()
        self.context.enable_undo()
        self.context.delete(first)
        self.context.process()
        item.crate = second
        self.context.undo()
        with self.assertRaises(quire.ValidationError):
            self.context.save()
        self.context.undo()
        self.assertIs(item.crate, first)
        self.assertEqual(list(first.items), [item])

    def test_a_refreshed_object_does_not_refer_again_to_one_that_is_deleted_here(self) -> None:
        parent, child, tag = self.item(), self.item(), self.context.add(Tag())
        child.parent = parent
        child.tags = [tag]
        self.context.save()
        self.context.delete(parent)
        self.context.delete(tag)
        self.context.process()
        child.name = "lost"
        child.refresh(merge=False)
        self.assertEqual((child.name, child.parent, list(child.tags)), (None, None, []))
        self.assertTrue(child.is_updated)
        self.context.save()
        with self.other() as fresh:
            self.assertIsNone(fresh.get(Item, child.id).parent)

    def test_one_that_was_never_saved_denies_nothing(self) -> None:
        crate, item = self.context.add(Crate()), self.item()
        item.crate = crate
        self.context.delete(crate)
        self.context.save()
        self.assertIsNone(item.crate)


    def test_a_refreshed_object_counts_again_for_what_denies_its_deletion(self) -> None:
        crate, item = self.context.add(Crate()), self.item()
        self.context.enable_undo()
        self.context.save()
        item.crate = crate
        self.context.save()
        self.context.undo()
        self.assertEqual(list(crate.items), [])
        self.context.delete(crate)
        item.refresh(merge=False)
        with self.assertRaises(quire.ValidationError):
            self.context.save()

    def test_a_refreshed_object_refers_to_what_its_row_refers_to(self) -> None:
        item, first, second = self.item(), self.context.add(Tag()), self.context.add(Tag())
        item.origin = first
        self.context.save()
        self.context.delete(first)
        self.context.save()
        item.origin = second
        item.refresh(merge=False)
        self.assertFalse(item.is_updated)
        self.assertFalse(self.context.has_changes)


    def test_a_member_that_came_and_went_unsaved_is_no_change(self) -> None:
        parent = self.item()
        self.context.save()
        child = self.item(parent=parent)
        self.context.delete(child)
        self.context.process()
        self.assertEqual(parent.changed_values, {})

    def test_a_refresh_without_a_change_is_nothing_to_undo(self) -> None:
        item, key = self.item(), self.context.add(Key())
        self.context.save()
        self.context.enable_undo()
        item.name = "kept"
        self.context.save()
        key.item = item
        key.refresh(merge=False)
        self.context.process()
        self.context.undo()
        self.assertIsNone(item.name)
        self.assertFalse(self.context.can_undo)


class TwoContextTests(HistoryTestCase):
    def test_a_member_that_was_given_to_another_here_does_not_come_with_a_merge(self) -> None:
        one, two, member = self.item(), self.item(), self.item()
        self.context.save()
        late = self.other()
        ours = {each.id: each for each in (late.get(Item, each.id) for each in (one, two, member))}
        mine, others, moved = (ours[each.id] for each in (one, two, member))
        self.assertEqual([list(each.children) for each in (mine, others)], [[], []])
        late.add(Item()).parent = mine
        moved.parent = others
        member.parent = one
        self.context.save()
        late.merge()
        self.assertIs(moved.parent, others)
        self.assertNotIn(moved, list(mine.children))

    def test_what_others_have_refer_to_a_deleted_object_comes_under_its_rules_with_a_merge(self) -> None:
        parent, child, tag = self.item(), self.item(), self.context.add(Tag())
        self.context.save()
        late = self.other()
        mine, theirs, word = late.get(Item, parent.id), late.get(Item, child.id), late.get(Tag, tag.id)
        self.assertEqual((list(mine.children), theirs.parent, list(word.items)), ([], None, []))
        late.enable_undo()
        late.delete(mine)
        late.process()
        child.parent = parent
        parent.tags = [tag]
        self.context.save()
        late.merge()
        self.assertEqual((theirs.parent, list(word.items)), (None, []))
        self.assertTrue(theirs.is_updated)
        late.save()
        self.assertEqual((theirs.parent, list(word.items)), (None, []))
        late.undo()
        self.assertFalse(late.can_undo)
        self.assertFalse(mine.is_deleted)

    def test_a_deleted_object_is_no_member_after_a_merge_and_a_save(self) -> None:
        parent, child = self.item(), self.item()
        self.context.save()
        late = self.other()
        owner, gone = late.get(Item, parent.id), late.get(Item, child.id)
        self.assertEqual((list(owner.children), gone.parent), ([], None))
        late.delete(gone)
        child.parent = parent
        self.context.save()
        late.merge()
        late.save()
        self.assertEqual(list(owner.children), [])

    def test_a_row_that_returns_is_the_object_that_was_gone(self) -> None:
        first = self.item(name="first")
        self.context.enable_undo()
        self.context.save()
        late = self.other()
        mine = late.get(Item, first.id)
        self.context.delete(first)
        self.context.save()
        late.merge()
        self.assertTrue(mine.is_deleted)
        self.context.undo()
        self.context.save()
        late.merge()
        self.assertIs(late.get(Item, first.id), mine)
        self.assertEqual(mine.name, "first")

    def test_a_row_that_returns_is_where_it_is_now(self) -> None:
        parent, child = self.item(), self.item()
        child.parent = parent
        self.context.enable_undo()
        self.context.save()
        late = self.other()
        owner, moved = late.get(Item, parent.id), late.get(Item, child.id)
        self.assertEqual((list(owner.children), list(moved.children)), ([moved], []))
        self.context.delete(child)
        self.context.save()
        self.context.undo()
        child.parent = child
        self.context.save()
        late.merge()
        self.assertEqual((list(owner.children), list(moved.children), moved.parent), ([], [moved], moved))

    def test_a_row_that_two_have_brought_back_is_one(self) -> None:
        for settles in (False, True):
            with self.subTest(settles):
                first = self.item(name="first")
                self.context.save()
                late = self.other()
                mine = late.get(Item, first.id)
                self.context.enable_undo()
                late.enable_undo()
                self.context.delete(first)
                self.context.process()
                late.delete(mine)
                late.save()
                self.context.merge()
                late.undo()
                self.context.undo()
                first.name = "mine"
                late.save()
                if settles:
                    with self.assertRaises(quire.Conflict):
                        self.context.save()
                    self.context.merge_policy = quire.MergePolicy.OBJECT_WINS
                else:
                    self.context.merge()
                self.assertEqual((first.is_deleted, first.name), (False, "mine"))
                self.context.save()
                late.merge()
                self.assertEqual(mine.name, "mine")
                self.context.merge_policy = quire.MergePolicy.ERROR

    def test_both_sides_of_a_one_to_one_relationship_agree_after_a_merge(self) -> None:
        first, second, key, spare = self.item(), self.item(), self.context.add(Key()), self.context.add(Key())
        first.key = key
        self.context.save()
        late = self.other()
        ours = [late.get(Item, each.id) for each in (first, second)]
        keys = [late.get(Key, each.id) for each in (key, spare)]
        self.assertEqual([each.key for each in ours], [keys[0], None])
        self.assertEqual([each.item for each in keys], [ours[0], None])
        ours[0].key = keys[1]
        key.item = second
        self.context.save()
        late.merge()
        self.assertEqual([each.key for each in ours], [keys[1], None])
        self.assertEqual([each.item for each in keys], [None, ours[0]])
        late.save()
        with self.other() as fresh:
            self.assertIsNone(fresh.get(Item, second.id).key)
            self.assertIsNone(fresh.get(Key, key.id).item)

    def test_what_is_deleted_here_after_a_change_is_let_go_of_by_its_partner_of_elsewhere(self) -> None:
        key, mine = self.context.add(Key()), self.item()
        self.context.save()
        late = self.other()
        deleted, partner = late.get(Key, key.id), late.get(Item, mine.id)
        deleted.item = partner
        late.delete(deleted)
        key.item = self.item()
        self.context.save()
        late.merge()
        self.assertIsNone(late.get(Item, key.item.id).key)
        late.save()
        self.context.merge()
        self.assertTrue(key.is_deleted)

    def test_a_partner_that_was_never_read_lets_go_when_a_save_is_settled(self) -> None:
        key = self.context.add(Key())
        self.context.save()
        late = self.other()
        late.merge_policy = quire.MergePolicy.OBJECT_WINS
        mine = late.get(Key, key.id)
        mine.item = late.add(Item())
        key.item = self.item()
        self.context.save()
        late.save()
        with self.other() as fresh:
            self.assertEqual(fresh.get(Key, key.id).item.id, mine.item.id)
            self.assertIsNone(fresh.get(Item, key.item.id).key)

    def test_undo_leaves_members_alone_that_another_context_has_added(self) -> None:
        item, tags = self.item(), [self.context.add(Tag(word=word)) for word in "abc"]
        self.context.save()
        late = self.other()
        mine, words = late.get(Item, item.id), [late.get(Tag, each.id) for each in tags]
        late.enable_undo()
        mine.tags = words[:1]
        late.save()
        self.context.merge()
        item.tags.add(tags[1])
        self.context.save()
        late.merge()
        self.assertEqual(list(mine.tags), words[:2])
        late.undo()
        self.assertEqual(list(mine.tags), words[1:2])
        late.redo()
        self.assertEqual(set(mine.tags), set(words[:2]))

    def test_undo_gives_back_no_values_of_an_object_that_another_context_has_brought_back(self) -> None:
        first = self.item(name="first")
        self.context.save()
        late = self.other()
        mine = late.get(Item, first.id)
        self.context.merge_policy = quire.MergePolicy.OBJECT_WINS
        late.enable_undo()
        late.delete(mine)
        late.save()
        first.name = "changed"
        self.context.save()
        late.merge()
        late.undo()
        self.assertEqual(mine.name, "changed")
        self.assertFalse(late.has_changes)

    def test_what_was_removed_and_then_deleted_by_another_is_no_change(self) -> None:
        parent, child = self.item(), self.item()
        child.parent = parent
        self.context.save()
        late = self.other()
        owner, gone = late.get(Item, parent.id), late.get(Item, child.id)
        self.assertEqual(list(owner.children), [gone])
        gone.parent = None
        self.context.delete(child)
        self.context.save()
        late.merge()
        self.assertFalse(late.has_changes)

    def test_what_a_save_settles_is_not_undone(self) -> None:
        first = self.item(name="first")
        self.context.save()
        late = self.other()
        mine = late.get(Item, first.id)
        self.assertEqual((mine.name, list(mine.children)), ("first", []))
        late.enable_undo()
        late.merge_policy = quire.MergePolicy.ROLLBACK
        mine.name = "mine"
        late.process()
        first.name = "theirs"
        self.context.save()
        late.save()
        self.assertEqual(mine.name, "theirs")
        late.undo()
        self.assertFalse(late.can_undo)

    def test_members_of_an_object_that_is_to_be_read_again_are_put_in_order_without_a_conflict(self) -> None:
        item, tags = self.item(), [self.context.add(Tag()), self.context.add(Tag())]
        item.tags = tags
        self.context.save()
        item.refresh(merge=False)
        other = self.other()
        other.get(Item, item.id).name = "b"
        other.save()
        self.context.merge()
        item.tags = tags[::-1]
        self.context.save()
        other.merge()
        self.assertEqual([each.id for each in other.get(Item, item.id).tags], [each.id for each in tags[::-1]])

    def test_a_partner_that_was_read_before_another_saved_lets_go_of_what_is_given_away_here(self) -> None:
        first, second, key = self.item(), self.item(), self.context.add(Key())
        self.context.save()
        other = self.other()
        early = other.get(Item, second.id)
        self.assertIsNone(early.key)
        second.key = key
        self.context.save()
        other.merge()
        other.get(Key, key.id).item = other.get(Item, first.id)
        other.save()
        self.assertIsNone(early.key)
        fresh = self.other()
        self.assertIsNone(fresh.get(Item, second.id).key)
        self.assertEqual(fresh.get(Item, first.id).key.id, key.id)

    def test_a_partner_that_was_read_before_another_saved_takes_back_what_is_given_to_it_here(self) -> None:
        item, key = self.item(), self.context.add(Key())
        item.key = key
        self.context.save()
        other = self.other()
        early = other.get(Item, item.id)
        self.assertEqual(early.key.id, key.id)
        item.key = None
        self.context.save()
        other.merge()
        other.get(Key, key.id).item = early
        other.save()
        fresh = self.other()
        self.assertIs(fresh.get(Item, item.id).key, fresh.get(Key, key.id))

    def test_members_are_those_that_were_set_though_another_has_taken_one_out_and_added_one(self) -> None:
        first, second, third = self.item(), self.item(), self.item()
        second.parent = first
        self.context.save()
        other = self.other()
        early = other.get(Item, first.id)
        self.assertEqual(len(early.children), 1)
        second.parent, third.parent = None, first
        self.context.save()
        early.children = []
        self.assertEqual(list(early.children), [])

    def test_a_handler_within_another_one_leaves_the_parent_protected(self) -> None:
        first, second = self.item(name="1"), self.item(name="1")
        self.context.save()
        child, middle = self.context.create_child(), self.context.create_child()
        below = middle.create_child()
        for made in (child, middle, below):
            self.addCleanup(made.close)
        mine, deep = child.get(Item, first.id), below.get(Item, second.id)
        between = middle.get(Item, second.id)
        self.assertEqual((mine.name, deep.name), ("1", "1"))
        first.name, mine.name, between.name, deep.name = "2", "3", "5", "6"
        refused = []

        def decides(conflict: object) -> quire.MergePolicy:
            for step in (lambda: None, below.save):
                step()
                try:
                    self.context.add(Item())
                except quire.InvalidState:
                    refused.append(True)
            return quire.MergePolicy.OBJECT_WINS

        child.merge_policy = decides
        below.merge_policy = lambda conflict: quire.MergePolicy.OBJECT_WINS
        child.save()
        self.assertEqual(refused, [True, True])

    def test_a_member_without_inverse_that_another_deleted_is_a_conflict(self) -> None:
        album = self.context.add(Album())
        kept, lost = self.context.add(Tag()), self.context.add(Tag())
        self.context.save()
        late = self.other()
        mine = late.get(Album, album.id)
        mine.tags.update([late.get(Tag, kept.id), late.get(Tag, lost.id)])
        self.context.delete(lost)
        self.context.save()
        with self.assertRaises(quire.Conflict):
            late.save()
        late.merge_policy = quire.MergePolicy.OBJECT_WINS
        late.save()
        self.assertEqual([tag.id for tag in mine.tags], [kept.id])


if __name__ == "__main__":
    unittest.main()
