"""A store with a history, and random work on it: edits, saves, failures, batch requests, transactions, purges."""

from __future__ import annotations

import random
import time
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Optional

import quire
from history_facts import Checker, Difference, Expected, State, read


class Author(quire.Model):
    name: quire.Attr[str] = quire.attr(preserved=True)
    code: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany["Book"] = quire.relation(inverse="author", on_delete="cascade")
    book_count: quire.Attr[int] = quire.derived("books.@count")
    __unique__ = ["code"]


class Book(quire.Model):
    author: quire.ToOne["Author | None"] = quire.relation(inverse="books")
    title: quire.Attr[str] = quire.attr(preserved=True)
    pages: quire.Attr[int] = quire.attr(default=100, minimum=0)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None, preserved=True)
    read: quire.Attr[Optional[datetime]] = quire.attr(default=None, preserved=True)
    tags: quire.ToMany["Tag"] = quire.relation(inverse="books")
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="books")


class Comic(Book):
    coloured: quire.Attr[bool] = quire.attr(default=True, preserved=True)


class Shelf(quire.Model):
    place: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany[Book] = quire.relation(inverse="shelf", ordered=True)
    pins: quire.ToMany["Tag"] = quire.relation()


class Tag(quire.Model):
    label: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany[Book] = quire.relation(inverse="tags")


MODELS = [Author, Book, Comic, Shelf, Tag]
# By the numbers of the entities, as the file has them: trees in the order of their names.
PROPERTIES = {1: 4, 2: 7, 3: 8, 4: 3, 5: 2}
_BOOK = ["ZPRICE", "ZREAD", "ZTITLE"]
PRESERVED = {1: ["ZNAME"], 2: _BOOK, 3: ["ZCOLOURED", *_BOOK], 4: [], 5: []}
CHECKER = Checker(PROPERTIES, PRESERVED, {"Z4PINS": 4})
# What fails a save or a batch request because of others, or of what was drawn.
REFUSED = (quire.Conflict, quire.ConstraintError, quire.ValidationError)


def now() -> float:
    """Seconds since 2001."""
    return time.time() - 978_307_200


