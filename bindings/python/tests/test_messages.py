"""What errors say, read as the caller that gets them: no word of the C interface, and the offender by name."""

import pathlib
import re
import types
import unittest
from typing import Any, Optional

import quire
from mistake_world import MISTAKES, Author, Book, Mistake, World, world
from mistakes import offender, provoked
from quire._c import _ffi
from quire.errors import _WORDS, in_python

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Of the C interface. A remedy may say what is written in a text of the caller's.
FOREIGN = re.compile(r"quire_\w|QUIRE_|(?<!= )\bnil\b|\bNULL\b|(?<!Write )%@|(?<!for )%K|\bstruct_size\b|out_\w+")


def parameters() -> set[str]:
    """The names of the parameters of the C functions, and of the members of options."""
    headers = ROOT / "include" / "quire"
    if not headers.is_dir():
        raise unittest.SkipTest("the headers are not here")
    found: set[str] = set()
    for header in headers.glob("*.h"):
        for arguments in re.findall(r"quire_\w+\(([^;{}]*?)\);", header.read_text(), re.DOTALL):
            found.update(re.findall(r"(\w+)(?=,|$|\))", arguments))
    return found


def written(make: Any) -> str:
    """What the caller wrote of a mistake: the texts in its code and in what that closes over."""
    if not isinstance(make, types.FunctionType):
        return repr(make)
    texts = [repr(make.__code__.co_consts), repr(make.__code__.co_names)]
    for constant in make.__code__.co_consts:
        if isinstance(constant, types.CodeType):
            texts.append(repr((constant.co_consts, constant.co_names)))
    texts.extend(written(cell.cell_contents) for cell in make.__closure__ or ())
    return " ".join(texts)


class MessageTests(unittest.TestCase):
    told: list[tuple[Mistake, Optional[BaseException]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.told = [(each, provoked(each)) for each in MISTAKES]

    def test_each_of_many_mistakes_is_told(self) -> None:
        self.assertGreater(len(self.told), 250)
        for mistake, error in self.told:
            with self.subTest(mistake.title):
                self.assertIsNotNone(error, "nothing was raised")

    def test_no_message_has_a_word_of_the_c_interface(self) -> None:
        names = parameters()
        self.assertGreater(len(names), 50)
        for mistake, error in self.told:
            with self.subTest(mistake.title):
                said, own = str(error), written(mistake.make)
                for found in FOREIGN.findall(said):
                    self.assertIn(found, own, said)
                for found in re.findall(r"'([a-z_]+)(?:\[\d+\])?'", said):
                    self.assertFalse(found in names and found not in own, said)

    def test_errors_tell_entity_key_id_and_row(self) -> None:
        for mistake, error in self.told:
            with self.subTest(mistake.title):
                assert error is not None
                self.assertEqual(offender(error), mistake.offender, error)

    def test_a_message_is_the_argument_of_its_error(self) -> None:
        for mistake, error in self.told:
            with self.subTest(mistake.title):
                self.assertNotIn("\0", str(error))
                if isinstance(error, quire.Error):
                    self.assertGreater(len(error.message), 10)
                    self.assertEqual(error.args, (error.message,))
                    self.assertIsNone(error.__cause__ if not isinstance(error, quire.FunctionError) else None)


class WordTests(unittest.TestCase):
    def test_what_the_library_calls_by_a_name_of_c_has_one_here(self) -> None:
        sources = ROOT / "Sources" / "QuireCore"
        if not sources.is_dir():
            self.skipTest("the sources are not here")
        calls = set(_ffi.FUNCTIONS)
        named: set[str] = set()
        for path in sources.rglob("*.swift"):
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"(?m)^@_cdecl.*$", "", path.read_text())):
                named.update(calls.intersection(re.findall(r"\bquire_[a-z_]+", text)))
                # In a sentence; SQL and lists of names have such words too.
                named.update(re.findall(r"[a-z,;] (QUIRE_[A-Z_]+)", text))
        self.assertGreater(len(named), 10)
        # Said of text with a wild size, which Python does not give.
        self.assertEqual(named - set(_WORDS), {"QUIRE_NUL"})

    def test_what_a_message_quotes_stays(self) -> None:
        self.assertEqual(
            in_python("Look up 'quire_context_object' (quire_context_object)."),
            "Look up 'quire_context_object' (Context.get).")


