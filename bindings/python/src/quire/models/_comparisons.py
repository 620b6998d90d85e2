"""Which values a key may be compared with for equality, and whether it may be asked for an order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Callable, Optional
from uuid import UUID

from .._c import _ffi, _values
from ..errors import InvalidArgument, InvalidModel, WrongType
from ..predicates.keys import Key
from ._types import AttributeType

if TYPE_CHECKING:
    from ._entity import Entity
    from .properties import Attr

_NUMBERS = (int, float, Decimal)
_PLAIN = (*_NUMBERS, str, bytes, date, UUID)
_EQUAL: dict[int, tuple[type, ...]] = {
    _ffi.QUIRE_TYPE_STRING: (str,), _ffi.QUIRE_TYPE_URI: (str,), _ffi.QUIRE_TYPE_DATE: (date,),
    **dict.fromkeys((
        _ffi.QUIRE_TYPE_INTEGER_16, _ffi.QUIRE_TYPE_INTEGER_32, _ffi.QUIRE_TYPE_INTEGER_64, _ffi.QUIRE_TYPE_DECIMAL,
        _ffi.QUIRE_TYPE_DOUBLE, _ffi.QUIRE_TYPE_FLOAT, _ffi.QUIRE_TYPE_BOOLEAN), _NUMBERS)}
"""What values of an attribute may equal, by its type in the store. Of other types it is not known."""


def check_comparison(attribute: Attr[Any], operator: str, others: Sequence[object]) -> None:
    """Raises for a comparison that finds nothing, or that asks for an order where there is none."""
    for value in _equated(operator, others[0]):
        check_equals(attribute, value)
    if operator in _ORDERING:
        for each in (attribute, *others):
            found: Any = each if isinstance(each, Key) and hasattr(each, "_type") else None
            if found is not None and found._type.unordered:
                raise _no_order(f"{attribute} {operator} ...", found)


def _equated(operator: str, other: object) -> Iterator[object]:
    """The values that one of an attribute may equal, where that is what is asked."""
    if operator in ("==", "!="):
        yield other
    elif operator == "IN" and isinstance(other, tuple):
        yield from other


def _equals_nothing(kind: AttributeType, value: object) -> bool:
    """Whether no value of the type equals it, so that a predicate would find nothing."""
    kinds = _EQUAL.get(kind.number)
    if kinds is None or not isinstance(value, _PLAIN) or isinstance(value, kind.accepted):
        return False
    if kind.number == _ffi.QUIRE_TYPE_DATE and _values.is_distant(value):
        return False
    return not isinstance(value, kinds) or _is_no_member(kind.python, value)


def check_equals(attribute: Attr[Any], value: object) -> None:
    """Raises for a value that none of an attribute equals."""
    if _equals_nothing(attribute._type, value):
        raise WrongType(
            f"{attribute} expects {attribute._type.python.__name__}, not {type(value).__name__} ({value!r:.60}), which "
            "none of its values equals.", entity=attribute._owner, key=attribute._name)


def _is_no_member(python: Any, value: object) -> bool:
    """Whether the attribute has values of an enumeration, and it is none of theirs."""
    return isinstance(python, type) and issubclass(python, Enum) and all(value != each.value for each in python)


_ORDERING = frozenset(("<", "<=", "=<", ">", ">=", "=>", "BETWEEN"))
_EXTREMES = frozenset(("min", "max", "median"))
_KEY = r'(?:[$@#]?\w+|#"(?:[^"\\]|\\.)*")'
_TOKENS = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<order>(?:<=|=<|>=|=>|(?<!<)<(?![<>])|(?<![<>])>(?!>)|\bBETWEEN\b)(?:\[\w+\])?)"
    r"|(?P<call>\w+(?::\w*)*\()"
    rf"|(?P<path>\.?{_KEY}(?:\.{_KEY})*)"
    r"|(?P<other>\S)", re.IGNORECASE)
"""The parts of a predicate or an expression."""
_MAY_ASK = re.compile("[<>]|between|min|max|median", re.IGNORECASE)
"""In a text without it nothing asks for an order: one of thousands of values is not taken apart then."""


class Orders:
    """Finds what asks for the order of attributes whose stored form has another order than their values."""

    def __init__(self, entities: Iterable[Entity], destination: Callable[[Any], Any]) -> None:
        self._destination = destination
        self._names = {
            each._key for entity in entities for each in entity.attributes.values() if each._type.unordered}

    def check(
        self, entity: Entity, *asked: object, sorts: Iterable[str] = (), fixed: Collection[object] = (),
        value: Optional[Attr[Any]] = None, source: Optional[Entity] = None
    ) -> None:
        """Raises `InvalidArgument` for predicates and expressions, or their text, about objects of an entity, or about
        a value of an attribute; and for what they are sorted by, unless `fixed` has all values in an order. `source` is
        what `$FETCH_SOURCE` is of."""
        if not self._names:
            return
        for text in map(str, asked):
            for each in self._asked(entity, text, value, source):
                raise _no_order(text, each)
        for text in sorts:
            path = _TOKENS.fullmatch(text)
            found = self._unordered(entity, text, {}, None) if path and path["path"] else None
            for each in self._asked(entity, text, value, source) if found is None else (found,):
                if not _has_all_members(fixed, each):
                    raise _no_order(f"Sorting by {text}", each)

    def check_declared(self, entity: Entity, where: str, *asked: object, **more: Any) -> None:
        """The same for what a class declares."""
        try:
            self.check(entity, *(each for each in asked if each is not None), **more)
        except InvalidArgument as error:
            raise InvalidModel(f"{where}: {error.message}", entity=error.entity, key=error.key) from None

    def _asked(
        self, entity: Entity, text: str, value: Optional[Attr[Any]], source: Optional[Entity]
    ) -> Iterator[Attr[Any]]:
        """The attributes whose order a text asks for."""
        if not _MAY_ASK.search(text) or (value is None and not any(name in text for name in self._names)):
            return
        tokens = [("", ""), *((each.lastgroup or "", each.group()) for each in _TOKENS.finditer(text)), ("", "")]
        calls = [""]
        variables: dict[str, Entity] = {} if source is None else {"$FETCH_SOURCE": source}
        for (before, left), (kind, word), (after, right), place in zip(
                tokens, tokens[1:], tokens[2:], range(len(tokens))):
            if kind == "call":
                calls.append(word.rstrip(":(").lower())
            elif word in ("(", "{", "["):
                calls.append("between" if before == "order" else "")
            elif word in (")", "}", "]") and len(calls) > 1:
                calls.pop()
            elif kind == "path":
                if calls[-1] == "subquery" and left == "," and word.startswith("$"):
                    collection = self._at(entity, tokens[place - 1][1], variables)
                    if collection is not None and hasattr(collection, "_destination"):
                        variables[word] = self._destination(collection)._quire_entity
                is_whole = (before == "call" or left in (",", "{")) and right in (",", ")", "}")
                if "order" in (before, after) or "@min" in word.lower() or "@max" in word.lower() or (
                        is_whole and (calls[-1] in _EXTREMES or calls[-1] == "between")):
                    found = self._unordered(entity, word, variables, value)
                    if found is not None:
                        yield found

    def _unordered(
        self, entity: Entity, path: str, variables: dict[str, Entity], value: Optional[Attr[Any]]
    ) -> Optional[Attr[Any]]:
        found: Any = value if path.upper() == "SELF" else self._at(entity, path, variables)
        return found if hasattr(found, "_type") and found._type.unordered else None

    def _at(self, entity: Entity, path: str, variables: dict[str, Entity]) -> Any:
        """The property at the end of a key path as predicates write it."""
        names = [each.group() for each in re.finditer(_KEY, path)]
        if path.startswith("."):
            return None
        if names[0].startswith("$"):
            found = variables.get(names.pop(0))
            if found is None:
                return None
            entity = found
        elif names[0].upper() == "SELF":
            del names[0]
        keys = [each.lstrip("#").strip('"') for each in names if not each.startswith("@")]
        return entity.at(keys, self._destination) if keys else None


def _has_all_members(values: Collection[object], attribute: Attr[Any]) -> bool:
    """Whether these are all values of an enumeration."""
    python: Any = attribute._type.python
    return issubclass(python, Enum) and all(each.value in values for each in python)


def _no_order(asked: str, attribute: Attr[Any]) -> InvalidArgument:
    """What to say of a text, which may be one of thousands of values."""
    return InvalidArgument(
        f"{asked if len(asked) < 200 else 'It'} asks for the order of {attribute}. {attribute._type.unordered}",
        entity=attribute._owner, key=attribute._name)
