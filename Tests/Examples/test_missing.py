"""Goes through what README says is missing: each is refused in the way that the page says, and nothing is left out.

Environment: as of test_readme.py.
"""
import contextlib
import os
import pathlib
import re
import shlex
import sqlite3
import subprocess
import tempfile
import unittest
from typing import Optional

import quire
from pages import PAGES

HERE = pathlib.Path(__file__).resolve().parent
SECTION = PAGES["README.md"].partition("## What it does not do yet\n")[2].partition("\n## ")[0]
assert SECTION, "README has no list of what is missing"

IN_PREDICATES = {
    "FETCH": "FETCH(title, title, NO) == 1",
    "ANYKEY": "ANYKEY == 'x'",
    "[w]": "title CONTAINS[w] 'x'",
    "UTI-CONFORMS-TO": "title UTI-CONFORMS-TO 'x'",
    "UTI-EQUALS": "title UTI-EQUALS 'x'",
    "exceeds:": "title exceeds: 'x'",
    "ANY title exceeds:": "ANY title exceeds: 'x'",
}
"""What the message names, and a predicate that has it. An operator of one's own is one that is not registered."""

AROUND = [
    "{}", "FALSEPREDICATE AND {}", "TRUEPREDICATE OR {}", "title == 'other' AND {}", "NOT ({})",
    "TERNARY(TRUEPREDICATE, 1, TERNARY({}, 1, 2)) == 1", "SUBQUERY(others, $x, FALSEPREDICATE AND {}).@count == 0",
]
"""Places in a predicate, some of which decide nothing."""


def make_book(**body):
    """A class of its own for each case, with what its body has more."""
    body["__annotations__"] = {
        "title": quire.Attr[Optional[str]], "pages": quire.Attr[int], "others": quire.ToMany["Book"],
        "of": quire.ToOne[Optional["Book"]], **body.get("__annotations__", {})}
    body.update(
        {"title": quire.attr(default=None), "pages": quire.attr(default=1), "others": quire.relation(inverse="of"),
         "of": quire.relation(inverse="others"), "__module__": __name__})
    return type("Book", (quire.Model,), body)


def uses(text):
    """Each thing that Python can do with a predicate, by name; each is given a context and the class of its books."""
    condition = f"TERNARY({text}, 'a', 'b')"
    return {
        "matches": lambda context, book: quire.Predicate(text).matches({"title": "x", "others": []}),
        "matches object": lambda context, book: quire.Predicate(text).matches(context.add(book())),
        "all": lambda context, book: context.query(book).where(text).all(),
        "ids": lambda context, book: context.query(book).where(text).ids(),
        "first": lambda context, book: context.query(book).where(text).first(),
        "count": lambda context, book: context.query(book).where(text).count(),
        "values": lambda context, book: context.query(book).where(text).values("title"),
        "update": lambda context, book: context.query(book).where(text).update(title="y"),
        "delete": lambda context, book: context.query(book).where(text).delete(),
        "live": lambda context, book: context.query(book).where(text).live(),
        "section": lambda context, book: context.query(book).live(section_by=quire.sections.by_expression(condition)),
        "aggregate": lambda context, book: context.query(book).live(aggregates={"x": f"count:({condition})"}),
        "expression": lambda context, book: quire.Expression(condition).evaluate({"title": "x", "others": []}),
        "update by": lambda context, book: context.query(book).update(title=quire.Expression(condition)),
    }


def declarations(text):
    """The same of what classes declare: the body of a class, and what uses it. Rules are read with the store."""
    return {
        "rule": ({"__rules__": [(text, "It is so.")]}, None),
        "template": ({"__templates__": {"it": text}}, lambda context, book: context.template(book, "it").all()),
        "fetched": (
            {"__annotations__": {"found": quire.Fetched["Book"]}, "found": quire.fetched(text)},
            lambda context, book: context.query(book).one().found),
    }


