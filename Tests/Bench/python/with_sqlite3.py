"""The standard library's module and SQL; dates are text and stay that."""

from __future__ import annotations

import sqlite3

import requery
from sample import AT_ONCE, WINDOW

ORDER = "ORDER BY author, id"
INSERT = "INSERT INTO quote (author, title, created, price) VALUES (?, ?, ?, ?)"


def text(created):
    return created.strftime("%Y-%m-%d %H:%M:%S.000000")


class Contender:
    file = "plain"

    def open(self, path, tree=False):
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.execute = self.connection.execute
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            self.execute("PRAGMA " + pragma)

    def close(self):
        self.execute = None
        self.connection.close()

    def prepare_bulk(self, rows):
        return [(author, title, text(created), price) for author, title, created, price in rows]

    def insert_bulk(self, prepared):
        for first in range(0, len(prepared), AT_ONCE):
            self.execute("BEGIN")
            self.connection.executemany(INSERT, prepared[first:first + AT_ONCE])
            self.execute("COMMIT")

    def insert_objects(self, rows):
        for first in range(0, len(rows), AT_ONCE):
            self.execute("BEGIN")
            for author, title, created, price in rows[first:first + AT_ONCE]:
                self.execute(INSERT, (author, title, text(created), price))
            self.execute("COMMIT")

    def warm(self):
        return self.execute("SELECT count(*) FROM quote WHERE price >= 0").fetchone()[0]

    def ids(self):
        return [id for id, in self.execute(f"SELECT id FROM quote {ORDER}")]

    def ids_and_authors(self):
        found = self.execute(f"SELECT id, author FROM quote {ORDER}").fetchall()
        return [id for id, _ in found], [author for _, author in found]

    def list(self):
        return requery.Live(self)

    def drawn_list(self, waits=True):
        return self.list()

    def objects(self):
        return self.execute(f"SELECT id, author, title, created, price FROM quote {ORDER}").fetchall()

    def letters(self):
        return sum(len(row[2]) for row in self.objects())

    def window(self, place):
        return self.execute(
            f"SELECT author, title, created, price FROM quote {ORDER} LIMIT {WINDOW} OFFSET ?", (place,)).fetchall()

    def window_of(self, ids):
        marks = ",".join("?" * len(ids))
        found = {row[0]: row[1:] for row in self.execute(
            f"SELECT id, author, title, created, price FROM quote WHERE id IN ({marks})", ids)}
        return [found[id] for id in ids]

    def filter(self):
        found = self.execute(
            "SELECT id, author, title, created, price FROM quote WHERE title LIKE '%77%' AND price < 500 "
            "ORDER BY price DESC, id LIMIT 50").fetchall()
        return [row[0] for row in found]

    def contains(self):
        return [id for id, in self.execute("SELECT id FROM quote WHERE title LIKE '%42 OF THE%' ORDER BY id")]

    def first_title(self):
        return self.execute("SELECT title FROM quote WHERE id = 1").fetchone()[0]

    def delete_root_in_store(self):
        self.execute("DELETE FROM folder WHERE id = 1")

    def left(self):
        return self.execute("SELECT (SELECT count(*) FROM folder) + (SELECT count(*) FROM file)").fetchone()[0]

    # MARK: another thread saves

    def saving(self, rows):
        values = self.prepare_bulk(rows)

        def save():
            connection = sqlite3.connect(self.path, isolation_level=None)
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("BEGIN")
            connection.executemany(INSERT, values)
            connection.execute("COMMIT")
            connection.close()

        return save

    def news(self):
        return requery.News(lambda: self.execute("PRAGMA data_version").fetchone()[0])

    # MARK: changes, committed

    def moving(self, ids, authors):
        def write():
            self.execute("BEGIN")
            self.connection.executemany("UPDATE quote SET author = ? WHERE id = ?", zip(authors, ids))
            self.execute("COMMIT")

        return write

    def updating(self, id, title):
        return lambda: self.execute("UPDATE quote SET title = ? WHERE id = ?", (title, id))

    def deleting(self, id):
        return lambda: self.execute("DELETE FROM quote WHERE id = ?", (id,))

    def inserting(self, row):
        return lambda: self.execute(INSERT, (row.author, row.title, text(row.created), row.price))
