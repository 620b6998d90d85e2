"""history."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta, timezone

import quire

from .command import MODELS, Author, Book, CommandTestCase


class HistoryTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, MODELS, track_history=True) as store:
            context = store.context
            context.author, context.name = "editor", "[bold]\x1b window"
            author = context.add(Author(name="Kleist"))
            context.save()
            context.author = "other"
            context.add(Book(title="Penthesilea", author=author))
            context.save()
            context.delete(author)
            context.save()

    def told(self, *options: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.succeed("history", self.path, "-f", "json", *options).splitlines()]

    def test_it_tells_transactions_with_their_objects(self) -> None:
        out = self.succeed("history", self.path)
        self.assertRegex(out, r"(?m)^1  \d{4}-\d\d-\d\d.* by editor  in \[bold\].* window  with ")
        self.assertRegex(out, r"(?m)^    insert Author 3$")
        self.assertRegex(out, r"(?m)^3  .* by other")
        self.assertRegex(out, r"(?m)^    delete Book 9$")
        self.assertNotIn("\x1b", out)

    def test_its_json_has_the_same(self) -> None:
        found = self.told()
        self.assertEqual([each["number"] for each in found], [1, 2, 3])
        self.assertEqual(found[0]["author"], "editor")
        self.assertEqual(found[0]["changes"], [
            {"kind": "insert", "entity": "Author", "id": 3, "keys": [], "tombstone": {}}])
        with quire.open(self.path, MODELS, read_only=True) as store:
            after = store.history(after=bytes.fromhex(str(found[1]["token"])))
            self.assertEqual([each.number for each in after], [3])

    def test_options_choose(self) -> None:
        self.assertEqual([each["number"] for each in self.told("--author", "other")], [2, 3])
        self.assertEqual([each["number"] for each in self.told("--entity", "Book")], [2, 3])
        self.assertEqual([each["number"] for each in self.told("--limit", "2")], [1, 2])
        self.assertEqual(self.told("--limit", "0"), [])
        self.assertEqual(self.told("--since", "2100-01-01"), [])
        self.assertEqual(len(self.told("--since", "2001-01-01T12:00")), 3)

    def test_a_date_without_a_zone_is_of_utc_wherever_the_command_runs(self) -> None:
        now = datetime.now(timezone.utc)
        for zone, (hours, count) in itertools.product(("UTC", "Etc/GMT+5", "Etc/GMT-9"), ((-1, 3), (1, 0))):
            moment = now + timedelta(hours=hours)
            for text in (moment.strftime("%Y-%m-%dT%H:%M"), moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                         moment.astimezone(timezone(timedelta(hours=2))).isoformat()):
                ran = self.process("history", self.path, "-f", "json", "--since", text, environment={"TZ": zone})
                found = ran.returncode, ran.stderr, len(ran.stdout.splitlines())
                self.assertEqual(found, (0, "", count), (zone, text))
        first = str(self.told()[0]["timestamp"])
        self.assertEqual(len(self.told("--since", first)), 3)

    def test_mistakes_end_it_with_a_sentence(self) -> None:
        self.fail_with(4, "has no entity 'Bok'. Did you mean Book?", "history", self.path, "--entity", "Bok")
        for text in ("soon", "inf", "12", "2026-13-01", "--since"):
            self.fail_with(2, f"'{text}' is no date in ISO 8601", "history", self.path, f"--since={text}")
        path = self.place("plain.sqlite")
        quire.open(path, MODELS).close()
        ran = self.run_command("history", path)
        self.assertNotEqual(ran.code, 0)
        self.assertRegex(ran.err, "keeps no history of its changes. Open it with track_history")
