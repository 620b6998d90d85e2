"""To-many relationships, changed as sets and lists are."""

import random
import unittest

import quire
from support import seeds


class Shelf(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="shelf", ordered=True)
    tags: quire.ToMany["Tag"] = quire.relation(inverse="shelves")


class Book(quire.Model):
    title: quire.Attr[str]
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="books")


class Tag(quire.Model):
    word: quire.Attr[str]
    shelves: quire.ToMany["Shelf"] = quire.relation(inverse="tags")


class RelatedTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Shelf, Book, Tag])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.shelf = self.context.add(Shelf(name="a"))
        self.books = [self.context.add(Book(title=str(number))) for number in range(8)]
        self.tags = [self.context.add(Tag(word=str(number))) for number in range(8)]

    def test_it_becomes_what_a_set_becomes(self):
        for seed in seeds(3):
            dice, wanted = random.Random(seed), set(self.shelf.tags)
            for _ in range(60):
                tags = self.shelf.tags
                some = dice.sample(self.tags, dice.randrange(4))
                name = dice.choice(
                    ["update", "difference_update", "intersection_update", "symmetric_difference_update"])
                sign = {"update": "|=", "difference_update": "-=", "intersection_update": "&="}.get(name, "^=")
                if dice.random() < 0.5:
                    getattr(tags, name)(some)
                else:
                    exec(f"shelf.tags {sign} some", {"shelf": self.shelf, "some": some})
                getattr(wanted, name)(some)
                if dice.random() < 0.2:
                    one = dice.choice(self.tags)
                    tags.discard(one)
                    wanted.discard(one)
                self.assertEqual(set(tags), wanted, f"seed {seed}: {name} {sign}")
                self.assertEqual({tag for tag in self.tags if self.shelf in tag.shelves}, wanted)
                if dice.random() < 0.2:
                    self.context.save()

    def test_its_operators_give_the_sets_that_those_of_sets_give(self):
        self.shelf.tags = self.tags[:5]
        held, other, tags = set(self.tags[:5]), set(self.tags[3:]), self.shelf.tags
        for some in (other, list(other), iter(list(other))):
            self.assertEqual(tags | some, held | other)
        self.assertEqual((tags & other, tags - other, tags ^ other), (held & other, held - other, held ^ other))
        self.assertEqual((other | tags, other & tags), (other | held, other & held))
        self.assertEqual((other - tags, other ^ tags, tags - tags), (other - held, other ^ held, set()))
        self.assertEqual(set(tags), held)
        for wrong in (5, None):
            with self.assertRaises(TypeError):
                tags | wrong
            with self.assertRaises(TypeError):
                wrong - tags

    def test_it_equals_the_list_and_the_set_of_its_objects(self):
        for name, members in ("books", self.books), ("tags", self.tags):
            held = getattr(self.shelf, name)
            self.assertEqual(held, [])
            held.update(members[:3])
            for saves in False, True:
                self.assertEqual(held, members[:3])
                self.assertEqual(members[:3], held)
                self.assertEqual(held, set(members[:3]))
                self.assertEqual(held, frozenset(members[:3]))
                self.assertEqual(held, getattr(self.shelf, name))
                for other in members[:2], members[2::-1], members[1:4], set(members[:4]), [], set(), None, 3, "abc":
                    self.assertNotEqual(held, other)
                with self.assertRaises(TypeError):
                    hash(held)
                self.context.save()
        self.assertNotEqual(self.shelf.books, self.shelf.tags)

    def test_what_it_does_not_hold_cannot_be_removed_and_can_be_discarded(self):
        for name, members in ("books", self.books), ("tags", self.tags):
            held = getattr(self.shelf, name)
            held.update(members[:3])
            for saves in False, True:
                for stranger in members[3], self.tags[0] if name == "books" else self.books[0], self.shelf:
                    with self.assertRaisesRegex(ValueError, f"Shelf.{name}.*discard"):
                        held.remove(stranger)
                held.discard(members[3])
                self.assertEqual(held, members[:3])
                self.context.save()
            held.remove(members[1])
            self.assertEqual(held, [members[0], members[2]])
            with self.assertRaises(ValueError):
                held.remove(members[1])
            self.context.delete(members[0])
            with self.assertRaises(ValueError):
                held.remove(members[0])
            self.assertEqual(held, [members[2]])
            with self.assertRaises(TypeError):
                held.remove("0")
        with self.assertRaises(quire.InvalidState):
            self.shelf.tags.remove(Tag(word="new"))

    def test_an_ordered_one_becomes_what_a_list_becomes(self):
        for seed in seeds(3):
            dice, wanted = random.Random(seed), list(self.shelf.books)
            for step in range(80):
                books = self.shelf.books
                others = [book for book in self.books if book not in wanted]
                place = dice.randrange(-3, 9)
                if step % 8 == 0 and others:
                    books.insert(place, others[0])
                    wanted.insert(place, others[0])
                elif step % 8 == 1 and wanted:
                    self.assertIs(books.pop(len(wanted) // 2), wanted.pop(len(wanted) // 2))
                elif step % 8 == 2:
                    some = dice.sample(others, min(len(others), 2))
                    books.extend(some)
                    wanted.extend(some)
                elif step % 8 == 3:
                    books.reverse()
                    wanted.reverse()
                elif step % 8 == 4:
                    books.sort(key=lambda book: book.title)
                    wanted.sort(key=lambda book: book.title)
                elif step % 8 == 5 and others:
                    books[place:place + 2] = others[:1]
                    wanted[place:place + 2] = others[:1]
                elif step % 8 == 6 and wanted:
                    del books[:2]
                    del wanted[:2]
                elif others:
                    books.append(others[0])
                    wanted.append(others[0])
                self.assertEqual(list(books), wanted, f"seed {seed}, step {step}")
                self.assertEqual([book for book in self.books if book.shelf], [b for b in self.books if b in wanted])

    def test_one_that_is_held_is_moved_by_inserting_and_stays_when_appended(self):
        a, b, c = self.books[:3]
        self.shelf.books = [a, b, c]
        self.shelf.books.append(a)
        self.assertEqual(list(self.shelf.books), [a, b, c])
        self.shelf.books.insert(0, c)
        self.assertEqual(list(self.shelf.books), [c, a, b])
        with self.assertRaises(ValueError):
            self.shelf.books[0] = b
        self.shelf.books.clear()
        self.assertEqual((len(self.shelf.books), len(self.context.query(Book).all())), (0, 8))

    def test_what_cannot_be_held_changes_nothing(self):
        self.shelf.tags = self.tags[:2]
        with quire.open(":memory:", [Shelf, Book, Tag]) as other:
            stranger = other.context.add(Tag(word="x"))
            for wrong, error in (
                (stranger, quire.Error), (Tag(word="new"), quire.InvalidState), (self.books[0], quire.InvalidArgument),
                (None, TypeError),
            ):
                with self.assertRaises(error):
                    self.shelf.tags.update([self.tags[5], wrong])
                self.assertEqual(list(self.shelf.tags), self.tags[:2])
        for wrong in (5, "x"):
            with self.assertRaises(TypeError):
                self.shelf.tags |= wrong

    def test_without_an_order_nothing_has_a_place(self):
        self.shelf.tags = self.tags[:3]
        for change in (
            lambda tags: tags.insert(0, self.tags[5]), lambda tags: tags.reverse(), lambda tags: tags.sort(key=id),
            lambda tags: tags.__setitem__(0, self.tags[5]),
        ):
            with self.assertRaisesRegex(quire.InvalidState, "has no order"):
                change(self.shelf.tags)
        self.assertIs(self.shelf.tags.pop(), self.tags[2])
        with self.assertRaises(IndexError):
            self.shelf.tags[2]


if __name__ == "__main__":
    unittest.main()