class SubjectTests(unittest.TestCase):
    def setUp(self) -> None:
        opened = world()
        self.world: World = opened.__enter__()
        self.addCleanup(opened.__exit__, None, None, None)

    def test_a_property_is_called_as_in_the_class(self) -> None:
        book = self.world.book
        with self.assertRaises(quire.WrongType) as caught:
            book.note = 5
        error = caught.exception
        self.assertEqual((error.entity, error.key, error.id), ("Book", "note", book.id))
        with self.assertRaises(quire.InvalidArgument) as refused:
            self.world.books.order_by(Book.note.asc("localized", "!!")).all()
        self.assertNotIn("remark", str(refused.exception).replace("'remark'", ""))

    def test_a_broken_rule_calls_a_property_as_in_the_class(self) -> None:
        for values in ({"note": "x" * 31}, {"note": "x" * 31, "pages": 500}):
            with self.assertRaises(quire.ValidationError) as caught:
                self.world.saved(**values)
            self.assertIn("'Book.note' of Book", str(caught.exception))
            self.assertEqual(caught.exception.failures[0].key, "note")
            self.assertIs(type(caught.exception.failures[0].object), Book)
            self.world.context.rollback()
        with self.assertRaises(quire.ValidationError) as refused:
            self.world.context.insert_rows(Book, {"title": ["x"], "note": ["x" * 31]})
        self.assertEqual((refused.exception.key, refused.exception.row), ("note", 0))
        self.assertIn("'Book.note' in row 0", str(refused.exception))

    def test_conditions_that_python_has_answered_are_refused_with_what_to_write(self) -> None:
        for condition in (Book.title is None, Book.title is not None, "x" in ("y",)):
            with self.assertRaisesRegex(quire.WrongType, r"Book\.note\.is_\(None\)"):
                self.world.books.where(condition)  # type: ignore[arg-type]
            with self.assertRaisesRegex(quire.WrongType, r"is_\(None\)"):
                quire.Predicate(condition)  # type: ignore[arg-type]
        with self.assertRaisesRegex(quire.WrongType, "Book.lent is a value. Compare it: Book.lent == "):
            self.world.books.where(Book.lent)  # type: ignore[arg-type]

    def test_a_value_in_a_condition_is_told_with_the_condition(self) -> None:
        for make, said in (
            (lambda: Book.pages > {}, "Book.pages > ...: a dictionary"),
            (lambda: Book.pages.between(1, {}), "Book.pages BETWEEN {1, ...}: a dictionary"),
            (lambda: Book.pages.in_([1, {}]), "Book.pages IN ...: a dictionary"),
            (lambda: Author.books.any(Book.pages) > {}, "ANY "),
            (lambda: 2**70 + Book.pages, "... + Book.pages: 1180591620717411303424 does not fit"),
            (lambda: quire.Predicate("pages > %@", {}), "Argument 1 of the predicate 'pages > %@': a dictionary"),
        ):
            with self.assertRaises(quire.Error) as caught:
                make()
            self.assertIn(said, str(caught.exception))

    def test_values_in_messages_are_written_as_a_reader_writes_them(self) -> None:
        from datetime import datetime, timezone
        from decimal import Decimal
        for values, said in (
            ({"price": Decimal("-3.50")}, "is -3.5, below its minimum of -3."),
            ({"weight": 10.25}, "is 10.25, above its maximum of 9.5."),
            ({"printed": datetime(2030, 1, 1, 0, 0, 0, 250, tzinfo=timezone.utc)},
             "is 2030-01-01T00:00:00.000250Z, above its maximum of 2030-01-01T00:00:00Z."),
        ):
            with self.assertRaises(quire.ValidationError) as caught:
                self.world.saved(**values)
            self.assertIn(said, str(caught.exception))
            self.world.context.rollback()

    def test_a_new_object_prints_its_values(self) -> None:
        context = self.world.context
        context.insert_many(Book, {"title": ["Egmont"], "pages": [5]})
        new = next(each for each in context.inserted if isinstance(each, Book))
        self.assertRegex(repr(new), r"^<Book \d+ title='Egmont' note=None price=None>$")
        made = context.add(Book(title="Clavigo"))
        self.assertIn("title='Clavigo'", repr(made))
        context.save()
        self.assertIn("title='Egmont'", repr(new))
        context.delete(new)
        context.save()
        self.assertIsInstance(repr(new), str)


class MismatchTests(unittest.TestCase):
    def refusal(self, title: str) -> str:
        found = next(each for each in MISTAKES if each.title == title)
        error = provoked(found)
        self.assertIsInstance(error, quire.ModelMismatch)
        return str(error)

    def test_what_the_tables_tell_of_another_model_is_told(self) -> None:
        self.assertIn("The file has nothing for 'A.y'.", self.refusal("a model with another attribute"))
        self.assertIn("The model has nothing for the column ZY (INTEGER) of ZA.", self.refusal(
            "a model without an attribute"))
        self.assertIn("'A.x' is String in the model, a column of type VARCHAR, and its column in the file is of type "
                      "INTEGER.", self.refusal("a model with another type"))
        self.assertIn("The columns of A agree, so that it is something else that differs: whether a property is "
                      "optional", self.refusal("a model with another option"))
        self.assertIn("'A.a', 'A.b'", self.refusal("a model with a relationship more"))
        self.assertIn("'A.a', 'A.b'", self.refusal("a model with a relationship between many"))
        self.assertIn("The file has nothing for 'A.y'. The model has nothing for the column ZX (INTEGER) of ZA.",
                      self.refusal("a model with a renamed attribute"))
        inherited = self.refusal("a model with another attribute in a class that inherits")
        self.assertIn("Entities: B (differ). The file has nothing for 'B.z'. Open", inherited)


if __name__ == "__main__":
    unittest.main()
