"""Mistakes in live lists."""

from __future__ import annotations

import quire
from mistake_world import Author, Book, Dog, World, many, mistake


# Lists

many(
    ("sections by an unknown key", "Book.titel", lambda w: w.books.live("titel")),
    ("sections by another class", "Author.surname", lambda w: w.books.live(Author.surname)),
    ("sections by a number", "", lambda w: w.books.live(5)),
    ("sections by letters of a number", "", lambda w: w.books.live(quire.sections.by_letter(Book.pages))),
    ("sections by days of a text", "", lambda w: w.books.live(quire.sections.by_day(Book.title))),
    ("a time zone that there is not", "", lambda w: quire.sections.by_day(Book.printed, time_zone="Mars/Olympus")),
    ("a locale that there is not", "", lambda w: quire.sections.by_letter(Book.title, locale="!!")),
    ("a locale that is a number", "", lambda w: quire.sections.by_letter(Book.title, locale=5)),
    ("a time zone with a zero character", "", lambda w: quire.sections.by_day(Book.printed, time_zone="UTC\0")),
    ("a name of a cache that is a number", "", lambda w: w.books.live(cache=5)),
    ("a name of a cache with a zero character", "", lambda w: w.books.live(cache="a\0b")),
    ("merged lists without any", "", lambda w: quire.Composite()),
    ("merged lists of a list twice", "", lambda w: (lambda live: quire.Composite(live, live))(w.books.live())),
    ("merged lists of two contexts", "", lambda w: quire.Composite(
        w.books.live(), w.store.create_context().query(Book).live())),
    ("merged lists of what is none", "", lambda w: quire.Composite(w.books)),
    ("a width of 0", "", lambda w: quire.sections.by_number(Book.pages, width=0)),
    ("bounds in disorder", "", lambda w: quire.sections.by_number(Book.pages, bounds=[5, 1])),
    ("bounds of text", "", lambda w: quire.sections.by_number(Book.pages, bounds=["a"])),
    ("a fixed section of another kind", "", lambda w: w.books.live(quire.sections.by_value(Book.pages, fixed=["x"]))),
    ("a fixed section twice", "", lambda w: quire.sections.by_value(Book.pages, fixed=[1, 1])),
    ("an order of sections that there is not", "", lambda w: quire.sections.by_value(Book.title, text="abc")),
    ("an aggregate that is none", "", lambda w: w.books.live(aggregates={"x": "pages + 1"})),
    ("an aggregate of text", "", lambda w: w.books.live(aggregates={"x": "sum:(title)"})),
    ("an aggregate that is a number", "", lambda w: w.books.live(aggregates={"x": 5})),
    ("an aggregate that was not asked for", "",
     lambda w: w.books.live(aggregates={"x": "sum:(pages)"}).aggregates["y"]),
    ("a row that does not exist", "", lambda w: w.books.live()[5]),
    ("a section that does not exist", "", lambda w: w.books.live("title").sections[5]),
    ("an index title that does not exist", "", lambda w: w.books.live("title").section_for_index_title(5)),
    ("a place of what is not in the list", "", lambda w: w.books.live().path_of("x")),
    ("a list without pending changes", "", lambda w: w.books.excluding_pending_changes().live()),
    ("a list of groups", "", lambda w: w.books.group_by(Book.pages).live()),
    ("a list of what is refreshed", "", lambda w: w.books.refreshing().live()),
    ("a handler that is none", "", lambda w: w.books.live().on_change(5)),
    ("a list that was closed", "", lambda w: (lambda live: (live.close(), len(live)))(w.books.live())),
    ("a query of another class", "", lambda w: w.books.live().set_query(w.context.query(Dog))),

)


@mistake("a handler that raises")
def _(w: World) -> None:
    live = w.books.live()
    live.on_change(lambda change: 1 / 0)
    w.book.title = "x"
    w.context.process()


@mistake("a section of a list that has moved on")
def _(w: World) -> None:
    live = w.books.live("title")
    section = live.sections[0]
    w.context.delete(w.book)
    w.context.process()
    list(section)
