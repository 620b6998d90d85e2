"""Dictionaries of the cases as objects of a store, so that SQL answers what is asked about them."""

from __future__ import annotations

import ctypes
import itertools
import re
import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Iterable, Optional

import quire

KNOWN = (bool, int, float, ctypes.c_float, str, bytes, datetime, Decimal, uuid.UUID)
"""The types that an attribute can have; `c_float` stands for 32 bits."""

NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")


class DoesNotFit(Exception):
    """No entity can hold the rows, or nothing of a store can be asked what the case asks; the text tells why."""


LISTS = "an attribute holds no list"


class Members(list):  # type: ignore[type-arg]
    """Values whose order does not matter."""


class Shape:
    """What an entity must be to hold some dictionaries, and the model class that is it.

    Nested dictionaries become objects of to-one relationships, lists of dictionaries those of to-many ones. In the
    store, properties have the names of the keys, so that predicates find them; in the class they are named `a_key`.
    """

    def __init__(self, rows: list[dict[str, Any]], name: str = "Row") -> None:
        self.attributes: dict[str, Optional[type]] = {}
        """By key; None when every row has nil there, which then is text that was never set."""
        self.related: dict[str, Shape] = {}
        self.many: dict[str, bool] = {}
        """The to-many relationships, and whether their order matters."""
        self.left_out: dict[str, str] = {}
        """The keys whose values no property can hold, and why not."""
        self.name = name
        for key in {key: None for row in rows for key in row}:
            self._read(key, [row[key] for row in rows if row.get(key) is not None])

    def _read(self, key: str, values: list[Any]) -> None:
        types = set(map(type, values))
        if not NAME.fullmatch(key):
            self.left_out[key] = "the key names no property"
        elif types == {dict}:
            self.related[key] = Shape(values, self.name + key.capitalize())
        elif types and types <= {list, Members} and all(type(each) is dict for list in values for each in list):
            self.related[key] = Shape(list(itertools.chain(*values)), self.name + key.capitalize())
            self.many[key] = list in types
        elif types == {int, float}:
            self.attributes[key] = float
        elif types & {list, Members}:
            self.left_out[key] = LISTS
        elif len(types) > 1 or not types <= set(KNOWN):
            self.left_out[key] = "an attribute has values of one type"
        else:
            self.attributes[key] = types.pop() if types else None

    def models(self) -> list[type[quire.Model]]:
        """Makes the classes, those of nested dictionaries after that of the rows."""
        body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
        found: list[type[quire.Model]] = []
        for key, kind in self.attributes.items():
            is_single = kind is ctypes.c_float
            body[f"a_{key}"] = quire.attr(default=None, name=key, type=quire.Float if is_single else None)
            body["__annotations__"][f"a_{key}"] = quire.Attr[
                Optional[float if is_single else kind or str]]  # type: ignore
        for key, shape in self.related.items():
            found += shape.models()
            destination: Any = shape.model
            if key in self.many:
                body[f"a_{key}"] = quire.relation(name=key, ordered=self.many[key])
                body["__annotations__"][f"a_{key}"] = quire.ToMany[destination]
            else:
                body[f"a_{key}"] = quire.relation(name=key)
                body["__annotations__"][f"a_{key}"] = quire.ToOne[Optional[destination]]
        self.model: type[quire.Model] = type(self.name, (quire.Model,), body)
        return [self.model, *found]

    def add(self, context: quire.Context, row: dict[str, Any]) -> quire.Model:
        """An unsaved object with the values of a row, and objects for what is nested in it."""
        values: dict[str, Any] = {}
        for key, each in row.items():
            if key in self.left_out or each is None:
                continue
            if key in self.many:
                each = [self.related[key].add(context, member) for member in each]
            elif key in self.related:
                each = self.related[key].add(context, each)
            values[f"a_{key}"] = plain(each)
        return context.add(self.model(**values))

    def all(self) -> Iterable[Shape]:
        """This one and those of nested dictionaries."""
        return itertools.chain([self], *(each.all() for each in self.related.values()))

    def keys(self) -> Iterable[str]:
        """All that a predicate may ask for."""
        return itertools.chain(self.attributes, self.related)


def plain(value: Any) -> Any:
    """A value as it is assigned."""
    return value.value if isinstance(value, ctypes.c_float) else value


class Engine:
    """Finds by SQL what is asked about rows, in stores at new paths."""

    def __init__(self, new_path: Callable[[], str]) -> None:
        self._new_path = new_path

    def places(self, rows: list[Any], predicate: quire.Predicate, variables: dict[str, Any]) -> list[int]:
        """The places of the rows that fulfil a predicate. Raises DoesNotFit."""
        predicate = closed(predicate, variables)

        def ask(query: quire.Query[Any], ids: list[int]) -> list[int]:
            found = set(query.where(predicate).ids())
            return [place for place, id in enumerate(ids) if id in found]

        found: list[int] = self._answer(rows, str(predicate), ask)
        return found

    def value(self, row: Any, expression: quire.Expression, variables: dict[str, Any]) -> Any:
        """The value of an expression for a row. Raises DoesNotFit."""
        expression = closed(expression, variables)

        def ask(query: quire.Query[Any], ids: list[int]) -> Any:
            try:
                rows = query.dictionaries(value=expression)
            except quire.InvalidArgument as error:
                if "gives a list" in error.message:
                    raise DoesNotFit("a list is no value of a row") from None
                raise
            assert len(rows) == 1
            return rows[0].get("value")

        return self._answer([row], str(expression), ask)

    def _answer(self, rows: list[Any], text: str, ask: Callable[[quire.Query[Any], list[int]], Any]) -> Any:
        """What is said of the rows as objects, which `text` asks about.

        Raises DoesNotFit for rows that are no objects and for keys that no property can be.
        """
        if any(row is None for row in rows):
            # Nothing is asked of these, so that an object without values will do, unless it is asked about as a whole.
            if set(map(type, rows)) != {type(None)} or re.search(r"\bSELF\b", text):
                raise DoesNotFit("nil is no object")
            rows = [{} for _ in rows]
        if not all(type(row) is dict for row in rows):
            raise DoesNotFit("a plain value is no object")
        shape = Shape(rows)
        while True:
            try:
                with quire.open(self._new_path(), shape.models()) as store:
                    objects = [shape.add(store.context, row) for row in rows]
                    store.context.save()
                    # Another context has nothing in memory.
                    with store.create_context() as context:
                        return ask(context.query(shape.model), [each.id for each in objects])
            except quire.InvalidArgument as error:
                unknown = re.search("Entity '(\\w+)' has no property '([^']*)'", error.message)
                entity = unknown and next((each for each in shape.all() if each.name == unknown[1]), None)
                if not unknown or not entity or unknown[2] in entity.keys():
                    raise
                if unknown[2] in entity.left_out:
                    raise DoesNotFit(entity.left_out[unknown[2]]) from None
                if not NAME.fullmatch(unknown[2]):
                    raise DoesNotFit("the key names no property") from None
                # A key that no row has is nil in all of them.
                entity.attributes[unknown[2]] = None


def closed(tree: Any, variables: dict[str, Any]) -> Any:
    """A predicate or an expression with its variables substituted, which cannot become dictionaries."""
    if any(isinstance(each, dict) for each in variables.values()):
        raise DoesNotFit("a dictionary is no value of a variable")
    return tree.substituting(variables) if variables else tree
