"""Mistakes in rows and batch requests."""

from __future__ import annotations

import uuid
from decimal import Decimal

import quire
from mistake_world import Animal, Author, Book, many


# Rows

many(
    ("a column of another class", "Author.surname", lambda w: w.context.insert_rows(Book, {Author.surname: ["x"]})),
    ("an unknown column", "Book.titel", lambda w: w.context.insert_rows(Book, {"titel": ["x"]})),
    ("a column of a relationship", "Book.author", lambda w: w.context.insert_rows(Book, {"author": [1]})),
    ("rows instead of columns", "Book",
     lambda w: w.context.insert_many(Book, [{"title": "x"}])),  # type: ignore[arg-type]
    ("tuples instead of columns", "Book",
     lambda w: w.context.insert_rows(Book, [("x",)])),  # type: ignore[arg-type]
    ("no columns", "", lambda w: w.context.insert_rows(Book, {})),
    ("columns of different lengths", "Book.pages",
     lambda w: w.context.insert_rows(Book, {"title": ["x", "y"], "pages": [1]})),
    ("a column that is a text", "Book.title", lambda w: w.context.insert_rows(Book, {"title": "Faust"})),
    ("a column that is a number", "Book.title", lambda w: w.context.insert_rows(Book, {"title": 5})),
    ("a wrong type in a row", "Book.pages@1",
     lambda w: w.context.insert_rows(Book, {"title": ["x", "y"], "pages": [1, "two"]})),
    ("None in a row of what is mandatory", "Book.title@1",
     lambda w: w.context.insert_rows(Book, {"title": ["x", None]})),
    ("a number that does not fit in a row", "Author.age@2",
     lambda w: w.context.insert_rows(Author, {"surname": ["a", "b", "c"], "age": [1, 2, 70000]})),
    ("a bad decimal in a row", "Book.price@0",
     lambda w: w.context.insert_many(Book, {"title": ["x"], "price": [Decimal("NaN")]})),
    ("NaN in a row", "Book.weight@1",
     lambda w: w.context.insert_many(Book, {"title": ["x", "y"], "weight": [1.0, float("nan")]})),
    ("a surrogate in a row", "Book.title@1", lambda w: w.context.insert_many(Book, {"title": ["x", "\udc00"]})),
    ("rows without what is mandatory", "Book.title@0", lambda w: w.context.insert_rows(Book, {"pages": [1]})),
    ("a row that breaks a rule", "Book.pages@1", lambda w: w.context.insert_rows(
        Book, {"title": ["x", "y"], "pages": [1, 500]})),
    ("rows of an abstract class", "Animal", lambda w: w.context.insert_rows(Animal, {"called": ["x"]})),
    ("equal rows where they must be unique", "Book.code#", lambda w: w.context.insert_rows(
        Book, {"title": ["x", "y"], "code": [uuid.UUID(int=1)] * 2})),
    ("updating rows without a constraint", "Author",
     lambda w: w.context.insert_rows(Author, {"surname": ["x"]}, upsert=True)),
    ("a column given twice", "Book.title",
     lambda w: w.context.insert_rows(Book, {"title": ["x"], Book.title: ["y"]})),
    ("a derived column", "Author.book_count",
     lambda w: w.context.insert_rows(Author, {"surname": ["x"], "book_count": [1]})),
    ("a transient column", "Book.draft", lambda w: w.context.insert_rows(Book, {"title": ["x"], "draft": ["y"]})),
)


# Batch requests

many(
    ("updating nothing", "", lambda w: w.books.update()),
    ("updating an unknown property", "Book.titel", lambda w: w.books.update(titel="x")),
    ("updating a property of another class", "Author.surname", lambda w: w.books.update({Author.surname: "x"})),
    ("updating a collection", "Author.books", lambda w: w.authors.update(books=[])),
    ("updating a wrong type", "Book.pages", lambda w: w.books.update(pages="many")),
    ("updating to None", "Book.title", lambda w: w.books.update(title=None)),
    ("updating a transient attribute", "Book.draft", lambda w: w.books.update(draft="x")),
    ("updating a derived attribute", "Author.book_count", lambda w: w.authors.update(book_count=1)),
    ("updating a relationship by an expression", "Book.author", lambda w: w.books.update(author=Book.pages + 1)),
    ("updating to an object that is not saved", "Book.author",
     lambda w: w.books.update(author=w.context.add(Author(surname="x")))),
    ("updating to an object of another class", "Book.author", lambda w: w.books.update(author=w.dog)),
    ("updating a text to a number", "Book.title", lambda w: w.books.update(title=Book.pages + 1)),
    ("updating beyond a rule", "Book.pages", lambda w: w.books.update(pages=1000)),
    ("updating to a condition", "Book.lent", lambda w: w.books.update(lent=Book.pages > 5)),
    ("deleting what a rule denies", "Author.books", lambda w: w.authors.delete()),
    ("a batch request of a child", "", lambda w: w.context.create_child().query(Book).update(pages=5)),
    ("updating what is missing by calculation", "Book.title", lambda w: w.books.update(title=Book.note)),
)
