"""journal."""

from __future__ import annotations

import quire

from .command import MODELS, CommandTestCase


class JournalTests(CommandTestCase):
    def test_it_says_which_journal_the_file_keeps_from_then_on(self) -> None:
        for options, journal, sentence in (
            (["--keep", "all"], "all", "keeps a change journal of what any program changes"),
            (["--keep", "none"], "none", "keeps no change journal"),
            ([], "saves", "keeps a change journal of what Quire saves"),
        ):
            with self.subTest(journal):
                ran = self.run_command("journal", self.path, *options)
                self.assertEqual((ran.code, ran.out, ran.err), (0, "", f"quire: {self.path} {sentence}.\n"))
                with quire.open(self.path, MODELS) as store:
                    self.assertEqual(store.change_journal, journal)

    def test_it_is_quiet_when_it_is_to_be(self) -> None:
        ran = self.run_command("journal", self.path, "--quiet")
        self.assertEqual((ran.code, ran.out, ran.err), (0, "", ""))

    def test_files_that_cannot_keep_one_end_it(self) -> None:
        self.fail_with(3, "does not exist. Check the path.\n", "journal", self.place("none.sqlite"))
        quire.convert(self.path, self.place("books.xml"), type="xml")
        self.fail_with(3, "XML", "journal", self.place("books.xml"))
        self.sql("DROP TABLE QUIRE_CHANGE_JOURNAL", "CREATE TABLE QUIRE_CHANGE_JOURNAL (mine)")
        self.fail_with(3, "Rename what another program has made", "journal", self.path)
