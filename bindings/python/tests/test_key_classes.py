"""Keys are of a class, and those of another class are refused wherever a key path is wanted."""

import pickle
import unittest
from typing import Optional

import quire


class Publisher(quire.Model):
    name: quire.Attr[str]
    authors: quire.ToMany["Author"] = quire.relation(inverse="publisher")


class Person(quire.Model):
    name: quire.Attr[str]


class Author(Person):
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
    publisher: quire.ToOne["Publisher | None"] = quire.relation(inverse="authors")
    fame: quire.Attr[int] = quire.attr(default=1)


class Book(quire.Model):
    title: quire.Attr[str]
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    pages: quire.Attr[int] = quire.attr(default=100)
    author: quire.ToOne["Author | None"] = quire.relation(inverse="books", name="writer")


MODELS = [Publisher, Author, Book]


class KeyClassTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        publisher = self.context.add(Publisher(name="Insel"))
        self.goethe = self.context.add(Author(name="Goethe", publisher=publisher))
        self.book = self.context.add(Book(title="Faust", name="x", author=self.goethe))
        self.context.save()
        self.books = self.context.query(Book)
        self.live = self.books.live()

    def assert_refused(self, use, key=Author.name, *, owner="Person", model="Book", error=quire.InvalidArgument):
        with self.assertRaises(error) as raised:
            use(key)
        for words in str(key), f"a key of {owner}", model:
            self.assertIn(words, raised.exception.message)
        return raised.exception.message

    def test_a_key_of_another_class_is_refused_wherever_a_path_is_wanted(self):
        books, live = self.books, self.live
        uses = {
            "where": lambda key: books.where(key == "x"),
            "where, on the right": lambda key: books.where(Book.title == key),
            "where, as an argument": lambda key: books.where("%K == %@", key, "x"),
            "where, joined": lambda key: books.where((Book.title == "x") & ~(Book.pages.in_([1, key]) | (key == "x"))),
            "where, calculated": lambda key: books.where(quire.function("uppercase", key) == "X"),
            "where, substituted": lambda key: books.where(quire.Predicate("title == $x").substituting(x=key)),
            "where, in a subquery": lambda key: self.context.query(Author).where(
                Author.books.subquery(lambda book: book.to(Book.title) == Publisher.name).count > 0),
            "having": lambda key: books.group_by("title").having(key == "x"),
            "order_by": lambda key: books.order_by(Book.title, key),
            "order_by, descending": lambda key: books.order_by(key.desc()),
            "order_by, an order": lambda key: books.order_by(quire.Order(key, text="localized")),
            "group_by": lambda key: books.group_by(key),
            "values": lambda key: books.values(key),
            "columns": lambda key: books.columns(key),
            "a column": lambda key: books.columns("name")[key],
            "dictionaries": lambda key: books.dictionaries(key),
            "dictionaries, a column": lambda key: books.dictionaries(x=quire.Expression("%@", key)),
            "aggregate": lambda key: books.aggregate(x=quire.function("max", key)),
            "explain": lambda key: books.explain(key),
            "sections": lambda key: books.live(key),
            "sections by a rule": lambda key: books.live(quire.sections.by_letter(key)),
            "sections by an expression": lambda key: books.live(quire.function("uppercase", key)),
            "sections of another query": lambda key: live.set_query(books, key),
            "aggregates of a list": lambda key: books.live(aggregates={"x": quire.function("max", key)}),
            "display": lambda key: live.display(key),
            "values of a list": lambda key: live.values(key),
            "columns of a list": lambda key: live.columns(key),
            "update": lambda key: books.update({key: "y"}),
            "update, a value": lambda key: books.update(title=key),
            "update, calculated": lambda key: books.update(title=quire.function("uppercase", key)),
            "insert_many": lambda key: self.context.insert_many(Book, {key: ["y"]}),
            "insert_rows": lambda key: self.context.insert_rows(Book, {"title": ["x"], key: ["y"]}),
            "matches": lambda key: (key == "x").matches(self.book),
            "evaluate": lambda key: quire.Expression("%@", key).evaluate(self.book),
        }
        for name, use in uses.items():
            with self.subTest(name):
                if name == "where, in a subquery":
                    self.assert_refused(use, Publisher.name, owner="Publisher", model="Author")
                else:
                    self.assert_refused(use)
        self.assertEqual((self.books.count(), self.book.title, self.book.name), (1, "Faust", "x"))
        with self.assertRaisesRegex(quire.InvalidArgument, "Author.publisher is a key of Author"):
            books.prefetch(Author.publisher)
        self.assertEqual(self.live, [self.book])

    def test_the_message_says_how_to_get_there(self):
        for query, key, remedy in (
            (self.books, Author.name, "Book.author.to(Person.name)"),
            (self.books, Author.fame, "Book.author.to(Author.fame)"),
            (self.context.query(Author), Book.title, "Author.books.any(Book.title)"),
            (self.context.query(Person), Author.fame, "Author inherits from Person. Take Author"),
            (self.books, Publisher.name, "Take a key of Book"),
        ):
            with self.assertRaises(quire.InvalidArgument) as raised:
                query.where(key == None)  # noqa: E711
            self.assertIn(remedy, raised.exception.message)
        for use in (
            lambda: self.books.update({Author.fame: 2}), lambda: self.context.insert_many(Book, {Author.fame: [2]}),
        ):
            with self.assertRaisesRegex(quire.InvalidArgument, "Author.fame is a key of Author.*Take a key of Book"):
                use()
        self.assertEqual(self.books.where(Book.author.to(Person.name) == "Goethe").count(), 1)
        self.assertEqual(self.context.query(Author).where(Author.books.any(Book.title) == "Faust").count(), 1)

    def test_keys_are_inherited(self):
        self.assertEqual(self.context.query(Author).where(Person.name == "Goethe").count(), 1)
        self.assertEqual(self.context.query(Person).where(Author.name == "Goethe").count(), 1)
        self.assertEqual(self.context.query(Author).order_by(Person.name).values(Person.name), [("Goethe",)])
        self.assertTrue((Person.name == "Goethe").matches(self.goethe))

    def test_keys_behind_a_relationship_are_of_its_class(self):
        for make in (
            lambda: Book.author.to(Publisher.name), lambda: Book.author.to(Author.publisher).to(Book.title),
            lambda: Author.books.any(Publisher.name), lambda: Author.books.all(Author.fame),
            lambda: Author.books.none(Author.fame), lambda: Author.books.sum(Author.fame),
            lambda: Author.books.max(Author.fame), lambda: Author.books.subquery(lambda book: book.to(Author.fame) > 1),
            lambda: Author.books.subquery(lambda book: book.to(Book.pages) > 1).sum(Author.fame),
        ):
            with self.assertRaisesRegex(quire.InvalidArgument, r"leads to objects of \w+, and .* is a key of"):
                make()
        authors = self.context.query(Author)
        for condition in (
            Author.books.subquery(lambda book: book.to(Book.pages) > Author.fame).count == 1,
            Author.books.sum(Book.pages) == 100, Author.publisher.to(Publisher.authors).any(Person.name) == "Goethe",
            quire.Predicate("publisher.%K == %@", Publisher.name, "Insel"),
            quire.Predicate("ANY %K.%K == 'Faust'", Author.books, Book.title),
            quire.Predicate("SUBQUERY(%K, $b, $b.%K > %@ AND $b . %K == %@).@count == 1",
                            Author.books, Book.pages, 1, Book.title, "Faust"),
        ):
            self.assertEqual(authors.where(condition).count(), 1, condition)
        with self.assertRaisesRegex(quire.InvalidArgument, "Publisher.name"):
            authors.where(quire.Predicate("publisher.%K == %K", Publisher.name, Publisher.name))

    def test_a_path_through_relationships_is_one_wherever_a_path_is_wanted(self):
        name = Book.author.to(Author.name)
        publisher = Book.author.to(Author.publisher).to(Publisher.name)
        self.context.insert_many(Book, {"title": ["Nothing"]})
        self.context.save()
        self.assertEqual(self.books.order_by(publisher, quire.Order(name, False)).values(Book.title, name, publisher), [
            ("Nothing", None, None), ("Faust", "Goethe", "Insel")])
        self.assertEqual(self.books.columns(name)[name], [row[0] for row in self.books.values("writer.name")])
        self.assertEqual(self.books.group_by(name).count(), 2)
        self.assertEqual(self.books.order_by("title").dictionaries(name)[0], {"writer.name": "Goethe"})
        self.assertEqual(self.books.prefetch(Book.author.to(Author.publisher)).all(), self.books.all())
        live = self.books.live(name)
        live.display(publisher)
        self.assertEqual(live.sections.names, ["", "Goethe"])
        for wrong in (Book.pages + 1, Author.books.count, name == "x"):
            with self.assertRaises((TypeError, quire.InvalidArgument)):
                self.books.order_by(wrong)

    def test_what_a_class_declares_is_checked_when_a_store_is_opened(self):
        for declared in (
            {"__templates__": {"x": Author.fame > 1}}, {"__templates__": {"x": ("title == nil", Author.fame.desc())}},
            {"__rules__": [(Author.fame > 1, "no")]}, {"__indexes__": [Author.fame.desc()]},
            {"__unique__": [(Author.fame,)]},
        ):
            with self.subTest(declared):
                annotations = {"title": "quire.Attr[str]", "fame": "quire.Attr[int]"}
                body = {"__annotations__": annotations, "__module__": __name__, **declared}
                model = type(quire.Model)("Shelf", (quire.Model,), body)
                self.assert_refused(
                    lambda key: quire.open(":memory:", [model]), Author.fame, owner="Author", model="Shelf",
                    error=quire.InvalidModel)

        class Reader(quire.Model):
            fame: quire.Attr[int]
            wrong: quire.Fetched["Book"] = quire.fetched(Author.fame > 1)

        self.assert_refused(
            lambda key: quire.open(":memory:", [*MODELS, Reader]), Author.fame, owner="Author",
            error=quire.InvalidModel)

    def test_a_class_that_was_defined_again_says_so(self):
        stale = Book.title

        def again():
            class Book(quire.Model):
                title: quire.Attr[str]

            return Book

        newer = again()
        with quire.open(":memory:", [newer]) as store:
            query = store.context.query(newer)
            for ask in lambda: query.where(stale == "x"), lambda: query.values(stale):
                with self.assertRaisesRegex(quire.InvalidArgument, "Book.title.*defined again"):
                    ask()
            self.assertEqual(query.where(newer.title == "x").count(), 0)

    def test_templates_take_keys_of_their_class_for_variables(self):
        class Shelf(quire.Model):
            low: quire.Attr[int]
            high: quire.Attr[int]
            __templates__ = {"x": "low < $other"}

        with quire.open(":memory:", [Shelf, *MODELS]) as store:
            store.context.add(Shelf(low=1, high=2))
            self.assertEqual(store.context.template(Shelf, "x", other=Shelf.high).count(), 1)
            self.assert_refused(
                lambda key: store.context.template(Shelf, "x", other=key), Author.fame, owner="Author", model="Shelf")

    def test_orders_of_keys_are_values(self):
        self.assertEqual(Book.title.desc("localized"), quire.Order("title", False, "localized"))
        self.assertEqual(pickle.loads(pickle.dumps(Book.title.desc())), Book.title.desc())
        self.assertEqual(hash(Book.title.asc()), hash(quire.Order("title")))


if __name__ == "__main__":
    unittest.main()
