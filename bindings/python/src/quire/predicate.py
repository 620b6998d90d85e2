"""Conditions, as text."""

from __future__ import annotations

from ctypes import byref, c_bool, c_void_p
from typing import TYPE_CHECKING, Any

from . import _handle, _identity, _values
from ._load import library, quick
from .errors import InvalidArgument, InvalidState, InvalidText, failure, text

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Predicate"]


class Predicate(_handle.Handle):
    """A condition in the language of NSPredicate: `Predicate('author == %@ AND price < %f', "Goethe", 5)`.

    The arguments take the places of `%@`, `%K`, `%d` and so on. They are str, int, float, bool, datetime (aware),
    Decimal, UUID, bytes, None, an object of a context, an iterable of these, or for `%K` a key such as `Quote.author`.
    Text in the condition names properties as the store does. nil is a value: `author != "x"` includes objects without
    an author.

    Raises `PredicateError` when it cannot be read; its message shows the place. Immutable; any thread.
    """

    _survives_fork = True

    def __init__(self, format: str, *arguments: Any) -> None:
        if not isinstance(format, str):
            raise TypeError(f"a predicate is a text, not {type(format).__name__}")
        self.format = format
        """The text that it was made from."""
        self.arguments = tuple(map(_values.lasting, arguments))
        """The arguments that it was made from, iterables as tuples of what they held then."""
        super().__init__(parse(format, self.arguments), quick.quire_predicate_release)

    def matches(self, object: Model) -> bool:
        """Whether the object fulfils it, with its values as they are now. Thread: that of the object's context.

        Raises `InvalidArgument` for an unknown key and `Unsupported` for what this version does not evaluate.
        """
        from .model import Model

        if not isinstance(object, Model):
            raise TypeError(f"a predicate matches an object of a model class, not {type(object).__name__}")
        if object._quire_reference is None:
            raise InvalidState(f"{object!r} is in no context yet; context.add(...) puts it into one.")
        error, answer = c_void_p(), c_bool()
        status = library.quire_predicate_matches(self._raw, _identity.handle(object), byref(answer), byref(error))
        if status:
            raise failure(status, error)
        return answer.value

    def __str__(self) -> str:
        """Its canonical text, arguments included; reading that gives a predicate that means the same."""
        return text(quick.quire_predicate_text(self._raw))

    def __repr__(self) -> str:
        return "<Predicate (closed)>" if self.closed else f"<Predicate {self}>"


def parse(format: str, arguments: tuple[Any, ...]) -> int:
    """Reads a predicate of the library; the caller owns it."""
    try:
        encoded = _values.encoded(format)
    except InvalidText as error:
        raise InvalidText(f"The predicate cannot be read: {error.message}") from None
    packed = []
    for place, argument in enumerate(arguments, 1):
        try:
            packed.append(_values.any_value(argument))
        except TypeError as error:
            raise TypeError(f"Argument {place} of the predicate {format!r}: {error}") from None
        except (InvalidArgument, InvalidText) as error:
            raise type(error)(f"Argument {place} of the predicate {format!r}: {error.message}") from None
    values = _values.Values(packed)
    failed, predicate = c_void_p(), c_void_p()
    status = library.quire_predicate_parse(
        encoded, len(encoded), values.array, values.count, byref(predicate), byref(failed))
    if status:
        raise failure(status, failed)
    assert predicate.value is not None
    return predicate.value
