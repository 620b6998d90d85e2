"""What a model class says of itself to `help`, to `inspect` and to completion."""

import inspect
import pydoc
import re
import rlcompleter
import unittest
from collections.abc import Iterable
from datetime import datetime
from typing import Optional

import quire


class Writer(quire.Model):
    name: quire.Attr[str]
    born: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    works: quire.ToMany["Work"] = quire.relation(inverse="writer")
    work_count: quire.Attr[int] = quire.derived("works.@count")
    long: quire.Fetched["Work"] = quire.fetched("pages > 500")


class Work(quire.Model):
    """A work of a writer."""

    title: quire.Attr[str]
    pages: quire.Attr[int] = quire.attr(default=100, minimum=1)
    writer: quire.ToOne[Optional[Writer]] = quire.relation(inverse="works")
    sequel: quire.ToOne["Work"]
    parts: quire.ToMany[Writer] = quire.relation(name="chapters")


class Novel(Work):
    plot: quire.Attr[Optional[str]]


def offered(text, **scope):
    """What readline's completion offers."""
    found = rlcompleter.Completer(scope).attr_matches(text)
    return {each.rpartition(".")[2].rstrip("()") for each in found}


class DescriptionTests(unittest.TestCase):
    def test_the_signature_has_what_a_constructor_takes(self):
        found = inspect.signature(Work).parameters
        self.assertEqual({each.kind for each in found.values()}, {inspect.Parameter.KEYWORD_ONLY})
        self.assertEqual(
            {name: (each.annotation, each.default) for name, each in found.items()},
            {
                "title": (str, inspect.Parameter.empty),
                "pages": (int, 100),
                "writer": (Optional[Writer], None),
                "sequel": ("Work", inspect.Parameter.empty),
                "parts": (Iterable[Writer], ()),
            })
        # As of 3.14 Python itself writes `datetime | None`.
        born = inspect.formatannotation(Optional[datetime])
        self.assertEqual(
            str(inspect.signature(Writer)), f"(*, name: str, born: {born} = None, works: 'Iterable[Work]' = ())")

    def test_what_binds_to_the_signature_can_be_made(self):
        for values in ({}, {"name": "x"}, {"born": None}, {"name": "x", "work_count": 1}, {"name": "x", "works": ()}):
            try:
                inspect.signature(Writer).bind(**values)
            except TypeError:
                with self.assertRaises((TypeError, quire.InvalidArgument)):
                    Writer(**values)
            else:
                Writer(**values)

    def test_a_class_takes_what_it_inherits(self):
        self.assertEqual([*inspect.signature(Novel).parameters], [*inspect.signature(Work).parameters, "plot"])

    def test_a_constructor_of_ones_own_speaks_for_itself(self):
        class Letter(quire.Model):
            text: quire.Attr[str]

            def __init__(self, words):
                super().__init__(text=" ".join(words))

        class Telegram(Letter):
            pass

        for each in (Letter, Telegram):
            self.assertEqual([*inspect.signature(each).parameters], ["words"])
        self.assertEqual(Telegram(["more", "light"]).text, "more light")

    def test_a_class_without_a_docstring_lists_its_properties(self):
        self.assertEqual(Writer.__doc__.splitlines(), [
            f"Writer{inspect.signature(Writer)}",
            "",
            "name: Attr[str], required",
            "born: Attr[Optional[datetime]], default None",
            "works: ToMany[Work], inverse Work.writer, default ()",
            "work_count: Attr[int], derived from works.@count",
            "long: Fetched[Work], where pages > 500",
        ])
        self.assertIn("plot: Attr[Optional[str]], required", Novel.__doc__)
        self.assertIn("title: Attr[str], required", Novel.__doc__)

    def test_a_docstring_stays_and_help_has_the_signature(self):
        self.assertEqual(Work.__doc__, "A work of a writer.")
        # Newer versions of Python break the lines of a long signature.
        text = re.sub(r"[\s|]+", " ", pydoc.plain(pydoc.render_doc(Work)))
        self.assertRegex(text, r"Work\( ?\*, title: str, pages: int = 100, ")

    def test_each_property_says_what_it_is(self):
        self.assertEqual(Work.title.__doc__, "Attr[str], required")
        self.assertEqual(Work.writer.__doc__, "ToOne[Optional[Writer]], inverse Writer.works, default None")
        self.assertEqual(Writer.long.__doc__, "Fetched[Work], where pages > 500")

    def test_completion_offers_the_properties_of_classes_and_objects(self):
        names = {"name", "born", "works", "work_count", "long"}
        writer = Writer(name="Goethe")
        self.assertLessEqual(names, offered("Writer.", Writer=Writer))
        self.assertLessEqual(names, offered("writer.", writer=writer))
        self.assertEqual(offered("writer.wo", writer=writer), {"works", "work_count"})
        with quire.open(":memory:", [Writer, Work, Novel]) as store:
            store.context.add(writer)
            self.assertLessEqual(names, offered("writer.", writer=writer))
            store.context.save()
            self.assertLessEqual(names, offered("writer.", writer=writer))

    def test_what_only_an_object_in_a_context_has_is_told(self):
        for name in ("works", "long"):
            with self.assertRaisesRegex(quire.InvalidState, f"Writer.{name} can be read once its object is in a con"):
                getattr(Writer(name="x"), name)

    def test_what_a_constructor_needs_is_told(self):
        for call, told in {
            lambda: Writer(): "Writer() needs name. Give a value, or declare what may be left out with a default: "
                              "name: quire.Attr[str] = quire.attr(default=...)",
            lambda: Work(pages=3): "Work() needs title and sequel. ",
            lambda: Novel(title="x"): "Novel() needs sequel and plot. Give a value, or declare what may be left out "
                                      "with a default: sequel: quire.ToOne[Work] = quire.relation()",
        }.items():
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertIn(told, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
