"""A model that is not the one which made a file: the model that the file keeps tells each difference."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire

ONE = "class A(quire.Model):\n x: quire.Attr[int]"
TWO = ONE + "\nclass B(A):\n y: quire.Attr[int]"
MANY = ("class A(quire.Model):\n b: quire.ToMany['B'] = quire.relation(inverse='a'{0})\n"
        "class B(quire.Model):\n a: quire.ToOne['A | None'] = quire.relation(inverse='b')")


class MismatchTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.sqlite")

    def open(self, body: str) -> None:
        scope: dict[str, Any] = {"quire": quire, "Optional": Optional}
        exec(body, scope)
        classes = [each for each in scope.values() if isinstance(each, type) and issubclass(each, quire.Model)]
        quire.open(self.path, classes).close()

    def refusal(self, before: str, after: str) -> str:
        if os.path.exists(self.path):
            os.remove(self.path)
        self.open(before)
        with self.assertRaises(quire.ModelMismatch) as caught:
            self.open(after)
        return str(caught.exception).split("(differ). ")[1]

    def test_each_difference_of_a_property_is_named_with_both_values(self) -> None:
        end = " Open it with the model that made it, or migrate it."
        for before, after, sentence in [
            (ONE, ONE.replace("[int]", "[str]"), "'A.x' has the type String in the model, and Integer 64 in the file."),
            (ONE, ONE.replace("[int]", "[Optional[int]]"), "'A.x' is optional in the model, and not in the file."),
            (ONE.replace("[int]", "[Optional[int]]"), ONE, "'A.x' is optional in the file, and not in the model."),
            (ONE, ONE + " = quire.attr(hash_modifier='2')",
             "'A.x' has the hash modifier '2' in the model, and none in the file."),
            (ONE, ONE + " = quire.attr(preserved=True)",
             "'A.x' is preserved after deletion in the model, and not in the file."),
            (ONE.replace("[int]", "[bytes]"), ONE.replace("[int]", "[bytes]") + " = quire.attr(external=True)",
             "'A.x' allows external storage in the model, and not in the file."),
            (ONE, ONE.replace(" x", " __hash_modifier__ = 'b'\n x"),
             "'A' has the hash modifier 'b' in the model, and none in the file."),
            (ONE, ONE.replace(" x", " __unique__ = [('x',)]\n x"),
             "'A' has the uniqueness constraints (x) in the model, and none in the file."),
            (ONE, ONE.replace(" x", " y"),
             "The file has nothing for 'A.y'. The model has nothing for 'A.x', an attribute of type Integer 64."),
            (MANY.format(""), MANY.format(", ordered=True"), "'A.b' is ordered in the model, and not in the file."),
            (MANY.format(""), MANY.format(", maximum=7"),
             "'A.b' has the maximum count 7 in the model, and unbounded in the file."),
        ]:
            with self.subTest(sentence):
                self.assertEqual(self.refusal(before, after), sentence + end)

    def test_an_entity_whose_parent_differs_is_not_told_of_its_own_accord(self) -> None:
        self.assertEqual(
            self.refusal(TWO, TWO.replace("x: quire.Attr[int]", "x: quire.Attr[str]")),
            "'A.x' has the type String in the model, and Integer 64 in the file. Open it with the model that made it, "
            "or migrate it.")

    def test_without_a_kept_model_it_is_not_told_either(self) -> None:
        self.open(TWO)
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.execute("DELETE FROM Z_MODELCACHE")
            file.commit()
        with self.assertRaisesRegex(quire.ModelMismatch, "The columns of A agree") as caught:
            self.open(TWO.replace("x: quire.Attr[int]", "x: quire.Attr[Optional[int]]"))
        self.assertIn("A, B (differ)", str(caught.exception))

    def test_a_kept_model_that_is_not_the_one_of_the_hashes_tells_nothing(self) -> None:
        self.open(ONE)
        other = self.path + "2"
        first, self.path = self.path, other
        self.open(ONE.replace("x:", "zest:"))
        self.path = first
        with contextlib.closing(sqlite3.connect(other)) as file:
            kept = file.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()[0]
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [kept])
            file.commit()
        with self.assertRaisesRegex(quire.ModelMismatch, "The file has nothing for 'A.y'") as caught:
            self.open(ONE + "\n y: quire.Attr[int]")
        self.assertNotIn("zest", str(caught.exception))

    def test_an_index_that_is_declared_later_is_for_new_files(self) -> None:
        with_index = ONE + "\n __indexes__ = ['x']"
        for bodies, expected in [([ONE, with_index], 0), ([with_index], 1), ([with_index, ONE], 1)]:
            with self.subTest(bodies=bodies):
                for body in bodies:
                    self.open(body)
                with contextlib.closing(sqlite3.connect(self.path)) as file:
                    found = file.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'Z_A_by_x'").fetchone()[0]
                self.assertEqual(found, expected)
                quire.delete_store(self.path)

    def test_many_differences_are_counted(self) -> None:
        body = "class A(quire.Model):" + "".join(f"\n x{place}: quire.Attr[int]" for place in range(20))
        told = self.refusal(body, body.replace("[int]", "[str]"))
        self.assertEqual(told.count("has the type String"), 12)
        self.assertIn("There are 8 more differences.", told)


if __name__ == "__main__":
    unittest.main()
