"""Models whose annotations stay text."""

from __future__ import annotations

import datetime
from datetime import datetime as Moment

import quire
from quire import Attr, ToMany, ToOne


class Shelf(quire.Model):
    name: Attr[str]
    books: ToMany[Book] = quire.relation(inverse="shelf", ordered=True)


class Book(quire.Model):
    title: quire.Attr[str | None] = quire.attr(default=None)
    shelf: ToOne[Shelf | None] = quire.relation(inverse="books")
    read_at: Attr[datetime.datetime | None] = quire.attr(default=None)
    bought_at: Attr[None | Moment] = quire.attr(default=None)
