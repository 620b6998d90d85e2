"""Names of what a model declares, for queries: `Quote.author`, `Quote.created_at.desc()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Optional, Union

from .._c import _ffi, _values
from .._c._public import public
from ..errors import InvalidArgument, WrongType
from . import _owners
from .operand import Operand

if TYPE_CHECKING:
    from ..protocols import Model
    from .expression import Expression

__all__ = ["Key", "KeyPath", "Order", "TextOrder"]


TextOrder = Literal["binary", "case-insensitive", "localized", "localized-case-insensitive", "localized-standard"]
"""How text is ordered: by code point; by code point after folding case; as a dictionary of the locale has it; the same
without regard to case; the same with numbers in the text by their value ("File 9" before "File 10")."""

TEXT_ORDERS: dict[TextOrder, int] = {
    "binary": _ffi.QUIRE_TEXT_BINARY,
    "case-insensitive": _ffi.QUIRE_TEXT_CASE_INSENSITIVE,
    "localized": _ffi.QUIRE_TEXT_LOCALIZED,
    "localized-case-insensitive": _ffi.QUIRE_TEXT_LOCALIZED_CASE_INSENSITIVE,
    "localized-standard": _ffi.QUIRE_TEXT_LOCALIZED_STANDARD,
}


@public
class Order:
    """A key path with a direction and an order of text, for `Query.order_by`.

    Made by `Key.asc` and `Key.desc`, or from a key path: `Order("author.name", text="localized", locale="sv")`.
    """

    __slots__ = ("path", "ascending", "text", "locale", "_quire_keys")

    def __init__(
        self, path: KeyPath, ascending: bool = True, text: TextOrder = "binary", locale: Optional[str] = None
    ) -> None:
        self._quire_keys = _owners.of(path)
        if self._quire_keys:
            path = path_of(path)
        if text not in TEXT_ORDERS:
            raise InvalidArgument(f"{text!r} is not an order of text; there are {', '.join(TEXT_ORDERS)}.")
        _values.name(path, "the key path of an order")
        assert isinstance(path, str)
        if locale is not None and b"\0" in _values.name(locale, "a locale"):
            raise InvalidArgument(f"{locale!r} is no locale: it contains U+0000.")
        self.path = path
        """The key path, as the store names it."""
        self.ascending = ascending
        """Whether small values come first. nil comes first ascending and last descending."""
        self.text: TextOrder = text
        """How text is ordered; a `TextOrder`."""
        self.locale = locale
        """ICU's name of the locale for the localized orders, such as "de"; None for what is common to all."""

    def _parts(self) -> tuple[Any, ...]:
        return self.path, self.ascending, self.text, self.locale

    def __repr__(self) -> str:
        text = "" if self.text == "binary" else f" {self.text}" + (f" in {self.locale}" if self.locale else "")
        return f"<Order {self.path} {'ascending' if self.ascending else 'descending'}{text}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Order):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        # A program that reads it may have other classes.
        return Order, self._parts()


@public
class Key(Operand):
    """A property of a model class. Read it from the class: `Quote.author`.

    Its operators and methods make predicates and expressions: `(Quote.price < 5) & Quote.note.is_(None)`.
    """

    _expression: Optional[Expression] = None
    _name: str
    _key: str
    _owner: str
    _is_required: bool
    """Whether a constructor needs it: where type checkers see no default."""
    _model: type[Model]
    _quire_keys: _owners.Keys = _owners.NONE
    """Itself, once its class is there."""

    @property
    def _quire_path(self) -> Optional[str]:
        return self._key

    @property
    def _quire_end(self) -> Optional[Key]:
        return self if hasattr(self, "_destination") else None

    @property
    def _quire_attribute(self) -> Any:
        return self if hasattr(self, "_type") else None

    @property
    def path(self) -> str:
        """The name of the property in the store, as predicates spell it."""
        return self._key

    def asc(self, text: TextOrder = "binary", locale: Optional[str] = None) -> Order:
        """Orders by this property, small values first; text as `TextOrder` says."""
        return Order(self, True, text, locale)

    def desc(self, text: TextOrder = "binary", locale: Optional[str] = None) -> Order:
        """Orders by this property, great values first; text as `TextOrder` says."""
        return Order(self, False, text, locale)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return f"{self._owner}.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        # There is one of it: copies and what is read from a pickle are the same.
        return getattr, (self._model, self._name)

    def _quire_pack(self) -> _values.Packed:
        if self._expression is None:
            from .expression import Expression

            self._expression = Expression("%K", self._key)
        return self._expression._quire_pack()


KeyPath = Union[Key, str, "Expression"]
"""A property read from a model class; one of what it leads to, as `Quote.author.to(Author.name)`; or text: a key path
as predicates spell it, such as "author.name"."""


def path_of(key: KeyPath) -> str:
    """The key path as the store names it."""
    if isinstance(key, str):
        return key
    path = getattr(key, "_quire_path", None)
    if isinstance(path, str):
        return path
    raise WrongType(f"{key!r} is no key path: give a property of a model class, such as Quote.author, or text.")


def path_in(model: type[Model], key: KeyPath) -> str:
    """The same, of objects of a model. Raises `InvalidArgument` for a key of another class."""
    _owners.check(model, _owners.of(key))
    return path_of(key)


def order_of(key: Union[KeyPath, Order]) -> Order:
    """A direction for every form that `order_by` takes."""
    if isinstance(key, Order):
        return key
    if not isinstance(key, str):
        try:
            path_of(key)
        except WrongType as error:
            raise WrongType(
                f'{error.message} Small values come first; for the others write Quote.author.desc() or "-author".'
            ) from None
        return Order(key)
    path = key
    if path in ("", "-"):
        raise InvalidArgument("An empty text is no key path to order by.")
    words = path.split()
    if len(words) == 2 and words[1].lower() in ("asc", "ascending", "desc", "descending"):
        right = words[0].lstrip("-") if words[1].lower().startswith("asc") else f"-{words[0].lstrip('-')}"
        raise InvalidArgument(
            f'An order has its direction before the key path: write "{right}" for {path!r}, or Quote.author.desc().')
    if path.startswith("-"):
        return Order(path[1:], False)
    return Order(path, True)
