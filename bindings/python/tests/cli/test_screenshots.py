"""The screenshots of the documentation show what the browser shows. `script/screenshots` makes them anew."""

from __future__ import annotations

import html
import os
import pathlib
import re
import shutil
import tempfile
import unittest
from typing import Any, Optional

import quire

from .test_browse import BrowserTestCase

FOLDER = pathlib.Path(__file__).parents[4] / "docs" / "site" / "_static"
WRITES = bool(os.environ.get("QUIRE_WRITE_SCREENSHOTS"))
BOOKS = """\
Jane Austen: Pride and Prejudice, 1813, 432; Emma, 1815, 474; Persuasion, 1817, 249
Charles Dickens: Oliver Twist, 1838, 554; A Christmas Carol, 1843, 104; Bleak House, 1853, 960; Hard Times, 1854, 353
George Eliot: Silas Marner, 1861, 176; Middlemarch, 1871, 880
Johann Wolfgang von Goethe: Faust, 1808, 464; Italian Journey, 1816, 508
Selma Lagerlöf: Gösta Berling's Saga, 1891, 473; Jerusalem, 1901, 342
Herman Melville: Typee, 1846, 325; Moby-Dick, 1851, 635; Billy Budd, 1924, 98
Mary Shelley: Frankenstein, 1818, 280; The Last Man, 1826, 479
Leo Tolstoy: War and Peace, 1869, 1225; Anna Karenina, 1878, 864; Resurrection, 1899, 483
"""


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="author", on_delete="cascade")
    __unique__ = ["name"]


class Book(quire.Model):
    title: quire.Attr[str]
    year: quire.Attr[int]
    pages: quire.Attr[int]
    read: quire.Attr[bool] = quire.attr(default=False)
    note: quire.Attr[Optional[str]] = quire.attr(default=None)
    author: quire.ToOne[Author] = quire.relation(inverse="books")
    tags: quire.ToMany["Tag"] = quire.relation(inverse="books")


class Tag(quire.Model):
    word: quire.Attr[str]
    books: quire.ToMany[Book] = quire.relation(inverse="tags")


def make(path: str) -> None:
    with quire.open(path, [Author, Book, Tag]) as store, store.context.transaction() as context:
        long, short = (context.add(Tag(word=word)) for word in ("long", "short"))
        for line in BOOKS.splitlines():
            name, _, books = line.partition(": ")
            author = context.add(Author(name=name))
            for each in books.split("; "):
                title, year, pages = each.rsplit(", ", 2)
                book = Book(title=title, year=int(year), pages=int(pages), author=author, read=int(year) % 3 == 0)
                context.add(book).tags = [long] if int(pages) > 500 else [short]
        moby = context.query(Book).where("title == 'Moby-Dick'").one()
        moby.note = "Call me Ishmael.\nThe whale comes late."


def self_contained(svg: str) -> str:
    """The picture without fonts from elsewhere, and a name of its own for what it refers to."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "browse", svg).replace("Fira Code, ", "")
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE).rstrip("\n") + "\n"


def texts(svg: str) -> list[str]:
    """What the lines of a picture say. The last one has keys, which Textual draws as it likes."""
    lines: dict[int, str] = {}
    for number, text in re.findall(r'<text [^>]*clip-path="url\(#[\w-]*line-(\d+)\)"[^>]*>([^<]*)</text>', svg):
        lines[int(number)] = lines.get(int(number), "") + html.unescape(text)
    return [re.sub(r"[^\w.'-]+", " ", lines[number]) for number in sorted(lines)][:-1]


class ScreenshotTests(BrowserTestCase):
    folder: str

    def setUp(self) -> None:
        super().setUp()
        shop = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, shop)
        self.library = os.path.join(shop, "library.sqlite")
        make(self.library)

    def show(self, name: str, size: tuple[int, int], row: int) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("s")
            await pilot.pause()
            await self.choose(app, pilot, "author")
            app.query_one("#rows").move_to(row)
            await pilot.pause()
            made = self_contained(app.export_screenshot(title=f"quire browse {os.path.basename(self.library)}"))
            path = FOLDER / f"{name}.svg"
            if WRITES:
                path.write_text(made)
            self.assertEqual(
                texts(path.read_text()), texts(made),
                "The browser shows something else. script/screenshots makes them anew.")
            self.assertGreater(len(texts(made)), 15)

        self.browse(size, work, "Book", self.library)

    def test_a_small_terminal(self) -> None:
        self.show("browse", (80, 24), 4)

    def test_a_large_terminal(self) -> None:
        self.show("browse-wide", (160, 36), 14)


if __name__ == "__main__":
    unittest.main()
