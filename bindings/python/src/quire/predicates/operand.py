"""What makes predicates with Python's operators: the operators of keys and expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional

from .._c import _values
from .._c._public import public
from ..errors import InvalidArgument, WrongType
from . import _owners
from .predicate import Form, Predicate

if TYPE_CHECKING:
    from .expression import Expression
    from .keys import Key, KeyPath

__all__ = ["Collection", "Navigable", "Operand", "Quantified"]


_OF_VALUES = ("==", "!=", "<", "<=", ">", ">=")


class Comparable:
    """The comparisons; each gives a `Predicate`.

    `options` are those of the language: "c" takes no notice of case, "d" of accents, "cd" of both.
    """

    _word = ""
    _quire_keys: _owners.Keys = _owners.NONE
    """What it looks up in an object that is asked about."""

    @property
    def _quire_attribute(self) -> Any:
        """The attribute whose values it has, where that is known."""
        return None

    def _quire_pack(self) -> _values.Packed:
        raise NotImplementedError

    def _check(self, operator: str, *others: object) -> None:
        """Raises where this cannot be asked of it."""

    def _compared(self, operator: str, other: object, options: str = "") -> Predicate:
        self._check(operator, other)
        if options:
            if not isinstance(options, str) or not re.fullmatch("[cdnlwCDNLW]+", options):
                raise InvalidArgument(f'Options are letters such as "cd", not {options!r}.')
        # Texts are patterns and parts, and what is listed was looked at before.
        if operator in _OF_VALUES or not isinstance(other, (str, tuple)):
            other = self._given(other)
        if options:
            operator = f"{operator}[{options}]"
        return Predicate(Form(f"{self._word}%@ {operator} %@"), self, other)

    def _given(self, value: object) -> object:
        """What it is compared with, in a form that has its type."""
        attribute = self._quire_attribute
        return value if attribute is None else attribute._given(value)

    def __eq__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compared("!=", other)

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise WrongType(
            f"{self} is neither true nor false by itself: compare it, as in {self} == True, join predicates with & | ~ "
            "and parentheses around each comparison, and ask `is not None` whether there is one.")

    def __lt__(self, other: object) -> Predicate:
        return self._compared("<", other)

    def __le__(self, other: object) -> Predicate:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Predicate:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Predicate:
        return self._compared(">=", other)

    def equals(self, other: object, options: str = "") -> Predicate:
        """`==` with options: `Quote.note.equals("light", "cd")`."""
        return self._compared("==", other, options)

    def differs(self, other: object, options: str = "") -> Predicate:
        """`!=` with options."""
        return self._compared("!=", other, options)

    def is_(self, value: None) -> Predicate:
        """`is_(None)`: whether there is no value."""
        return self._compared("==", value)

    def is_not(self, value: None) -> Predicate:
        """`is_not(None)`: whether there is a value."""
        return self._compared("!=", value)

    def in_(self, values: object, options: str = "") -> Predicate:
        """Whether it is among the values of an iterable, in a collection, or a part of a text."""
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Comparable)):
            values = tuple(map(self._given, values))
            if any(isinstance(value, Comparable) for value in values):
                members = ", ".join(["%@"] * len(values))
                return self._compared("IN", _tree(f"{{{members}}}", *values), options)
        return self._compared("IN", values, options)

    def between(self, low: object, high: object) -> Predicate:
        """Whether it lies between the two, both included."""
        self._check("BETWEEN", low, high)
        return Predicate(Form(f"{self._word}%@ BETWEEN {{%@, %@}}"), self, self._given(low), self._given(high))

    def contains(self, part: object, options: str = "") -> Predicate:
        """Whether a text has this part, or a collection this element."""
        return self._compared("CONTAINS", part, options)

    def begins_with(self, part: object, options: str = "") -> Predicate:
        """Whether a text begins with this."""
        return self._compared("BEGINSWITH", part, options)

    def ends_with(self, part: object, options: str = "") -> Predicate:
        """Whether a text ends with this."""
        return self._compared("ENDSWITH", part, options)

    def like(self, pattern: object, options: str = "") -> Predicate:
        """Whether the whole text is like a pattern, with ? for one character and * for any number."""
        return self._compared("LIKE", pattern, options)

    def matches(self, pattern: object, options: str = "") -> Predicate:
        """Whether the whole text matches a regular expression of ICU."""
        return self._compared("MATCHES", pattern, options)


@public
class Quantified(Comparable):
    """ANY, ALL or NONE of a collection, to be compared: `Author.quotes.any(Quote.price) < 5`."""

    def __init__(self, word: str, operand: Operand) -> None:
        self._word = word + " "
        self._operand = operand
        self._quire_keys = operand._quire_keys

    @property
    def _quire_attribute(self) -> Any:
        return self._operand._quire_attribute

    def _quire_pack(self) -> _values.Packed:
        return self._operand._quire_pack()

    def __repr__(self) -> str:
        return f"<Quantified {self._word}{self._operand}>"


class Operand(Comparable):
    """The comparisons, and arithmetic, which gives an `Expression`.

    Integers divide toward zero, nil and division by zero give nil; `& | ^ ~ << >>` are those of the bits of integers.
    """

    def __add__(self, other: object) -> Expression:
        return _tree("%@ + %@", self, other)

    def __radd__(self, other: object) -> Expression:
        return _tree("%@ + %@", other, self)

    def __sub__(self, other: object) -> Expression:
        return _tree("%@ - %@", self, other)

    def __rsub__(self, other: object) -> Expression:
        return _tree("%@ - %@", other, self)

    def __mul__(self, other: object) -> Expression:
        return _tree("%@ * %@", self, other)

    def __rmul__(self, other: object) -> Expression:
        return _tree("%@ * %@", other, self)

    def __truediv__(self, other: object) -> Expression:
        return _tree("%@ / %@", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return _tree("%@ / %@", other, self)

    def __mod__(self, other: object) -> Expression:
        return _tree("%@ %% %@", self, other)

    def __rmod__(self, other: object) -> Expression:
        return _tree("%@ %% %@", other, self)

    def __pow__(self, other: object) -> Expression:
        return _tree("%@ ** %@", self, other)

    def __rpow__(self, other: object) -> Expression:
        return _tree("%@ ** %@", other, self)

    def __and__(self, other: object) -> Expression:
        return _tree("%@ & %@", self, other)

    def __rand__(self, other: object) -> Expression:
        return _tree("%@ & %@", other, self)

    def __or__(self, other: object) -> Expression:
        return _tree("%@ | %@", self, other)

    def __ror__(self, other: object) -> Expression:
        return _tree("%@ | %@", other, self)

    def __xor__(self, other: object) -> Expression:
        return _tree("%@ ^ %@", self, other)

    def __rxor__(self, other: object) -> Expression:
        return _tree("%@ ^ %@", other, self)

    def __lshift__(self, other: object) -> Expression:
        return _tree("%@ << %@", self, other)

    def __rlshift__(self, other: object) -> Expression:
        return _tree("%@ << %@", other, self)

    def __rshift__(self, other: object) -> Expression:
        return _tree("%@ >> %@", self, other)

    def __rrshift__(self, other: object) -> Expression:
        return _tree("%@ >> %@", other, self)

    def __neg__(self) -> Expression:
        return _tree("-%@", self)

    def __invert__(self) -> Expression:
        return _tree("~%@", self)

    def __abs__(self) -> Expression:
        return _tree("abs:(%@)", self)


class Navigable(Operand):
    """What has keys: a relationship, or an expression."""

    if TYPE_CHECKING:
        # Keys have these too, in other classes.

        @property
        def _quire_path(self) -> Optional[str]:
            """The key path that it is, where it is one."""

        @property
        def _quire_end(self) -> Optional[Key]:
            """The relationship that leads to what it gives, where that is known."""

    def to(self, key: KeyPath) -> Expression:
        """A key of what is there: `Quote.author.to(Author.name)`. Of a collection, those of its elements."""
        path, base = self._path_behind(key), self._quire_path
        return _tree("%@.%K", self, path)._leading(
            None if base is None else f"{base}.{path}", getattr(key, "_quire_end", None), attribute_of(key))

    def _path_behind(self, key: KeyPath) -> str:
        from .keys import path_of

        _owners.check_behind(self._quire_end, _owners.of(key))
        return path_of(key)


class Collection(Navigable):
    """What holds many: a to-many relationship, or an expression."""

    @property
    def count(self) -> Expression:
        """How many elements there are."""
        return _tree("%@.@count", self)

    def sum(self, key: Optional[KeyPath] = None) -> Expression:
        """The sum of the elements, or of what a key of them gives; 0 of none."""
        return self._aggregate("@sum", key)

    def avg(self, key: Optional[KeyPath] = None) -> Expression:
        """The mean; nil of none."""
        return self._aggregate("@avg", key)

    def min(self, key: Optional[KeyPath] = None) -> Expression:
        """The least; nil of none."""
        return self._aggregate("@min", key)

    def max(self, key: Optional[KeyPath] = None) -> Expression:
        """The greatest; nil of none."""
        return self._aggregate("@max", key)

    def any(self, key: Optional[KeyPath] = None) -> Quantified:
        """For a comparison that must hold for some element: `Author.quotes.any(Quote.price) < 5`."""
        return Quantified("ANY", self if key is None else self.to(key))

    def all(self, key: Optional[KeyPath] = None) -> Quantified:
        """For a comparison that must hold for every element."""
        return Quantified("ALL", self if key is None else self.to(key))

    def none(self, key: Optional[KeyPath] = None) -> Quantified:
        """For a comparison that must hold for no element."""
        return Quantified("NONE", self if key is None else self.to(key))

    def subquery(self, condition: Callable[[Expression], Predicate]) -> Expression:
        """The elements for which a condition holds:
        `Author.quotes.subquery(lambda quote: quote.to(Quote.price) < 5).count > 2`.

        The parameter names the variable of the SUBQUERY, so that nested ones need different names.
        """
        name = _parameter(condition)
        held = condition(_tree("$" + name)._leading(None, self._quire_end))
        if not isinstance(held, Predicate):
            raise WrongType(f"the condition of a subquery is a Predicate, not {type(held).__name__}")
        return _tree(f"SUBQUERY(%@, ${name}, %@)", self, held)._leading(None, self._quire_end)

    def _aggregate(self, operator: str, key: Optional[KeyPath]) -> Expression:
        if key is None:
            return _tree(f"%@.{operator}", self)
        attribute = attribute_of(key) if operator in ("@min", "@max") else None
        return _tree(f"%@.{operator}.%K", self, self._path_behind(key))._leading(None, None, attribute)


def attribute_of(operand: object) -> Any:
    """The attribute whose values an operand has, where it is one and that is known."""
    return operand._quire_attribute if isinstance(operand, Comparable) else None


def _tree(format: str, *arguments: object) -> Expression:
    from .expression import Expression

    return Expression(Form(format), *arguments)


def _parameter(condition: Callable[..., object]) -> str:
    """The name of the one parameter, where it can be the name of a variable."""
    # Loaded by nothing else here, and slowly.
    import inspect

    try:
        names = list(inspect.signature(condition).parameters)
    except (TypeError, ValueError):
        return "x"
    return names[0] if names and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", names[0]) else "x"
