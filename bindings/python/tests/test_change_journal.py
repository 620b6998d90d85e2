"""The change journal: which rows other processes have changed, and what no journal tells."""

import os
import sqlite3
import tempfile
import unittest
from contextlib import closing
from typing import Any, Optional, Union

import quire

from support import await_readable


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
    prizes: quire.ToMany["Prize"] = quire.relation(inverse="authors")


class Book(quire.Model):
    title: quire.Attr[str]
    pages: quire.Attr[int] = quire.attr(default=0)
    author: quire.ToOne[Optional[Author]] = quire.relation(inverse="books")


class Prize(quire.Model):
    name: quire.Attr[str]
    authors: quire.ToMany[Author] = quire.relation(inverse="prizes")


MODELS: list[type[quire.Model]] = [Author, Book, Prize]


class Reports:
    """What a list reports: the kind and the title of each row, and whether contents may differ."""

    def __init__(self, rows: Union[quire.Results[Any], quire.Composite]) -> None:
        self.rows = rows
        self.changes: list[tuple[str, int]] = []
        self.flags: list[bool] = []
        rows.on_change(self._take)

    def _take(self, changes: quire.ChangeSet[Any]) -> None:
        self.changes.extend((type(each).__name__, each.id) for each in changes)
        self.flags.append(changes.contents_may_differ)

    def take(self) -> tuple[list[tuple[str, int]], list[bool]]:
        found = self.changes, self.flags
        self.changes, self.flags = [], []
        return found


class JournalTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "library.sqlite")

    def opened(self, **options: Any) -> quire.Store:
        """Two of one file learn of each other as those of two processes."""
        store = quire.open(self.path, MODELS, **options)
        self.addCleanup(store.close)
        return store

    def fill(self, context: quire.Context) -> dict[str, int]:
        author = context.add(Author(name="Goethe"))
        context.add(Author(name="Schiller"))
        context.add(Prize(name="Nobel"))
        books = [context.add(Book(title=title, author=author)) for title in ("one", "two", "three")]
        context.save()
        return {each.title: each.id for each in books}

    def followed(self, context: quire.Context, model: type[quire.Model] = Book, *paths: str) -> Reports:
        rows = context.query(model).order_by("title" if model is Book else "name").live()
        self.addCleanup(rows.close)
        rows.display(*paths)
        return Reports(rows)

    def sql(self, *statements: str) -> list[Any]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]

    def triggers(self) -> list[str]:
        return [name for name, in self.sql(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'QUIRE%' ORDER BY name")]


class JournalOfSavesTests(JournalTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = self.opened()
        self.context = self.store.context
        self.ids = self.fill(self.context)
        self.there = self.opened().context
        self.reports = self.followed(self.context)

    def merged(self) -> tuple[list[tuple[str, int]], list[bool]]:
        self.context.merge()
        return self.reports.take()

    def book(self, title: str = "two") -> Book:
        return self.there.query(Book).where("title = %@", title).one()

    def test_a_new_file_keeps_one_without_triggers(self) -> None:
        self.assertEqual((self.store.change_journal, self.triggers()), ("saves", []))

    def test_a_row_that_stays_where_it_is_is_reported_alone(self) -> None:
        self.book().pages = 9
        self.there.save()
        self.assertEqual(self.merged(), ([("Update", self.ids["two"])], [False]))

    def test_inserts_and_deletions_are_reported(self) -> None:
        new = self.there.add(Book(title="four"))
        self.there.delete(self.book())
        self.there.save()
        changes, flags = self.merged()
        self.assertEqual((sorted(changes), flags), ([("Delete", self.ids["two"]), ("Insert", new.id)], [False]))

    def test_members_that_come_and_go_are_reported_for_their_owners(self) -> None:
        goethe, schiller = self.context.query(Author).order_by("name")
        self.assertEqual((len(goethe.books), len(schiller.prizes)), (3, 0))
        authors = self.followed(self.context, Author, "books.@count", "prizes.@count")
        there = list(self.there.query(Author).order_by("name"))
        self.book().author = there[1]
        self.there.save()
        self.context.merge()
        self.assertEqual((sorted(authors.take()[0]), len(goethe.books)), (
            [("Update", goethe.id), ("Update", schiller.id)], 2))
        there[1].prizes.append(self.there.query(Prize).one())
        self.there.save()
        self.context.merge()
        self.assertEqual(authors.take(), ([("Update", schiller.id)], [False]))
        self.assertEqual(len(schiller.prizes), 1)

    def test_batch_requests_are_reported(self) -> None:
        self.there.query(Book).where("title = 'two'").update(pages=7)
        self.assertEqual(self.merged(), ([("Update", self.ids["two"])], [False]))
        new = self.there.insert_rows(Book, {"title": ["four", "five"]})
        changes, flags = self.merged()
        self.assertEqual((sorted(changes), flags), ([("Insert", id) for id in sorted(new)], [False]))
        self.there.query(Book).where("title = 'two'").delete()
        self.assertEqual(self.merged(), ([("Delete", self.ids["two"])], [False]))

    def test_a_transaction_of_several_saves_is_one_commit(self) -> None:
        with self.there.transaction():
            self.book("one").pages = 1
            self.there.save()
            self.book("three").pages = 3
        changes, flags = self.merged()
        self.assertEqual(sorted(changes), sorted([("Update", self.ids["one"]), ("Update", self.ids["three"])]))
        self.assertEqual(flags, [False])

    def test_what_is_rolled_back_is_not_reported(self) -> None:
        self.sql("CREATE TRIGGER refuses BEFORE UPDATE ON ZBOOK WHEN NEW.ZPAGES = 13 "
                 "BEGIN SELECT RAISE(ABORT, 'no'); END")
        self.merged()
        with self.assertRaises(ZeroDivisionError), self.there.transaction():
            self.book("one").pages = 1
            self.there.save()
            raise ZeroDivisionError
        with self.there.transaction():
            self.book("one").pages = 2
            self.there.save()
            # This part of the transaction is taken back alone.
            with self.assertRaises(quire.Error):
                self.there.query(Book).where("title = 'two'").update(pages=13)
            self.there.query(Book).where("title = 'three'").update(pages=3)
        changes, flags = self.merged()
        self.assertEqual(sorted(changes), sorted([("Update", self.ids["one"]), ("Update", self.ids["three"])]))
        self.assertEqual(flags, [False])
        # That is one commit: a further one of plain SQL is found.
        with self.there.transaction():
            self.book("one").pages = 4
            self.there.save()
            with self.assertRaises(quire.Error):
                self.there.query(Book).where("title = 'two'").update(pages=13)
            self.book("three").pages = 5
        self.sql("UPDATE ZBOOK SET ZPAGES = 6 WHERE ZTITLE = 'two'")
        self.assertEqual(self.merged()[1], [True])

    def test_commits_without_rows_are_told_apart_from_those_of_other_programs(self) -> None:
        # New ids are reserved, and returned when the store is closed.
        other = self.opened()
        other.context.add(Book(title="never"))
        other.context.obtain_permanent_ids()
        other.close()
        metadata = self.opened()
        metadata.metadata["key"] = "value"
        metadata.context.save()
        metadata.close()
        self.assertEqual(self.merged(), ([], []))
        self.book().pages = 9
        self.there.save()
        self.assertEqual(self.merged(), ([("Update", self.ids["two"])], [False]))

    def test_a_save_of_one_s_own_is_never_told_as_contents_that_may_differ(self) -> None:
        other = self.followed(self.store.create_context())
        for title, pages in (("one", 1), ("three", 3)):
            self.context.query(Book).where("title = %@", title).one().pages = pages
            self.context.save()
            self.there.save()
        other.rows.context.merge()
        self.assertEqual(sorted(other.take()[0]), sorted([("Update", self.ids["one"]), ("Update", self.ids["three"])]))
        self.assertEqual(set(self.reports.take()[1] + other.take()[1]), {False})

    def test_plain_sql_is_reported_as_contents_that_may_differ(self) -> None:
        generation = self.reports.rows.generation
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        self.assertEqual(self.merged(), ([], [True]))
        self.assertGreater(self.reports.rows.generation, generation)
        # What the journal has of the other commits is reported.
        self.book("three").pages = 3
        self.there.save()
        self.sql("UPDATE ZBOOK SET ZPAGES = 10 WHERE ZTITLE = 'two'", "DELETE FROM ZBOOK WHERE ZTITLE = 'one'")
        changes, flags = self.merged()
        self.assertEqual(sorted(changes), sorted([("Update", self.ids["three"]), ("Delete", self.ids["one"])]))
        self.assertEqual(flags, [True])
        self.book("three").pages = 4
        self.there.save()
        self.assertEqual(self.merged(), ([("Update", self.ids["three"])], [False]))

    def test_a_save_reports_what_plain_sql_has_changed_before_it(self) -> None:
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        self.context.query(Book).where("title = 'one'").one().pages = 1
        self.context.save()
        changes, flags = self.reports.take()
        self.assertIn(("Update", self.ids["one"]), changes)
        self.assertEqual(flags.count(True), 1)

    def test_a_large_insert_is_one_small_entry(self) -> None:
        before, = self.sql("SELECT count(*) FROM QUIRE_CHANGE_JOURNAL")
        self.there.insert_rows(Book, {"title": ["more"] * 20_000})
        after, = self.sql("SELECT count(*) - 1 FROM QUIRE_CHANGE_JOURNAL")
        [(size,)] = self.sql("SELECT length(Z_CHANGES) FROM QUIRE_CHANGE_JOURNAL ORDER BY Z_PK DESC LIMIT 1")
        self.assertEqual((after, size < 16), (before, True))
        changes, flags = self.merged()
        self.assertEqual((len(changes), flags), (20_000, [False]))

    def test_the_journal_keeps_as_much_as_it_is_to(self) -> None:
        self.sql("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 15000) "
                 "INSERT INTO QUIRE_CHANGE_JOURNAL (Z_KIND, Z_CHANGES) SELECT 5, x'' FROM n")
        [(first,)] = self.sql("SELECT max(Z_PK) FROM QUIRE_CHANGE_JOURNAL")
        for pages in range(257):
            self.book("two").pages = pages + 1
            self.there.save()
        [(setting, count, last)] = self.sql(
            "SELECT sum(Z_PK = 0), count(*), max(Z_PK) FROM QUIRE_CHANGE_JOURNAL")
        self.assertEqual((setting, last), (1, first + 257))
        self.assertTrue(10_000 <= count <= 10_258, count)
        # That context has missed entries.
        self.assertEqual(self.merged()[1], [True])

    def test_a_reader_learns_of_saves(self) -> None:
        context = self.opened(read_only=True).context
        reports = self.followed(context)
        self.book().pages = 9
        self.there.save()
        context.merge()
        self.assertEqual(reports.take(), ([("Update", self.ids["two"])], [False]))

    def test_a_trigger_of_another_program_that_changes_rows_makes_saves_unknown(self) -> None:
        self.sql("CREATE TABLE audit (what)",
                 "CREATE TRIGGER audits AFTER UPDATE ON ZBOOK BEGIN INSERT INTO audit VALUES (NEW.ZTITLE); END")
        self.context.merge()
        self.reports.take()
        self.book().pages = 9
        self.there.save()
        self.assertEqual(self.merged(), ([("Update", self.ids["two"])], [False]))
        self.sql("CREATE TRIGGER counts AFTER INSERT ON audit BEGIN "
                 "UPDATE ZBOOK SET ZPAGES = 1 WHERE ZTITLE = 'one'; END")
        self.context.merge()
        self.reports.take()
        self.book().pages = 10
        self.there.save()
        self.assertEqual(self.merged()[1], [True])
        self.assertEqual(self.context.query(Book).where("title = 'one'").one().pages, 1)

    def test_an_entry_that_cannot_be_read_makes_contents_differ(self) -> None:
        for entry in ("NULL", "x'ff'", "x'0099010101'", "x'0303ff'"):
            with self.subTest(entry):
                self.book().pages += 1
                self.there.save()
                self.sql(f"UPDATE QUIRE_CHANGE_JOURNAL SET Z_CHANGES = {entry} "
                         "WHERE Z_PK = (SELECT max(Z_PK) FROM QUIRE_CHANGE_JOURNAL)")
                self.assertEqual(self.merged()[1], [True])

    def test_all_lists_say_that_contents_may_differ(self) -> None:
        child = self.context.create_child()
        in_child = self.followed(child)
        suspended = self.followed(self.context)
        lists = [self.context.query(Book).order_by("title").live() for _ in range(2)]
        composite = quire.Composite(*lists)
        self.addCleanup(composite.close)
        of_composite = Reports(composite)
        before = self.reports.rows.snapshot()
        with suspended.rows.suspended():
            self.sql("UPDATE ZBOOK SET ZPAGES = 9")
            self.context.merge()
            self.assertEqual(suspended.take(), ([], []))
        child.merge()
        for reports in (self.reports, in_child, suspended, of_composite):
            self.assertEqual(reports.take(), ([], [True]))
        after = self.reports.rows.snapshot()
        for changes in (before.changes_to(after), after.changes_to(before)):
            self.assertTrue(changes.contents_may_differ)
        self.context.query(Book).where("title = 'one'").one().pages = 1
        self.context.save()
        for reports in (self.reports, suspended, of_composite):
            self.assertEqual(set(reports.take()[1]), {False})

    def test_a_merge_in_the_background_says_so_too(self) -> None:
        self.context.insert_rows(Book, {"title": ["more"] * 300})
        self.reports.take()
        self.context.merges_automatically = True
        self.context.fileno()
        self.there.query(Book).where("title = 'more'").update(pages=5)
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        while not any(self.reports.flags):
            await_readable(self.context)
            self.context.process()
        self.assertEqual(self.context.query(Book).where("title = 'two'").one().pages, 9)


class JournalOfAllChangesTests(JournalTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.context = self.opened(change_journal="all").context
        self.ids = self.fill(self.context)

    def test_the_rows_that_plain_sql_changes_are_reported(self) -> None:
        reports = self.followed(self.context)
        # No version is raised, and no row has another place.
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        self.context.merge()
        self.assertEqual(reports.take(), ([("Update", self.ids["two"])], [False]))

    def test_members_that_came_and_went_are_reported(self) -> None:
        author, other = self.context.query(Author).order_by("name")
        self.assertEqual((len(author.books), len(other.books)), (3, 0))
        with_books = self.context.query(Author).where("books.@count > 0").order_by("name").live()
        self.sql(
            f"UPDATE ZBOOK SET ZAUTHOR = {other.id} WHERE ZTITLE = 'two'", "DELETE FROM ZBOOK WHERE ZTITLE = 'one'")
        self.context.merge()
        self.assertEqual((len(with_books), len(author.books), len(other.books)), (2, 1, 1))

    def test_a_save_leaves_one_entry_and_silences_the_triggers(self) -> None:
        there = self.opened().context
        reports = self.followed(self.context)
        [(before,)] = self.sql("SELECT count(*) FROM QUIRE_CHANGE_JOURNAL")
        there.insert_rows(Book, {"title": ["more"] * 12_000})
        there.query(Book).where("title = 'two'").one().pages = 9
        there.save()
        self.assertEqual(self.sql(f"SELECT count(*) - {before}, sum(Z_KIND = 6) FROM QUIRE_CHANGE_JOURNAL"), [(2, 0)])
        self.sql("UPDATE ZBOOK SET ZPAGES = 3 WHERE ZTITLE = 'three'")
        self.context.merge()
        changes, flags = reports.take()
        self.assertEqual((len(changes), flags), (12_002, [False]))
        # Without a change there is none.
        [(before,)] = self.sql("SELECT count(*) FROM QUIRE_CHANGE_JOURNAL")
        there.query(Book).where("title = 'none'").update(pages=1)
        self.assertEqual(self.sql("SELECT count(*), sum(Z_KIND = 6) FROM QUIRE_CHANGE_JOURNAL"), [(before, 0)])

    def test_more_changes_than_are_kept_are_found_all_the_same(self) -> None:
        reports = self.followed(self.context)
        self.sql(
            "WITH RECURSIVE n(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 12099) "
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES) "
            "SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, 'more', 1 FROM n",
            "DELETE FROM ZBOOK WHERE ZTITLE = 'two'")
        self.context.merge()
        self.assertEqual((len(reports.rows), reports.take()[1]), (12_002, [True]))
        self.assertEqual(self.sql("SELECT count(*), min(Z_PK) FROM QUIRE_CHANGE_JOURNAL"), [(10_001, 0)])

    def test_triggers_of_other_programs_are_recorded(self) -> None:
        self.sql("CREATE TRIGGER counts AFTER UPDATE OF ZTITLE ON ZBOOK BEGIN "
                 "UPDATE ZBOOK SET ZPAGES = ZPAGES + 1 WHERE ZTITLE = 'one'; END")
        there = self.opened().context
        reports = self.followed(self.context)
        self.context.merge()
        self.assertEqual(reports.take(), ([], [True]))
        there.query(Book).where("title = 'two'").one().title = "twofold"
        there.save()
        self.context.merge()
        changes, flags = reports.take()
        self.assertEqual(sorted(changes), sorted([("Update", self.ids["one"]), ("Update", self.ids["two"])]))
        self.assertEqual(flags, [False])

    def test_the_journal_ends_with_its_triggers_and_its_table(self) -> None:
        reports = self.followed(self.context)
        triggers = self.triggers()
        self.assertGreaterEqual(len(triggers), 8)
        self.sql(*(f"DROP TRIGGER {name}" for name in triggers), "DROP TABLE QUIRE_CHANGE_JOURNAL",
                 "DELETE FROM ZBOOK WHERE ZTITLE = 'two'")
        self.context.merge()
        self.assertEqual(([each.title for each in reports.rows], reports.take()[1]), (["one", "three"], [True]))
        reports.rows[0].title = "first"
        self.context.save()
        self.assertEqual(self.opened().change_journal, "none")

    def test_a_row_that_takes_the_key_of_another_is_recorded(self) -> None:
        first, second = list(self.context.query(Book).order_by("title"))[:2]
        self.assertEqual((first.title, second.title), ("one", "three"))
        self.sql(f"UPDATE OR REPLACE ZBOOK SET Z_PK = {second.id} WHERE Z_PK = {first.id}")
        self.context.merge()
        self.assertEqual(self.context.query(Book).order_by("title").values("title"), [("one",), ("two",)])
        self.assertEqual(second.title, "one")

    def test_without_all_triggers_it_is_one_of_saves(self) -> None:
        self.sql("DROP TRIGGER QUIRE_CHANGE_JOURNAL_ZBOOK_UPDATE")
        reader = self.opened(read_only=True)
        self.assertEqual(reader.change_journal, "saves")
        reports = self.followed(reader.context)
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        reader.context.merge()
        self.assertEqual(reports.take(), ([], [True]))
        # An opening for writing makes them again.
        self.assertEqual(self.opened().change_journal, "all")


class KeptJournalTests(JournalTestCase):
    def test_an_opening_changes_the_journal_where_it_is_told_to(self) -> None:
        self.assertEqual(self.opened().change_journal, "saves")
        for journal in ("all", "none", "all", "saves", "none"):
            with quire.open(self.path, MODELS, change_journal=journal) as store:
                self.assertEqual(store.change_journal, journal)
            with quire.open(self.path, MODELS) as store:
                self.assertEqual(store.change_journal, journal)
            names = [name for name, in self.sql("SELECT name FROM sqlite_master WHERE name LIKE 'QUIRE%'")]
            self.assertEqual((journal == "none", journal == "all"), (not names, len(names) > 1))

    def test_contexts_that_are_open_follow_another_journal(self) -> None:
        context = self.opened().context
        ids = self.fill(context)
        reports = self.followed(context)
        there = self.opened(change_journal="all").context
        self.sql("UPDATE ZBOOK SET ZPAGES = 1")
        context.merge()
        # Nothing is known of what came before the journal.
        self.assertEqual(reports.take(), ([], [True]))
        context.query(Book).where("title = 'one'").one().pages = 7
        context.save()
        reports.take()
        self.sql("UPDATE ZBOOK SET ZPAGES = 2 WHERE ZTITLE = 'two'")
        there.query(Book).where("title = 'three'").one().pages = 3
        there.save()
        context.merge()
        changes, flags = reports.take()
        self.assertEqual((sorted(changes), flags), (
            sorted([("Update", ids["two"]), ("Update", ids["three"])]), [False]))

    def test_a_history_tells_what_the_journal_does_not(self) -> None:
        context = self.opened(track_history=True, change_journal="saves").context
        ids = self.fill(context)
        there = self.opened().context
        reports = self.followed(context)
        there.query(Book).where("title = 'two'").one().pages = 9
        there.save()
        # As if a program had saved that knows the history alone.
        self.sql("PRAGMA wal_checkpoint")
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            [(last,)] = connection.execute("SELECT max(Z_PK) FROM QUIRE_CHANGE_JOURNAL").fetchall()
            self.assertGreater(last, 1)
        context.merge()
        self.assertEqual(reports.take(), ([("Update", ids["two"])], [False]))

    def test_a_journal_goes_on_behind_a_migration(self) -> None:
        def models() -> list[type[quire.Model]]:
            class Book(quire.Model):
                name: quire.Attr[str] = quire.attr(renamed_from="title")

            return [Book]

        for journal in ("saves", "all"):
            with self.subTest(journal):
                self.path = f"{self.path}.{journal}"
                with quire.open(self.path, MODELS, change_journal=journal) as store:
                    self.fill(store.context)
                with quire.open(self.path, models(), migrate=True) as store, quire.open(self.path) as other:
                    self.assertEqual(store.change_journal, journal)
                    context, model = store.context, store.classes["Book"]
                    with context.query(model).order_by("name").live() as rows:
                        reports = Reports(rows)
                        book = other.context.query(other.classes["Book"]).where("name = 'two'").one()
                        book.name = "b"
                        other.context.save()
                        context.merge()
                        self.assertEqual(reports.take(), ([("Move", book.id)], [False]))
                        self.sql("UPDATE ZBOOK SET ZNAME = 'a' WHERE ZNAME = 'b'")
                        context.merge()
                        self.assertEqual(reports.take()[1], [journal == "saves"])

    def test_copies_keep_the_journal_and_converted_files_get_one(self) -> None:
        store = self.opened(change_journal="all")
        self.fill(store.context)
        copy, xml, back, memory = (f"{self.path}.{name}" for name in ("copy", "xml", "back", "memory"))
        store.copy(copy)
        quire.convert(copy, xml, type="xml")
        quire.convert(xml, back, MODELS)
        with quire.open(":memory:", MODELS) as in_memory:
            self.fill(in_memory.context)
            in_memory.copy(memory)
        for path, journal in ((copy, "all"), (back, "saves"), (memory, "saves")):
            with quire.open(path, MODELS) as opened:
                self.assertEqual((opened.change_journal, opened.context.query(Book).count()), (journal, 3))

    def test_stores_that_no_other_process_saves_to_have_none(self) -> None:
        for path, type in ((f"{self.path}.xml", "xml"), (":memory:", None)):
            for journal in ("saves", "all"):
                with self.assertRaisesRegex(quire.Unsupported, "change_journal"):
                    quire.open(path, MODELS, change_journal=journal, type=type)
            with quire.open(path, MODELS, change_journal="none", type=type) as store:
                self.assertEqual(store.change_journal, "none")

    def test_a_store_for_reading_leaves_the_journal_as_it_is(self) -> None:
        self.opened().close()
        for journal in ("none", "saves", "all"):
            with self.assertRaisesRegex(quire.InvalidArgument, "change journal"):
                quire.open(self.path, MODELS, change_journal=journal, read_only=True)
        with self.assertRaisesRegex(quire.InvalidArgument, "'none', 'saves' or 'all'"):
            quire.open(self.path, MODELS, change_journal="some")  # type: ignore[arg-type]

    def test_a_table_of_another_program_stays_and_is_no_journal(self) -> None:
        with self.opened(change_journal="none") as store:
            self.fill(store.context)
        self.sql("CREATE TABLE Quire_Change_Journal (mine)")
        for journal in ("none", "saves", "all"):
            with self.assertRaisesRegex(quire.Unsupported, "QUIRE_CHANGE_JOURNAL.*Rename"):
                quire.open(self.path, MODELS, change_journal=journal)
        store = self.opened()
        self.assertEqual(store.change_journal, "none")
        store.context.query(Book).where("title = 'two'").one().pages = 9
        store.context.save()
        self.assertEqual(self.sql("SELECT count(*) FROM Quire_Change_Journal"), [(0,)])


class FormerTableTests(JournalTestCase):
    """`QUIRE_NOTES`, the table of earlier versions, which triggers fill."""

    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, MODELS, change_journal="all") as store:
            self.ids = self.fill(store.context)
        muted = " WHEN (SELECT Z_KIND FROM QUIRE_CHANGE_JOURNAL ORDER BY Z_PK DESC LIMIT 1) IS NOT 6"
        former = []
        for name, sql in self.sql("SELECT name, sql FROM sqlite_master WHERE name LIKE 'QUIRE_CHANGE_JOURNAL_Z%'"):
            self.assertIn(muted, sql)
            former.append(sql.replace(muted, "").replace("QUIRE_CHANGE_JOURNAL", "QUIRE_NOTES")
                          .replace("BETWEEN 1 AND", "<="))
        quire.open(self.path, MODELS, change_journal="none").close()
        self.sql("CREATE TABLE QUIRE_NOTES (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_ROW INTEGER, Z_KIND INTEGER, "
                 "Z_NAME VARCHAR)", "INSERT INTO QUIRE_NOTES (Z_PK) VALUES (1)", *former)

    def test_a_reader_still_learns_from_it(self) -> None:
        reader = self.opened(read_only=True)
        self.assertEqual(reader.change_journal, "all")
        reports = self.followed(reader.context)
        self.sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        reader.context.merge()
        self.assertEqual(reports.take(), ([("Update", self.ids["two"])], [False]))

    def test_an_opening_for_writing_replaces_it_by_a_journal_of_all_changes(self) -> None:
        reader = self.opened(read_only=True).context
        reports = self.followed(reader)
        store = self.opened()
        self.assertEqual(store.change_journal, "all")
        self.assertEqual(self.sql("SELECT name FROM sqlite_master WHERE name LIKE 'QUIRE_NOTES%'"), [])
        reader.merge()
        reports.take()
        store.context.query(Book).where("title = 'two'").one().pages = 9
        store.context.save()
        self.sql("UPDATE ZBOOK SET ZPAGES = 3 WHERE ZTITLE = 'three'")
        reader.merge()
        changes, flags = reports.take()
        self.assertEqual((sorted(changes), flags), (
            sorted([("Update", self.ids["two"]), ("Update", self.ids["three"])]), [False]))

    def test_it_is_replaced_by_what_is_asked_for(self) -> None:
        with quire.open(self.path, MODELS, change_journal="none") as store:
            self.assertEqual(store.change_journal, "none")
        self.assertEqual(self.sql("SELECT name FROM sqlite_master WHERE name LIKE 'QUIRE%'"), [])

    def test_a_table_of_another_program_with_its_name_stays(self) -> None:
        for name in self.triggers():
            self.sql(f"DROP TRIGGER {name}")
        self.sql("DROP TABLE QUIRE_NOTES", "CREATE TABLE QUIRE_NOTES (mine)", "INSERT INTO QUIRE_NOTES VALUES (1)")
        self.assertEqual(self.opened().change_journal, "none")
        self.assertEqual(self.opened(change_journal="all").change_journal, "all")
        self.assertEqual(self.sql("SELECT mine FROM QUIRE_NOTES"), [(1,)])


if __name__ == "__main__":
    unittest.main()
