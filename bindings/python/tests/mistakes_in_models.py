"""Mistakes in model classes, and models that do not fit a file."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Optional

import quire
from mistake_world import Author, World, many, mistake


# Models

def declared(body: str, *names: str) -> Callable[[World], object]:
    """Opens a store with classes that a text declares."""

    def call(w: World) -> None:
        scope: dict[str, Any] = {
            "quire": quire, "Optional": Optional, "datetime": datetime, "Decimal": Decimal, "Author": Author}
        exec(body, scope)
        w.keep(quire.open(":memory:", [scope[name] for name in names or ("A",)]))

    return call


many(
    ("an attribute of an unknown type", "", declared("class A(quire.Model):\n x: quire.Attr[list]")),
    ("an attribute without a type", "", declared("class A(quire.Model):\n x: quire.Attr")),
    ("a plain annotation", "", declared("class A(quire.Model):\n x: int")),
    ("a default without attr", "", declared("class A(quire.Model):\n x: quire.Attr[int] = 5")),
    ("a default of the wrong type", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(default='5')")),
    ("a type of another kind", "",
     declared("class A(quire.Model):\n x: quire.Attr[str] = quire.attr(type=quire.Integer16)")),
    ("attr without an annotation", "", declared("class A(quire.Model):\n x = quire.attr()")),
    ("a name that every object has", "", declared("class A(quire.Model):\n id: quire.Attr[int]")),
    ("a reserved name", "A.entity", declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(name='entity')")),
    ("a name that is none", "", declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(name='a b')")),
    ("names that differ in case", "A.X", declared("class A(quire.Model):\n x: quire.Attr[int]\n X: quire.Attr[int]")),
    ("a constructor that leaves out the one of its base", "A", declared(
        "class A(quire.Model):\n x: quire.Attr[int]\n def __init__(self): self.x = 5\nA()")),
    ("an attribute of a mixin that the parent has, too", "", declared(
        "class M: x: quire.Attr[int]\nclass B(quire.Model): x: quire.Attr[int]\nclass A(M, B): pass")),
    ("an attribute of a mixin, hidden by a value", "", declared(
        "class M: x: quire.Attr[int]\nclass A(M, quire.Model): x = 5")),
    ("an attribute of a mixin of an unknown type", "", declared(
        "class M: x: quire.Attr[list]\nclass A(M, quire.Model): pass")),
    ("a default of the wrong type in a mixin", "A.x", declared(
        "class M: x: quire.Attr[int] = quire.attr(default='5')\nclass A(M, quire.Model): pass")),
    ("an index of a mixin that has no such property", "A.y", declared(
        "class M: __indexes__ = ['y']\nclass A(M, quire.Model): x: quire.Attr[int]")),
    ("a mixin behind the base, with a hook", "", declared(
        "class M:\n def will_save(self): pass\nclass A(quire.Model, M): x: quire.Attr[int]")),
    ("a mixin that is a dataclass", "", declared(
        "import dataclasses\n@dataclasses.dataclass\nclass M: x: int\nclass A(M, quire.Model): y: quire.Attr[int]")),
    ("a mixin that keeps the class from becoming an entity", "A", declared(
        "class M:\n def __init_subclass__(cls): pass\nclass A(M, quire.Model): x: quire.Attr[int]")),
    ("an attribute that comes after the class", "A", declared(
        "class A(quire.Model): x: quire.Attr[int]\nA.y = quire.attr(default=5)")),
    ("an attribute that is a class variable", "", declared(
        "from typing import ClassVar\nclass A(quire.Model): x: ClassVar[quire.Attr[int]]")),
    ("an annotation that is a value", "", declared("class A(quire.Model): x = quire.Attr[int]")),
    ("a setting that there is not", "", declared("class A(quire.Model):\n x: quire.Attr[int]\n __uniqe__ = ['x']")),
    ("a property that the class has lost", "A.x", declared("class A(quire.Model):\n x: quire.Attr[int]\nA.x = 3")),
    ("two parents", "", declared("class A(quire.Model): pass\nclass B(quire.Model): pass\nclass C(A, B): pass", "A")),
    ("a relationship to what is no class", "", declared("class A(quire.Model):\n b: quire.ToOne[int]")),
    ("a relationship to an unknown class", "A.b", declared("class A(quire.Model):\n b: quire.ToOne['B']")),
    ("an inverse that does not exist", "A.b",
     declared("class A(quire.Model):\n b: quire.ToOne['A | None'] = quire.relation(inverse='c')")),
    ("an inverse that does not point back", "A.b", declared(
        "class A(quire.Model):\n b: quire.ToOne['A | None'] = quire.relation(inverse='c')\n"
        " c: quire.ToOne['A | None'] = quire.relation(inverse='d')\n"
        " d: quire.ToOne['A | None'] = quire.relation(inverse='c')")),
    ("a delete rule that there is not", "",
     declared("class A(quire.Model):\n b: quire.ToMany['A'] = quire.relation(on_delete='drop')")),
    ("counts in disorder", "A.b",
     declared("class A(quire.Model):\n b: quire.ToMany['A'] = quire.relation(minimum=5, maximum=2)")),
    ("a minimum above the maximum", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(minimum=5, maximum=2)")),
    ("a length of a number", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(max_length=2)")),
    ("a pattern that is no pattern", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[str] = quire.attr(pattern='[')")),
    ("a minimum of the wrong type", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(minimum='a')")),
    ("a searchable number", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.attr(searchable=True)")),
    ("an index of an unknown property", "A.y",
     declared("class A(quire.Model):\n x: quire.Attr[int]\n __indexes__ = ['y']")),
    ("an index that is a text", "", declared("class A(quire.Model):\n x: quire.Attr[int]\n __indexes__ = 'x'")),
    ("a constraint of an unknown property", "A.y",
     declared("class A(quire.Model):\n x: quire.Attr[int]\n __unique__ = ['y']")),
    ("a rule of an unknown key", "A",
     declared("class A(quire.Model):\n x: quire.Attr[int]\n __rules__ = [('y > 1', 'no')]")),
    ("a rule that is no tuple", "", declared("class A(quire.Model):\n x: quire.Attr[int]\n __rules__ = ['x > 1']")),
    ("a rule without a message", "A",
     declared("class A(quire.Model):\n x: quire.Attr[int]\n __rules__ = [('x > 1', '')]")),
    ("a template that is none", "",
     declared("class A(quire.Model):\n x: quire.Attr[int]\n __templates__ = {'a': 5}")),
    ("derived from nothing", "A.x",
     declared("class A(quire.Model):\n x: quire.Attr[int] = quire.derived('y.@count')")),
    ("derived of another type", "A.x",
     declared("class A(quire.Model):\n y: quire.Attr[str]\n x: quire.Attr[int] = quire.derived('uppercase:(y)')")),
    ("derived from what is none", "A.x",
     declared("class A(quire.Model):\n y: quire.Attr[str]\n x: quire.Attr[str] = quire.derived('shout:(y)')")),
)


@mistake("a class that was defined twice, in a query", "Note")
def _(w: World) -> None:
    scope: dict[str, Any] = {"quire": quire}
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    store = w.keep(quire.open(":memory:", [scope["Note"]]))
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    store.context.query(scope["Note"])


@mistake("a class that was defined twice, in a list of models", "Note")
def _(w: World) -> None:
    scope: dict[str, Any] = {"quire": quire}
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    first = scope["Note"]
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    w.keep(quire.open(":memory:", [first, scope["Note"]]))


@mistake("two classes of one name, of which one is the end of a relationship", "Pad.notes")
def _(w: World) -> None:
    scope: dict[str, Any] = {"quire": quire, "__name__": "first"}
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    exec("class Pad(quire.Model):\n notes: quire.ToMany[Note]", scope)
    scope["__name__"] = "second"
    exec("class Note(quire.Model):\n text: quire.Attr[str]", scope)
    w.keep(quire.open(":memory:", [scope["Pad"], scope["Note"]]))


def reopened(before: str, after: str) -> Callable[[World], object]:
    """Opens a file with classes that have changed. It keeps no model, so that its tables alone tell what it has."""

    def call(w: World) -> None:
        for body in (before, after):
            if body is after:
                with contextlib.closing(sqlite3.connect(w.path)) as file:
                    file.execute("DELETE FROM Z_MODELCACHE")
                    file.commit()
            scope: dict[str, Any] = {"quire": quire, "Optional": Optional}
            exec(body, scope)
            w.keep(quire.open(w.path, [each for each in scope.values() if isinstance(each, type)
                                       and issubclass(each, quire.Model)])).close()

    return call


many(
    ("a model with another attribute", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]", "class A(quire.Model):\n x: quire.Attr[int]\n"
        " y: quire.Attr[int]")),
    ("a model without an attribute", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]\n y: quire.Attr[int]", "class A(quire.Model):\n"
        " x: quire.Attr[int]")),
    ("a model with another attribute in a class that inherits", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]\nclass B(A):\n y: quire.Attr[int]",
        "class A(quire.Model):\n x: quire.Attr[int]\nclass B(A):\n y: quire.Attr[int]\n z: quire.Attr[str]")),
    ("a model with a relationship between many", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]",
        "class A(quire.Model):\n x: quire.Attr[int]\n a: quire.ToMany['A'] = quire.relation(inverse='b')\n"
        " b: quire.ToMany['A'] = quire.relation(inverse='a')")),
    ("a model with a renamed attribute", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]", "class A(quire.Model):\n y: quire.Attr[int]")),
    ("a model with another type", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]", "class A(quire.Model):\n x: quire.Attr[str]")),
    ("a model with another option", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]", "class A(quire.Model):\n x: quire.Attr[Optional[int]]")),
    ("a model with another class", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]",
        "class A(quire.Model):\n x: quire.Attr[int]\nclass B(quire.Model):\n x: quire.Attr[int]")),
    ("a model without a class", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]\nclass B(quire.Model):\n x: quire.Attr[int]",
        "class A(quire.Model):\n x: quire.Attr[int]")),
    ("a model with a relationship more", "", reopened(
        "class A(quire.Model):\n x: quire.Attr[int]",
        "class A(quire.Model):\n x: quire.Attr[int]\n a: quire.ToOne['A | None']\n b: quire.ToMany['A']")),
)
