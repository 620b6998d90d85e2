"""The other process of the check: commits when it is told to, and says when that was done.

    others_writer.py PATH WRITER SEED

Reads lines `commit N`, and answers each with the clock after the commit. A line `see N` waits until the commit of the
first process shows here, and is answered with the clock, or with what differs.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time
from typing import Any

from others_model import MARK, Author, Book, Difference, Tag, Watcher

import quire

class QuireWriter:
    """Saves, batch requests and transactions of several saves."""

    def __init__(self, path: str, random: random.Random) -> None:
        self.watcher = Watcher(path)
        self.random = random

    def commit(self, number: int) -> None:
        context = self.watcher.context
        context.merge()
        kind = self.random.choice(["save", "save", "transaction", "batch"])
        mark = context.query(Tag).where("name BEGINSWITH %@", MARK).one()
        if kind == "batch":
            with context.transaction():
                if self.random.random() < 0.5:
                    context.query(Book).where("pages < 300").update(pages=self.random.randrange(300, 900))
                else:
                    least = self.random.randrange(1000)
                    context.query(Book).where("pages BETWEEN {%d, %d}", least, least + 60).delete()
                mark.name = f"{MARK}{number}"
                context.save()
        elif kind == "transaction":
            with context.transaction():
                self._edit(context)
                context.save()
                self._edit(context)
                mark.name = f"{MARK}{number}"
                context.save()
        else:
            self._edit(context)
            mark.name = f"{MARK}{number}"
            context.save()

    def _edit(self, context: quire.Context) -> None:
        books, authors = list(context.query(Book)), list(context.query(Author))
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.choice(["insert", "insert", "pages", "author", "delete", "tags", "order", "pins"])
            if kind == "insert" or not books:
                author = self.random.choice([*authors, None])
                books.append(context.add(
                    Book(number=self.random.randrange(10_000), pages=self.random.randrange(1000), author=author)))
            elif kind == "pages":
                self.random.choice(books).pages = self.random.randrange(1000)
            elif kind == "author":
                self.random.choice(books).author = self.random.choice([*authors, None])
            elif kind == "delete":
                context.delete(books.pop(self.random.randrange(len(books))))
            elif kind == "order":
                author = self.random.choice(authors)
                author.tags = list(author.tags)[::-1]
            elif kind == "pins":
                # The column of a member has one owner.
                self.random.choice(authors).pins = list(context.query(Tag).where("NOT name BEGINSWITH %@", MARK))[:1]
            else:
                tag = self.random.choice(list(context.query(Tag).where("NOT name BEGINSWITH %@", MARK)))
                author = self.random.choice(authors)
                if tag in author.tags:
                    author.tags.remove(tag)
                else:
                    author.tags.append(tag)


class SQLWriter:
    """Plain SQLite. One that keeps the rules raises versions and the last key; the careless one does neither. One that
    keeps the keys raises the last key alone: then no process has reserved the key of a new row."""

    def __init__(self, path: str, random: random.Random, kind: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.random = random
        self.keeps_rules, self.keeps_keys = kind == "rules", kind != "careless"
        self.entity = dict(self.connection.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
        self.join, = self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z\\_%AUTHORS' ESCAPE '\\' "
            "OR type = 'table' AND name LIKE 'Z\\_%TAGS' ESCAPE '\\'").fetchone()
        self.columns = [row[1] for row in self.connection.execute(f"PRAGMA table_info({self.join})")][:2]

    def commit(self, number: int) -> None:
        run = self.connection.execute
        if self.random.random() < 0.05:
            # A context that shows a moment keeps the log from beginning anew.
            run("PRAGMA busy_timeout = 20")
            run(f"PRAGMA wal_checkpoint({self.random.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})").fetchall()
            run("PRAGMA busy_timeout = 10000")
        run("BEGIN IMMEDIATE")
        for _ in range(self.random.randrange(1, 4)):
            self._edit(run)
        run("UPDATE ZTAG SET ZNAME = ?, Z_OPT = Z_OPT + 1 WHERE ZNAME LIKE 'mark %'", (f"{MARK}{number}",))
        run("COMMIT")

    def _edit(self, run: Any) -> None:
        version = ", Z_OPT = Z_OPT + 1" if self.keeps_rules else ""
        books = [row[0] for row in run("SELECT Z_PK FROM ZBOOK")]
        authors = [row[0] for row in run("SELECT Z_PK FROM ZAUTHOR")]
        kinds = ["insert", "insert", "pages", "author", "delete"]
        if not self.keeps_rules:
            kinds += ["replace", "tags", "other key"]
        kind = self.random.choice(kinds)
        book = self.random.choice(books) if books else None
        row = (self.random.randrange(10_000), self.random.randrange(1000), self.random.choice([*authors, None]))
        if kind == "insert" or book is None:
            key = self._new_key(run) if self.keeps_keys else None
            run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZPAGES, ZAUTHOR) VALUES (?, ?, 1, ?, ?, ?)",
                (key, self.entity["Book"], *row))
        elif kind == "pages":
            run(f"UPDATE ZBOOK SET ZPAGES = ?{version} WHERE Z_PK = ?", (row[1], book))
        elif kind == "author":
            run(f"UPDATE ZBOOK SET ZAUTHOR = ?{version} WHERE Z_PK = ?", (row[2], book))
        elif kind == "delete":
            run("DELETE FROM ZBOOK WHERE Z_PK = ?", (book,))
        elif kind == "replace":
            run("REPLACE INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZPAGES, ZAUTHOR) VALUES (?, ?, 1, ?, ?, ?)",
                (book, self.entity["Book"], *row))
        elif kind == "other key":
            key = self._new_key(run) if self.keeps_keys else run("SELECT max(Z_PK) + 1 FROM ZBOOK").fetchone()[0]
            run("UPDATE ZBOOK SET Z_PK = ? WHERE Z_PK = ?", (key, book))
        else:
            tags = [row[0] for row in run("SELECT Z_PK FROM ZTAG WHERE ZNAME NOT LIKE 'mark %'")]
            pair = (self.random.choice(authors), self.random.choice(tags))
            pair = pair if self.columns[0].endswith("AUTHORS") else pair[::-1]
            first, second = self.columns
            if run(f"DELETE FROM {self.join} WHERE {first} = ? AND {second} = ?", pair).rowcount == 0:
                run(f"INSERT INTO {self.join} ({', '.join(self.columns)}) VALUES (?, ?)", pair)

    @staticmethod
    def _new_key(run: Any) -> int:
        run("UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ifnull((SELECT max(Z_PK) FROM ZBOOK), 0)) + 1 "
            "WHERE Z_NAME = 'Book'")
        key: int = run("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'").fetchone()[0]
        return key


def main() -> None:
    path, kind, seed = sys.argv[1:]
    dice = random.Random(seed)
    writer: Any = QuireWriter(path, dice) if kind == "quire" else SQLWriter(path, dice, kind)
    print("ready", flush=True)
    for line in sys.stdin:
        order, number = line.split()
        if order == "commit":
            writer.commit(int(number))
            print(time.monotonic(), flush=True)
            continue
        try:
            seen = writer.watcher.wait(int(number))
            writer.watcher.compare()
            print("late" if seen is None else seen, flush=True)
        except Difference as difference:
            print(f"differs: {difference}", flush=True)
    if isinstance(writer, QuireWriter):
        writer.watcher.close()


if __name__ == "__main__":
    main()
