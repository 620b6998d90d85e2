"""Objects: identity, relationships, inheritance, what they show."""

import copy
import gc
import pickle
import unittest
import weakref

import quire
from support import Animal, Author, Cat, Dog, Kitten, Quote, StoreTestCase, day


class IdentityTests(StoreTestCase):
    def test_one_row_is_one_object_however_it_is_found(self):
        author = self.context.add(Author(name="Goethe"))
        quote = self.quote(author=author)
        for _ in range(2):
            self.assertIs(self.context.query(Quote).one(), quote)
            self.assertIs(self.context.get(Quote, quote.id), quote)
            self.assertIs(self.context.get_by_uri(quote.uri), quote)
            self.assertIs(author.quotes[0], quote)
            self.assertIs(quote.author, author)
            self.assertIs(self.context.query(Quote).live()[0], quote)
            self.context.save()

    def test_another_context_has_another_object(self):
        quote = self.quote()
        self.context.save()
        other = self.store.create_context().get(Quote, quote.id)
        self.assertIsNot(other, quote)
        self.assertEqual((other.id, other.uri), (quote.id, quote.uri))

    def test_objects_of_unrelated_classes_may_share_an_id(self):
        quote, author = self.quote(), self.context.add(Author(name="x"))
        self.context.save()
        self.assertEqual(quote.id, author.id)
        self.assertIsInstance(self.context.get(Quote, 1), Quote)
        self.assertIsInstance(self.context.get(Author, 1), Author)

    def test_an_object_that_nobody_holds_is_collected(self):
        for saved in (False, True):
            quote = self.quote(author=self.context.add(Author(name="x")))
            if saved:
                self.context.save()
            quote.author, quote.price
            watcher = weakref.ref(quote)
            del quote
            self.assertIsNone(watcher())

    def test_unsaved_changes_outlive_the_object(self):
        self.quote("kept", note="unsaved")
        gc.collect()
        found = self.context.query(Quote).one()
        self.assertEqual((found.contents, found.note), ("kept", "unsaved"))
        self.context.save()
        found.note = "changed"
        del found
        gc.collect()
        self.context.save()
        self.assertEqual(self.store.create_context().query(Quote).one().note, "changed")

    def test_cycles_through_an_object_are_collected(self):
        class Holder:
            pass

        holder = Holder()
        holder.quote = self.quote()
        holder.quote._holder = holder
        watcher = weakref.ref(holder)
        del holder
        gc.collect()
        self.assertIsNone(watcher())
        self.assertEqual(self.context.query(Quote).count(), 1)

    def test_an_id_is_permanent_from_the_beginning(self):
        quote = self.quote()
        id, uri = quote.id, quote.uri
        self.assertGreater(id, 0)
        self.assertTrue(quote.is_inserted)
        self.assertIs(self.context.get(Quote, id), quote)
        self.context.save()
        self.assertEqual((quote.id, quote.uri), (id, uri))
        self.assertFalse(quote.is_inserted)
        self.assertIs(self.context.get(Quote, id), quote)
        self.assertIs(self.context.query(Quote).one(), quote)

    def test_equality_is_identity(self):
        one, two = self.quote(), self.quote()
        self.assertNotEqual(one, two)
        self.assertEqual(len({one, two, one}), 2)


class ReprTests(StoreTestCase):
    def test_it_shows_what_is_known(self):
        self.assertEqual(repr(Quote(contents="x")), "<Quote (new) contents='x'>")
        quote = self.quote("x" * 60)
        self.context.save()
        self.assertEqual(repr(quote), f"<Quote 1 contents='{'x' * 36}...>")

    def test_it_never_reads(self):
        self.quote(author=self.context.add(Author(name="x")))
        self.context.save()
        other = self.store.create_context()
        author = other.query(Quote).one().author
        self.assertEqual(repr(author), "<Author 1 (fault)>")
        self.store.close()
        self.assertEqual(repr(author), "<Author 1 (fault)>")


class CopyTests(StoreTestCase):
    def test_objects_and_handles_are_neither_copied_nor_pickled(self):
        quote = self.quote()
        query = self.context.query(Quote)
        related = self.context.add(Author(name="x")).quotes
        live = query.live()
        for each in (
            self.store, self.context, quote, live, quire.Predicate("1 == 1"), related, query.columns("price")["price"],
        ):
            for action in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot pickle or copy"):
                    action(each)
        for each in (query, live.sections, live.sections[0]):
            with self.assertRaisesRegex(TypeError, "cannot pickle or copy"):
                pickle.dumps(each)
            self.assertEqual(list(copy.copy(each)), list(each))


class RelationshipTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.author = self.context.add(Author(name="Goethe"))

    def test_both_sides_follow_at_once(self):
        quote = self.quote()
        quote.author = self.author
        self.assertEqual(list(self.author.quotes), [quote])
        other = self.context.add(Author(name="Schiller", quotes=[quote]))
        self.assertIs(quote.author, other)
        self.assertEqual(len(self.author.quotes), 0)
        other.quotes.remove(quote)
        self.assertIsNone(quote.author)
        self.author.quotes.add(quote)
        self.assertIn(quote, self.author.quotes)
        self.author.quotes = []
        self.assertNotIn(quote, self.author.quotes)
        self.assertIsNone(quote.author)

    def test_a_to_many_relationship_reads_as_a_sequence(self):
        quotes = [self.quote(str(number), author=self.author) for number in range(5)]
        self.context.save()
        self.assertEqual(list(self.author.quotes), quotes)
        self.assertEqual(self.author.quotes[1:3], quotes[1:3])
        self.assertIs(self.author.quotes[-1], quotes[-1])
        self.assertEqual(list(reversed(self.author.quotes)), quotes[::-1])
        self.assertEqual(repr(self.author.quotes), "<Related Author.quotes of <Author 1 name='Goethe'>>")
        with self.assertRaises(IndexError):
            self.author.quotes[5]

    def test_an_object_that_was_not_added_is_refused(self):
        with self.assertRaisesRegex(quire.InvalidState, "is in no context yet"):
            self.quote().author = Author(name="new")
        with self.assertRaisesRegex(quire.InvalidState, "is in no context yet"):
            self.context.add(Quote(contents="x", author=Author(name="new")))
        with self.assertRaisesRegex(quire.InvalidState, "is in no context yet"):
            self.author.quotes.add(Quote(contents="new"))
        with self.assertRaisesRegex(quire.InvalidState, "can be read once its object is in a context"):
            Author(name="new").quotes

    def test_an_object_of_another_class_or_context_is_refused(self):
        with self.assertRaises(quire.InvalidArgument):
            self.quote().author = self.quote()
        with self.assertRaises(quire.InvalidArgument):
            self.quote().author = self.store.create_context().add(Author(name="far"))

    def test_deleting_cascades_and_nullifies(self):
        quote = self.quote(author=self.author)
        other = self.context.add(Author(name="x"))
        left = self.quote(author=other)
        self.context.save()
        self.context.delete(self.author)
        self.context.process()
        self.assertTrue(quote.is_deleted)
        self.assertEqual(set(self.context.deleted), {self.author, quote})
        self.context.delete(left)
        self.context.save()
        self.assertEqual(len(other.quotes), 0)
        self.assertEqual(self.context.query(Quote).count(), 0)


class InheritanceTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        for item in (Dog(name="Rex", tricks=3), Cat(name="Tom"), Kitten(name="Kit", lives=8, toy="ball")):
            self.context.add(item)
        self.context.save()

    def test_a_query_for_the_parent_gives_each_object_its_class(self):
        for context in (self.context, self.store.create_context()):
            found = context.query(Animal).order_by("name").all()
            self.assertEqual([type(each) for each in found], [Kitten, Dog, Cat])
            self.assertEqual((found[0].lives, found[0].toy, found[1].tricks, found[2].lives), (8, "ball", 3, 9))
            self.assertIs(context.get(Animal, found[0].id), found[0])
            self.assertIs(context.get(Cat, found[0].id), found[0])
            self.assertIs(context.query(Kitten).one(), found[0])

    def test_ids_are_of_the_whole_tree(self):
        dog = self.context.query(Dog).one()
        with self.assertRaises(quire.NotFound):
            self.context.get(Cat, dog.id)

    def test_live_lists_hold_all_classes(self):
        live = self.context.query(Animal).order_by("name").live()
        self.context.add(Kitten(name="Aaron"))
        self.context.process()
        self.assertEqual([each.name for each in live], ["Aaron", "Kit", "Rex", "Tom"])
        self.assertEqual([type(each) for each in live], [Kitten, Kitten, Dog, Cat])

    def test_an_abstract_class_has_no_objects_of_its_own(self):
        with self.assertRaisesRegex(quire.InvalidArgument, "abstract"):
            self.context.add(Animal(name="x"))


class StaleTests(StoreTestCase):
    def test_a_change_on_top_of_what_is_no_longer_so_is_a_conflict(self):
        self.quote(price=1.0, created_at=day(1))
        self.context.save()
        mine = self.store.create_context().query(Quote).one()
        self.assertEqual(mine.price, 1.0)
        self.context.query(Quote).one().price = 2.0
        self.context.save()
        mine.price += 1
        with self.assertRaises(quire.Conflict):
            mine.context.save()
        mine.context.rollback()
        self.assertEqual(mine.price, 2.0)
        mine.price += 1
        mine.context.save()
        self.assertEqual(self.store.create_context().query(Quote).one().price, 3.0)

    def test_a_query_shows_the_moment_of_its_context(self):
        self.quote(price=1.0)
        self.context.save()
        theirs = self.store.create_context()
        mine = theirs.query(Quote).one()
        self.assertEqual(mine.price, 1.0)
        self.context.query(Quote).one().price = 2.0
        self.context.save()
        self.assertEqual(theirs.query(Quote).where("price == 2").count(), 0)
        self.assertIs(theirs.query(Quote).one(), mine)
        self.assertEqual(mine.price, 1.0)
        theirs.merge()
        self.assertEqual(mine.price, 2.0)


if __name__ == "__main__":
    unittest.main()
