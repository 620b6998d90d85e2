"""Several live lists as one."""

import random
import unittest

import quire
from support import Author, Quote, StoreTestCase, seeds


def rows_of(composite):
    """What a composite must show, from its lists: sections of pairs of class and id."""
    return [
        [(type(each), each.id) for each in section] for part in composite.lists for section in part.sections]


def replay(change, sections):
    """The steps of a change, applied to sections of pairs of class and id. Only quotes come."""
    kinds = quire.StepKind
    for step in change.steps():
        if step.kind is kinds.INSERT_SECTION:
            sections.insert(step.section, [])
        elif step.kind is kinds.DELETE_SECTION:
            assert not sections.pop(step.section)
        elif step.kind is kinds.INSERT_ROW:
            sections[step.section].insert(step.row, (Quote, step.id))
        elif step.kind is not kinds.UPDATE_ROW:
            row = sections[step.section].pop(step.row)
            assert row[1] == step.id
            if step.kind is kinds.MOVE_ROW:
                sections[step.to_section].insert(step.to_row, row)
    return sections


class CompositeTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.goethe = self.context.add(Author(name="Goethe"))
        self.quotes = [self.quote(f"text {number}", author=self.goethe, price=number) for number in range(6)]
        self.context.save()
        query = self.context.query(Quote).order_by(Quote.price)
        self.dear = query.where("price > 3").live()
        self.authors = self.context.query(Author).order_by(Author.name).live(section_by=Author.name)
        self.all = query.live(section_by="author.name")
        self.composite = quire.Composite(self.dear, self.authors, self.all)
        self.told = []
        self.composite.on_change(self.told.append)

    def test_it_is_a_sequence_of_its_lists(self):
        composite = self.composite
        wanted = [*self.dear, *self.authors, *self.all]
        self.assertEqual((len(composite), list(composite)), (9, wanted))
        self.assertEqual([composite[place] for place in range(-9, 9)], wanted + wanted)
        for start in range(-1, 10):
            for stop in range(10):
                for step in (1, 2, -1):
                    self.assertEqual(composite[start:stop:step], wanted[start:stop:step])
        with self.assertRaises(IndexError):
            composite[9]
        self.assertEqual(composite.sections.names, ["", "Goethe", "Goethe"])
        self.assertEqual([list(each) for each in composite.sections], [wanted[:2], wanted[2:3], wanted[3:]])
        self.assertEqual(composite.sections["Goethe"][0], self.goethe)
        self.assertEqual([composite.list_of(place) for place in range(3)], [self.dear, self.authors, self.all])
        self.assertEqual([composite.start_of(place) for place in range(3)], [(0, 0), (1, 2), (2, 3)])
        for mistake in (3, 2**70):
            with self.assertRaises((quire.NotFound, IndexError)):
                composite.list_of(mistake)
        with self.assertRaises(IndexError):
            composite.start_of(3)
        self.assertIs(composite.context, self.context)
        self.assertIn("3 lists", repr(composite))

    def test_sections_have_the_aggregates_of_their_lists(self):
        self.composite.close()
        query = self.context.query(Quote).order_by(Quote.price)
        dear = query.where("price > 3").live(aggregates={"total": "sum:(price)"})
        every = query.live(section_by="author.name", aggregates={"greatest": "max:(price)"})
        composite = quire.Composite(dear, every)
        told = []
        composite.on_change(told.append)
        self.assertEqual([dict(each.aggregates) for each in composite.sections], [{"total": 9.0}, {"greatest": 5.0}])
        self.quotes[5].price = 7
        self.context.process()
        self.assertEqual([dict(each.aggregates) for each in composite.sections], [{"total": 11.0}, {"greatest": 7.0}])
        self.assertEqual([len(each) for each in told], [2])

    def test_an_object_has_its_place_in_the_first_list_that_has_it(self):
        composite, last = self.composite, self.quotes[5]
        self.assertEqual((composite.path_of(last), composite.index(last), composite.count(last)), ((0, 1), 1, 2))
        self.assertEqual(composite.index(last, 2), 8)
        self.assertEqual((composite.path_of(self.goethe), composite.flat((1, 0))), ((1, 0), 2))
        self.assertEqual(composite.path_of(self.quotes[0]), (2, 0))
        self.assertIn(last, composite.sections[2])
        self.assertNotIn(self.quotes[0], composite.sections[0])
        stranger = Quote(contents="x")
        self.assertNotIn(stranger, composite)
        self.assertIsNone(composite.path_of(stranger))
        for missing in (lambda: composite.index(stranger), lambda: composite.index(last, 2, 5)):
            with self.assertRaises(ValueError):
                missing()

    def test_one_processing_is_one_change(self):
        order = []
        for name, each in (("dear", self.dear), ("all", self.all), ("composite", self.composite)):
            each.on_change(lambda change, name=name: order.append(name))
        self.quotes[5].price = 1.5
        self.goethe.name = "Schiller"
        self.context.save()
        self.assertEqual(order, ["dear", "all", "composite"])
        (change,) = self.told
        self.assertEqual(
            [(type(each), each.results, each.old, each.new) for each in change if each.id == self.quotes[5].id
             and each.results is not self.authors],
            [(quire.Delete, self.dear, (0, 1), None), (quire.Move, self.all, (2, 5), (2, 2))])
        (author,) = (each for each in change if each.results is self.authors)
        self.assertEqual((author.object, author.keys), (self.goethe, ("name",)))
        self.assertEqual(change.inserted_sections, (1, 2))
        self.assertEqual(change.map(2), 1)

    def test_what_is_iterated_is_what_was_there(self):
        rows = iter(self.composite)
        first = next(rows)
        self.quotes[0].price = 8
        self.quote("new", price=9)
        self.context.process()
        self.assertEqual([first, *rows], [*self.quotes[4:], self.goethe, *self.quotes])

    def test_lists_stand_in_one_composite_and_are_fetched_by_it(self):
        with self.assertRaises(quire.InvalidArgument):
            quire.Composite(self.dear)
        with self.assertRaises(quire.InvalidState):
            self.dear.fetch()
        with self.assertRaises(quire.InvalidArgument):
            quire.Composite()
        with self.assertRaises(TypeError):
            quire.Composite(self.context.query(Quote))
        with self.store.create_context() as other:
            with self.assertRaises(quire.InvalidArgument):
                quire.Composite(self.context.query(Quote).live(), other.query(Quote).live())
        self.composite.fetch()
        self.assertEqual((len(self.composite), self.told), (9, []))
        self.composite.close()
        self.quotes[0].price = 10
        self.context.process()
        self.assertEqual((len(self.dear), self.told, repr(self.composite)), (3, [], "<Composite (closed)>"))
        self.dear.fetch()
        with self.assertRaises(quire.StoreClosed):
            len(self.composite)

    def test_a_new_query_and_a_suspended_list_are_told_too(self):
        self.dear.set_query(self.context.query(Quote).where("price < 2").order_by(Quote.price))
        self.assertEqual([type(each) for each in self.told.pop()], [quire.Delete] * 2 + [quire.Insert] * 2)
        with self.all.suspended():
            self.quotes[5].price = 1
            self.context.process()
            self.assertEqual([each.results for each in self.told.pop()], [self.dear])
        self.assertEqual([each.results for each in self.told.pop()], [self.all])

    def test_random_changes_replay(self):
        for seed in seeds(3):
            with self.subTest(seed=seed):
                dice = random.Random(seed)
                shown = rows_of(self.composite)
                for _ in range(40):
                    quotes = self.context.query(Quote).all()
                    for _ in range(dice.randrange(1, 6)):
                        chance = dice.random()
                        if chance < 0.2 or not quotes:
                            self.quote("new", author=dice.choice([None, self.goethe]), price=dice.randrange(7))
                        elif chance < 0.4:
                            self.context.delete(quotes.pop(dice.randrange(len(quotes))))
                        elif chance < 0.9:
                            dice.choice(quotes).price = dice.randrange(7)
                        else:
                            self.goethe.name = dice.choice(["Goethe", "Schiller"])
                    self.context.save()
                    for change in self.told:
                        shown = replay(change, shown)
                    self.told.clear()
                    self.assertEqual(shown, rows_of(self.composite))


if __name__ == "__main__":
    unittest.main()
