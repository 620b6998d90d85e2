"""Queries that model classes keep by name."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _ffi, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidModel, failure
from ..predicates import _owners
from ..predicates.keys import TEXT_ORDERS, Key, Order, order_of
from ..predicates.predicate import Predicate

if TYPE_CHECKING:
    from ._comparisons import Orders
    from ._entity import Entity

__all__ = ["Template"]


@public
class Template:
    """One of `__templates__` with more than a condition: `quire.Template("price < $limit", "-price", limit=3)`.

    `condition` may be None, for all objects. Keys to order by come behind it, as `Query.order_by` takes them. There are
    at most `limit` objects, all with None, and the first `offset` of them are left out.
    """

    __slots__ = ("condition", "orders", "limit", "offset")

    def __init__(
        self, condition: Union[str, Predicate, None], *order_by: Union[str, Key, Order], limit: Optional[int] = None,
        offset: int = 0
    ) -> None:
        if not (condition is None or isinstance(condition, (str, Predicate))):
            raise TypeError(f"a condition is a text, a Predicate or None, not {type(condition).__name__}")
        for name, number in (("limit", limit), ("offset", offset)):
            if number is not None and not 0 <= _values.whole(number, name) < 2**63:
                raise ValueError(f"{name} is not negative and below 2**63, not {number}")
        self.condition = condition
        self.orders = order_by
        self.limit = limit
        self.offset = offset

    def __repr__(self) -> str:
        return f"quire.Template({', '.join(map(repr, (self.condition, *self.orders)))})"


def add(model: int, entity: Entity, checked: Orders) -> None:
    """Adds the templates of a class."""
    found: dict[str, tuple[str, Any]] = {}
    for place, templates in entity.settings("__templates__"):
        if not isinstance(templates, Mapping):
            raise InvalidModel(f"{place} is a mapping of names to conditions.", entity=entity.name)
        for name, written in templates.items():
            found.setdefault(name, (f"{place}[{name!r}]", written))
    for name, (where, written) in found.items():
        template = _template(where, written)
        orders = [order_of(key) for key in template.orders]
        _owners.check_declared(entity.model, _owners.joined((template.condition, *orders)), where)
        checked.check_declared(entity, where, template.condition, sorts=[order.path for order in orders])
        called = f"{entity.name}.{name}".encode()
        request = made(entity.encoded_name, template.condition, orders, template.limit, template.offset)
        try:
            _call(library.quire_model_add_fetch_template, model, called, len(called), request)
        finally:
            quick.quire_fetch_request_release(request)


def _template(where: str, written: Any) -> Template:
    if isinstance(written, Template):
        return written
    parts = tuple(written) if isinstance(written, (tuple, list)) else (written,)
    if not parts or not isinstance(parts[0], (str, Predicate)):
        raise InvalidModel(f"{where} is a condition, or a tuple of one and of keys to order by, or a quire.Template.")
    return Template(*parts)


def made(
    entity: bytes, condition: Union[str, Predicate, None], orders: list[Order], limit: Optional[int], offset: int = 0
) -> int:
    """A request of the library; the caller owns it."""
    request = c_void_p()
    _call(library.quire_fetch_request_create, entity, len(entity), byref(request))
    assert request.value is not None
    try:
        if condition is not None:
            predicate = condition if isinstance(condition, Predicate) else Predicate(condition)
            _call(library.quire_fetch_request_set_predicate, request, predicate._raw)
        for order in orders:
            add_order(request, order)
        if limit is not None:
            _call(library.quire_fetch_request_set_limit, request, limit)
        if offset:
            _call(library.quire_fetch_request_set_offset, request, offset)
    except BaseException:
        quick.quire_fetch_request_release(request)
        raise
    return request.value


def add_order(request: Any, order: Order) -> None:
    """Adds a key to order by to a fetch request."""
    path = _values.encoded(order.path)
    options = _ffi.quire_sort_options(
        struct_size=ctypes.sizeof(_ffi.quire_sort_options), text_order=TEXT_ORDERS[order.text],
        is_descending=not order.ascending, locale=None if order.locale is None else _values.encoded(order.locale))
    _call(library.quire_fetch_request_add_sort_with_options, request, path, len(path), byref(options))


def _call(function: Any, *arguments: object) -> None:
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status:
        raise failure(status, error)
