"""history."""

from __future__ import annotations

import json

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

    def test_mistakes_end_it_with_a_sentence(self) -> None:
        self.fail_with(4, "has no entity 'Bok'. Did you mean Book?", "history", self.path, "--entity", "Bok")
        self.fail_with(2, "'soon' is no date", "history", self.path, "--since", "soon")
        path = self.place("plain.sqlite")
        quire.open(path, MODELS).close()
        ran = self.run_command("history", path)
        self.assertNotEqual(ran.code, 0)
        self.assertRegex(ran.err, "keeps no history of its changes. Open it with track_history")
