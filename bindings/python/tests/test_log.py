"""The log of SQL statements."""

import logging
import unittest
import weakref

import quire
from quire.contexts import _sql_log
from support import Author, Quote, StoreTestCase


class LogTests(StoreTestCase):

    def test_function_is_told_of_statements_with_times_and_rows(self):
        told = []
        self.store.set_log(lambda *entry: told.append(entry))
        for name in ("Goethe", "Schiller"):
            self.context.add(Author(name=name))
        self.context.save()
        self.assertTrue(any("INSERT INTO ZAUTHOR" in sql for sql, _, _ in told))
        self.assertFalse(any("Goethe" in sql for sql, _, _ in told))
        told.clear()
        self.assertEqual(len(self.context.query(Author).ids()), 2)
        self.assertEqual(max(row_count for _, _, row_count in told), 2)
        self.assertTrue(all(seconds >= 0 for _, seconds, _ in told))
        self.store.set_log(None)
        told.clear()
        self.context.query(Author).ids()
        self.assertEqual(told, [])

    def test_values_are_in_it_when_asked_for(self):
        told = []
        self.store.set_log(lambda sql, *rest: told.append(sql), includes_values=True)
        self.context.query(Author).where(Author.name == "Goethe").ids()
        self.assertIn("'Goethe'", "".join(told))

    def test_fast_statements_are_left_out_when_asked_for(self):
        told = []
        self.store.set_log(lambda *entry: told.append(entry), least_seconds=3600)
        self.context.query(Author).ids()
        self.assertEqual(told, [])

    def test_what_is_no_log_is_refused(self):
        with self.assertRaises(TypeError):
            self.store.set_log("log")
        for least in (-1, float("nan"), float("inf")):
            with self.assertRaises(quire.InvalidArgument):
                self.store.set_log(print, least_seconds=least)

    def test_log_cannot_use_the_store(self):
        raised = []

        def tell(*_):
            try:
                self.context.query(Author).count()
            except quire.Error as error:
                raised.append(error)

        self.store.set_log(tell)
        self.context.query(Author).ids()
        self.store.set_log(None)
        self.assertIsInstance(raised[0], quire.InvalidState)

    def test_logger_hears_of_the_opening_where_it_listens(self):
        with self.assertLogs("quire.sql", logging.DEBUG) as logs:
            quire.open(":memory:", [Author, Quote]).close()
        self.assertTrue(any("CREATE TABLE ZAUTHOR" in line and " ms, " in line for line in logs.output))

    def test_logger_of_the_opening_hears_what_every_context_reads(self):
        with self.assertLogs("quire.sql", logging.DEBUG) as logs, quire.open(":memory:", [Author, Quote]) as store:
            for context in (store.context, quire.Context(store)):
                for read in (context.query(Author).all, context.query(Author).count):
                    before = len(logs.output)
                    read()
                    self.assertIn("FROM ZAUTHOR", "".join(logs.output[before:]))

    def test_logger_that_does_not_listen_costs_nothing(self):
        self.assertFalse(logging.getLogger("quire.sql").isEnabledFor(logging.DEBUG))
        before = set(_sql_log._kept)
        quire.open(":memory:", [Author, Quote]).close()
        self.assertLessEqual(set(_sql_log._kept), before)

    def test_log_of_an_opening_that_fails_is_let_go_of(self):
        before = set(_sql_log._kept)
        with self.assertLogs("quire.sql", logging.DEBUG):
            logging.getLogger("quire.sql").debug("There must be something.")
            with self.assertRaises(quire.CannotOpen):
                quire.open("/none/none", [Author, Quote])
        self.assertLessEqual(set(_sql_log._kept), before)

    def test_function_is_let_go_of(self):
        def tell(*_):
            pass

        reference = weakref.ref(tell)
        self.store.set_log(tell)
        del tell
        self.assertIsNotNone(reference())
        self.store.set_log(None)
        self.assertIsNone(reference())

    def test_libraries_have_versions(self):
        self.assertRegex(quire.sqlite_version, r"^3\.\d+\.\d+$")
        self.assertRegex(quire.icu_version, r"^\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
