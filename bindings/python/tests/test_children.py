"""Contexts on contexts: what a child sees of its parent, and what a save of it does there."""

from __future__ import annotations

import itertools
import random
import unittest

import quire

from support import Author, Quote, StoreTestCase, seeds


class Note(quire.Model):
    text: quire.Attr[str]
    labels: quire.ToMany["Label"] = quire.relation(inverse="notes")


class Label(quire.Model):
    name: quire.Attr[str] = quire.attr(default="red")
    notes: quire.ToMany[Note] = quire.relation(inverse="labels")


class ChildTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.author = self.context.add(Author(name="Goethe"))
        self.theirs = self.quote("a", price=1, author=self.author)
        self.child = self.context.create_child()
        self.mine = self.child.get(Quote, self.theirs.id)

    def test_a_child_sees_what_is_not_saved(self) -> None:
        self.assertIs(self.child.parent, self.context)
        self.assertIsNone(self.context.parent)
        self.assertEqual(self.mine.contents, "a")
        self.assertIsNot(self.mine, self.theirs)
        self.assertEqual([each.id for each in self.child.query(Quote)], [self.theirs.id])
        self.assertEqual(self.mine.author.name, "Goethe")
        self.assertEqual([each.contents for each in self.mine.author.quotes], ["a"])

    def test_its_saves_are_changes_of_the_parent(self) -> None:
        self.mine.contents = "b"
        made = self.child.add(Quote(contents="c", author=self.mine.author))
        self.assertEqual(self.theirs.contents, "a")
        self.child.save()
        self.assertFalse(self.child.has_changes)
        self.assertTrue(self.context.has_changes)
        self.assertEqual(self.theirs.contents, "b")
        self.assertEqual(sorted(each.contents for each in self.author.quotes), ["b", "c"])
        self.context.save()
        fresh = self.store.create_context()
        self.assertEqual(fresh.get(Quote, made.id).contents, "c")

    def test_lists_learn_of_what_a_conflict_has_left_for_later(self) -> None:
        """The child has read a new value of the parent before it was told of it, and a save is a conflict elsewhere."""
        disputed, _ = self.quote("d"), self.quote("o", price=2)
        for policy, is_saved in itertools.product(list(quire.MergePolicy)[1:], (False, True)):
            with self.subTest(policy, is_saved=is_saved), self.context.create_child() as child:
                self.theirs.author, self.theirs.contents = self.author, "a"
                self.context.save()
                child.merge_policy = policy
                quotes = child.query(Quote)
                queries = [
                    quotes.order_by("contents"), quotes.order_by("-author"), quotes.where("author != nil"),
                    quotes.order_by("contents").limit(2)]
                lists = [query.live() for query in queries]
                sections = quotes.live(Quote.contents, aggregates={"last": "max:(contents)"})
                self.theirs.author, self.theirs.contents = None, "z"
                self.context.process()
                mine, late = child.get(Quote, self.theirs.id), child.get(Quote, disputed.id)
                mine.note = late.note = f"mine {policy} {is_saved}"
                disputed.note = f"theirs {policy} {is_saved}"
                child.save()
                if is_saved:
                    self.context.save()
                child.merge()
                for live, query in zip(lists, queries):
                    self.assertEqual([each.id for each in live], [each.id for each in query], query)
                self.assertEqual([section.name for section in sections.sections], ["d", "o", "z"])
                self.assertEqual(sections.aggregates["last"], "z")

    def test_queries_find_pairs_that_were_parted_before_one_side_learned_of_them(self) -> None:
        """A child has read one side of a relationship, the parent then makes pairs, and the child parts them again."""
        for from_tags, clears, is_saved in itertools.product((True, False), repeat=3):
            with self.subTest(from_tags=from_tags, clears=clears, is_saved=is_saved), \
                    quire.open(":memory:", [Note, Label]) as store:
                parent, child = store.context, store.context.create_child()
                notes, label = [parent.add(Note(text=str(number))) for number in range(3)], parent.add(Label())
                parent.save()
                mine, tag = [child.get(Note, each.id) for each in notes], child.get(Label, label.id)
                self.assertEqual([len(each.labels) for each in (mine if from_tags else ())], [0, 0, 0][:3 * from_tags])
                self.assertEqual(0 if from_tags else len(tag.notes), 0)
                for each in (notes[0], notes[2]):
                    each.labels.add(label)
                parent.save() if is_saved else parent.process()
                if from_tags:
                    tag.notes = [] if clears else [mine[0]]
                else:
                    for each in mine if clears else mine[1:]:
                        each.labels = []
                child.merge()
                counts = {each.id: len(each.labels) for each in mine}
                self.assertEqual(list(counts.values()), [0 if clears else 1, 0, 0])
                for count in range(3):
                    found = child.query(Note).where("labels.@count == %@", count)
                    self.assertEqual({each.id for each in found}, {id for id, n in counts.items() if n == count})
                self.assertEqual(child.query(Note).where("ANY labels.name == 'red'").count(), sum(counts.values()))
                found = child.query(Label).where("notes.@count == %@", len(tag.notes))
                self.assertEqual([each.id for each in found], [tag.id])
                child.save()
                self.assertEqual([len(each.labels) for each in notes], list(counts.values()))

    def test_what_is_not_saved_ends_with_the_child(self) -> None:
        self.mine.contents = "b"
        self.child.close()
        self.assertEqual(self.theirs.contents, "a")

    def test_a_parent_takes_its_children_along(self) -> None:
        parent = self.store.create_context()
        child = parent.create_child()
        parent.close()
        self.assertTrue(child.closed)

    def test_what_the_parent_has_deleted_stays_deleted_when_others_change_it(self) -> None:
        self.context.save()
        self.assertEqual(self.mine.contents, "a")
        self.context.delete(self.theirs)
        self.context.process()
        other = self.store.create_context()
        other.get(Quote, self.theirs.id).contents = "b"
        other.save()
        self.context.merge()
        self.child.merge()
        self.assertTrue(self.mine.is_deleted)
        self.assertEqual(self.child.query(Quote).all(), [])
        self.context.rollback()
        self.child.merge()
        self.assertEqual([self.mine.contents, self.mine.is_deleted], ["b", False])

    def test_members_come_back_with_a_deletion_that_is_dropped(self) -> None:
        self.context.save()
        grandchild = self.child.create_child()
        author = grandchild.get(Author, self.author.id)
        self.child.delete(self.mine)
        self.child.process()
        grandchild.merge()
        self.assertEqual(list(author.quotes), [])
        self.child.rollback()
        grandchild.merge()
        self.assertEqual([each.id for each in author.quotes], [self.theirs.id])

    def test_owners_old_and_new_hear_of_a_member_that_moves(self) -> None:
        second = self.context.add(Author(name="Schiller"))
        self.context.save()
        authors = [self.child.get(Author, each.id) for each in (self.author, second)]
        counts = lambda: [len(each.quotes) for each in authors]  # noqa: E731
        live = self.child.query(Author).where("quotes.@count > 0").live()
        self.assertEqual([counts(), list(live.ids)], [[1, 0], [self.author.id]])
        # From another context, so that the parent has read neither owner's members.
        other = self.store.create_context()
        other.get(Quote, self.theirs.id).author = other.get(Author, second.id)
        other.save()
        self.context.merge()
        self.child.merge()
        self.assertEqual([counts(), list(live.ids)], [[0, 1], [second.id]])
        self.theirs.author = self.author
        self.context.process()
        self.child.merge()
        self.assertEqual([counts(), list(live.ids)], [[1, 0], [self.author.id]])
        self.context.rollback()
        self.child.merge()
        self.assertEqual([counts(), list(live.ids)], [[0, 1], [second.id]])

    def test_a_list_hears_of_what_was_read_before_it_was_told(self) -> None:
        self.context.save()
        live = self.child.query(Quote).where("contents == 'a'").live()
        unread = self.child.get(Quote, self.theirs.id)
        unread.refresh(merge=False)
        self.theirs.contents = "b"
        self.assertEqual(unread.contents, "b")
        self.context.process()
        self.child.merge()
        self.assertEqual(list(live.ids), [])

    def test_an_object_that_was_gone_comes_back_as_itself(self) -> None:
        self.context.save()
        self.child.enable_undo()
        self.child.delete(self.mine)
        self.child.save()
        self.context.save()
        self.assertTrue(self.theirs.is_deleted)
        self.child.undo()
        self.child.save()
        self.assertIs(self.context.query(Quote).one(), self.theirs)
        self.assertEqual([self.theirs.contents, self.theirs.is_deleted], ["a", False])
        self.theirs.contents = "b"
        self.context.save()
        self.assertEqual([each.contents for each in self.store.create_context().query(Quote)], ["b"])

    def test_two_changes_of_one_attribute_are_in_conflict(self) -> None:
        self.assertEqual(self.mine.contents, "a")
        self.mine.contents = "mine"
        self.theirs.price = 5
        self.child.save()
        self.mine.contents = "mine again"
        self.theirs.contents = "theirs"
        with self.assertRaises(quire.Conflict) as raised:
            self.child.save()
        self.assertEqual([each.object for each in raised.exception.conflicts], [self.mine])
        self.child.merge_policy = quire.MergePolicy.STORE_WINS
        self.child.save()
        self.assertEqual(self.mine.contents, "theirs")
        self.assertEqual(self.theirs.price, 5)

    def test_live_lists_of_both_follow(self) -> None:
        above = self.context.query(Quote).order_by("contents").live()
        self.addCleanup(above.close)
        below = self.child.query(Quote).order_by("contents").live()
        self.addCleanup(below.close)
        heard: list[str] = []
        above.on_change(lambda change: heard.append("above"))
        below.on_change(lambda change: heard.append("below"))
        self.child.add(Quote(contents="0"))
        self.child.process()
        self.assertEqual(heard, ["below"])
        self.child.save()
        self.assertEqual(heard, ["below", "above"])
        self.quote("z")
        self.context.process()
        self.assertEqual(heard, ["below", "above", "above"])
        self.child.merge()
        self.assertEqual(heard, ["below", "above", "above", "below"])
        self.assertEqual([each.contents for each in above], [each.contents for each in below])

    def test_a_save_is_one_thing_to_undo(self) -> None:
        self.context.enable_undo()
        self.mine.contents = "b"
        self.child.add(Quote(contents="c"))
        self.child.save()
        self.context.undo()
        self.assertEqual([each.contents for each in self.context.query(Quote)], ["a"])

    def test_batch_requests_are_for_the_root(self) -> None:
        with self.assertRaises(quire.Unsupported):
            self.child.query(Quote).delete()

    def test_children_that_merge_show_what_dictionaries_say(self) -> None:
        seed = seeds(1)[0]
        print(f"children: seed {seed}")
        dice = random.Random(seed)
        # What each context has changed of what is above it, by id and attribute.
        contexts = [self.context, self.child, self.context.create_child()]
        contexts.append(contexts[1].create_child())
        above = {1: 0, 2: 0, 3: 1}
        base = {self.theirs.id: {"contents": "a", "price": 1}}
        changes: list[dict[int, object]] = [{}, {}, {}, {}]

        def view(level: int) -> dict[int, dict[str, object]]:
            rows = {id: dict(row) for id, row in (base if level == 0 else view(above[level])).items()}
            for id, change in changes[level].items():
                if change is None:
                    rows.pop(id, None)
                elif id in rows or "new" in change:
                    rows.setdefault(id, {}).update({key: value for key, value in change.items() if key != "new"})
            return rows

        for context in contexts[1:]:
            context.merges_automatically = True
        for step in range(400):
            level = dice.randrange(4)
            context, mine = contexts[level], changes[level]
            shown = view(level)
            action = dice.randrange(8)
            if action == 0 or not shown:
                made = context.add(Quote(contents=str(step), price=step))
                mine[made.id] = {"contents": str(step), "price": step, "new": True}
            elif action < 5:
                id = dice.choice(sorted(shown))
                key, value = dice.choice([("contents", str(step)), ("price", step)])
                setattr(context.get(Quote, id), key, value)
                mine.setdefault(id, {})[key] = value
            elif action == 5:
                id = dice.choice(sorted(shown))
                context.delete(context.get(Quote, id))
                if "new" in (mine.get(id) or {}):
                    del mine[id]
                else:
                    mine[id] = None
            elif action == 6:
                context.merge()
                context.save()
                if level == 0:
                    base = view(0)
                else:
                    parents = changes[above[level]]
                    for id, change in mine.items():
                        if change is None:
                            if "new" in (parents.get(id) or {}):
                                del parents[id]
                            else:
                                parents[id] = None
                        elif id in view(above[level]) or "new" in change:
                            parents.setdefault(id, {}).update(change)
                mine.clear()
            elif level > 0:
                context.rollback()
                mine.clear()
            # What is deleted above is dropped below, with what was changed of it there. A change to what is there is
            # none.
            for each in range(4):
                contexts[each].merge()
                there = base if each == 0 else view(above[each])
                for id, change in list(changes[each].items()):
                    if "new" in (change or {}):
                        continue
                    if id not in there:
                        del changes[each][id]
                    elif change is not None:
                        changes[each][id] = {key: value for key, value in change.items() if there[id][key] != value}
            for each, context in enumerate(contexts):
                found = {row.id: {"contents": row.contents, "price": row.price} for row in context.query(Quote)}
                self.assertEqual(found, view(each), f"seed {seed}, step {step}, context {each}")


if __name__ == "__main__":
    unittest.main()
