"""SQLAlchemy's ORM with one session, as a program with a window has."""

from __future__ import annotations

from datetime import datetime
from typing import Optional

import requery
import sqlalchemy
from sample import AT_ONCE, WINDOW
from sqlalchemy import ForeignKey, event, func, insert, select, text, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Quote(Base):
    __tablename__ = "quote"
    id: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[Optional[str]] = mapped_column(index=True)
    title: Mapped[Optional[str]]
    created: Mapped[Optional[datetime]]
    price: Mapped[Optional[float]]


class Folder(Base):
    __tablename__ = "folder"
    id: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[Optional[int]] = mapped_column("parent", ForeignKey("folder.id"))
    name: Mapped[Optional[str]]
    folders: Mapped[list["Folder"]] = relationship(cascade="all, delete-orphan")
    files: Mapped[list["File"]] = relationship(cascade="all, delete-orphan")


class File(Base):
    __tablename__ = "file"
    id: Mapped[int] = mapped_column(primary_key=True)
    folder_id: Mapped[Optional[int]] = mapped_column("folder", ForeignKey("folder.id"))
    name: Mapped[Optional[str]]
    size: Mapped[Optional[int]]


ORDER = (Quote.author, Quote.id)


class Contender:
    file = "plain"

    def open(self, path, tree=False):
        self.engine = sqlalchemy.create_engine("sqlite:///" + path)

        @event.listens_for(self.engine, "connect")
        def configure(connection, _):
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")

        self.session = Session(self.engine)

    def close(self):
        self.session.close()
        self.engine.dispose()

    def prepare_bulk(self, rows):
        return [row._replace(created=row.created.replace(tzinfo=None))._asdict() for row in rows]

    def insert_bulk(self, prepared):
        for first in range(0, len(prepared), AT_ONCE):
            self.session.execute(insert(Quote), prepared[first:first + AT_ONCE])
            self.session.commit()

    def insert_objects(self, rows):
        for first in range(0, len(rows), AT_ONCE):
            self.session.add_all(
                Quote(author=author, title=title, created=created.replace(tzinfo=None), price=price)
                for author, title, created, price in rows[first:first + AT_ONCE])
            self.session.commit()

    def warm(self):
        return self.session.scalar(select(func.count()).select_from(Quote).where(Quote.price >= 0))

    def ids(self):
        return self.session.scalars(select(Quote.id).order_by(*ORDER)).all()

    def ids_and_authors(self):
        found = self.session.execute(select(Quote.id, Quote.author).order_by(*ORDER)).all()
        return [id for id, _ in found], [author for _, author in found]

    def list(self):
        return requery.Live(self)

    def drawn_list(self, waits=True):
        return self.list()

    def objects(self):
        return self.session.scalars(select(Quote).order_by(*ORDER)).all()

    def letters(self):
        return sum(len(quote.title) for quote in self.objects())

    def window(self, place):
        return [
            (quote.author, quote.title, quote.created, quote.price)
            for quote in self.session.scalars(select(Quote).order_by(*ORDER).offset(place).limit(WINDOW))]

    def window_of(self, ids):
        found = {quote.id: quote for quote in self.session.scalars(select(Quote).where(Quote.id.in_(ids)))}
        return [(quote.author, quote.title, quote.created, quote.price) for quote in map(found.get, ids)]

    def filter(self):
        found = self.session.scalars(
            select(Quote).where(Quote.title.contains("77"), Quote.price < 500).order_by(Quote.price.desc(), Quote.id)
            .limit(50)).all()
        return [quote.id for quote in found]

    def contains(self):
        return self.session.scalars(
            select(Quote.id).where(Quote.title.like("%42 OF THE%")).order_by(Quote.id)).all()

    def first_title(self):
        return self.session.get(Quote, 1).title

    def delete_root(self):
        self.session.delete(self.session.get(Folder, 1))
        self.session.commit()

    def left(self):
        return sum(self.session.scalar(select(func.count()).select_from(kind)) for kind in (Folder, File))

    # MARK: another thread saves

    def saving(self, rows):
        values = self.prepare_bulk(rows)

        def save():
            with Session(self.engine) as session:
                session.execute(insert(Quote), values)
                session.commit()

        return save

    def news(self):
        return requery.News(lambda: self.session.scalar(text("PRAGMA data_version")))

    # MARK: changes, committed

    def moving(self, ids, authors):
        if len(ids) > 1:
            changes = [{"id": id, "author": author} for id, author in zip(ids, authors)]

            def write_many():
                self.session.execute(update(Quote), changes)
                self.session.commit()

            return write_many
        quote = self.session.get(Quote, ids[0])

        def write():
            quote.author = authors[0]
            self.session.commit()

        return write

    def updating(self, id, title):
        quote = self.session.get(Quote, id)

        def write():
            quote.title = title
            self.session.commit()

        return write

    def deleting(self, id):
        quote = self.session.get(Quote, id)

        def write():
            self.session.delete(quote)
            self.session.commit()

        return write

    def inserting(self, row):
        def write():
            self.session.add(Quote(**row._replace(created=row.created.replace(tzinfo=None))._asdict()))
            self.session.commit()

        return write
