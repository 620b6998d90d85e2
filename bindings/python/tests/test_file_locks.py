"""The locks of an open store stay.

When a process closes a file, all its locks on that file end (fcntl(2)), those of SQLite, too. Another process may then
take away the log. So no call of the library closes a file of an open store, but through SQLite.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from typing import Callable

import quire


READING = """
import sqlite3, sys
files = [sqlite3.connect(path, isolation_level=None) for path in sys.argv[1:]]
for file in files:
    file.execute("BEGIN")
    file.execute("SELECT * FROM ZNOTE").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""
"""A process that reads files until its input ends."""


class Note(quire.Model):
    title: quire.Attr[str] = quire.attr(default="")
    picture: quire.Attr[bytes] = quire.attr(default=b"", external=True)


@unittest.skipUnless(os.path.exists("/proc/locks"), "the system does not tell of locks")
class FileLockTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "a.sqlite")

    def locks(self) -> list[str]:
        """All locks on files in the folder. Those of open file descriptions have no process.

        While other processes take locks, the system may tell of one twice or leave one out: three readings together
        have each of them.
        """
        files = {str(entry.inode()) for entry in os.scandir(self.folder)}
        found = set()
        for _ in range(3):
            with open("/proc/locks", encoding="ascii") as lines:
                found.update(
                    line.split(":", 1)[1] for line in lines if line.split()[-3].rpartition(":")[2] in files)
        return sorted(found)

    def test_no_call_about_an_open_store_ends_its_locks(self) -> None:
        link = os.path.join(self.folder, "link.mom")
        os.symlink(self.path, link)
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(picture=b"x" * 200_000))
            store.context.save()
            # From its first read on a context has a lock.
            self.assertEqual(store.context.query(Note).count(), 1)
            held = self.locks()
            self.assertGreater(len(held), 1)
            calls: dict[str, Callable[[], object]] = {
                "load_model": lambda: quire.load_model(self.path),
                "load_model by a link": lambda: quire.load_model(link),
                "read_metadata": lambda: quire.read_metadata(self.path),
                "read_metadata by a link": lambda: quire.read_metadata(link),
                "a second open": lambda: quire.open(self.path, [Note]).close(),
                "an open for reading": lambda: quire.open(self.path, read_only=True).close(),
                "an open that fails": self.fail_to_open,
                "a copy": lambda: store.copy(os.path.join(self.folder, "copy.sqlite")),
                "a check": store.check,
                "a list with a cache": lambda: store.context.query(Note).order_by(Note.title).live(cache="a"),
                "the deletion of a cache": lambda: store.delete_cache("a"),
                "a deletion that fails": self.fail_to_delete,
            }
            for name, call in calls.items():
                with self.subTest(name):
                    call()
                    self.assertEqual(self.locks(), held)

    def test_the_locks_of_a_program_that_shares_sqlite_stay_too(self) -> None:
        with open("/proc/self/maps", encoding="utf-8") as lines:
            copies = {line.split()[-1] for line in lines if "libsqlite3" in line}
        if len(copies) != 1 or sqlite3.sqlite_version != quire.sqlite_version:
            self.skipTest("Python has an SQLite of its own")
        quire.open(self.path, [Note]).close()
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("BEGIN IMMEDIATE")
            held = self.locks()
            self.assertGreater(len(held), 1)
            quire.load_model(self.path)
            quire.read_metadata(self.path)
            self.assertEqual(self.locks(), held)

    def test_the_locks_of_another_copy_of_sqlite_stay_too(self) -> None:
        program = shutil.which("ldconfig", path="/sbin:/usr/sbin")
        if not program:
            self.skipTest("the system does not list its libraries")
        found = subprocess.run([program, "-p"], capture_output=True, text=True, check=False).stdout
        sources = [line.split(" => ")[1] for line in found.splitlines() if "libsqlite3.so.0 " in line]
        if not sources:
            self.skipTest("the system has no library of SQLite")
        copy = os.path.join(self.folder, "libother.so")
        shutil.copy(sources[0], copy)
        other = ctypes.CDLL(copy, mode=os.RTLD_LOCAL)
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note())
            store.context.save()
        handle = ctypes.c_void_p()
        self.assertEqual(other.sqlite3_open(self.path.encode(), ctypes.byref(handle)), 0)
        self.addCleanup(other.sqlite3_close, handle)
        self.assertEqual(other.sqlite3_exec(handle, b"BEGIN; SELECT * FROM ZNOTE", None, None, None), 0)
        held = self.locks()
        self.assertGreater(len(held), 1)
        calls: dict[str, Callable[[], object]] = {
            "load_model": lambda: quire.load_model(self.path),
            "read_metadata": lambda: quire.read_metadata(self.path),
            "an open": lambda: quire.open(self.path, [Note]).close(),
            "an open for reading": lambda: quire.open(self.path, read_only=True).close(),
            "an open that fails": self.fail_to_open,
            "a deletion that fails": self.fail_to_delete,
        }
        for name, call in calls.items():
            with self.subTest(name):
                call()
                self.assertEqual(self.locks(), held)

    def test_descriptors_that_wait_make_room_when_they_have_run_out(self) -> None:
        paths = [os.path.join(self.folder, f"{number}.sqlite") for number in range(24)]
        for path in paths:
            quire.open(path, [Note]).close()
        with subprocess.Popen(
            [sys.executable, "-c", READING, *paths], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as reader:
            assert reader.stdout
            self.assertEqual(reader.stdout.readline(), "reading\n")
            before = resource.getrlimit(resource.RLIMIT_NOFILE)
            most = len(os.listdir("/proc/self/fd")) + 16
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
            try:
                for path in paths:
                    with quire.open(path, [Note]) as store:
                        self.assertEqual(store.context.query(Note).count(), 0)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
                reader.communicate("")
        self.assertEqual(reader.returncode, 0)

    def fail_to_open(self) -> None:
        class Note(quire.Model):
            other: quire.Attr[str]

        with self.assertRaises(quire.ModelMismatch):
            quire.open(self.path, [Note])

    def fail_to_delete(self) -> None:
        with self.assertRaises(quire.Error):
            quire.delete_store(self.path)

    def test_a_model_that_is_an_open_store_is_no_part_of_a_folder_of_versions(self) -> None:
        versions = os.path.join(self.folder, "a.momd")
        os.mkdir(versions)
        path = os.path.join(versions, "1.mom")
        with quire.open(path, [Note]):
            with self.assertRaisesRegex(quire.InvalidModel, "store"):
                quire.load_model(versions)
        shutil.rmtree(versions)


if __name__ == "__main__":
    unittest.main()
