"""Public classes say that they are in `quire`: in tracebacks, in pickles, and to what looks at them."""

import inspect
import pickle
import pickletools
import pydoc
import subprocess
import sys
import traceback
import typing
import unittest

import quire

PUBLIC = [name for names in quire._NAMES.values() for name in names.split()]
CLASSES = {name: value for name in PUBLIC if isinstance(value := getattr(quire, name), type)}


class Quote(quire.Model):
    price: quire.Attr[int]


VALUES = [
    quire.Path(1, 2), quire.StepKind.INSERT_ROW, quire.MergePolicy.STORE_WINS, quire.PlanOrder.RANGES,
    quire.SnapshotEvents.REFRESH, quire.Rule.TOO_SMALL, quire.Double, quire.URI,
    quire.NotFound("none", entity="Quote"),
    quire.ValidationError("two", details=(quire.ValidationError("one", key="price", row=3),)),
    quire.InsertSection(0, "a", "a"), quire.DeleteSection(1, "b", 2), quire.SnapshotSection("a", 0, 2, "a"),
    Quote.price.desc(),
]


def modules_in(pickled):
    """The modules of the package that the names in a pickle lie in."""
    texts = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    return {text.split()[0] for text in texts if text.split(".")[0].split()[:1] == ["quire"]}


NAMED_AFTER_PACKAGE = unittest.skipIf(
    sys.version_info < (3, 9, 8), "before Python 3.9.8 classes stay in the module where they are written")


class PublicClassTests(unittest.TestCase):
    @NAMED_AFTER_PACKAGE
    def test_their_module_is_the_package(self):
        self.assertGreater(len(CLASSES), 60)
        for name, each in CLASSES.items():
            self.assertEqual((each.__module__, each.__qualname__), ("quire", name))
            self.assertIs(inspect.getmodule(each), quire)
            self.assertIs(pickle.loads(pickle.dumps(each)), each)

    @NAMED_AFTER_PACKAGE
    def test_pickles_name_the_package_alone(self):
        for value in VALUES:
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                pickled = pickle.dumps(value, protocol)
                loaded = pickle.loads(pickled)
                self.assertIs(type(loaded), type(value))
                self.assertEqual(repr(loaded), repr(value))
                self.assertEqual(modules_in(pickled), {"quire"}, value)

    def test_a_program_that_has_only_imported_the_package_loads_a_pickle(self):
        pickled = pickle.dumps([quire.Path(1, 2), quire.NotFound("none"), quire.Double, quire.StepKind.INSERT_ROW])
        run = subprocess.run(
            [sys.executable, "-c", f"import pickle, quire; print(pickle.loads({pickled!r}))"], capture_output=True,
            text=True)
        self.assertEqual(run.stdout, "[Path(section=1, row=2), NotFound('none'), quire.Double, "
                         f"{quire.StepKind.INSERT_ROW!r}]\n", run.stderr)

    def test_pickles_of_before_are_loaded(self):
        old = b"cquire.lists.changes\nPath\n(I1\nI2\ntR."
        self.assertEqual(pickle.loads(old), quire.Path(1, 2))

    @NAMED_AFTER_PACKAGE
    def test_tracebacks_name_the_package(self):
        error = quire.NotFound("There is none.")
        self.assertEqual(traceback.format_exception_only(type(error), error), ["quire.NotFound: There is none.\n"])

    def test_their_hints_are_looked_up_where_they_were_written(self):
        # The others have names that only type checkers know.
        unknown = {
            "Attr", "Conflict", "ConstraintError", "Expression", "Key", "ObjectConflict", "Quantified", "Query",
            "ToMany", "ToOne"}
        for name, each in CLASSES.items():
            if name not in unknown:
                typing.get_type_hints(each)
        self.assertEqual(typing.get_type_hints(quire.Step)["kind"], quire.StepKind)
        self.assertEqual(typing.get_type_hints(quire.AggregateChange)["section"], typing.Optional[int])
        self.assertEqual(typing.get_type_hints(quire.Error), {"status": int})
        self.assertEqual(typing.get_type_hints(Quote)["price"], quire.Attr[int])
        self.assertEqual(typing.get_type_hints(quire.Results.path_of)["return"], typing.Optional[quire.Path])

    @NAMED_AFTER_PACKAGE
    def test_help_describes_them(self):
        for name, each in CLASSES.items():
            with self.subTest(name):
                text = pydoc.plain(pydoc.render_doc(each))
                self.assertIn(f"class {name} in module quire\n", text)
                self.assertNotIn("class quire.", text)
