"""Mistakes in setting, adding, finding and deleting."""

from __future__ import annotations

import uuid
import pickle
from datetime import datetime
from decimal import Decimal

import quire
from mistake_world import Animal, Author, Book, Stranger, World, assign, many, mistake


# Setting values

many(
    ("text for a number", "Book.pages#", assign("pages", "twelve")),
    ("None for what is mandatory", "Book.title#", assign("title", None)),
    ("a number for text", "Book.title#", assign("title", 5)),
    ("a number beyond 16 bits", "Author.age#", lambda w: setattr(w.author, "age", 40000)),
    ("a number beyond 64 bits", "Book.pages#", assign("pages", 2**64)),
    ("a float for a whole number", "Book.pages#", assign("pages", 2.5)),
    ("a float for a decimal", "Book.price#", assign("price", 2.5)),
    ("a decimal that is infinite", "Book.price#", assign("price", Decimal("Infinity"))),
    ("a decimal that is no number", "Book.price#", assign("price", Decimal("NaN"))),
    ("a decimal with too many digits", "Book.price#", assign("price", Decimal("1." + "3" * 60))),
    ("a decimal with more digits than a file keeps", "Book.price#", assign("price", Decimal("1.123456789012345"))),
    ("a decimal that is too great", "Book.price#", assign("price", Decimal("1E+300"))),
    ("NaN", "Book.weight#", assign("weight", float("nan"))),
    ("a float that is too great for 32 bits", "Book.weight#", assign("weight", 1e300)),
    ("a datetime without a time zone", "Book.printed#", assign("printed", datetime(2020, 1, 1))),
    ("a text for a date", "Book.printed#", assign("printed", "2020-01-01")),
    ("a text for a UUID", "Book.code#", assign("code", "not a uuid")),
    ("a text for bytes", "Book.cover#", assign("cover", "text")),
    ("an int for a bool", "Book.lent#", assign("lent", 1)),
    ("a lone surrogate", "Book.title#", assign("title", "x\ud800")),
    ("text for a relationship", "Book.author#", assign("author", "Goethe")),
    ("an object of another class for a relationship", "Book.author#", lambda w: setattr(w.book, "author", w.book)),
    ("an object in no context for a relationship", "Book.author#", assign("author", Author(surname="Schiller"))),
    ("an object for a collection", "Author.books#", lambda w: setattr(w.author, "books", w.book)),
    ("objects of another class for a collection", "Author.books#", lambda w: setattr(w.author, "books", [w.author])),
    ("None in a collection", "Author.books#", lambda w: setattr(w.author, "books", [None])),
    ("adding a text to a collection", "Author.books#", lambda w: w.author.books.add("Faust")),
    ("adding an object in no context", "Author.books#", lambda w: w.author.books.add(Book(title="x"))),
    ("adding an object of another class", "Author.books#", lambda w: w.author.books.add(w.author)),
    ("inserting where there is no order", "Author.books#", lambda w: w.author.books.insert(0, w.book)),
    ("an ordered collection with an object twice", "Author.shelf#",
     lambda w: (setattr(w.author, "shelf", [w.book]), w.author.shelf.__setitem__(slice(0, 1), [w.book, w.book]))),
    ("a derived attribute", "Author.book_count#", lambda w: setattr(w.author, "book_count", 5)),
    ("an unknown attribute", "", assign("titel", "Faust")),
    ("an unknown attribute of a new object", "Book.titel", lambda w: Book(titel="Faust")),
    ("a new object without what it needs", "", lambda w: Book(pages=5)),
    ("a wrong value of a new object", "Book.pages", lambda w: Book(title="x", pages="many")),
    ("deleting an attribute", "", lambda w: delattr(w.book, "title")),
    ("an object of another context", "Book.author#",
     lambda w: setattr(w.book, "author", w.store.create_context().query(Author).one())),
    ("an object of another context in a collection", "Author.books#",
     lambda w: w.author.books.add(w.store.create_context().query(Book).one())),
    ("a deleted object", "Book.author#", lambda w: (w.context.delete(w.author), setattr(w.book, "author", w.author))),
    ("a renamed attribute with a wrong type", "Book.note#", assign("note", 5)),
)


@mistake("changing a deleted object", "Book.title#")
def _(w: World) -> None:
    w.context.delete(w.book)
    w.context.save()
    w.book.title = "x"


@mistake("reading a deleted object", "Book.pages#")
def _(w: World) -> None:
    book = w.book
    w.context.query(Book).delete()
    book.pages


@mistake("using an object from before a reset", "Book.title#")
def _(w: World) -> None:
    w.context.reset()
    w.book.title = "x"


# Adding, finding, deleting

many(
    ("adding what is no object", "", lambda w: w.context.add("Faust")),
    ("adding a class", "", lambda w: w.context.add(Book)),
    ("adding an object of a class that the store does not have", "Stranger",
     lambda w: w.context.add(Stranger(called="x"))),
    ("adding an object of an abstract class", "Animal", lambda w: w.context.add(Animal(called="x"))),
    ("adding an object with another that is in no context", "Book.author",
     lambda w: w.context.add(Book(title="x", author=Author(surname="y")))),
    ("adding it to two contexts", "Book#", lambda w: w.store.create_context().add(w.book)),
    ("deleting an object of another context", "Book#", lambda w: w.store.create_context().delete(w.book)),
    ("deleting what is in no context", "Book", lambda w: w.context.delete(Book(title="x"))),
    ("an id that does not exist", "Book#", lambda w: w.context.get(Book, 99)),
    ("an id that is a text", "", lambda w: w.context.get(Book, "1")),
    ("an id beyond 64 bits", "Book#", lambda w: w.context.get(Book, 2**70)),
    ("a text for a class", "", lambda w: w.context.get("Book", 1)),
    ("a class that the store does not have", "Stranger", lambda w: w.context.query(Stranger)),
    ("a URI that is none", "", lambda w: w.context.get_by_uri("book/1")),
    ("a URI of another store", "", lambda w: w.context.get_by_uri(
        f"x-coredata://{uuid.uuid4()}/Book/p1".upper().replace("X-COREDATA", "x-coredata").replace("BOOK", "Book"))),
    ("a URI of an unknown entity", "", lambda w: w.context.get_by_uri(w.book.uri.replace("Book", "Buch"))),
    ("a URI of an object that is gone", "Book#", lambda w: w.context.get_by_uri(w.book.uri + "999")),
    ("a URI with a surrogate", "", lambda w: w.context.get_by_uri("x\ud800")),
    ("a URI that is a number", "", lambda w: w.context.get_by_uri(5)),
    ("pickling an object", "", lambda w: pickle.dumps(w.book)),
    ("a template that does not exist", "", lambda w: w.context.template(Book, "dearer")),
    ("a template without its variable", "", lambda w: w.context.template(Book, "cheaper")),
    ("a template with a variable too many", "", lambda w: w.context.template(Book, "cheaper", limit=5, least=1)),
    ("a template with a wrong value", "", lambda w: w.context.template(Book, "cheaper", limit={}).all()),
)


# numpy's values have types of their own; a namesake stands for them.
class bool_(int):
    pass


bool_.__name__ = "bool"
many(
    ("a value whose type has the name of the wanted one", "Book.lent#", assign("lent", bool_(1))),
)
