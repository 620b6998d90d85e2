"""The files of a store: moved ones, copies, and deletion."""

import os
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


if __name__ == "__main__":
    unittest.main()
