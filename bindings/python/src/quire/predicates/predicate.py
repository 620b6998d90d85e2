"""Conditions, as text and as trees."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Mapping, Sequence
from ctypes import byref, c_bool, c_void_p
from typing import Any, NoReturn, Optional

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import Error, InvalidText, WrongType, failure, text
from . import _evaluation, _owners

__all__ = ["Predicate"]

_reading = threading.RLock()
_PLACEHOLDER = re.compile("%[@K%]")


class Form(str):
    """The text of what operators make of keys and values, which the caller has not written."""

    __slots__ = ()

    def around(self, arguments: Sequence[Any], place: int) -> str:
        """What it looks like in a program, with "..." for one of its arguments, counted from 0."""
        texts = ["..." if each == place else _spelled(argument) for each, argument in enumerate(arguments)]
        values = iter(texts)
        return _PLACEHOLDER.sub(lambda found: "%" if found[0] == "%%" else next(values, ""), self)


def _spelled(argument: object) -> str:
    return str(argument) if hasattr(argument, "_quire_pack") and not isinstance(argument, type) else f"{argument!r:.40}"


@public
class Predicate(_handle.Handle):
    """A condition in the language of NSPredicate: `Predicate('author == %@ AND price < %f', "Goethe", 5)`.

    The arguments take the places of `%@`, `%K`, `%d` and so on. They are str, int, float, bool, datetime (aware),
    Decimal, UUID, bytes, None, an object of a context, an iterable of these, a key such as `Quote.author`, an
    `Expression` or another predicate. Text in the condition names properties as the store does, with a `#` before one
    that is a word of the language, in any case: `#like`, `#None`. nil is a value: `author != "x"` includes objects
    without an author.

    `&`, `|` and `~` join predicates; two are equal when their trees are. Keys and expressions make them too:
    `(Quote.price < 5) & Quote.contents.contains("light", "cd")`.

    Raises `PredicateError` when it cannot be read; its message shows the place. Immutable; any thread.
    """

    _survives_fork = True
    _chain: tuple[str, tuple[Predicate, ...]] = ("", ())
    """AND or OR and the parts, of one that was joined."""
    _is_unread = False
    """It was joined, and the library does not have it yet: so a chain of thousands is read once, not with each part."""

    def __init__(self, format: str, *arguments: Any) -> None:
        self._format = format
        self.arguments = tuple(map(_values.lasting, arguments))
        """The arguments that it was made from, iterables as tuples of what they held then."""
        super().__init__(self._parsed(), quick.quire_predicate_release)
        self._quire_keys = _owners.in_format(format, arguments)

    @classmethod
    def _owning(
        cls, pointer: int, format: str, arguments: tuple[Any, ...], keys: _owners.Keys
    ) -> Predicate:
        made = cls.__new__(cls)
        made._format = format
        made.arguments = arguments
        made._quire_keys = keys
        _handle.Handle.__init__(made, pointer, quick.quire_predicate_release)
        return made

    @property
    def format(self) -> str:
        """The text that it was made from; of one with variables substituted, its canonical text."""
        word, parts = self._chain
        return f" {word} ".join(["%@"] * len(parts)) if parts else self._format

    def _parsed(self) -> int:
        return parse("predicate", library.quire_predicate_parse, self.format, self.arguments)

    @property
    def _raw(self) -> int:
        if self._is_unread:
            pointer = self._parsed()
            with _reading:
                # Another thread may have been quicker.
                if self._is_unread:
                    _handle.Handle.__init__(self, pointer, quick.quire_predicate_release)
                    self._is_unread = False
                else:
                    quick.quire_predicate_release(pointer)
        return super()._raw

    @property
    def closed(self) -> bool:
        """Whether it was closed. Any thread."""
        return not self._is_unread and super().closed

    def close(self) -> None:
        """Gives back what it holds in the library; predicates that were made of it stay. Closing again does nothing."""
        if self._is_unread:
            self._pointer, self._abandoned, self._is_unread = None, False, False
            self._finalizer = weakref.finalize(self, int)
        super().close()

    def _shared(self) -> Predicate:
        """Another reference to the same, which closing this one leaves alone."""
        return self._owning(quick.quire_predicate_retain(self._raw), self.format, self.arguments, self._quire_keys)

    def matches(self, subject: object, /, variables: Optional[Mapping[str, Any]] = None, **more: Any) -> bool:
        """Whether a value fulfils it: an object of a context, a mapping, a dataclass instance, an iterable, or a plain
        value, and any of these inside of each other, at most 64 deep. No store is needed.

        A key that a mapping does not have is nil; the key of a list is the list of what its elements give. `variables`
        and keyword arguments are values for the variables that the predicate leaves open: `matches(row, least=5)`.

        Raises `InvalidArgument` for an unknown key of an object, `PredicateError` for what cannot be compared and
        `Unsupported` for what this version does not evaluate. Thread: that of the objects' context, if any.
        """
        asked = subject_of(subject, variables, more, self)
        error, answer = c_void_p(), c_bool()
        status = library.quire_predicate_evaluate(self._raw, *asked.arguments, byref(answer), byref(error))
        if status:
            raise failure(status, error)
        return answer.value

    def substituting(self, variables: Optional[Mapping[str, Any]] = None, /, **more: Any) -> Predicate:
        """The predicate with a value, a key or an `Expression` for each of its variables: `substituting(least=5)`.

        Raises `PredicateError` when one is missing.
        """
        made = substituted(library.quire_predicate_substitute, self._raw, variables, more)
        keys = _owners.joined((self, *mapping(variables).values(), *more.values()))
        return self._owning(made, text(quick.quire_predicate_text(made)), (), keys)

    def __and__(self, other: Predicate) -> Predicate:
        return self._joined("AND", other)

    def __or__(self, other: Predicate) -> Predicate:
        return self._joined("OR", other)

    def __invert__(self) -> Predicate:
        return Predicate("NOT %@", self)

    def _joined(self, word: str, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            return NotImplemented
        if self.closed or other.closed:
            raise (self if self.closed else other)._use_after_close()
        # a & b & c is one chain, as it is when written as text.
        first = self._chain[1] if self._chain[0] == word else (self._shared(),)
        made = Predicate.__new__(Predicate)
        made._chain = (word, (*first, other._shared()))
        made.arguments = made._chain[1]
        made._quire_keys = _owners.joined((self, other))
        made._is_unread = True
        return made

    def __eq__(self, other: object) -> bool:
        """Whether the two are the same tree: `a AND b` is not `b AND a`."""
        if not isinstance(other, Predicate):
            return NotImplemented
        return bool(quick.quire_predicate_equal(self._raw, other._raw))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise WrongType(
            "A predicate is neither true nor false by itself: ask matches(...), and join predicates with & | ~ and "
            "parentheses around each comparison.")

    def __str__(self) -> str:
        """Its canonical text, arguments included; reading that gives an equal predicate."""
        return text(quick.quire_predicate_text(self._raw))

    def __repr__(self) -> str:
        return "<Predicate (closed)>" if self.closed else f"<Predicate {self}>"

    def _quire_pack(self) -> _values.Packed:
        return _values.pointer_to(self._raw, _ffi.QUIRE_VALUE_PREDICATE, self)


def parse(what: str, call: Any, format: str, arguments: tuple[Any, ...]) -> int:
    """Reads a predicate or an expression of the library; the caller owns it."""
    if not isinstance(format, str):
        raise no_condition(format) if what == "predicate" else WrongType(
            f"an expression is a text, not {type(format).__name__}")
    try:
        encoded = _values.encoded(format)
    except InvalidText as error:
        raise InvalidText(f"The {what} cannot be read: {error.message}") from None
    packed = []
    for place, argument in enumerate(arguments):
        try:
            packed.append(_values.any_value(argument))
        except Error as error:
            raise _misplaced(error, what, format, arguments, place) from None
    values = _values.Values(packed)
    failed, made = c_void_p(), c_void_p()
    status = call(encoded, len(encoded), values.array, values.count, byref(made), byref(failed))
    if status:
        raise failure(status, failed)
    assert made.value is not None
    return made.value


def _misplaced(error: Error, what: str, format: str, arguments: tuple[Any, ...], place: int) -> Error:
    """The error of an argument, which says where that stands, and which property it was for."""
    if isinstance(format, Form):
        where = format.around(arguments, place)
    else:
        where = f"Argument {place + 1} of the {what} {format!r}"
    key: Any = next((each for each in arguments if hasattr(each, "_owner")), None)
    about = {} if key is None else {"entity": key._owner, "key": key._name}
    return type(error)(f"{where}: {error.message}", **about)


def no_condition(value: object, example: str = "Book.title") -> WrongType:
    """What to say to a condition that is none; the example is a key that the caller has."""
    if isinstance(value, bool):
        return WrongType(
            f"A condition is a Predicate or a text, not {value}: Python itself has answered what was asked with `is`, "
            f"`in` or `not`. Write {example}.is_(None), {example}.is_not(None), {example}.in_(...) or ~(...) instead.")
    if hasattr(value, "_quire_pack") and not isinstance(value, type):
        return WrongType(f"A condition is a Predicate or a text; {value} is a value. Compare it: {value} == ...")
    return WrongType(f"A condition is a Predicate or a text, not {_values.called(value)}.")


def subject_of(
    subject: object, variables: Optional[Mapping[str, Any]], more: Mapping[str, Any], tree: object
) -> _evaluation.Subject:
    """What is asked about, with the values of variables from both places. The keys have to be of an object's class."""
    model: Any = type(subject)
    if hasattr(model, "_quire_entity"):
        _owners.check(model, _owners.of(tree))
        context: Any = getattr(subject, "_quire_context", None)
        if context is not None:
            context.store._schema.orders.check(model._quire_entity, tree)
    return _evaluation.Subject(subject, {**mapping(variables), **more})


def mapping(variables: Optional[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The variables of a call."""
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise WrongType(f"the variables are a mapping of names to values, not {type(variables).__name__}")
    return variables


def substituted(call: Any, raw: int, variables: Optional[Mapping[str, Any]], more: Mapping[str, Any]) -> int:
    """A tree of the library with values for variables; the caller owns it."""
    values = {**mapping(variables), **more}
    array, count, keep = _evaluation.entries(values)
    failed, made = c_void_p(), c_void_p()
    status = call(raw, array, count, byref(made), byref(failed))
    del keep
    if status:
        raise failure(status, failed)
    assert made.value is not None
    return made.value
