"""What model classes may say."""

import contextlib
import copy
import os
import pickle
import re
import sqlite3
import sys
import tempfile
import unittest
from datetime import datetime
from typing import ClassVar, List, Optional, Union

import quire
from future_models import Book, Shelf
from support import Animal, Author, Kitten, Quote


class DeclarationTests(unittest.TestCase):
    def assertRefused(self, expected, body, kind=TypeError):
        with self.assertRaisesRegex(kind, expected):
            body()

    def test_text_annotations_mean_what_evaluated_ones_do(self):
        with quire.open(":memory:", [Shelf, Book]) as store:
            context = store.context
            shelf = context.add(Shelf(name="A"))
            book = context.add(Book(title=None, shelf=shelf, read_at=None, bought_at=None))
            context.save()
            self.assertIs(book.shelf, shelf)
            self.assertEqual(list(shelf.books), [book])
            with self.assertRaisesRegex(TypeError, "Shelf.name expects str, not None"):
                shelf.name = None

    def test_unions_in_text_are_read_on_every_version_of_python(self):
        class One(quire.Model):
            a: "quire.Attr[str | None]" = quire.attr(default=None)
            b: quire.Attr["None | int"] = quire.attr(default=None)
            c: "quire.Attr[Optional[float]]" = quire.attr(default=None)
            d: quire.Attr[Union[bool, None]] = quire.attr(default=None)
            e: "quire.Attr['datetime | None']" = quire.attr(default=None)

        self.assertEqual(
            [(each._type.name, each._is_optional) for each in (One.a, One.b, One.c, One.d, One.e)],
            [("String", True), ("Integer64", True), ("Double", True), ("Boolean", True), ("Date", True)])

    @unittest.skipIf(sys.version_info < (3, 10), "no | between types before 3.10")
    def test_evaluated_unions_are_read(self):
        class One(quire.Model):
            a: quire.Attr[str | None] = quire.attr(default=None)

        self.assertTrue(One.a._is_optional)

    def test_a_name_in_the_class_may_differ_from_that_in_the_store(self):
        class Note(quire.Model):
            created_at: quire.Attr[datetime] = quire.attr(name="createdAt")

        self.assertEqual(Note.created_at.path, "createdAt")
        self.assertEqual(str(Note.created_at), "Note.created_at")

    def test_class_variables_and_private_names_are_left_alone(self):
        class Note(quire.Model):
            text: quire.Attr[str]
            shown: ClassVar[int] = 3
            _cache: int = 0

        self.assertEqual(Note(text="x").shown, 3)
        note = Note(text="x")
        note._cache = 5
        self.assertEqual(note._cache, 5)

    def test_an_attribute_of_an_unknown_type_is_refused(self):
        def body():
            class Wrong(quire.Model):
                tags: quire.Attr[List[str]]
        self.assertRefused(r"Wrong.tags: an attribute cannot be .*it is one of int, float, str", body)

    def test_a_plain_annotation_is_refused_with_the_right_form(self):
        def body():
            class Wrong(quire.Model):
                name: str
        self.assertRefused(r"Wrong.name is annotated .*quire.Attr\[", body)

    def test_an_unknown_name_in_an_annotation_is_refused(self):
        def body():
            class Wrong(quire.Model):
                name: "quire.Attr[Nowhere]"
        self.assertRefused(r"Wrong.name: 'Nowhere' in its annotation is not defined", body)

    def test_two_types_are_refused(self):
        def body():
            class Wrong(quire.Model):
                name: quire.Attr[Union[str, int]]
        self.assertRefused(r"Wrong.name: write one type", body)

    def test_a_type_that_does_not_fit_the_annotation_is_refused(self):
        def body():
            class Wrong(quire.Model):
                name: quire.Attr[str] = quire.attr(type=quire.Integer16)
        self.assertRefused(r"quire.Integer16 is for Attr\[int\], not Attr\[str\]", body)

    def test_a_default_that_does_not_fit_is_refused(self):
        def body():
            class Wrong(quire.Model):
                name: quire.Attr[str] = quire.attr(default=5)
        self.assertRefused(r"Wrong.name expects str, not int", body)

    def test_a_bare_default_is_refused(self):
        def body():
            class Wrong(quire.Model):
                name: quire.Attr[str] = "x"
        self.assertRefused(r"Wrong.name: a default is given as attr\(default='x'\)", body)

    def test_options_without_an_annotation_are_refused(self):
        def body():
            class Wrong(quire.Model):
                name = quire.attr(default="x")
        self.assertRefused(r"Wrong.name needs an annotation", body)

    def test_names_that_every_object_has_are_refused(self):
        def body():
            class Wrong(quire.Model):
                id: quire.Attr[int]
        self.assertRefused(r"Wrong.id: every object has 'id'", body)

    def test_declaring_again_what_is_inherited_is_refused(self):
        def body():
            class Wrong(Animal):
                name: quire.Attr[str]
        self.assertRefused(r"Wrong.name is declared by a class that Wrong inherits from", body)

    def test_hiding_what_is_inherited_is_refused(self):
        def by_a_value():
            class Wrong(Animal):
                name = "Rex"

        def by_a_method():
            class Wrong(Kitten):
                def lives(self):
                    return 9

        def by_another_base():
            class Wrong(Named, Animal):
                pass

        class Named:
            name = "Rex"

        self.assertRefused("Wrong.name would hide Animal.name", by_a_value)
        self.assertRefused("Wrong.lives would hide Cat.lives", by_a_method)
        self.assertRefused("Wrong.name would hide Animal.name", by_another_base)

    def test_two_parents_are_refused(self):
        def body():
            class Wrong(Author, Quote):
                pass
        self.assertRefused(r"several model classes", body)

    def test_an_unknown_delete_rule_is_refused(self):
        with self.assertRaisesRegex(ValueError, "on_delete is one of 'no action', 'nullify', 'cascade', 'deny'"):
            quire.relation(on_delete="explode")

    def test_counts_that_no_relationship_can_have_are_refused(self):
        for wrong in (-1, 2**32):
            for name in ("minimum", "maximum"):
                with self.assertRaisesRegex(ValueError, "below 2"):
                    quire.relation(**{name: wrong})

    def test_a_class_that_a_relationship_leads_to_must_be_given(self):
        with self.assertRaisesRegex(quire.InvalidModel, "Author.quotes leads to 'Quote'"):
            quire.open(":memory:", [Author])

    def test_a_cell_of_a_notebook_may_define_its_classes_again(self):
        authors = """class Author(quire.Model):
            name: quire.Attr[str]
            books: quire.ToMany["Book"] = quire.relation(inverse="author")
            long: quire.Fetched["Book"] = quire.fetched("title != nil")"""
        books = """class Book(quire.Model):
            title: quire.Attr[str]
            author: quire.ToOne[Author] = quire.relation(inverse="books")"""
        scope = {"quire": quire, "__name__": "a notebook"}
        for cells in ([authors, books], [authors, books], [authors], [books], [authors], [authors, books]):
            for cell in cells:
                exec(cell, scope)
            Author, Book = scope["Author"], scope["Book"]
            with quire.open(":memory:", [Author, Book]) as store:
                author = store.context.add(Author(name="x"))
                book = store.context.add(Book(title="t", author=author))
                store.context.save()
                self.assertEqual(([*author.books], author.long, book.author), ([book], [book], author))
                found = store.context.query(Author).where(Author.books.any(Book.title) == "t")
                self.assertEqual(found.order_by(Author.name).all(), [author])
                found = store.context.query(Book).where(Book.author.to(Author.name) == "x")
                self.assertEqual(found.all(), [book])

    def test_a_class_of_the_same_name_elsewhere_is_another_one(self):
        class Near(quire.Model):
            far: quire.ToOne[Author] = quire.relation()

        elsewhere = type("Author", (quire.Model,), {"__module__": "elsewhere", "__annotations__": {}})
        with self.assertRaisesRegex(quire.InvalidModel, "Near.far leads to .*'Author'"):
            quire.open(":memory:", [Near, elsewhere])

    def test_an_inverse_that_does_not_exist_is_refused(self):
        class Far(quire.Model):
            name: quire.Attr[str]

        class Near(quire.Model):
            far: quire.ToOne["Far | None"] = quire.relation(inverse="near")

        with self.assertRaisesRegex(quire.InvalidModel, "Near.far names the inverse 'near'"):
            quire.open(":memory:", [Near, Far])

    def test_names_that_predicates_read_as_values_are_refused(self):
        words = ("nil", "null", "yes", "no", "true", "false", "self", "anykey", "truepredicate", "falsepredicate")
        for word in words:
            for name in word, word.upper(), word.capitalize():
                for annotation in "quire.Attr[int]", "quire.ToOne['Odd | None']", "quire.ToMany['Odd']":
                    with self.assertRaisesRegex(TypeError, f"Odd.{name}: in a predicate .* stands for a value.*name="):
                        type("Odd", (quire.Model,), {"__annotations__": {name: annotation}, "__module__": __name__})
        with self.assertRaisesRegex(TypeError, "Odd.number: in a predicate 'no'"):
            class Odd(quire.Model):
                number: quire.Attr[int] = quire.attr(name="no")

        class Even(quire.Model):
            no: quire.Attr[int] = quire.attr(name="number")
            like: quire.Attr[int] = quire.attr(default=2)

        with quire.open(":memory:", [Even]) as store:
            even = store.context.add(Even(no=5))
            for condition in (Even.no == 5, "number == 5", Even.like == 2, "#like == 2"):
                self.assertEqual(store.context.query(Even).where(condition).all(), [even])
            with self.assertRaisesRegex(quire.PredicateError, "#like"):
                store.context.query(Even).where("like == 2")

    def test_the_library_checks_the_names(self):
        class Copy(quire.Model):
            hash: quire.Attr[str]

        with self.assertRaisesRegex(quire.InvalidModel, "hash"):
            quire.open(":memory:", [Copy])

    def test_searchable_text_is_found_by_its_index(self):
        class Note(quire.Model):
            text: quire.Attr[Optional[str]] = quire.attr(default=None, searchable=True)
            other: quire.Attr[Optional[str]] = quire.attr(default=None)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "notes.sqlite")
            with quire.open(path, [Note]) as store:
                store.context.add(Note(text="Die Stra\u00dfe nach Weimar"))
                store.context.add(Note(text="another"))
                store.context.save()
                with contextlib.closing(sqlite3.connect(path)) as other, other:
                    other.execute("UPDATE ZNOTE SET ZTEXT = 'Strasse' WHERE ZTEXT = 'another'")
                store.context.merge()
                query = store.context.query(Note)
                self.assertEqual(query.where("text CONTAINS[cd] %@", "STRASSE").count(), 2)
                self.assertEqual(query.where("text LIKE %@", "*Weimar").count(), 1)
            with contextlib.closing(sqlite3.connect(path)) as other:
                names = {name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            self.assertLessEqual({"QUIRE_TEXT_ZNOTE_ZTEXT", "QUIRE_TEXT_ZNOTE_ZTEXT_PENDING"}, names)
            self.assertNotIn("QUIRE_TEXT_ZNOTE_ZOTHER", names)

    def test_only_stored_text_is_searchable(self):
        class Number(quire.Model):
            number: quire.Attr[int] = quire.attr(searchable=True)

        class Passing(quire.Model):
            text: quire.Attr[Optional[str]] = quire.attr(default=None, searchable=True, transient=True)

        for model, reason in ((Number, "of type Integer 64"), (Passing, "being transient")):
            with self.assertRaisesRegex(quire.InvalidModel, reason):
                quire.open(":memory:", [model])

    def test_an_index_on_an_unknown_name_is_refused(self):
        class Note(quire.Model):
            text: quire.Attr[str]
            __indexes__ = [("text", "-nothing")]

        with self.assertRaisesRegex(quire.InvalidModel, "Note.__indexes__: Note has no property 'nothing'"):
            quire.open(":memory:", [Note])

    def test_parents_come_with_their_children(self):
        with quire.open(":memory:", [Kitten]) as store:
            self.assertEqual(store.context.query(Animal).count(), 0)

    def test_no_models_are_refused(self):
        with self.assertRaises(quire.InvalidModel):
            quire.open(":memory:", [])
        with self.assertRaisesRegex(TypeError, "is no model class"):
            quire.open(":memory:", [str])


class KeyTests(unittest.TestCase):
    def test_a_key_can_be_hashed_and_shown(self):
        self.assertEqual({Quote.price: 1}[Quote.price], 1)
        self.assertEqual(repr(Quote.price), "<Attr Quote.price>")
        self.assertEqual(repr(Quote.price.desc()), "<Order price descending>")

    def test_there_is_one_of_each_key(self):
        for key in (Quote.price, Quote.author, Author.quotes, Kitten.name):
            for copied in (copy.copy(key), copy.deepcopy([key])[0], pickle.loads(pickle.dumps(key))):
                self.assertIs(copied, key)

    def test_an_order_is_a_value(self):
        self.assertEqual(Quote.price.desc(), Quote.price.desc())
        self.assertNotEqual(Quote.price.desc(), Quote.price.asc())
        self.assertNotEqual(Quote.price.desc(), "-price")
        self.assertEqual(len({Quote.price.desc(), pickle.loads(pickle.dumps(Quote.price.desc()))}), 1)


class ConstructorTests(unittest.TestCase):
    def test_what_is_left_out_has_its_default(self):
        quote = Quote(contents="x")
        self.assertEqual((quote.price, quote.note, quote.author, quote.id), (1.0, None, None, 0))

    def test_unknown_names_are_refused(self):
        with self.assertRaisesRegex(TypeError, "Quote has no attribute 'autor'. It has: author, contents"):
            Quote(autor="x")
        quote = Quote(contents="x")
        with self.assertRaisesRegex(AttributeError, "Quote has no attribute 'autor'"):
            quote.autor = "x"

    def test_values_of_another_type_are_refused(self):
        with self.assertRaisesRegex(TypeError, "Quote.contents expects str, not int"):
            Quote(contents=1)
        with self.assertRaisesRegex(TypeError, "Quote.author expects an object of Author, not str"):
            Quote(author="Goethe")
        with self.assertRaisesRegex(TypeError, "Author.quotes expects an iterable"):
            Author(quotes="x")
        with self.assertRaisesRegex(TypeError, "Author.quotes holds objects of Quote, not str"):
            Author(quotes=["x"])

    def test_positional_values_are_refused(self):
        with self.assertRaises(TypeError):
            Quote("x")

    def test_the_base_has_no_objects(self):
        with self.assertRaisesRegex(TypeError, "Model is the base"):
            quire.Model()

    def test_an_attribute_cannot_be_removed(self):
        with self.assertRaisesRegex(AttributeError, "set it to None"):
            del Quote(contents="x").note
