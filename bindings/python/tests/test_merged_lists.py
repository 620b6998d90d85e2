"""Live lists, and what other contexts do to what they depend on."""

from __future__ import annotations

import unittest
from typing import Any

import quire
from support import Recording


class Owner(quire.Model):
    name: quire.Attr[str]
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="owners")
    books: quire.ToMany["Book"] = quire.relation(inverse="owner", on_delete="cascade")
    pets: quire.ToMany["Pet"] = quire.relation()


class Book(quire.Model):
    title: quire.Attr[str]
    owner: quire.ToOne["Owner | None"] = quire.relation(inverse="books")


class Pet(quire.Model):
    name: quire.Attr[str]


class Shelf(quire.Model):
    name: quire.Attr[str]
    owners: quire.ToMany["Owner"] = quire.relation(inverse="shelf")


class OtherContextTests(unittest.TestCase):
    """Lists follow what happens in other contexts, whether or not this context has read the objects."""

    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Owner, Book, Pet, Shelf])
        self.addCleanup(self.store.close)
        context = self.store.context
        shelf = context.add(Shelf(name="s"))
        owner = context.add(Owner(name="a", shelf=shelf))
        context.add(Owner(name="b", shelf=shelf))
        self.book = context.add(Book(title="x", owner=owner))
        self.pet = context.add(Pet(name="x"))
        owner.pets = [self.pet]
        context.save()

    def check(self, model: type[quire.Model], format: str, gone: quire.Model, delete: Any) -> None:
        """A list of another context is what a query finds, after a row that it depends on is gone."""
        view = self.store.create_context()
        query = view.query(model).where(format)
        live = query.order_by("name").live()
        before = list(live.ids)
        delete(self.store.context, gone)
        view.merge()
        self.assertNotEqual(list(query.order_by("name").ids()), before, format)
        self.assertEqual(live.ids, query.order_by("name").ids(), format)

    CASES = [
        (Owner, "books.@count == 1"), (Owner, "ANY books.title == 'x'"), (Owner, "NONE books.title == 'x'"),
        (Owner, "SUBQUERY(books, $b, $b.title == 'x').@count == 0"), (Shelf, "ANY owners.books.title == 'x'"),
    ]
    CASES_WITHOUT_INVERSE = [
        (Owner, "pets.@count == 1"), (Owner, "ANY pets.name == 'x'"),
        (Shelf, "SUBQUERY(owners, $o, $o.pets.@count > 0).@count == 1"),
    ]

    def test_members_that_another_context_has_deleted_leave_the_predicate(self) -> None:
        def delete(context: quire.Context, gone: quire.Model) -> None:
            context.delete(gone)
            context.save()

        for model, format in self.CASES:
            with self.subTest(format):
                self.setUp()
                self.check(model, format, self.book, delete)
        for model, format in self.CASES_WITHOUT_INVERSE:
            with self.subTest(format):
                self.setUp()
                self.check(model, format, self.pet, delete)

    def test_members_that_a_batch_request_of_another_context_has_deleted_leave_the_predicate(self) -> None:
        def delete(context: quire.Context, gone: quire.Model) -> None:
            context.query(type(gone)).where("SELF == %@", gone).delete()

        for model, format in (*self.CASES, *self.CASES_WITHOUT_INVERSE):
            with self.subTest(format):
                self.setUp()
                self.check(model, format, self.book if (model, format) in self.CASES else self.pet, delete)

    def test_members_that_a_parent_has_deleted_leave_the_predicate_of_a_child(self) -> None:
        for saves in (False, True):
            # Without an inverse only the save takes members out.
            for model, format in (*self.CASES, *(self.CASES_WITHOUT_INVERSE if saves else ())):
                with self.subTest(format, saves=saves):
                    self.setUp()
                    gone = self.book if (model, format) in self.CASES else self.pet
                    child = self.store.context.create_child()
                    query = child.query(model).where(format).order_by("name")
                    live = query.live()
                    before = list(live.ids)
                    self.store.context.delete(gone)
                    self.store.context.process()
                    if saves:
                        self.store.context.save()
                    child.merge()
                    self.assertNotEqual(list(query.ids()), before)
                    self.assertEqual(live.ids, query.ids())

    def test_members_without_inverse_leave_the_predicate_with_the_save_that_deletes_them(self) -> None:
        for processes in (False, True):
            for reads in (False, True):
                for model, format in self.CASES_WITHOUT_INVERSE:
                    with self.subTest(format, processes=processes, reads=reads):
                        self.setUp()
                        context = self.store.create_context()
                        pet = context.get(Pet, self.pet.id)
                        members = [list(owner.pets) for owner in context.query(Owner)] if reads else []
                        query = context.query(model).where(format).order_by("name")
                        live = query.live()
                        self.assertEqual(len(live), 1)
                        context.delete(pet)
                        if processes:
                            context.process()
                        context.save()
                        self.assertEqual((list(live.ids), list(query.ids())), ([], []))
                        del members

    def test_a_member_without_inverse_that_is_given_to_another_has_left_who_had_it(self) -> None:
        for merges in (False, True):
            for reads in (False, True):
                for format in ("pets.@count == 1", "pets.@count == 0", "ANY pets.name == 'x'"):
                    with self.subTest(format, merges=merges, reads=reads):
                        self.setUp()
                        acting = self.store.create_context()
                        view = self.store.create_context() if merges else acting
                        query = view.query(Owner).where(format).order_by("name")
                        live = query.live()
                        members = [(owner, len(owner.pets)) for owner in view.query(Owner)] if reads else []
                        acting.query(Owner).where("name == 'b'").one().pets = [acting.get(Pet, self.pet.id)]
                        acting.save()
                        if merges:
                            view.merge()
                        expected = [owner.id for owner in self.store.create_context().query(Owner).where(format)]
                        self.assertEqual((list(live.ids), list(query.ids())), (expected, expected))
                        self.assertEqual([len(owner.pets) for owner, _ in members], [0, 1] if reads else [])

    def test_an_object_and_a_new_member_of_another_are_one_insertion_and_one_update(self) -> None:
        view = self.store.create_context()
        live = view.query(Owner).order_by("name").live()
        self.addCleanup(live.close)
        recording = Recording(live)
        context = self.store.context
        context.add(Owner(name="c"))
        owner = context.query(Owner).where("name == 'a'").one()
        context.add(Book(title="y", owner=owner))
        context.save()
        view.merge()
        self.assertEqual(recording.take(), [["Insert 0.2", "Update 0.0/0.0"]])

    def test_what_others_save_is_told_as_if_it_were_done_here(self) -> None:
        view = self.store.create_context()
        live = view.query(Owner).where("name < 'm'").order_by("name").live()
        self.addCleanup(live.close)
        recording = Recording(live)
        context = self.store.context
        first, second = context.query(Owner).order_by("name")
        first.name = "z"
        context.save()
        view.merge()
        first.name = "c"
        context.save()
        view.merge()
        context.delete(second)
        first.name = "b2"
        context.save()
        view.merge()
        self.assertEqual(recording.take(), [["Delete 0.0"], ["Insert 0.1"], ["Delete 0.0", "Update 0.1/0.0"]])

    def test_a_list_of_a_child_stays_until_the_child_merges(self) -> None:
        child = self.store.context.create_child()
        live = child.query(Owner).order_by("name").live()
        self.addCleanup(live.close)
        recording = Recording(live)
        self.store.context.add(Owner(name="c"))
        self.store.context.process()
        child.process()
        self.assertEqual((recording.take(), len(live)), ([], 2))
        child.merge()
        self.assertEqual((recording.take(), len(live)), ([["Insert 0.2"]], 3))


if __name__ == "__main__":
    unittest.main()
