"""watch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import IO, Optional

import quire

from support import PATIENCE

from .command import MODELS, Book, CommandTestCase


class WatchTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, MODELS) as store:
            for number in range(2):
                store.context.add(Book(title=f"book {number}", pages=7000 + number))
            store.context.save()

    def start(self, *options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "quire", "watch", self.path, "Book", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for stream in (process.stdout, process.stderr):
            self.addCleanup(self._close, stream)
        # Nothing is missed once it says that it waits.
        assert process.stderr
        self.assertIn("waiting for changes", process.stderr.readline())
        return process

    @staticmethod
    def _close(stream: Optional[IO[str]]) -> None:
        if stream:
            stream.close()

    def change(self) -> None:
        with quire.open(self.path, MODELS) as store:
            context = store.context
            context.add(Book(title="a third", pages=8300))
            context.save()
            context.query(Book).where("title = 'book 0'").one().pages = 8500
            context.save()
            context.delete(context.query(Book).where("title = 'book 1'").one())
            context.save()

    def test_it_prints_what_another_process_saves_as_it_comes(self) -> None:
        process = self.start("-n", "3")
        self.change()
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(sorted(line.split()[0] for line in out.splitlines()), ["delete", "insert", "update"])
        self.assertRegex(out, r"(?m)^insert \d+  title=a third .*pages=8300")
        self.assertRegex(out, r"(?m)^update \d+  title=book 0 .*pages=8500")

    def test_its_json_and_a_condition_choose(self) -> None:
        process = self.start("-n", "2", "-f", "json", "-w", "pages > 8000")
        self.change()
        out, _ = process.communicate(timeout=PATIENCE)
        found = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(sorted(each["values"]["pages"] for each in found), [8300, 8500])
        self.assertEqual({each["kind"] for each in found}, {"insert"})

    def test_it_goes_on_until_it_is_interrupted(self) -> None:
        process = self.start()
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)

    def test_a_name_that_is_wrong_ends_it(self) -> None:
        self.fail_with(4, "Did you mean Book?", "watch", self.path, "Bok")
        self.fail_with(4, "titel", "watch", self.path, "Book", "-w", "titel = 'x'")
