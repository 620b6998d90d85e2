"""Each failure is its own exception, and also the built-in one that a caller would catch."""

import os
import pickle
import sqlite3
import unittest
from typing import Optional

import quire
from quire._c import _ffi
from support import MODELS, Author, FileTestCase, Quote


class Seat(quire.Model):
    row: quire.Attr[int]
    number: quire.Attr[int]
    guest: quire.Attr[Optional[str]] = quire.attr(default=None)
    __unique__ = [("row", "number"), "guest"]


class ClassTests(unittest.TestCase):
    def test_every_status_has_a_class_of_its_own(self):
        from quire.errors import _CLASSES
        statuses = {
            value for name, value in vars(_ffi).items()
            if name in {
                "QUIRE_INVALID_ARGUMENT", "QUIRE_INVALID_STATE", "QUIRE_INVALID_TEXT", "QUIRE_UNSUPPORTED",
                "QUIRE_NOT_FOUND", "QUIRE_WRONG_THREAD", "QUIRE_CLOSED", "QUIRE_INVALID_MODEL",
                "QUIRE_INVALID_PREDICATE", "QUIRE_VALIDATION", "QUIRE_CONFLICT", "QUIRE_CONSTRAINT",
                "QUIRE_CANNOT_OPEN", "QUIRE_NOT_A_STORE", "QUIRE_MODEL_MISMATCH", "QUIRE_BUSY", "QUIRE_READ_ONLY",
                "QUIRE_DATABASE", "QUIRE_FUNCTION", "QUIRE_CANCELLED", "QUIRE_FILE_MOVED", "QUIRE_NO_MEMORY",
                "QUIRE_HISTORY_EXPIRED"}}
        self.assertEqual(set(_CLASSES), statuses)
        self.assertEqual(len(set(_CLASSES.values())), 23)

    def test_a_status_of_a_newer_library_keeps_its_number(self):
        from ctypes import c_void_p
        from quire.errors import failure
        error = failure(99, c_void_p())
        self.assertEqual((type(error), error.status), (quire.Error, 99))
        self.assertEqual(quire.Error("x").status, quire.InvalidArgument.status)

    def test_each_is_also_a_built_in_exception(self):
        pairs = {
            quire.InvalidArgument: ValueError, quire.InvalidState: RuntimeError, quire.InvalidText: ValueError,
            quire.Unsupported: NotImplementedError, quire.NotFound: LookupError, quire.MultipleFound: LookupError,
            quire.WrongThread: RuntimeError, quire.StoreClosed: ValueError, quire.InvalidModel: ValueError,
            quire.PredicateError: ValueError, quire.ValidationError: ValueError, quire.Conflict: RuntimeError,
            quire.ConstraintError: ValueError, quire.CannotOpen: OSError, quire.NotAStore: OSError,
            quire.ModelMismatch: ValueError, quire.Busy: OSError, quire.ReadOnly: OSError,
            quire.DatabaseError: OSError, quire.NoMemory: MemoryError}
        for kind, base in pairs.items():
            self.assertTrue(issubclass(kind, base) and issubclass(kind, quire.Error), kind)
            error = kind("a sentence", offset=3, details=(quire.NotFound("x"),), database_code=11)
            for each in (error, pickle.loads(pickle.dumps(error))):
                self.assertIs(type(each), kind)
                self.assertEqual((str(each), each.message), ("a sentence", "a sentence"))
                self.assertEqual((each.offset, len(each.details), each.database_code), (3, 1, 11))