class World:
    """Work in two contexts and a child; after each write the file is compared."""

    def __init__(self, path: str, dice: random.Random) -> None:
        self.path, self.dice = path, dice
        self.writes = 0
        self.open()

    def open(self) -> None:
        self.store = quire.open(self.path, MODELS, track_history=True)
        self.contexts = [self.store.context, self.store.create_context()]
        self.child = self.contexts[0].create_child()
        for each in self.contexts:
            each.enable_undo()
        self.contexts[0].name = "first"
        self.state = read(self.path)

    def close(self) -> None:
        self.store.close()

    def step(self) -> None:
        kinds: list[tuple[int, Callable[[], None]]] = [
            (10, self.edit), (6, self.save), (2, self.undo), (1, self.roll_back), (2, self.merge),
            (2, self.insert_rows), (2, self.update_rows), (1, self.delete_rows), (2, self.edit_child),
            (1, self.transaction), (1, self.purge), (1, self.fetch), (1, self.reopen)]
        [work] = self.dice.choices([work for _, work in kinds], [weight for weight, _ in kinds])
        work()

    # Edits, which write nothing

    def edit(self) -> None:
        self.edit_in(self.dice.choice(self.contexts))
        self.nothing_is_written()

    def edit_child(self) -> None:
        self.child.merge()
        self.edit_in(self.child)
        try:
            self.child.save()
        except REFUSED:
            self.child.rollback()
        self.nothing_is_written()

    def edit_in(self, context: quire.Context) -> None:
        for _ in range(self.dice.randint(1, 4)):
            self.edit_one(context)

    def edit_one(self, context: quire.Context) -> None:
        dice = self.dice
        kind = dice.choice(MODELS)
        objects: list[Any] = context.query(kind).all()
        if dice.random() < 0.35 or not objects:
            self.add(context, kind)
            return
        each = dice.choice(objects)
        if dice.random() < 0.15:
            context.delete(each)
        elif isinstance(each, Author):
            if dice.random() < 0.5:
                each.name = self.word()
            else:
                each.code = dice.choice([None, self.word()])
        elif isinstance(each, Book):
            self.edit_book(context, each)
        elif isinstance(each, Shelf):
            self.edit_shelf(context, each)
        else:
            each.label = dice.choice([None, self.word()])

    def add(self, context: quire.Context, kind: type[Any]) -> None:
        words = {Author: "name", Book: "title", Comic: "title", Shelf: "place", Tag: "label"}
        context.add(kind(**{words[kind]: self.word()}))

    def edit_book(self, context: quire.Context, book: Book) -> None:
        dice = self.dice
        which = dice.randrange(7)
        if which == 0:
            book.title = self.word()
        elif which == 1:
            # Below 0 the save fails.
            book.pages = dice.choice([0, 1, 2, 300, -1])
        elif which == 2:
            book.price = dice.choice([None, Decimal("2.5"), Decimal(3)])
        elif which == 3:
            book.read = dice.choice([None, datetime(2024, 5, dice.randint(1, 9), tzinfo=timezone.utc)])
        elif which == 4:
            book.author = dice.choice([None, *context.query(Author).all()])
        elif which == 5:
            book.shelf = dice.choice([None, *context.query(Shelf).all()])
        else:
            tags: list[Any] = context.query(Tag).all()
            book.tags = dice.sample(tags, min(len(tags), dice.randrange(3)))

    def edit_shelf(self, context: quire.Context, shelf: Shelf) -> None:
        dice = self.dice
        if dice.random() < 0.5:
            books = list(shelf.books)
            dice.shuffle(books)
            shelf.books = books
        else:
            tags: list[Any] = context.query(Tag).all()
            shelf.pins = dice.sample(tags, min(len(tags), dice.randrange(4)))

    def word(self) -> str:
        return self.dice.choice(["a", "b", "c", "ä", "long " * 5])

    # Writes

    def save(self) -> None:
        context = self.dice.choice(self.contexts)
        self.author(context)
        expected = Expected(context.author, context.name, now())
        try:
            context.save()
        except REFUSED:
            self.nothing_is_written()
            context.rollback()
            context.merge()
        self.one_write(expected)

    def author(self, context: quire.Context) -> None:
        context.author = self.dice.choice([None, "A", "B", "Ö 😀"])

    def undo(self) -> None:
        context = self.dice.choice(self.contexts)
        if context.can_undo:
            context.undo()
        self.nothing_is_written()

    def roll_back(self) -> None:
        self.dice.choice(self.contexts).rollback()
        self.nothing_is_written()

    def merge(self) -> None:
        self.dice.choice(self.contexts).merge()
        self.nothing_is_written()

    def in_batch(self, work: Callable[[quire.Context], object]) -> None:
        context = self.dice.choice(self.contexts)
        self.author(context)
        expected = Expected(context.author, context.name, now())
        try:
            work(context)
        except REFUSED:
            self.nothing_is_written()
        self.one_write(expected)

    def insert_rows(self) -> None:
        count = self.dice.randint(1, 3)
        words = [self.word() for _ in range(count)]
        if self.dice.random() < 0.5:
            self.in_batch(lambda context: context.insert_rows(self.dice.choice([Book, Comic]), {"title": words}))
        else:
            codes = [self.word() for _ in range(count)]
            upserts = self.dice.random() < 0.7
            self.in_batch(
                lambda context: context.insert_rows(Author, {"name": words, "code": codes}, upsert=upserts))

    def update_rows(self) -> None:
        dice, pages, word = self.dice, self.dice.choice([0, 1, 2]), self.word()

        def work(context: quire.Context) -> None:
            query = context.query(Book).where(Book.pages > pages)
            which = dice.randrange(4)
            if which == 0:
                query.update(title=word)
            elif which == 1:
                query.update({Book.pages: Book.pages + dice.randrange(2)})
            elif which == 2:
                query.update(author=dice.choice([None, *self.saved(context, Author)]))
            else:
                query.update(shelf=dice.choice([None, *self.saved(context, Shelf)]))

        self.in_batch(work)

    def saved(self, context: quire.Context, kind: type[Any]) -> list[Any]:
        there = {id for entity, id in self.state.rows if entity == {Author: 1, Shelf: 4}[kind]}
        return [each for each in context.query(kind).all() if each.id in there and not each.is_inserted]

    def delete_rows(self) -> None:
        kind, share = self.dice.choice(MODELS), self.dice.choice([2, 3])
        self.in_batch(lambda context: context.query(kind).order_by(WORDS[kind]).limit(share).delete())

    def transaction(self) -> None:
        """Several saves and batch requests at once, or none of them."""
        context = self.dice.choice(self.contexts)
        try:
            context.save()
        except REFUSED:
            context.rollback()
            context.merge()
        before, self.state = self.state, read(self.path)
        CHECKER.check_net(before, self.state)
        is_kept = self.dice.random() < 0.6
        try:
            with context.transaction():
                for _ in range(self.dice.randint(1, 3)):
                    self.edit_in(context)
                    context.save()
                    context.query(Book).where(Book.pages > 1).update(title=self.word())
                if not is_kept:
                    raise ZeroDivisionError
        except (ZeroDivisionError, *REFUSED):
            self.nothing_is_written()
        before, self.state = self.state, read(self.path)
        CHECKER.check_net(before, self.state)

    def purge(self) -> None:
        found = self.store.history()
        if not found:
            return
        each = self.dice.choice(found)
        first = each.number
        if self.dice.random() < 0.5:
            self.store.purge_history(before=each.token)
        else:
            first = next(other.number for other in found if other.timestamp >= each.timestamp)
            self.store.purge_history(before=each.timestamp)
        before, self.state = self.state, read(self.path)
        CHECKER.check_purge(before, self.state, first)

    def fetch(self) -> None:
        """What is fetched is what the tables have."""
        state = self.state
        numbers = [each["Z_PK"] for each in state.transactions]
        found = self.store.history()
        if [each.number for each in found] != numbers:
            raise Difference(f"fetched {[each.number for each in found]} of {numbers}")
        kinds = {"insert": 0, "update": 1, "delete": 2}
        entities = {each.name: each.number for each in self.store.model.entities.values()}
        told = [
            (each.number, kinds[change.kind], entities[change.entity or ""], change.id)
            for each in found for change in each.changes]
        there = [(each["ZTRANSACTIONID"], each["ZCHANGETYPE"], each["ZENTITY"], each["ZENTITYPK"])
                 for each in state.changes]
        if told != there:
            raise Difference(f"fetched {told} of {there}")
        if found:
            each = self.dice.choice(found)
            later = [other.number for other in self.store.history(after=each.token, author="A")]
            wanted = [
                row["Z_PK"] for row in state.transactions
                if row["Z_PK"] > each.number and state.strings.get(row["ZAUTHORTS"]) == "A"]
            if later != wanted:
                raise Difference(f"fetched {later} of {wanted} after {each.number}")

    def reopen(self) -> None:
        if self.dice.random() < 0.7:
            return
        self.store.close()
        self.open()

    # Comparisons

    def nothing_is_written(self) -> None:
        state = read(self.path)
        if state[:5] != self.state[:5]:
            raise Difference("something was written by what writes nothing")
        # Keys may be taken ahead.
        self.state = state

    def one_write(self, expected: Expected) -> None:
        before, self.state = self.state, read(self.path)
        CHECKER.check(before, self.state, expected)
        self.writes += before.transactions != self.state.transactions


WORDS = {Author: Author.name, Book: Book.title, Comic: Comic.title, Shelf: Shelf.place, Tag: Tag.label}


def empty() -> State:
    """Before anything was written."""
    return State({}, {}, [], [], {}, {16001: 0, 16002: 0, 16003: 0})
