"""Mistakes in queries, predicates and functions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable

import quire
from mistake_world import Author, Book, World, many, mistake


# Queries

many(
    ("a condition that is a bool", "", lambda w: w.books.where(Book.title is None)),
    ("a condition that is a bool, of the other kind", "", lambda w: w.books.where(Book.title is not None)),
    ("a condition that is a number", "", lambda w: w.books.where(5)),
    ("a condition that is None", "", lambda w: w.books.where(None)),
    ("a condition that is a key", "", lambda w: w.books.where(Book.lent)),
    ("a condition that is a function", "", lambda w: w.books.where(lambda book: book.pages > 5)),
    ("a condition joined by and", "",
     lambda w: w.books.where((Book.pages > 5) and (Book.lent == True))),  # noqa: E712
    ("a condition that is negated by not", "", lambda w: w.books.where(not Book.lent)),
    ("a chain of comparisons", "", lambda w: w.books.where(1 < Book.pages < 5)),
    ("precedence", "", lambda w: w.books.where(Book.pages > 5 & Book.lent == True)),  # noqa: E712
    ("an unfinished text", "", lambda w: w.books.where("pages >").all()),
    ("one equals sign too many", "", lambda w: w.books.where("pages === 5").all()),
    ("Python in a text", "", lambda w: w.books.where("title is None").all()),
    ("an unknown key in a text", "Book.titel", lambda w: w.books.where("titel == 'x'").all()),
    ("an unknown key behind a relationship", "Author.nom", lambda w: w.books.where("author.nom == 'x'").all()),
    ("a key behind an attribute", "Book.title", lambda w: w.books.where("title.size == 5").all()),
    ("an argument too few", "", lambda w: w.books.where("pages > %d AND title == %@", 5)),
    ("an argument too many", "", lambda w: w.books.where("pages > %d", 5, 6)),
    ("an argument of the wrong type", "", lambda w: w.books.where("pages > %d", "five").all()),
    ("an argument that is a dictionary", "", lambda w: w.books.where("title == %@", {})),
    ("an argument that is an object", "", lambda w: w.books.where("title == %@", object())),
    ("an argument that is in no context", "", lambda w: w.books.where("author == %@", Author(surname="x"))),
    ("an argument without a time zone", "", lambda w: w.books.where("printed > %@", datetime(2020, 1, 1))),
    ("an argument beyond 64 bits", "", lambda w: w.books.where("pages > %@", 2**65)),
    ("arguments for a predicate", "", lambda w: w.books.where(Book.pages > 5, 5)),
    ("a text for a predicate", "", lambda w: w.books.where(Book.pages > 5, "title == 'x'")),
    ("a key compared with a dictionary", "Book.title", lambda w: Book.title == {}),
    ("a number compared with a text", "Book.pages", lambda w: Book.pages == "5"),
    ("a number compared with a date", "Book.pages", lambda w: Book.pages != datetime(2020, 1, 1, tzinfo=timezone.utc)),
    ("a number among texts", "Book.pages", lambda w: Book.pages.in_([1, "2"])),
    ("a text compared with a number", "Book.title", lambda w: Book.title == 5),
    ("a date compared with a text", "Book.printed", lambda w: Book.printed == "2020-01-01"),
    ("a date compared with a number", "Book.printed", lambda w: Book.printed == 5),
    ("a key compared with an object", "Book.pages", lambda w: Book.pages > object()),
    ("a key compared with a class", "Book.author", lambda w: Book.author == Author),
    ("a key compared with a date without a time zone", "Book.printed", lambda w: Book.printed > datetime(2020, 1, 1)),
    ("a key compared with a bad decimal", "Book.price", lambda w: Book.price > Decimal("NaN")),
    ("a key compared beyond 64 bits", "Book.pages", lambda w: Book.pages > 2**65),
    ("a key compared with an object in no context", "Book.author", lambda w: Book.author == Author(surname="x")),
    ("a surrogate in a comparison", "Book.title", lambda w: Book.title == "\ud800"),
    ("a key among what is no list", "", lambda w: w.books.where(Book.pages.in_(5)).all()),
    ("a dictionary among the values", "Book.pages", lambda w: Book.pages.in_([1, {}])),
    ("a wrong bound", "Book.pages", lambda w: Book.pages.between({}, 5)),
    ("options that there are not", "", lambda w: Book.title.contains("x", "z")),
    ("an option that is not supported", "", lambda w: w.books.where(Book.title.contains("x", "w")).all()),
    ("comparing text with a number", "", lambda w: w.books.where(Book.title > 5).all()),
    ("a pattern that is none", "", lambda w: w.books.where(Book.title.matches("[")).all()),
    ("arithmetic with text", "", lambda w: w.books.where(Book.title + 1 > 2).all()),
    ("arithmetic with a dictionary", "Book.pages", lambda w: Book.pages + {}),
    ("a negated text", "", lambda w: w.books.where(-Book.title == 1).all()),
    ("ANY of one value", "", lambda w: w.books.where("ANY title == 'x'").all()),
    ("a subquery without a condition", "", lambda w: Author.books.subquery(lambda b: True)),
    ("a variable without a value", "", lambda w: w.books.where("pages > $least").all()),
    ("a function that does not exist", "", lambda w: w.books.where("weigh(pages) > 5").all()),
    ("a transient attribute in a condition", "Book.draft", lambda w: w.books.where(Book.draft == "x").all()),
    ("a condition of another class", "Author.surname", lambda w: w.books.where(Author.surname == "x").all()),
    ("an order by another class", "Author.surname", lambda w: w.books.order_by(Author.surname).all()),
    ("an order by what is no key", "", lambda w: w.books.order_by(5)),
    ("an order by a negated key", "", lambda w: w.books.order_by(-Book.title)),
    ("an order with a direction as in SQL", "", lambda w: w.books.order_by("title desc")),
    ("an order by an unknown key", "Book.titel", lambda w: w.books.order_by("titel").all()),
    ("an order by nothing", "", lambda w: w.books.order_by("")),
    ("an order by a relationship", "Author.books", lambda w: w.authors.order_by("books").all()),
    ("an order by a transient attribute", "Book.draft", lambda w: w.books.order_by(Book.draft).all()),
    ("an order of text for a number", "Book.pages", lambda w: w.books.order_by(Book.pages.asc("localized")).all()),
    ("an order of text that there is not", "", lambda w: Book.title.asc("alphabetical")),
    ("an order with a bad locale", "", lambda w: w.books.order_by(Book.title.asc("localized", "xx_!!")).all()),
    ("an order by a surrogate", "", lambda w: w.books.order_by("\ud800").all()),
    ("a condition with a surrogate", "", lambda w: w.books.where("title == '\ud800'")),
    ("a condition with a zero character", "", lambda w: w.books.where("title == \0").all()),
    ("a variable that is a dictionary", "", lambda w: quire.Predicate("a == $b").substituting(b={})),
    ("a value of a mapping that is out of range", "", lambda w: quire.Predicate("a == 1").matches({"a": 2**70})),
    ("a limit that is negative", "", lambda w: w.books.limit(-1)),
    ("a limit that is a text", "", lambda w: w.books.limit("5")),
    ("an offset that is negative", "", lambda w: w.books.offset(-1)),
    ("no object where one is needed", "", lambda w: w.books.where(Book.title == "x").one()),
    ("two objects where one is needed", "",
     lambda w: (w.context.add(Book(title="y")), w.books.one())),
    ("a place that does not exist", "", lambda w: w.books[5]),
    ("a negative place", "", lambda w: w.books[-1]),
    ("an unknown column of values", "Book.titel", lambda w: w.books.values("titel")),
    ("a column that is a to-many relationship", "Author.books", lambda w: w.authors.values("books")),
    ("a column that is no key", "", lambda w: w.books.values(5)),
    ("a column of dictionaries that is no key", "", lambda w: w.books.dictionaries(total=5)),
    ("a column of dictionaries with a wrong key", "Book.prise", lambda w: w.books.dictionaries(total="sum:(prise)")),
    ("a column that is not grouped", "", lambda w: w.books.group_by(Book.pages).dictionaries(Book.title)),
    ("a sum of texts", "", lambda w: w.books.aggregate(total="sum:(title)")),
    ("groups of objects", "", lambda w: w.books.group_by(Book.pages).all()),
    ("deleting groups", "", lambda w: w.books.group_by(Book.pages).delete()),
    ("updating distinct rows", "", lambda w: w.books.distinct().update(pages=5)),
    ("ids of distinct rows", "", lambda w: w.books.distinct().ids()),
    ("deleting what is refreshed", "", lambda w: w.books.refreshing().delete()),
    ("values of what is refreshed", "", lambda w: w.books.refreshing().values(Book.title)),
    ("nothing to calculate", "", lambda w: w.books.aggregate()),
    ("a condition for groups without groups", "", lambda w: w.books.having("pages > 5").dictionaries(Book.title)),
    ("prefetching an attribute", "Book.title", lambda w: w.books.prefetch(Book.title).all()),
    ("prefetching an unknown key", "Book.autor", lambda w: w.books.prefetch("autor").all()),
    ("a progress that is no function", "", lambda w: w.books.watched(progress=5)),
    ("a predicate as a bool", "", lambda w: bool(Book.pages > 5)),
    ("a predicate of an unknown key of an object", "Book.titel",
     lambda w: quire.Predicate("titel == 1").matches(w.book)),
    ("a predicate of a mapping with a wrong key", "", lambda w: quire.Predicate("a == 1").matches({1: 2})),
    ("a predicate of what has no end", "",
     lambda w: (lambda x: (x.append(x), quire.Predicate("a == 1").matches(x)))([])),
    ("a predicate with variables that are none", "", lambda w: quire.Predicate("a == $b").matches({}, 5)),
    ("a predicate joined with a text", "", lambda w: (Book.pages > 5) & "x"),
    ("an expression that is a number", "", lambda w: quire.Expression(5)),
    ("an expression that cannot be read", "", lambda w: quire.Expression("1 +")),

)


# Functions

many(
    ("a function that is none", "", lambda w: quire.register_function("f", 5)),
    ("a name of a function that is none", "", lambda w: quire.register_function("1f", lambda x: x)),
    ("a name of a function that is a word", "", lambda w: quire.register_function("AND", lambda x: x)),
    ("a name of a function that exists", "", lambda w: quire.register_function("abs", lambda x: x)),
    ("a function with too many arguments to register", "", lambda w: quire.register_function(
        "f", eval("lambda " + ", ".join(f"a{place}" for place in range(200)) + ": 0"))),
    ("a function of C without types", "", lambda w: quire.register_function("f", ctypes.CDLL(None).abs)),
    ("a function that was not registered", "", lambda w: quire.unregister_function("nothing")),
)


@contextmanager
def registered(name: str, function: Callable[..., Any]) -> Iterator[None]:
    quire.register_function(name, function)
    try:
        yield
    finally:
        quire.unregister_function(name)


@mistake("a function that raises")
def _(w: World) -> None:
    with registered("broken", lambda x: 1 // 0):
        w.books.where("broken(pages) > 5").all()


@mistake("a function that gives what it should not")
def _(w: World) -> None:
    with registered("odd", lambda x: object()):
        w.books.where("odd(pages) > 5").all()


@mistake("a function with too many arguments")
def _(w: World) -> None:
    with registered("twice", lambda x: 2 * x):
        w.books.where("twice(pages, 5) > 5").all()
