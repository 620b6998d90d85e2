"""The files of a store: moved ones, copies, and deletion."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import quire


class Note(quire.Model):
    title: quire.Attr[str] = quire.attr(searchable=True)


class FileTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "notes.sqlite")
        self.other = os.path.join(folder.name, "other.sqlite")

    def titles(self, path):
        with quire.open(path, [Note], must_exist=True) as store:
            return [note.title for note in store.context.query(Note).order_by(Note.title)]

    def test_a_file_that_was_moved_is_not_written(self):
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="first"))
            store.context.save()
            os.rename(self.path, self.other)
            store.context.add(Note(title="second"))
            with self.assertRaisesRegex(quire.FileMoved, "moved, deleted or replaced") as raised:
                store.context.save()
            self.assertIsInstance(raised.exception, OSError)
            self.assertTrue(store.context.has_changes)
            os.rename(self.other, self.path)
            store.context.save()
        self.assertEqual(self.titles(self.path), ["first", "second"])

    def test_a_file_that_was_moved_has_what_was_saved(self):
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="first"))
            store.context.save()
            os.rename(self.path, self.other)
            store.copy(self.path + "-copied")
        self.assertEqual(self.titles(self.other), ["first"])
        self.assertEqual(self.titles(self.path + "-copied"), ["first"])

    def test_a_store_is_closed_when_its_log_cannot_be_folded_into_a_moved_file(self):
        store = quire.open(self.path, [Note])
        store.context.add(Note(title="first"))
        store.context.save()
        os.rename(self.path, self.other)
        # A log that was begun at the new place.
        with open(self.other + "-wal", "wb") as log:
            log.write(b"of something else")
        with self.assertRaisesRegex(quire.FileMoved, "is closed.*-wal"):
            store.close()
        self.assertTrue(store.closed)
        store.close()

    def test_a_copy_has_what_is_saved_and_takes_no_files_place(self):
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="saved"))
            store.context.save()
            store.context.add(Note(title="pending"))
            store.copy(self.other)
            with self.assertRaises(quire.CannotOpen):
                store.copy(self.other)
            uuid = store.uuid
        with quire.open(self.other, [Note], read_only=True) as copy:
            self.assertEqual(copy.uuid, uuid)
            self.assertEqual([note.title for note in copy.context.query(Note)], ["saved"])
        with self.assertRaises(quire.StoreClosed):
            store.copy(self.path + "-again")

    def test_a_copy_keeps_its_text_index(self):
        with quire.open(self.path, [Note]) as store:
            for number in range(600):
                store.context.add(Note(title=f"note number {number}"))
            store.context.save()
            store.copy(self.other)
        import sqlite3
        from contextlib import closing
        with closing(sqlite3.connect(self.other)) as database:
            before = database.execute("PRAGMA schema_version").fetchone()
        with quire.open(self.other, [Note]) as copy:
            self.assertEqual(copy.context.query(Note).where(Note.title.contains("number 59")).count(), 11)
        with closing(sqlite3.connect(self.other)) as database:
            # An index that is made anew changes the number of the schema.
            self.assertEqual(database.execute("PRAGMA schema_version").fetchone(), before)

    def test_a_deleted_store_leaves_nothing(self):
        with quire.open(self.path, [Note]) as store:
            with self.assertRaises(quire.InvalidState):
                quire.delete_store(self.path)
            store.context.query(Note).live(cache="all").close()
        self.assertEqual(len(os.listdir(self.folder)), 2)
        quire.delete_store(self.path)
        self.assertEqual(os.listdir(self.folder), [])
        with self.assertRaises(quire.CannotOpen):
            quire.delete_store(self.path)

    def test_caches_lie_beside_the_file_whatever_leads_to_it(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        with tempfile.TemporaryDirectory() as elsewhere:
            os.chdir(self.folder)
            os.symlink(self.path, os.path.join(elsewhere, "link"))
            with quire.open(os.path.relpath(os.path.join(elsewhere, "link")), [Note]) as store:
                os.chdir(elsewhere)
                store.context.query(Note).live(cache="all").close()
                self.assertEqual(os.listdir(elsewhere), ["link"])
                self.assertEqual(len([name for name in os.listdir(self.folder) if "-list-" in name]), 1)
                store.delete_cache()
                self.assertEqual([name for name in os.listdir(self.folder) if "-list-" in name], [])
            os.chdir(before)

    def test_a_store_of_another_process_is_not_deleted(self):
        program = (
            "import quire, sys\n"
            "class Note(quire.Model):\n"
            "    title: quire.Attr[str] = quire.attr(searchable=True)\n"
            "with quire.open(sys.argv[1], [Note]) as store:\n"
            "    print('open', flush=True)\n"
            "    sys.stdin.read()\n")
        with subprocess.Popen(
                [sys.executable, "-c", program, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            self.assertEqual(other.stdout.readline(), b"open\n")
            with self.assertRaises(quire.Busy):
                quire.delete_store(self.path)
            other.communicate()
        self.assertEqual(self.titles(self.path), [])
        quire.delete_store(self.path)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_is_no_store_is_not_deleted(self):
        with open(self.path, "w") as file:
            file.write("x" * 1000)
        with self.assertRaises(quire.NotAStore):
            quire.delete_store(self.path)
        self.assertTrue(os.path.exists(self.path))


class ReadOnlyTests(unittest.TestCase):
    """What is opened for reading only leaves its folder as it was."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "notes.sqlite")
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="first"))
            store.context.save()

    def contents(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def read(self):
        with quire.open(self.path, [Note], read_only=True) as store:
            return [note.title for note in store.context.query(Note).order_by(Note.title)]

    def leave_a_log(self):
        """As a copy of an application's files has one, without its index."""
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="second"))
            store.context.save()
            kept = {name: content for name, content in self.contents().items() if not name.endswith("-shm")}
        for name, content in kept.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)

    def test_a_store_without_a_log_stays_without(self):
        before = self.contents()
        self.assertEqual(self.read(), ["first"])
        self.assertEqual(self.contents(), before)

    def test_a_log_stays_as_it_is_without_an_index(self):
        self.leave_a_log()
        before = self.contents()
        self.assertEqual(sorted(before), ["notes.sqlite", "notes.sqlite-wal"])
        self.assertEqual(self.read(), ["first", "second"])
        self.assertEqual(self.contents(), before)

    def test_what_failed_to_open_leaves_nothing_either(self):
        class Other(quire.Model):
            title: quire.Attr[str] = quire.attr()

        self.leave_a_log()
        before = self.contents()
        with self.assertRaises(quire.ModelMismatch):
            quire.open(self.path, [Other], read_only=True)
        self.assertEqual(self.contents(), before)

    def test_what_failed_to_open_for_writing_leaves_nothing_either(self):
        class Other(quire.Model):
            title: quire.Attr[str] = quire.attr()

        def run(sql):
            with contextlib.closing(sqlite3.connect(self.path)) as file:
                file.execute(sql)
                file.commit()

        for error, models in ((quire.ModelMismatch, [Other]), (quire.Unsupported, [Note]), (quire.Unsupported, None)):
            with self.subTest(error=error, models=models):
                run("DROP TABLE IF EXISTS ANSCKMETADATA")
                # The log of a store that is open would be folded into the file at its end.
                with quire.open(self.path, [Note]) as store:
                    store.context.add(Note(title="second"))
                    store.context.save()
                    if error is quire.Unsupported:
                        run("CREATE TABLE ANSCKMETADATA (Z_PK INTEGER PRIMARY KEY)")
                    kept = {name: content for name, content in self.contents().items() if not name.endswith("-shm")}
                for name, content in kept.items():
                    with open(os.path.join(self.folder, name), "wb") as file:
                        file.write(content)
                before = self.contents()
                self.assertEqual(sorted(before), ["notes.sqlite", "notes.sqlite-wal"])
                for _ in range(2):
                    with self.assertRaises(error):
                        quire.open(self.path, models)
                    self.assertEqual(self.contents(), before)

    def test_what_failed_to_open_leaves_files_that_are_in_use(self):
        class Other(quire.Model):
            title: quire.Attr[str] = quire.attr()

        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="second"))
            store.context.save()
            with self.assertRaises(quire.ModelMismatch):
                quire.open(self.path, [Other])
            self.assertEqual(sorted(self.contents()), ["notes.sqlite", "notes.sqlite-shm", "notes.sqlite-wal"])
            store.context.add(Note(title="third"))
            store.context.save()
        self.assertEqual(sorted(self.contents()), ["notes.sqlite"])
        self.assertEqual(self.read(), ["first", "second", "third"])

    def test_an_opening_for_writing_removes_a_log_that_is_left(self):
        self.leave_a_log()
        with quire.open(self.path, [Note]):
            pass
        self.assertEqual(sorted(self.contents()), ["notes.sqlite"])
        self.leave_a_log()
        with quire.open(self.path, [Note], read_only=True), quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="third"))
            store.context.save()
        # The reader was the last, and writes no log into the file.
        self.assertEqual(sorted(self.contents()), ["notes.sqlite", "notes.sqlite-wal"])
        self.assertEqual(self.read(), ["first", "second", "second", "third"])

    def test_the_last_of_several_readers_leaves_nothing(self):
        self.leave_a_log()
        before = self.contents()
        with quire.open(self.path, [Note], read_only=True):
            self.assertEqual(self.read(), ["first", "second"])
        self.assertEqual(self.contents(), before)

    def test_readers_that_end_in_the_order_of_their_beginning_leave_nothing(self):
        for has_log in (True, False):
            with self.subTest(has_log=has_log):
                self.leave_a_log()
                if not has_log:
                    with quire.open(self.path, [Note]):
                        pass
                before = self.contents()
                readers = [quire.open(self.path, [Note], read_only=True) for _ in range(3)]
                self.assertEqual(len({each.context.query(Note).count() for each in readers}), 1)
                for each in readers:
                    each.close()
                self.assertEqual(self.contents(), before)

    def leave_an_index(self, content):
        """As a copy of all files of an application has one."""
        self.leave_a_log()
        with open(self.path + "-shm", "wb") as file:
            file.write(content)

    def test_an_index_of_a_log_that_is_left_stays_as_it_is(self):
        for content in (b"", b"damaged", bytes(32768), bytes(range(256)) * 256):
            for has_log in (True, False):
                with self.subTest(size=len(content), has_log=has_log):
                    self.leave_an_index(content)
                    titles = ["first", "second"]
                    if not has_log:
                        with quire.open(self.path, [Note]):
                            pass
                        with open(self.path + "-shm", "wb") as file:
                            file.write(content)
                    before = self.contents()
                    self.assertEqual(self.read()[:2], titles)
                    self.assertTrue(self.contents() == before)
                    with quire.open(self.path, [Note], read_only=True):
                        self.read()
                    self.assertTrue(self.contents() == before)

    def test_a_reader_that_found_an_index_leaves_locks_of_a_writer_alone(self):
        self.leave_an_index(bytes(32768))
        reader = quire.open(self.path, [Note], read_only=True)
        with quire.open(self.path, [Note]) as writer:
            writer.context.query(Note).all()
            reader.close()
            # The last to close the file would take the log away.
            subprocess.run([sys.executable, "-c", (
                "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); "
                "file.execute('SELECT * FROM ZNOTE').fetchall(); file.close()"), self.path], check=True)
            self.assertTrue(os.path.exists(self.path + "-wal"))
            writer.context.add(Note(title="third"))
            writer.context.save()
        self.assertEqual(self.read(), ["first", "second", "third"])
        self.assertEqual(sorted(self.contents()), ["notes.sqlite"])

    def test_an_index_that_a_writer_left_stays_as_it_is_for_a_process_that_has_read_beside_it(self):
        with subprocess.Popen([sys.executable, "-c", (
                "import sqlite3, sys; file = sqlite3.connect(sys.argv[1], isolation_level=None); "
                "file.execute(\"UPDATE ZNOTE SET ZTITLE = 'second', Z_OPT = Z_OPT + 1\"); "
                "print('written', flush=True); sys.stdin.read()"), self.path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            self.assertEqual(writer.stdout.readline(), "written\n")
            self.assertEqual(self.read(), ["second"])
            writer.kill()
        before = self.contents()
        self.assertEqual(sorted(before), ["notes.sqlite", "notes.sqlite-shm", "notes.sqlite-wal"])
        self.assertEqual(self.read(), ["second"])
        self.assertTrue(self.contents() == before)

    def test_a_writer_that_came_meanwhile_goes_on(self):
        self.leave_a_log()
        with quire.open(self.path, [Note], read_only=True) as reader:
            writer = sqlite3.connect(self.path, isolation_level=None)
            self.addCleanup(writer.close)
            writer.execute("UPDATE ZNOTE SET ZTITLE = 'third', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'second'")
            self.assertEqual(reader.context.query(Note).where(Note.title == "third").count(), 1)
        writer.execute("UPDATE ZNOTE SET ZTITLE = 'fourth', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'third'")
        self.assertEqual(self.read(), ["first", "fourth"])
        writer.close()
        self.assertEqual(sorted(self.contents()), ["notes.sqlite"])


if __name__ == "__main__":
    unittest.main()
