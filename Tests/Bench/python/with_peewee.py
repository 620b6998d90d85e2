"""peewee."""

from __future__ import annotations

import requery
from peewee import (
    CharField, DateTimeField, FloatField, ForeignKeyField, IntegerField, Model, SqliteDatabase, chunked)
from sample import AT_ONCE, WINDOW

database = SqliteDatabase(None)


class Base(Model):
    class Meta:
        database = database


class Quote(Base):
    author = CharField(null=True, index=True)
    title = CharField(null=True)
    created = DateTimeField(null=True)
    price = FloatField(null=True)


class Folder(Base):
    name = CharField(null=True)
    parent = ForeignKeyField("self", null=True, column_name="parent", on_delete="CASCADE")


class File(Base):
    name = CharField(null=True)
    size = IntegerField(null=True)
    folder = ForeignKeyField(Folder, null=True, column_name="folder", on_delete="CASCADE")


FIELDS = (Quote.author, Quote.title, Quote.created, Quote.price)


class Contender:
    file = "plain"

    def open(self, path, tree=False):
        database.init(path, pragmas={"journal_mode": "wal", "synchronous": "normal", "foreign_keys": 1})
        database.connect()
        self.all = Quote.select().order_by(Quote.author, Quote.id)

    def close(self):
        database.close()

    def prepare_bulk(self, rows):
        return [row._replace(created=row.created.replace(tzinfo=None)) for row in rows]

    def insert_bulk(self, prepared):
        for first in range(0, len(prepared), AT_ONCE):
            with database.atomic():
                for some in chunked(prepared[first:first + AT_ONCE], 1000):
                    Quote.insert_many(some, fields=FIELDS).execute()

    def insert_objects(self, rows):
        for first in range(0, len(rows), AT_ONCE):
            with database.atomic():
                for author, title, created, price in rows[first:first + AT_ONCE]:
                    Quote.create(author=author, title=title, created=created.replace(tzinfo=None), price=price)

    def warm(self):
        return Quote.select().where(Quote.price >= 0).count()

    def ids(self):
        return [id for id, in self.all.select(Quote.id).tuples()]

    def ids_and_authors(self):
        found = list(self.all.select(Quote.id, Quote.author).tuples())
        return [id for id, _ in found], [author for _, author in found]

    def list(self):
        return requery.Live(self)

    def drawn_list(self, waits=True):
        return self.list()

    def objects(self):
        return list(self.all.clone())

    def letters(self):
        return sum(len(quote.title) for quote in self.objects())

    def window(self, place):
        return list(self.all.select(*FIELDS).offset(place).limit(WINDOW).tuples())

    def window_of(self, ids):
        found = {row[0]: row[1:] for row in Quote.select(Quote.id, *FIELDS).where(Quote.id.in_(ids)).tuples()}
        return [found[id] for id in ids]

    def filter(self):
        found = list(
            Quote.select().where(Quote.title.contains("77"), Quote.price < 500).order_by(Quote.price.desc(), Quote.id)
            .limit(50))
        return [quote.id for quote in found]

    def contains(self):
        return [
            id for id, in Quote.select(Quote.id).where(Quote.title.contains("42 OF THE")).order_by(Quote.id).tuples()]

    def first_title(self):
        return Quote.get_by_id(1).title

    def delete_root_in_store(self):
        Folder.get_by_id(1).delete_instance()

    def left(self):
        return Folder.select().count() + File.select().count()

    # MARK: changes, committed

    def moving(self, ids, authors):
        quotes = [Quote.get_by_id(id) for id in ids]

        def write():
            with database.atomic():
                for quote, author in zip(quotes, authors):
                    quote.author = author
                    quote.save(only=[Quote.author])

        return write

    def updating(self, id, title):
        quote = Quote.get_by_id(id)

        def write():
            quote.title = title
            quote.save(only=[Quote.title])

        return write

    def deleting(self, id):
        quote = Quote.get_by_id(id)
        return lambda: quote.delete_instance()

    def inserting(self, row):
        return lambda: Quote.create(**row._replace(created=row.created.replace(tzinfo=None))._asdict())
