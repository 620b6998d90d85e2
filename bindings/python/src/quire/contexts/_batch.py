"""Changes of the store itself, without an object for each row."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping
from ctypes import byref, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _buffers, _ffi, _handle, _values
from .._c._load import library, quick
from ..errors import InvalidArgument
from ..predicates import _owners
from ..predicates.keys import Key
from ..predicates.operand import Operand
from ..objects import _identity, _rows
from ..models.properties import Property, ToMany
from ..fetching import _projection, _watch
from ..fetching.cancellation import Cancellation

if TYPE_CHECKING:
    from .context import Context
    from .query import Query

Call = Callable[..., int]


def update(query: Query[Any], changes: Mapping[Union[str, Key], Any], merge: bool) -> array[int]:
    """Sets properties of all objects of a query; gives their ids."""
    _check(query, "update()")
    entity = query._model._quire_entity
    properties: list[Property] = []
    packed: list[_values.Packed] = []
    for key, value in changes.items():
        _owners.check(query._model, _owners.of(key), is_set=True)
        _owners.check(query._model, _owners.of(value))
        if isinstance(value, Operand):
            query._context.store._schema.orders.check(entity, value)
        each = entity.property_named(key._name if isinstance(key, Key) else key)
        if isinstance(each, ToMany):
            raise InvalidArgument(
                f"{each} holds many objects; update sets attributes and relationships to one object.",
                entity=entity.name, key=each._name)
        properties.append(each)
        # An expression is calculated by the library, for each object.
        packed.append(value._quire_pack() if isinstance(value, Operand) else each._pack(each._checked(value)))
    if not properties:
        raise InvalidArgument("update needs properties to set, such as update(price=5).")
    keys = _buffers.key_array([each._key_bytes for each in properties])
    values = _values.Values(packed)

    def call(request: int, *rest: Any) -> int:
        return int(library.quire_context_batch_update(
            query._context._raw, request, keys, values.array, values.count, *rest))

    return _with_request(query, call, merge)


def delete(query: Query[Any], merge: bool) -> array[int]:
    """Deletes all objects of a query; gives the ids that they had."""
    _check(query, "delete()")

    def call(request: int, *rest: Any) -> int:
        return int(library.quire_context_batch_delete(query._context._raw, request, *rest))

    return _with_request(query, call, merge)


def _check(query: Query[Any], use: str) -> None:
    _projection.check_objects(query, use, "Leave it out, and say with where(...) which objects are meant.")
    _projection.check_values(query, use)


def _with_request(query: Query[Any], call: Call, merge: bool) -> array[int]:
    request = query._request(_ffi.QUIRE_RESULT_OBJECTS)
    try:
        watch = _watch.watch(query._progress)
        if watch is not None:
            watch.attach(request)
        return _run(query._context, lambda *rest: call(request, *rest), _options(merge), watch)
    finally:
        quick.quire_fetch_request_release(request)


def insert(
    context: Context, call: Call, merge: bool, upsert: bool, cancellation: Optional[Cancellation],
    progress: Optional[_watch.Progress],
) -> array[int]:
    """Makes a call that inserts rows; gives their ids."""
    _watch.check(cancellation, progress)
    watch = _watch.watch(progress)
    options = _options(merge)
    options.upserts = upsert
    if cancellation is not None:
        options.cancellation = cancellation._raw
    if watch is not None:
        options.progress = ctypes.pointer(watch.progress)
    return _run(context, call, options, watch)


def _options(merge: bool) -> _ffi.quire_batch_options:
    return _ffi.quire_batch_options(struct_size=ctypes.sizeof(_ffi.quire_batch_options), skips_merge=not merge)


def _run(
    context: Context, call: Call, options: _ffi.quire_batch_options, watch: Optional[_watch.Watch]
) -> array[int]:
    """Makes a call of a batch request, and has the context's objects show what it left; gives the ids."""
    context._check_save()
    context._delivery.settle()
    error, taken, count = c_void_p(), _handle.Slot(quick.quire_list_release), c_int64()
    status = call(byref(options), byref(count), byref(taken), byref(error))
    if status:
        context._delivery.after(status, error, None if watch is None else watch.take_failure())
    try:
        ids = _rows.ids_of(quick.quire_list_ids, taken, 0, count.value)
    finally:
        taken.give_back()
    if not options.skips_merge:
        for objects in list(context._maps.values()):
            for reference in list(objects.values()):
                instance = reference()
                if instance is not None:
                    _identity.forget_values(instance)
    context._delivery.deliver()
    return ids
