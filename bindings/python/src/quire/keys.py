"""Names of what a model declares, for queries: `Quote.author`, `Quote.created_at.desc()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Union

from . import _values
from .errors import InvalidArgument

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Key", "KeyPath", "Order"]


class Order:
    """A key path and a direction, for `Query.order_by`. Made by `Key.asc` and `Key.desc`."""

    __slots__ = ("path", "ascending")

    def __init__(self, path: str, ascending: bool) -> None:
        self.path = path
        """The key path, as the store names it."""
        self.ascending = ascending
        """Whether small values come first. nil comes first ascending and last descending."""

    def __repr__(self) -> str:
        return f"<Order {self.path} {'ascending' if self.ascending else 'descending'}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Order):
            return NotImplemented
        return (self.path, self.ascending) == (other.path, other.ascending)

    def __hash__(self) -> int:
        return hash((self.path, self.ascending))


class Key:
    """A property of a model class. Read it from the class: `Quote.author`."""

    _name: str
    _key: str
    _owner: str
    _model: type[Model]

    @property
    def path(self) -> str:
        """The name of the property in the store, as predicates spell it."""
        return self._key

    def asc(self) -> Order:
        """Orders by this property, small values first."""
        return Order(self._key, True)

    def desc(self) -> Order:
        """Orders by this property, great values first."""
        return Order(self._key, False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return f"{self._owner}.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        # There is one of it: copies and what is read from a pickle are the same.
        return getattr, (self._model, self._name)

    def _quire_pack(self) -> _values.Packed:
        """As the argument for %K."""
        return _values.any_value(self._key)

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that they flag the comparison too.

        def _refuse(self, other: object) -> NoReturn:
            example = {float: "%f", int: "%d"}.get(type(other), "%@")
            raise TypeError(
                f"{self} is a key and cannot be compared; write the condition as text, such as "
                f'where("{self._key} < {example}", {other!r})')

        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
        __hash__ = object.__hash__


KeyPath = Union[Key, str]
"""A property read from a model class, or text: a key path as predicates spell it, such as "author.name"."""


def path_of(key: KeyPath) -> str:
    """The key path as the store names it."""
    if isinstance(key, Key):
        return key.path
    if isinstance(key, str):
        return key
    raise TypeError(f"{key!r} is no key path: give a property of a model class, such as Quote.author, or text")


def order_of(key: Union[KeyPath, Order]) -> Order:
    """A direction for every form that `order_by` takes."""
    if isinstance(key, Order):
        return key
    path = path_of(key)
    if path in ("", "-"):
        raise InvalidArgument("An empty text is no key path to order by.")
    if path.startswith("-"):
        return Order(path[1:], False)
    return Order(path, True)
