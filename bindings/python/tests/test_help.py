"""What `help` shows of the package, and of its classes."""

import inspect
import pydoc
import re
import unittest

import quire

PUBLIC = sorted(name for names in quire._NAMES.values() for name in names.split())


def shown(thing):
    return pydoc.plain(pydoc.render_doc(thing))


def own_names(kind):
    """What a class and its bases in the package declare for callers."""
    return {
        name for base in kind.__mro__ if base.__module__.partition(".")[0] == "quire"
        for name in vars(base) if not name.startswith("_")}


class HelpTests(unittest.TestCase):
    def test_help_of_the_package_is_read_in_one_go(self):
        self.assertLess(len(shown(quire).splitlines()), 500)

    def test_help_of_the_package_names_all_that_is_public(self):
        overview = quire.__doc__
        for name in [*PUBLIC, "sections", "archive"]:
            self.assertRegex(overview, rf"\b{name}\b")

    def test_help_of_the_package_names_nothing_that_is_not_there(self):
        listed = re.findall(r"^    (\w+(?:, \w+)*)(?:  .*)?$", quire.__doc__.partition("Declaring classes")[2], re.M)
        names = {name for line in listed for name in line.split(", ")}
        self.assertGreater(len(names), 40)
        kinds_of_errors = {"saving", "finding", "using", "opening"}
        self.assertEqual({name for name in names if not hasattr(quire, name)}, kinds_of_errors)

    def test_help_of_the_package_describes_its_functions(self):
        text = shown(quire)
        for name in PUBLIC:
            if inspect.isroutine(getattr(quire, name)):
                self.assertRegex(text, rf"(?m)^    {name}\(.*\n        \S")

    def test_help_of_the_package_lists_no_names_of_its_own_works(self):
        self.assertNotRegex(shown(quire), r"(?m)^    _(?!_main__|_version__|_all__|c \(package\))")

    def test_help_of_a_class_has_all_that_callers_use(self):
        for name in PUBLIC:
            kind = getattr(quire, name)
            if inspect.isclass(kind) and kind.__module__ == "quire":
                text = shown(kind)
                for each in own_names(kind):
                    self.assertRegex(text, rf"(?m)^ \|  {each}\b", f"{name}.{each}")

    def test_all_that_a_class_offers_says_what_it_does(self):
        for name in PUBLIC:
            kind = getattr(quire, name)
            if inspect.isclass(kind):
                for each in own_names(kind):
                    value = inspect.getattr_static(kind, each)
                    if callable(value) or isinstance(value, (property, classmethod, staticmethod)):
                        self.assertTrue(inspect.getdoc(value), f"{name}.{each}")

    def test_no_address_of_an_object_is_shown(self):
        for thing in (quire, quire.Context, quire.Query, quire.Results, quire.Store):
            self.assertNotRegex(shown(thing), r" at 0x[0-9a-f]{6}", thing)

    def test_completion_offers_all_that_is_public(self):
        offered = dir(quire)
        self.assertLessEqual({*PUBLIC, "sections", "archive", "__version__", "__all__"}, {*offered})
        self.assertEqual([name for name in offered if name.startswith("_") and not name.startswith("__")], [])


if __name__ == "__main__":
    unittest.main()
