"""Indexes and uniqueness constraints of model classes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _buffers, _ffi
from .._c._load import library
from .._c._public import public
from ..errors import InvalidArgument, InvalidModel, failure
from ..predicates import _owners
from ..predicates.expression import Expression
from ..predicates.keys import Order, order_of
from ..predicates.predicate import Predicate
from .properties import Attr, Property, ToOne

if TYPE_CHECKING:
    from ._entity import Entity

__all__ = ["Index"]

_OF_EVERY_OBJECT = ("self", "entity")


@public
class Index:
    """One of `__indexes__` with more than names: `quire.Index("latitude", "longitude", rtree=True)`.

    Its `elements` are names of properties, "-name" for descending, "self" for the object, "entity" for its class, and
    expressions, which are kept for the files of models and which no store can make. With a condition as `where` it has
    only the objects that fulfil it: `quire.Index("created_at", where="favorite == YES")`. The condition compares
    attributes of the class with constants. An `rtree` is for ranges of one to five numbers or dates at once.
    """

    __slots__ = ("elements", "where", "rtree")

    def __init__(self, *elements: Any, where: Union[str, Predicate, None] = None, rtree: bool = False) -> None:
        self.elements = elements
        self.where = where
        self.rtree = rtree

    def __repr__(self) -> str:
        return f"quire.Index({', '.join(map(repr, self.elements))})"


def add(model: int, entity: Entity) -> None:
    """Adds the indexes of a class, and its uniqueness constraints."""
    known: set[object] = set()
    for where, written in entity.settings("__indexes__"):
        indexes = list(_indexes(where, written))
        for name, index in indexes:
            # A class may repeat what its mixin has, and may have another index of that name.
            if (_form(index) if name is None else name) not in known:
                _add_index(model, entity, where, name, index)
        known.update(_form(index) if name is None else name for name, index in indexes)
    known.clear()
    for where, written in entity.settings("__unique__"):
        constraints = [
            tuple(_element(entity, item, where)[1]._key_bytes for item in each) for each in _listed(where, written)]
        for keys in constraints:
            if keys not in known:
                _call(
                    library.quire_model_add_uniqueness_constraint, model, entity.encoded_name,
                    len(entity.encoded_name), _buffers.key_array(list(keys)), len(keys))
        known.update(constraints)


def _indexes(where: str, written: Any) -> Iterator[tuple[Optional[str], Index]]:
    """The indexes with the names that were given to them."""
    if isinstance(written, Mapping):
        for name, item in written.items():
            if not isinstance(name, str):
                raise InvalidModel(f"{where}: {name!r:.60} is no name of an index.")
            yield name, _index(item)
    else:
        for sequence in _listed(where, written):
            yield None, sequence if isinstance(sequence, Index) else Index(*sequence)


def _form(index: Index) -> tuple[object, ...]:
    """What equal indexes have in common."""
    return tuple(map(str, index.elements)), str(index.where), index.rtree


def _index(item: Any) -> Index:
    if isinstance(item, Index):
        return item
    return Index(item) if isinstance(item, (str, Order, Attr, ToOne, Expression)) else Index(*item)


def _add_index(model: int, entity: Entity, where: str, name: Optional[str], index: Index) -> None:
    elements = (_ffi.quire_index_element * len(index.elements))()
    expressions = (c_void_p * len(index.elements))()
    names: list[str] = []
    for place, item in enumerate(index.elements):
        if isinstance(item, Expression):
            _owners.check_declared(entity.model, _owners.of(item), f"An index of {entity.name}")
            expressions[place] = item._raw
            names.append("expression")
            continue
        if isinstance(item, str) and item.lstrip("-") in _OF_EVERY_OBJECT:
            key, is_descending = item.lstrip("-"), item.startswith("-")
        else:
            order, found = _element(entity, item, where)
            key, is_descending = found._key, not order.ascending
        elements[place].property = key.encode()
        elements[place].is_descending = is_descending
        names.append(key)
    options = _ffi.quire_index_options(
        struct_size=ctypes.sizeof(_ffi.quire_index_options),
        kind=_ffi.QUIRE_INDEX_RTREE if index.rtree else _ffi.QUIRE_INDEX_BINARY,
        expressions=ctypes.cast(expressions, type(_ffi.quire_index_options().expressions)))
    condition: Optional[Predicate] = None
    if index.where is not None:
        _owners.check_declared(entity.model, _owners.of(index.where), where)
        condition = index.where if isinstance(index.where, Predicate) else Predicate(index.where)
        options.condition = condition._raw
    called = ("_".join(["by", *names]) if name is None else name).encode()
    _call(
        library.quire_model_add_fetch_index_with_options, model, entity.encoded_name, len(entity.encoded_name), called,
        len(called), elements, len(elements), byref(options))
    del condition


def _listed(where: str, written: Any) -> list[Any]:
    """`__indexes__` or `__unique__` of a class, each item as a sequence or an `Index`."""
    if isinstance(written, str):
        raise InvalidModel(f"{where} is a list of names or of tuples of names, not a text.")
    found: list[Union[Sequence[Any], Index]] = []
    for item in written:
        if isinstance(item, Index):
            found.append(item)
        else:
            found.append((item,) if isinstance(item, (str, Order, Attr, ToOne)) else tuple(item))
    return found


def _element(entity: Entity, item: Any, place: str) -> tuple[Order, Property]:
    order = order_of(item)
    _owners.check_declared(entity.model, order._quire_keys, f"An index of {entity.name}")
    if isinstance(item, str):
        try:
            return order, entity.property_named(order.path)
        except InvalidArgument as error:
            raise InvalidModel(
                f"{place}: {error.message}", entity=entity.name, key=order.path) from None
    for found in entity.properties.values():
        if found._key == order.path:
            return order, found
    raise InvalidModel(
        f"{place}: {entity.name} has no property {order.path!r}.", entity=entity.name, key=order.path)


def _call(function: Any, *arguments: Union[object, None]) -> None:
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status:
        raise failure(status, error)
