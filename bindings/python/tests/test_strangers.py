"""Objects of another store: they may have the ids of ours, and are others all the same."""

from __future__ import annotations

import quire

from support import MODELS, Author, Quote, StoreTestCase


class StrangerTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.elsewhere = quire.open(":memory:", MODELS)
        self.addCleanup(self.elsewhere.close)
        self.stranger = self.elsewhere.context.add(Author(name="x"))
        self.elsewhere.context.save()
        self.author = self.context.add(Author(name="a"))
        self.mine = self.quote(author=self.author)
        self.context.save()
        self.assertEqual(self.stranger.id, self.author.id)

    def test_predicates_that_name_them_are_refused(self) -> None:
        query = self.context.query(Quote)
        for condition in (Quote.author == self.stranger, quire.Predicate("author IN %@", [self.author, self.stranger]),
                          quire.Predicate("SUBQUERY(author.quotes, $x, $x.author == %@).@count > 0", self.stranger)):
            for call in (query.where(condition).count, query.where(condition).all, query.where(condition).delete,
                         query.where(condition).live, lambda: condition.matches(self.mine)):
                with self.assertRaisesRegex(quire.InvalidArgument, "another store", msg=str(condition)):
                    call()
        unsaved = self.elsewhere.context.add(Author(name="y"))
        with self.assertRaisesRegex(quire.InvalidArgument, "another store"):
            query.where("author == %@", unsaved).count()
        self.assertEqual(query.count(), 1)

    def test_objects_of_another_context_are_ours(self) -> None:
        other = self.store.create_context()
        self.assertEqual(other.query(Quote).where(Quote.author == self.author).count(), 1)
        self.assertTrue(quire.Predicate("author == %@", other.get(Author, self.author.id)).matches(self.mine))
