"""Fetched properties: lists of objects that a request of the class gives for each object."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Optional, TypeVar, Union, overload

from .._c import _values
from .._c._load import library
from .._c._public import public
from ..errors import InvalidModel, NotInContext
from ..predicates.keys import Key, Order, order_of
from ..predicates.predicate import Predicate
from ..objects import _identity, _rows

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Fetched", "fetched"]

M = TypeVar("M", bound="Model")


class FetchedOptions:
    """What `fetched` was given, until the class is complete."""

    def __init__(
        self, condition: Union[str, Predicate, None], orders: tuple[Union[str, Key, Order], ...],
        limit: Optional[int], name: Optional[str], user_info: Optional[Mapping[str, str]] = None
    ) -> None:
        self.user_info = user_info
        self.condition = condition
        self.orders = orders
        self.limit = limit
        self.name = name


def fetched(
    condition: Union[str, Predicate, None], *order_by: Union[str, Key, Order], limit: Optional[int] = None,
    name: Optional[str] = None, user_info: Optional[Mapping[str, str]] = None, init: Literal[False] = False
) -> Any:
    """Says what a fetched property holds.

        thicker: quire.Fetched["Book"] = quire.fetched("pages > $FETCH_SOURCE.pages")

    `condition` is about the objects that it holds; in it `$FETCH_SOURCE` is the object that has the property. None is
    for all objects. They come in the order of `order_by`, keys as `Query.order_by` takes them, and at most `limit` of
    them, all with None. `name` is its name in the store when that differs, and `user_info` is as for `attr`. `init`
    tells type checkers that constructors do not take it; it is always False.
    """
    if init is not False:
        raise TypeError("constructors do not take a fetched property; leave init out")
    if not (condition is None or isinstance(condition, (str, Predicate))):
        raise TypeError(f"a condition is a text, a Predicate or None, not {type(condition).__name__}")
    if limit is not None and not 0 <= _values.whole(limit, "limit") < 2**63:
        raise ValueError(f"limit is not negative and below 2**63, not {limit}")
    return FetchedOptions(condition, order_by, limit, name, user_info)


@public
class Fetched(Generic[M]):
    """A fetched property, in an annotation: `thicker: quire.Fetched["Book"] = quire.fetched(...)`.

    An object gives a list of objects: what its condition finds when it is first read, unsaved objects included. That
    stays until the object is refreshed, less what is deleted. It cannot be assigned, and queries cannot use it.
    """

    def __init__(self, owner: str, name: str, destination: Any, options: FetchedOptions) -> None:
        self._owner = owner
        self._name = name
        self._key_bytes = (options.name or name).encode()
        self._destination = destination
        self._options = options

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Fetched[M]: ...
    @overload
    def __get__(self, instance: object, owner: Optional[type[Any]] = None) -> list[M]: ...
    def __get__(self, instance: Any, owner: Optional[type[Any]] = None) -> Union[Fetched[M], list[M]]:
        if instance is None:
            return self
        context = instance._quire_context
        if context is None:
            raise NotInContext(f"{self} can be read once its object is in a context; context.add(...) puts it there.")
        error, taken = c_void_p(), c_void_p()
        status = library.quire_object_get_fetched(
            _identity.handle(instance), self._key_bytes, len(self._key_bytes), byref(taken), byref(error))
        if status:
            raise context._delivery.failed(status, error)
        return _rows.objects_in(context, taken)  # type: ignore[return-value]

    # No value is a NoReturn, so type checkers refuse every assignment.
    def __set__(self, instance: object, value: NoReturn) -> None:
        raise AttributeError(f"{self} is fetched, and cannot be assigned")

    def __repr__(self) -> str:
        return f"{self._owner}.{self._name}"


def order(each: Fetched[Any], key: Any) -> Order:
    """A key to order by, or what is wrong with it."""
    try:
        return order_of(key)
    except TypeError as error:
        raise InvalidModel(f"{each} cannot be ordered by {key!r}: {error}") from None
