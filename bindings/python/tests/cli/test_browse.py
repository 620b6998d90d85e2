"""browse, driven by keys, on terminals of two sizes."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import unittest
from collections.abc import Awaitable
from contextlib import closing
from typing import Any, Callable, Optional

import quire

from .command import MODELS, Author, Book, CommandTestCase, make_store

SMALL, LARGE = (80, 24), (200, 60)
SCREENSHOTS = os.environ.get("QUIRE_SCREENSHOTS")
"""A folder in which the screenshots are left, to be looked at."""


class BrowserTestCase(CommandTestCase):
    books = 70

    def browse(
        self, size: tuple[int, int], work: Callable[[Any, Any], Awaitable[None]], entity: Optional[str] = "Book",
        path: Optional[str] = None,
    ) -> None:
        from quire.cli.browse.app import Browser

        async def run() -> None:
            with quire.open(path or self.path, read_only=True) as store:
                app = Browser(store, entity)
                async with app.run_test(size=size) as pilot:
                    await pilot.pause()
                    await work(app, pilot)

        asyncio.run(run())

    def lines(self, app: Any, name: str = "") -> list[str]:
        """What is on the screen, line by line."""
        if SCREENSHOTS and name:
            with open(os.path.join(SCREENSHOTS, f"{name}-{app.size.width}x{app.size.height}.svg"), "w") as file:
                file.write(app.export_screenshot(title=name))
        lines = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
        # Nothing is wider than the terminal, and nothing is missing.
        self.assertEqual((len(lines)), app.size.height)
        return [line.rstrip() for line in lines]

    async def search(self, app: Any, pilot: Any, text: str, key: str = "enter") -> None:
        """As if it were typed."""
        await pilot.press("slash")
        app.query_one("#search").value = text
        await pilot.press(key)
        await pilot.pause()

    async def choose(self, app: Any, pilot: Any, label: str) -> None:
        choices = app.screen.query_one("#choices")
        place = next(
            place for place in range(choices.option_count)
            if str(choices.get_option_at_index(place).prompt) == label)
        choices.highlighted = place
        await pilot.press("enter")
        await pilot.pause()


class BrowserTests(BrowserTestCase):
    def test_a_small_terminal_has_entities_and_rows(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            lines = self.lines(app, "rows")
            self.assertRegex(lines[0], "books.sqlite  ·  Book  ·  71 rows")
            self.assertRegex(lines[2], r"Author +2 ")
            self.assertRegex(lines[3], r"Book +71 │title +author +isbn +pages +\+7$")
            self.assertRegex("\n".join(lines), r"Book 2 +Goethe +978-2 +200\b")
            self.assertRegex(lines[-1], "Details.*Search.*Sections.*Order.*Reload.*Quit")

        self.browse(SMALL, work)

    def test_a_large_terminal_has_the_object_beside_the_rows(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("down", "down", "down")
            await pilot.pause()
            text = "\n".join(self.lines(app, "object"))
            self.assertRegex(text, r"Comic 4")
            self.assertRegex(text, r"author →")
            self.assertRegex(text, r"Author 2 Ågren")
            # Comics have more than books.
            self.assertRegex(text, r"coloured")

        self.browse(LARGE, work)

    def test_a_small_terminal_shows_the_object_above_the_rows(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("down", "enter")
            await pilot.pause()
            text = "\n".join(self.lines(app, "window"))
            self.assertRegex(text, r"Book 2\b")
            self.assertRegex(text, r"978-1")
            await pilot.press("escape")
            await pilot.pause()
            self.assertNotIn("╭", "\n".join(self.lines(app)))

        self.browse(SMALL, work)

    def test_sections_by_a_relationship_and_going_to_one(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("s")
            await pilot.pause()
            self.assertRegex("\n".join(self.lines(app, "choice")), "no sections(.|\n)*first letter of title")
            await self.choose(app, pilot, "author")
            lines = self.lines(app, "sections")
            self.assertRegex(lines[0], "by author.name")
            self.assertTrue(any(re.search(r"│ *\(none\)  1$|│ *\(none\)  1 ", line) for line in lines), lines)
            self.assertTrue(any("Goethe  35" in line for line in lines))
            sections = app.query_one("#sections")
            self.assertEqual(sections.option_count, 3)
            sections.focus()
            await pilot.press("end", "enter")
            await pilot.pause()
            self.assertEqual(app.query_one("#rows").cursor, 36)
            text = "\n".join(self.lines(app))
            self.assertRegex(text, r"Ågren  35")

        for size in (SMALL, LARGE):
            self.browse(size, work)

    def test_the_order_is_chosen(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("o")
            await pilot.pause()
            await self.choose(app, pilot, "pages ↓")
            lines = self.lines(app)
            self.assertRegex(lines[0], "order -pages")
            self.assertRegex("\n".join(lines), r"title +author +isbn +pages.*\n.*Book 69")

        self.browse(SMALL, work)

    def test_what_is_typed_is_searched_in_all_texts(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("slash", *"978-6")
            await pilot.pause(0.3)
            self.assertRegex(self.lines(app)[0], "11 rows")
            await pilot.press("enter")
            self.assertEqual(app.focused.id, "rows")
            await self.search(app, pilot, "zzz", "tab")
            await pilot.pause(0.3)
            self.assertIn("Nothing is found.", "\n".join(self.lines(app, "nothing")))

        self.browse(SMALL, work)

    def test_a_predicate_is_searched_and_a_wrong_one_is_shown(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await self.search(app, pilot, "= author.name == 'Goethe' AND pages > 6000")
            self.assertRegex(self.lines(app)[0], " 4 rows")
            await self.search(app, pilot, "= author.name == 'Goethe' AND pages > 6000 AND")
            lines = self.lines(app, "wrong")
            self.assertRegex("\n".join(lines), r"expected here(.|\n)*\^")
            self.assertRegex(lines[0], " 4 rows")
            await self.search(app, pilot, "= made < '2026-02-10T10:30:00.5Z' OR made == 'soon'")
            self.assertRegex("\n".join(self.lines(app, "wrong")), r"'soon' is no date in ISO 8601")
            await self.search(app, pilot, "= made < '2026-02-10T10:30:00.5Z'")
            self.assertRegex(self.lines(app)[0], " 1 row")
            await self.search(app, pilot, "")
            lines = self.lines(app)
            self.assertNotIn("^", "\n".join(lines))
            self.assertRegex(lines[0], " 71 rows")

        self.browse(SMALL, work)

    def test_an_entity_is_chosen(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            self.assertRegex(self.lines(app)[0], "Author  ·  2 rows")
            app.query_one("#entities").focus()
            await pilot.press("down", "down", "enter")
            await pilot.pause()
            self.assertRegex(self.lines(app)[0], "Comic  ·  1 row")
            self.assertEqual(app.focused.id, "rows")

        self.browse(SMALL, work, None)

    def test_the_cursor_stays_in_the_list_and_in_sight(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            rows = app.query_one("#rows")
            for keys, place in (("end", 70), ("down", 70), ("pageup", 52), ("home", 0), ("up", 0), ("pagedown", 18)):
                await pilot.press(keys)
                await pilot.pause()
                self.assertEqual(rows.cursor, place, keys)
                self.assertTrue(0 <= rows.listing.line_of(place) - rows.scroll_offset.y < rows.size.height, keys)

        self.browse(SMALL, work)

    def test_the_mouse_moves_the_cursor(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.click("#rows", offset=(5, 4))
            self.assertEqual(app.query_one("#rows").cursor, 4)

        self.browse(SMALL, work)

    def test_it_follows_what_another_program_saves(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("end")
            with quire.open(self.path, MODELS) as other:
                context = other.context
                context.add(Author(name="Kleist"))
                context.query(Book).where("title == 'Book 1'").one().title = "Book one"
                for book in context.query(Book).where("pages >= 6000"):
                    context.delete(book)
                context.save()
            for _ in range(30):
                await pilot.pause(0.1)
                if "61 rows" in self.lines(app)[0]:
                    break
            lines = self.lines(app)
            self.assertRegex(lines[0], "61 rows")
            self.assertRegex("\n".join(lines), r"Author +3 ")
            # The cursor is on the object that it was on.
            self.assertEqual(app.query_one("#rows").cursor, 60)
            await pilot.press("home")
            await pilot.pause()
            self.assertIn("Book one", "\n".join(self.lines(app)))

        self.browse(SMALL, work)

    def test_a_row_that_cannot_be_read_says_so(self) -> None:
        many = self.place("many.sqlite")
        make_store(many, 600)

        def change(statement: str) -> None:
            with closing(sqlite3.connect(many)) as file, file:
                file.execute(statement)

        async def to_the_end(app: Any, pilot: Any) -> None:
            await pilot.press("G")
            await pilot.pause()
            # What is found while it is drawn is told afterwards.
            self.lines(app)
            await pilot.pause()

        async def damaged(app: Any, pilot: Any) -> None:
            change("UPDATE ZBOOK SET ZPAGES = 'x' WHERE Z_PK = 590")
            app._following.has_changed()
            app.action_reload()
            await to_the_end(app, pilot)
            lines = "\n".join(self.lines(app, "unreadable"))
            self.assertRegex(lines, r"│\(cannot be read\)\n")
            self.assertRegex(lines, "'ZPAGES'")

        async def deleted(app: Any, pilot: Any) -> None:
            change("DELETE FROM ZBOOK WHERE Z_PK > 500")
            await to_the_end(app, pilot)
            lines = "\n".join(self.lines(app))
            self.assertRegex(lines, "·  500 rows")
            self.assertNotRegex(lines, "cannot be read|no longer")

        async def unnoticed(app: Any, pilot: Any) -> None:
            """Until it is noticed, what was there before is shown."""
            change("DELETE FROM ZBOOK WHERE Z_PK = 495")
            app._following.has_changed()
            await to_the_end(app, pilot)
            lines = "\n".join(self.lines(app))
            self.assertRegex(lines, "·  500 rows")
            self.assertNotRegex(lines, "cannot be read|no longer")

        for work in (damaged, deleted, unnoticed):
            self.browse(SMALL, work, path=many)

    def test_a_store_without_rows_and_one_that_is_deleted(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            self.assertIn("Nothing is found.", "\n".join(self.lines(app)))
            await pilot.press("enter", "down", "end", "s")
            await pilot.pause()
            await pilot.press("escape")
            os.unlink(path)
            await pilot.press("r")
            await pilot.pause()
            self.assertEqual(len(self.lines(app)), 24)

        path = self.place("empty.sqlite")
        quire.open(path, MODELS).close()
        self.browse(SMALL, work, None, path)

    def test_text_of_the_file_is_shown_and_not_obeyed(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            await pilot.press("end")
            await pilot.pause()
            self.assertIn("[bold]x\\u001b[31m", "\n".join(self.lines(app)))

        for size in (SMALL, LARGE):
            self.browse(size, work)

    def test_the_terminal_changes_its_size(self) -> None:
        async def work(app: Any, pilot: Any) -> None:
            for size in (LARGE, (40, 10), (20, 5), SMALL):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                self.lines(app)
            self.assertRegex("\n".join(self.lines(app)), r"Book 2 +Goethe +978-2")

        self.browse(SMALL, work)


if __name__ == "__main__":
    unittest.main()