class Missing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "store.sqlite")

    def assert_unsupported(self, name, use, *arguments):
        with self.assertRaises(quire.Unsupported) as caught:
            use(*arguments)
        self.assertIn(name, str(caught.exception))

    def test_the_page_lists_what_is_tried_here(self):
        listed = set(re.findall(r"`([^`]+)`", SECTION.partition("- Composite")[0]))
        self.assertEqual(listed, {name for name in IN_PREDICATES if "exceeds" not in name})
        for said in ("not registered", "Composite attributes", "Migrations by mapping models", "CloudKit mirrors"):
            self.assertIn(said, SECTION)

    def test_parts_of_predicates_are_refused_by_each_use_from_python(self):
        tried = 0
        for name, part in IN_PREDICATES.items():
            for text in (around.format(part) for around in AROUND):
                for is_filled in (False, True):
                    plain = [(how, {}, use) for how, use in uses(text).items()]
                    declared = [(how, *each) for how, each in declarations(text).items()] if is_filled else []
                    for how, body, use in plain + declared:
                        book = make_book(**body)
                        tried += 1
                        with self.subTest(text=text, how=how, is_filled=is_filled):
                            if use is None:
                                self.assert_unsupported(name, quire.open, ":memory:", [book])
                                continue
                            with quire.open(":memory:", [book]) as store:
                                if is_filled:
                                    store.context.add(book(title="x"))
                                    store.context.save()
                                self.assert_unsupported(name, use, store.context, book)
        self.assertGreater(tried, 1000)

    def test_parts_of_predicates_and_composite_attributes_are_refused_by_each_use_from_c(self):
        options = shlex.split(os.environ["QUIRE_CFLAGS"])
        program = str(self.folder / "missing")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", str(HERE / "missing.c"), *options,
                        "-o", program], check=True)
        names = [name for name in IN_PREDICATES for _ in AROUND[:-1]]
        texts = [around.format(part) for part in IN_PREDICATES.values() for around in AROUND[:-1]]
        printed = subprocess.run([program, *texts], check=True, capture_output=True, text=True).stdout.splitlines()
        composite, *lines = (line.split("\t") for line in printed)
        self.assertEqual(composite[:2], ["composite", "QUIRE_UNSUPPORTED"])
        self.assertIn("Attribute 'Book.place' is composite", composite[2])
        rounds = [index for index, line in enumerate(lines) if line[0] == "parse"]
        self.assertEqual(len(rounds), len(texts))
        for name, text, first, last in zip(names, texts, rounds, [*rounds[1:], len(lines)]):
            with self.subTest(text=text):
                self.assertEqual(lines[first][1], "QUIRE_OK")
                found = {place: (status, name in message) for place, status, message in lines[first + 1 : last]}
                places = ["matches", "evaluate", "fetch", "count", "delete", "list", "rule"]
                self.assertEqual(found, dict.fromkeys(places, ("QUIRE_UNSUPPORTED", True)))

    def test_a_store_of_another_model_is_refused_with_its_entities_and_left_alone(self):
        class Note(quire.Model):
            text: quire.Attr[Optional[str]] = quire.attr(default=None)

        before = Note

        class Note(quire.Model):  # noqa: F811
            text: quire.Attr[Optional[str]] = quire.attr(default=None)
            more: quire.Attr[Optional[str]] = quire.attr(default=None)

        with quire.open(self.path, [before]) as store:
            store.context.add(before(text="x"))
            store.context.save()
        content = pathlib.Path(self.path).read_bytes()
        with self.assertRaisesRegex(quire.ModelMismatch, "Note"):
            quire.open(self.path, [Note])

        class Note(quire.Model):  # noqa: F811
            text: quire.Attr[Optional[int]] = quire.attr(default=None)

        self.assert_unsupported("Note.text", quire.migrate, self.path, [Note])
        self.assertEqual(pathlib.Path(self.path).read_bytes(), content)

    def test_files_whose_changes_others_follow_are_not_opened_for_writing(self):
        class Note(quire.Model):
            text: quire.Attr[Optional[str]] = quire.attr(default=None)

        quire.open(self.path, [Note]).close()
        for table, name in (("ACHANGE", "history"), ("ANSCKRECORDMETADATA", "CloudKit")):
            with contextlib.closing(sqlite3.connect(self.path)) as other:
                other.execute(f"CREATE TABLE {table} (Z_PK INTEGER PRIMARY KEY)")
            content = pathlib.Path(self.path).read_bytes()
            self.assert_unsupported(name, quire.open, self.path, [Note])
            self.assertEqual(pathlib.Path(self.path).read_bytes(), content)


if __name__ == "__main__":
    unittest.main()
