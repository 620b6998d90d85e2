"""Fetch requests of the library, made of queries."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _ffi, _values
from .._c._load import library, quick
from ..errors import failure
from ..predicates import _evaluation
from ..models._templates import add_order

if TYPE_CHECKING:
    from ..protocols import Query


_NO_LIMIT = 2**64 - 1


def create(query: Query[Any], result_type: int) -> int:
    """A request for what the query describes; the caller owns it."""
    request = begin(query)
    try:
        _fill(request, query)
        put(library.quire_fetch_request_set_result_type, request, result_type)
    except BaseException:
        quick.quire_fetch_request_release(request)
        raise
    return request


def begin(query: Query[Any]) -> int:
    """A request of the entity alone, or a copy of the query's template; the caller owns it."""
    made = c_void_p()
    if query._template is None:
        entity = query._model._quire_entity
        put(library.quire_fetch_request_create, entity.encoded_name, len(entity.encoded_name), byref(made))
    else:
        name, variables = query._template
        model = quick.quire_store_model(query._context.store._raw)
        array, count, keep = _evaluation.entries(variables)
        encoded = _values.encoded(name)
        put(library.quire_model_fetch_template, model, encoded, len(encoded), array, count, byref(made))
        del keep
    assert made.value is not None
    return made.value


def bounds(query: Query[Any]) -> tuple[Optional[int], int]:
    """The limit and the offset that the query's template has."""
    request = begin(query)
    try:
        info = _ffi.quire_fetch_request_info(struct_size=ctypes.sizeof(_ffi.quire_fetch_request_info))
        put(library.quire_fetch_request_describe, request, byref(info))
        return None if info.limit == _NO_LIMIT else info.limit, info.offset
    finally:
        quick.quire_fetch_request_release(request)


def _fill(request: int, query: Query[Any]) -> None:
    for condition in query._conditions:
        put(library.quire_fetch_request_add_predicate, request, condition._raw)
    for order in query._orders:
        add_order(request, order)
    for each in query._prefetched:
        path = _values.encoded(each)
        put(library.quire_fetch_request_add_prefetch, request, path, len(path))
    if query._refreshes:
        put(library.quire_fetch_request_set_refreshes_refetched_objects, request, True)
    if query._excludes_subentities:
        put(library.quire_fetch_request_set_includes_subentities, request, False)
    if query._excludes_pending:
        put(library.quire_fetch_request_set_includes_pending_changes, request, False)
    if query._cancellation is not None:
        put(library.quire_fetch_request_set_cancellation, request, query._cancellation._raw)
    if query._limit is not None:
        put(library.quire_fetch_request_set_limit, request, query._limit)
    if query._offset:
        put(library.quire_fetch_request_set_offset, request, query._offset)
    if query._batch_size:
        put(library.quire_fetch_request_set_batch_size, request, query._batch_size)


def put(call: Any, *arguments: Any) -> None:
    """A call that says something to a request or makes one; raises what it fails with."""
    error = c_void_p()
    status = call(*arguments, byref(error))
    if status:
        raise failure(status, error)
