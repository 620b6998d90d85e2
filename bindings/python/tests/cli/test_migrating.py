"""migrate."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Optional

import quire

from .command import CommandTestCase


def _former() -> type[quire.Model]:
    class Note(quire.Model):
        text: quire.Attr[str]

    return Note


def _later() -> type[quire.Model]:
    class Note(quire.Model):
        contents: quire.Attr[str] = quire.attr(renamed_from="text")
        stars: quire.Attr[Optional[int]] = quire.attr(default=None)

    return Note


def _other() -> type[quire.Model]:
    class Note(quire.Model):
        text: quire.Attr[int]

    return Note


class MigratingTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.notes = os.path.join(self.folder, "notes.sqlite")
        former = _former()
        with quire.open(self.notes, [former]) as store:
            store.context.add(former(text="a"))
            store.context.save()
        # A store brings its model along.
        self.model = os.path.join(self.folder, "later.sqlite")
        quire.open(self.model, [_later()]).close()

    def test_a_dry_run_prints_each_step_with_its_sql_and_writes_nothing(self) -> None:
        out = self.succeed("migrate", self.notes, self.model, "--dry-run")
        self.assertIn("'Note.contents' was called 'text'.\n", out)
        self.assertIn("    ALTER TABLE ZNOTE RENAME TO QUIRE_FORMER_ZNOTE;\n", out)
        quire.open(self.notes, [_former()]).close()

    def test_a_run_prints_what_differs(self) -> None:
        self.assertEqual(
            self.succeed("migrate", self.notes, self.model),
            "'Note.contents' was called 'text'.\n'Note.stars' is new.\n")
        later = _later()
        with quire.open(self.notes, [later]) as store:
            self.assertEqual([each.contents for each in store.context.query(later)], ["a"])
        self.assertEqual(
            self.succeed("migrate", self.notes, self.model), f"{self.notes} is of this model already\n")

    def test_a_store_that_keeps_no_model_needs_the_source(self) -> None:
        source = os.path.join(self.folder, "former.sqlite")
        quire.open(source, [_former()]).close()
        with closing(sqlite3.connect(self.notes)) as file, file:
            file.execute("DELETE FROM Z_MODELCACHE")
        self.fail_with(3, "keeps no model", "migrate", self.notes, self.model)
        self.succeed("migrate", self.notes, self.model, "--source", source)

    def test_what_cannot_be_done_ends_with_a_sentence(self) -> None:
        other = os.path.join(self.folder, "other.sqlite")
        quire.open(other, [_other()]).close()
        self.fail_with(4, "'Note.text' is of type Integer 64, and was of type String", "migrate", self.notes, other)
        self.fail_with(3, "does not exist", "migrate", self.notes + "-none", self.model)
        self.fail_with(3, "later.sqlite-none", "migrate", self.notes, self.model + "-none")
        quire.open(self.notes, [_former()]).close()
