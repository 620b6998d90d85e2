"""Finding the shared library."""

import ast
import inspect
import os
import subprocess
import sys
import unittest
from importlib import import_module

import quire

PUBLIC = {name for names in quire._NAMES.values() for name in names.split()}
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(quire.__file__)))


def import_with(library, *options, code="import quire"):
    environment = {**os.environ, "PYTHONPATH": SOURCE, "QUIRE_LIBRARY": library}
    return subprocess.run(
        [sys.executable, *options, "-c", code], env=environment, capture_output=True, text=True)

SMALL_PROGRAM = """
import sys, quire
class Quote(quire.Model):
    text: quire.Attr[str]
with quire.open(":memory:", [Quote]) as store:
    context = store.context
    context.add(Quote(text="More light!"))
    context.save()
    # As of 3.14 Python itself reads annotations by means of it.
    seldom = {"ast"} if sys.version_info < (3, 14) else set()
    seldom |= {"dataclasses", "inspect", "logging", "quire.lists.results", "quire.contexts.merging"}
    print(len(context.query(Quote).where(Quote.text == "More light!").all()), sorted(seldom & set(sys.modules)))
"""


class LoadingTests(unittest.TestCase):
    def test_a_library_that_is_not_there_is_an_import_error_with_the_remedy(self):
        run = import_with("/nowhere/libquire.so")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("ImportError", run.stderr)
        self.assertIn("/nowhere/libquire.so", run.stderr)
        self.assertIn("QUIRE_LIBRARY", run.stderr)

    def test_another_library_is_an_import_error_that_names_it(self):
        run = import_with("libc.so.6")
        self.assertIn("ImportError: libc.so.6 is not Quire's library", run.stderr)

    def test_modules_that_few_programs_need_are_loaded_when_they_are_needed(self):
        # Without site, which may have loaded them already.
        slow = {"asyncio", "logging", "pathlib", "subprocess", "tempfile", "urllib.parse", "zipfile"}
        run = import_with(quire._c._load.path, "-S", code=(
            f"import sys, quire; print(sorted({slow} & set(sys.modules)))"))
        self.assertEqual(run.stdout, "[]\n", run.stderr)

    def test_the_package_is_loaded_by_the_names_that_a_program_uses(self):
        run = import_with(quire._c._load.path, "-S", code=(
            "import sys, quire; print(sorted(each for each in sys.modules if each.startswith('quire.')))\n"
            "quire.Predicate; print('quire.predicates.predicate' in sys.modules, 'quire.contexts' in sys.modules)"))
        self.assertEqual(run.stdout, "['quire._c', 'quire._c._ffi', 'quire._c._load']\nTrue False\n", run.stderr)

    def test_a_program_that_saves_and_fetches_loads_neither_lists_nor_what_takes_long(self):
        run = import_with(quire._c._load.path, "-S", code=SMALL_PROGRAM)
        self.assertEqual(run.stdout, "1 []\n", run.stderr)

    def test_each_module_can_be_the_first_one(self):
        for module in quire._NAMES:
            run = import_with(quire._c._load.path, "-S", code=f"import quire.{module}")
            self.assertEqual(run.stderr, "", module)

    def test_public_names_are_those_that_type_checkers_see(self):
        [block] = [each for each in ast.parse(inspect.getsource(quire)).body
                   if isinstance(each, ast.If) and isinstance(each.test, ast.Name)]
        # A module that is itself a public name, such as `quire.archive`, has names of its own.
        seen = {
            (line.module, each.name) for line in block.body for each in line.names
            if f"{line.module}.{each.name}" not in quire._NAMES}
        self.assertEqual(seen, {(module, name) for module, names in quire._NAMES.items() for name in names.split()})
        # Type checkers take a name of a typed package for public where it is imported as itself.
        self.assertEqual([each.name for line in block.body for each in line.names if each.asname != each.name], [])

    def test_each_public_name_is_what_its_module_defines(self):
        for module, names in quire._NAMES.items():
            room = import_module(f"quire.{module}")
            for name in names.split():
                self.assertIs(getattr(quire, name), getattr(room, name), name)
        own = {"TYPE_CHECKING", "import_module"}
        modules = {name for name in dir(quire) if inspect.ismodule(getattr(quire, name))}
        public = {name for name in dir(quire) if not name.startswith("_")} - own - modules
        self.assertEqual(public, PUBLIC)

    def test_a_star_import_takes_what_is_no_class(self):
        others = {name for name in PUBLIC if not inspect.isclass(getattr(quire, name))}
        self.assertEqual(quire.__all__, sorted(others | {"__version__"}))
        run = import_with(quire._c._load.path, "-S", code=(
            "before = {'before', *globals()}\nfrom quire import *\nprint(*sorted({*globals()} - before))"))
        self.assertEqual(run.stdout.split(), quire.__all__, run.stderr)

    def test_other_names_are_attribute_errors(self):
        with self.assertRaisesRegex(AttributeError, "module 'quire' has no attribute 'Nothing'"):
            quire.Nothing
        self.assertIs(quire.sections.Section, quire.Section)
        self.assertIs(sys.modules["quire.contexts.store"], quire.store)

    def test_the_version_is_that_of_the_library(self):
        from quire._c import _load
        self.assertEqual(_load.library.quire_version().decode(), quire.__version__)

    def test_all_public_names_exist_and_are_documented(self):
        for name in PUBLIC:
            value = getattr(quire, name)
            if callable(value) and name not in ("URI", "RowChange", "TableLike"):
                self.assertTrue(value.__doc__, name)

    def test_public_methods_are_documented(self):
        kinds = (
            quire.Store, quire.Context, quire.Query, quire.Results, quire.ChangeSet, quire.Section, quire.Sections,
            quire.Predicate, quire.Related, quire.Column, quire.Columns, quire.Model, quire.Key, quire.Change,
            quire.SectionChange)
        for kind in kinds:
            for name, value in vars(kind).items():
                if not name.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f"{kind.__name__}.{name}")
