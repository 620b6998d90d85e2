"""Quire, as a program uses it."""

from __future__ import annotations

import select
from datetime import datetime
from typing import Optional

import quire
# The classes of lists are loaded with the first one, which a program has before it draws.
import quire.lists  # noqa: F401
import sample
from sample import AT_ONCE, WINDOW


class Quote(quire.Model):
    author: quire.Attr[Optional[str]] = quire.attr(default=None)
    title: quire.Attr[Optional[str]] = quire.attr(default=None)
    created: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    price: quire.Attr[Optional[float]] = quire.attr(default=None)
    __indexes__ = [("author",)]


class Folder(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    files: quire.ToMany["File"] = quire.relation(inverse="folder", on_delete="cascade")
    folders: quire.ToMany["Folder"] = quire.relation(inverse="parent", on_delete="cascade")
    parent: quire.ToOne[Optional["Folder"]] = quire.relation(inverse="folders")


class File(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    size: quire.Attr[Optional[int]] = quire.attr(default=None)
    folder: quire.ToOne[Optional[Folder]] = quire.relation(inverse="files")


COLUMNS = ("author", "title", "created", "price")


class Contender:
    file = "quire"

    def open(self, path, tree=False):
        self.store = quire.open(path, [Folder, File] if tree else [Quote], relaxed_durability=True)
        self.context = self.store.context
        self.all = None if tree else self.context.query(Quote).order_by(Quote.author)

    def close(self):
        self.all = self.context = None
        self.store.close()

    # MARK: inserting

    def prepare_bulk(self, rows):
        return [dict(zip(COLUMNS, zip(*rows[first:first + AT_ONCE]))) for first in range(0, len(rows), AT_ONCE)]

    def insert_bulk(self, prepared):
        for columns in prepared:
            self.context.insert_rows(Quote, columns)

    def insert_objects(self, rows):
        for first in range(0, len(rows), AT_ONCE):
            for author, title, created, price in rows[first:first + AT_ONCE]:
                self.context.add(Quote(author=author, title=title, created=created, price=price))
            self.context.save()

    # MARK: reading

    def warm(self):
        return self.context.query(Quote).where("price >= 0").count()

    def ids(self):
        return self.all.ids()

    def list(self):
        return Live(self)

    def drawn_list(self, waits=True):
        return Live(self, waits=waits, goes_through=False)

    def titled_list(self):
        return Live(self, section_by=Quote.title)

    def cached_list(self):
        return Live(self, "bench")

    def delete_cache(self):
        self.store.delete_cache("bench")

    def objects(self):
        return self.all.all()

    def letters(self):
        return sum(len(quote.title) for quote in self.all.all())

    def filter(self):
        cheap = self.context.query(Quote).where("title CONTAINS '77' AND price < 500").order_by("-price")
        return [quote.id for quote in cheap.limit(WINDOW).all()]

    def contains(self):
        return self.context.query(Quote).where("title CONTAINS[cd] '42 OF THE'").ids()

    def first_title(self):
        return self.context.get(Quote, 1).title

    # MARK: another thread saves

    def saving(self, rows):
        columns = dict(zip(COLUMNS, zip(*rows)))

        def save():
            with self.store.background() as context:
                context.insert_many(Quote, columns)
                context.save()

        return save

    def news(self):
        poll = select.poll()
        poll.register(self.context, select.POLLIN)
        return lambda: poll.poll(0)

    # MARK: deleting a tree

    def delete_root(self):
        self.context.delete(self.context.get(Folder, 1))
        self.context.save()

    def delete_root_in_store(self):
        self.context.query(Folder).where("parent == nil").delete()

    def left(self):
        return self.context.query(Folder).count() + self.context.query(File).count()


class Live:
    """The list, which stays right by itself; a handler goes through the changes as one that redraws would."""

    def __init__(self, contender, cache=None, section_by=Quote.author, waits=True, goes_through=True):
        self.context = contender.context
        self.all = contender.all
        self.shown = contender.all.live(section_by=section_by, cache=cache, wait=waits)
        self.told = 0
        self.shown.on_change(self.redraw if goes_through else self.draw_window)

    def draw_window(self, changes):
        self.told += len(changes)

    def search(self, text):
        self.shown.set_query(
            self.all.where("title CONTAINS[cd] %@", text) if text else self.all, Quote.author, wait=False)

    @property
    def searches(self):
        return self.shown.awaits_query

    def shows(self, count):
        return len(self.shown) >= count

    def redraw(self, changes):
        for _ in changes.section_changes:
            self.told += 1
        for change in changes:
            self.told += 1

    def take_over(self):
        self.context.merge()

    def told_list(self):
        return sample.told_list(self.shown.ids, [len(section) for section in self.shown.sections])

    def window(self, place):
        return self.shown.values(*COLUMNS, first=place, count=WINDOW)

    window_by_ids = window

    def objects(self, place):
        shown = self.shown[place:place + WINDOW]
        return shown, [(quote.author, quote.title, quote.created, quote.price) for quote in shown]

    # Each gives what is timed; what it is about is at hand, as what is shown is.

    def moving(self, ids, authors):
        quotes = [self.context.get(Quote, id) for id in ids]

        def change():
            for quote, author in zip(quotes, authors):
                quote.author = author
            self.context.save()

        return change

    def updating(self, id, title):
        quote = self.context.get(Quote, id)

        def change():
            quote.title = title
            self.context.save()

        return change

    def deleting(self, id):
        quote = self.context.get(Quote, id)

        def change():
            self.context.delete(quote)
            self.context.save()

        return change

    def inserting(self, row):
        def change():
            self.context.add(Quote(author=row.author, title=row.title, created=row.created, price=row.price))
            self.context.save()

        return change
