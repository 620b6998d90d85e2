"""Batch requests: changing the store without an object for each row."""

from __future__ import annotations

import quire

from support import Author, Everything, FileTestCase, Quote, StoreTestCase, day


class BatchTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.goethe = self.context.add(Author(name="Goethe"))
        self.quotes = [self.quote(f"q{place}", price=float(place), author=self.goethe) for place in range(6)]
        self.context.save()

    def fresh(self, model: type = Quote, *keys: object) -> list[tuple]:
        with self.store.create_context() as other:
            return other.query(model).order_by("contents").values(*(keys or ("contents", "price")))

    def test_update_counts_and_changes_what_the_query_has(self) -> None:
        cheap = self.context.query(Quote).where("price < 2")
        self.assertEqual(cheap.update(price=10.0, note="dear"), 2)
        self.assertEqual([row[1] for row in self.fresh()], [10.0, 10.0, 2.0, 3.0, 4.0, 5.0])
        self.assertEqual((self.quotes[0].price, self.quotes[0].note, self.quotes[2].note), (10.0, "dear", None))
        self.assertFalse(self.context.has_changes)
        ordered = self.context.query(Quote).where("price > 2").order_by("-price", "contents").offset(1).limit(2)
        ids = ordered.update({Quote.author: None, "created_at": day(3)}, returning_ids=True)
        self.assertEqual(list(ids), [self.quotes[1].id, self.quotes[5].id])
        self.assertIsNone(self.quotes[5].author)
        self.assertEqual(self.quotes[5].created_at, day(3))
        self.assertEqual(len(self.goethe.quotes), 4)
        schiller = self.context.add(Author(name="Schiller"))
        with self.assertRaisesRegex(quire.InvalidArgument, "not saved"):
            ordered.update(author=schiller)
        self.context.save()
        self.assertEqual(self.context.query(Quote).where("author == nil").update(author=schiller), 2)
        self.assertEqual({quote.contents for quote in schiller.quotes}, {"q1", "q5"})

    def test_update_calculates_with_expressions(self) -> None:
        wanted = [(row[0], row[1] * 2 + len(row[0])) for row in self.fresh()]
        dearer = quire.Expression("price * 2 + length(contents)")
        self.assertEqual(self.context.query(Quote).update(price=dearer, note="new"), 6)
        self.assertEqual(self.fresh(), wanted)
        self.assertEqual([quote.price for quote in self.quotes], [row[1] for row in wanted])
        # All are calculated before any is set: each gets the highest of what was, which includes its own row.
        self.context.query(Quote).update(price=Quote.price + 1, note=Quote.contents)
        self.assertEqual(self.fresh(Quote, "contents", "price", "note"), [(c, p + 1, c) for c, p in wanted])
        self.context.query(Quote).update({Quote.price: quire.Expression("author.quotes.@max.price")})
        self.assertEqual({row[1] for row in self.fresh()}, {max(p for _, p in wanted) + 1})
        with self.assertRaisesRegex(quire.Unsupported, "author"):
            self.context.query(Quote).update(author=quire.Expression("SELF"))
        with self.assertRaisesRegex(quire.InvalidArgument, "Quote.price"):
            self.context.query(Quote).update(price=Quote.contents)

    def test_update_refuses_what_does_not_fit(self) -> None:
        query = self.context.query(Quote)
        before = self.fresh()
        for wrong, kind in (({"contents": None}, TypeError), ({"price": "x"}, TypeError), ({}, quire.InvalidArgument),
                            ({"nothing": 1}, quire.InvalidArgument), ({Author.name: "x"}, quire.InvalidArgument)):
            with self.assertRaises(kind, msg=str(wrong)):
                query.update(wrong)
        with self.assertRaises(quire.InvalidArgument):
            self.context.query(Author).update({Author.quotes: []})
        with self.assertRaises(quire.InvalidArgument):
            self.context.query(Everything).update(draft="x")
        self.assertEqual(self.fresh(), before)

    def test_delete_follows_the_rules(self) -> None:
        self.assertEqual(self.context.query(Quote).where("price >= 4").delete(), 2)
        self.assertTrue(self.quotes[5].is_deleted)
        self.assertEqual(len(self.goethe.quotes), 4)
        ids = self.context.query(Author).delete(returning_ids=True)
        self.assertEqual(list(ids), [1])
        self.assertTrue(self.goethe.is_deleted and self.quotes[0].is_deleted)
        self.assertEqual(self.fresh(), [])
        self.assertEqual(self.context.query(Author).delete(), 0)

    def test_rows_are_inserted_saved(self) -> None:
        live = self.context.query(Quote).order_by("contents").live()
        ids = self.context.insert_rows(Quote, {"contents": ["a", "z"], Quote.price: [1.5, 2.5]})
        self.assertEqual([self.context.get(Quote, id).contents for id in ids], ["a", "z"])
        self.assertEqual([quote.contents for quote in live], ["a", "q0", "q1", "q2", "q3", "q4", "q5", "z"])
        self.assertFalse(self.context.has_changes)
        self.assertEqual(len(self.fresh()), 8)
        self.assertEqual(len(self.context.insert_rows(Quote, {"contents": []})), 0)
        with self.assertRaises(quire.ValidationError):
            self.context.insert_rows(Quote, {"price": [1.0]})
        with self.assertRaisesRegex(TypeError, "Row 1"):
            self.context.insert_rows(Quote, {"contents": ["a", None]})

    def test_live_lists_move_and_tell_their_handlers(self) -> None:
        live = self.context.query(Quote).where("price < 100").order_by("price").live()
        self.addCleanup(live.close)
        heard: list[list[str]] = []

        @live.on_change
        def note(change: quire.ChangeSet) -> None:
            heard.append(sorted(type(each).__name__ for each in change))

        self.context.query(Quote).where("price == 0").update(price=4.5)
        self.context.query(Quote).where("price == 1").update(note="seen")
        self.context.query(Quote).where("price == 2").update(price=200.0)
        self.context.query(Quote).where("price == 200").update(price=2.0)
        self.context.query(Quote).where("price == 3").delete()
        self.assertEqual(heard, [["Move"], ["Update"], ["Delete"], ["Insert"], ["Delete"]])
        self.assertEqual([quote.price for quote in live], [1.0, 2.0, 4.0, 4.5, 5.0])

    def test_unsaved_changes_stay_on_top(self) -> None:
        self.quotes[0].contents = "mine"
        self.quotes[1].contents = "gone"
        self.context.query(Quote).where("contents IN {'q0', 'q2'}").update(contents="theirs", price=9.0)
        self.context.query(Quote).where("contents == 'q1'").delete()
        self.assertEqual((self.quotes[0].contents, self.quotes[0].price), ("mine", 9.0))
        self.assertEqual(self.quotes[2].contents, "theirs")
        self.assertTrue(self.quotes[1].is_deleted)
        self.context.save()
        self.assertEqual(self.fresh()[0], ("mine", 9.0))

    def test_without_a_merge_the_context_learns_nothing(self) -> None:
        live = self.context.query(Quote).live()
        price = self.quotes[0].price
        self.assertEqual(self.context.query(Quote).update(price=50.0, merge=False), 6)
        self.assertEqual(self.context.query(Quote).where("contents == 'q5'").delete(merge=False), 1)
        self.context.insert_rows(Quote, {"contents": ["new"]}, merge=False)
        self.assertEqual((self.quotes[0].price, len(live)), (price, 6))
        self.assertEqual(len(self.fresh()), 6)
        self.quotes[0].note = "x"
        with self.assertRaises(quire.Conflict):
            self.context.save()

    def test_a_closed_context_refuses(self) -> None:
        query = self.context.query(Quote)
        self.context.close()
        with self.assertRaises(quire.StoreClosed):
            query.update(price=1.0)
        with self.assertRaises(quire.StoreClosed):
            query.delete()


class ReadOnlyTests(FileTestCase):
    def test_a_store_for_reading_refuses(self) -> None:
        quire.open(self.path, [Author, Quote]).close()
        with quire.open(self.path, [Author, Quote], read_only=True) as store:
            with self.assertRaises(quire.ReadOnly):
                store.context.query(Quote).delete()
            with self.assertRaises(quire.ReadOnly):
                store.context.insert_rows(Author, {"name": ["x"]})