class FileErrorTests(FileTestCase):
    def make(self, *models):
        with quire.open(self.path, models or MODELS) as store:
            store.context.add(Author(name="x")) if not models else None
            store.context.save()

    def test_a_missing_file_or_folder_cannot_be_opened(self):
        for options in ({"must_exist": True}, {"read_only": True}):
            with self.assertRaises(quire.CannotOpen):
                quire.open(self.path, MODELS, **options)
        with self.assertRaises(OSError):
            quire.open(os.path.join(self.folder, "nowhere", "x.store"), MODELS)
        with self.assertRaises(quire.CannotOpen):
            quire.open(self.folder, MODELS)
        self.assertFalse(os.path.exists(self.path))

    def test_another_file_is_not_a_store(self):
        with open(self.path, "w") as file:
            file.write("This is no database, but it is long enough to look at." * 20)
        with self.assertRaises(quire.NotAStore):
            quire.open(self.path, MODELS)
        os.remove(self.path)
        with sqlite3.connect(self.path) as connection:
            connection.execute("CREATE TABLE other(x)")
        connection.close()
        with self.assertRaises(quire.NotAStore):
            quire.open(self.path, MODELS)

    def test_other_models_do_not_fit(self):
        self.make()
        with self.assertRaisesRegex(quire.ModelMismatch, "Seat"):
            quire.open(self.path, [*MODELS, Seat])

    def test_a_lock_that_is_held_is_busy_after_the_timeout(self):
        self.make()
        with quire.open(self.path, MODELS, timeout=0.05) as store:
            other = sqlite3.connect(self.path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            store.context.add(Author(name="y"))
            with self.assertRaises(quire.Busy) as caught:
                store.context.save()
            self.assertNotEqual(caught.exception.database_code, 0)
            other.execute("ROLLBACK")
            other.close()
            store.context.save()
            self.assertEqual(store.context.query(Author).count(), 2)

    def test_a_timeout_that_is_none_is_refused(self):
        for wrong in (0, -1, 1e9, float("nan"), float("inf")):
            with self.assertRaisesRegex(quire.InvalidArgument, "timeout is a number of seconds above 0"):
                quire.open(self.path, MODELS, timeout=wrong)
        with self.assertRaises(TypeError):
            quire.open(self.path, MODELS, timeout="5")
        quire.open(self.path, MODELS, timeout=1e-9).close()

    def test_a_read_only_store_is_not_written(self):
        self.make()
        with quire.open(self.path, MODELS, read_only=True) as store:
            author = store.context.query(Author).one()
            author.name = "y"
            with self.assertRaises(quire.ReadOnly):
                store.context.save()
            store.context.rollback()
            self.assertEqual(author.name, "x")

    def test_paths_of_all_kinds_are_taken(self):
        import pathlib
        for path in (pathlib.Path(self.path), self.path.encode(), os.path.join(self.folder, "Größe 😀.store")):
            with quire.open(path, MODELS) as store:
                self.assertEqual(store.path, os.fsdecode(path))
                self.assertRegex(store.uuid, "^[0-9A-F-]{36}$")

    def test_a_damaged_database_is_told(self):
        self.make()
        with quire.open(self.path, MODELS) as store:
            other = sqlite3.connect(self.path)
            other.execute("DROP TABLE ZAUTHOR")
            other.commit()
            other.close()
            with self.assertRaises(quire.DatabaseError):
                store.context.query(Author).all()

    def test_a_broken_rule_is_named_and_nothing_is_saved(self):
        with quire.open(self.path, MODELS) as store:
            store.context.insert_many(Quote, {"price": [1.0]})
            with self.assertRaisesRegex(quire.ValidationError, "Quote.contents"):
                store.context.save()
            store.context.insert_many(Quote, {"price": [1.5]})
            with self.assertRaises(quire.ValidationError) as caught:
                store.context.save()
            self.assertEqual(len(caught.exception.details), 2)
            for detail in caught.exception.details:
                self.assertIsInstance(detail, quire.ValidationError)
            self.assertTrue(store.context.has_changes)
            self.assertEqual(store.create_context().query(Author).count(), 0)

    def test_the_same_values_twice_break_a_constraint(self):
        with quire.open(self.path, [Seat]) as store:
            context = store.context
            seat = context.add(Seat(row=1, number=1))
            context.add(Seat(row=1, number=2))
            context.save()
            twice = context.add(Seat(row=1, number=2, guest="x"))
            with self.assertRaises(quire.ConstraintError):
                context.save()
            twice.number = 3
            context.save()
            seat.guest = "x"
            with self.assertRaises(quire.ConstraintError):
                context.save()

    def test_two_contexts_that_change_one_row_conflict(self):
        with quire.open(self.path, MODELS) as store:
            first, second = store.context, store.create_context()
            first.add(Author(name="x"))
            first.save()
            mine, theirs = first.query(Author).one(), second.query(Author).one()
            mine.name, theirs.name = "a", "b"
            first.save()
            with self.assertRaises(quire.Conflict):
                second.save()
            second.rollback()
            self.assertEqual(store.create_context().query(Author).one().name, "a")


if __name__ == "__main__":
    unittest.main()
