"""Rows of values that the store makes of a query, and what only those can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import byref
from functools import partial
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from ..errors import InvalidArgument, InvalidState
from ..predicates import _owners
from ..predicates.expression import Expression
from ..predicates.keys import KeyPath, path_in
from . import _request
from .column import Columns, named_columns

if TYPE_CHECKING:
    from ..protocols import Query


def makes_rows(query: Query[Any]) -> bool:
    """Whether it says something of rows of values, as opposed to objects."""
    return bool(query._groups) or query._having is not None or query._is_distinct


def check_objects(query: Query[Any], use: str, remedy: str = "") -> None:
    """Refuses, for a use that is of objects, what only rows of values have: that would change nothing."""
    if makes_rows(query):
        raise InvalidArgument(
            f"{written(query)[0]} makes rows of values, and {use} is of objects. "
            + (remedy or "Leave it out, or take values(...), columns(...) or dictionaries(...)."))


def remedy_of_existence(query: Query[Any]) -> str:
    """What to ask instead whether a query that makes rows finds any. Equal rows change nothing about that."""
    return "Leave it out, or take count()." if query._groups and not query._is_distinct else "Leave it out."


def check_values(query: Query[Any], use: str) -> None:
    """Refuses what has no meaning where no objects are read."""
    if query._refreshes:
        raise InvalidArgument(
            f"refreshing() is for objects that are read, and {use} reads none. Leave it out, or call "
            "Context.refresh_all() before.")


def check_all(query: Query[Any]) -> None:
    """Refuses what would make several rows, or others, of a calculation of all objects."""
    found = written(query)
    if query._limit is not None:
        found.append(f"limit({query._limit})")
    if query._offset:
        found.append(f"offset({query._offset})")
    if found:
        raise InvalidArgument(
            f"aggregate calculates one row of all objects of the query, and {found[0]} is of rows. Leave it out, or "
            "take dictionaries(...).")


def written(query: Query[Any]) -> list[str]:
    """What a query says of rows of values, as a program writes it."""
    found = []
    if query._groups:
        found.append(f"group_by({', '.join(map(repr, query._groups))})")
    if query._having is not None:
        found.append(f"having({str(query._having)!r})")
    if query._is_distinct:
        found.append("distinct()")
    return found


def rows(query: Query[Any], keys: Sequence[KeyPath], named: Mapping[str, Union[str, Expression]]) -> Columns:
    """The columns of all rows, straight from the store."""
    taken = _handle.Slot(quick.quire_list_release)
    expressions = _expressions(named)
    made = request(query, keys, expressions)
    try:
        query._run(library.quire_context_fetch, made, byref(taken))
    finally:
        quick.quire_fetch_request_release(made)
    try:
        found = named_columns(
            query._model, partial(library.quire_list_page, taken, 0, quick.quire_list_count(taken)),
            query._context.store._schema.destination,
            None if not keys and not named else {
                **{path: path for path in (path_in(query._model, each) for each in keys)},
                **{name: str(each) for name, each in expressions.items()}})
    finally:
        taken.give_back()
    query._deliver()
    return found


def keyed_rows(query: Query[Any], keys: Sequence[KeyPath]) -> Columns:
    """The same for key paths; without any, those that rows are grouped by."""
    return rows(query, keys or query._groups, {})


def counting_request(query: Query[Any]) -> int:
    """A request whose rows are the groups; the caller owns it."""
    if not query._groups and query._having is None:
        raise InvalidArgument(
            "distinct() is of rows of values, and count() has none that could be equal. Take len(query.values(...)), "
            "or group_by(...).count().")
    return request(query, query._groups, {})


def request(query: Query[Any], keys: Sequence[KeyPath], named: Mapping[str, Union[str, Expression]]) -> int:
    """A request for rows of values; the caller owns it."""
    if query._having is not None and not query._groups:
        raise InvalidState(f"{written(query)[0]} is a condition for groups. Say what makes them with group_by(...).")
    paths = [path_in(query._model, each) for each in keys]
    expressions = _expressions(named)
    _owners.check(query._model, _owners.joined(expressions.values()))
    query._context.store._schema.orders.check(query._model._quire_entity, *expressions.values())
    made = query._request(_ffi.QUIRE_RESULT_DICTIONARIES)
    try:
        for path in paths:
            _put(library.quire_fetch_request_add_property, made, path)
        for name, expression in expressions.items():
            _put(library.quire_fetch_request_add_expression, made, name, expression._raw)
        for path in query._groups:
            _put(library.quire_fetch_request_add_group, made, path)
        if query._having is not None:
            _request.put(library.quire_fetch_request_set_having, made, query._having._raw)
        if query._is_distinct:
            _request.put(library.quire_fetch_request_set_distinct, made, True)
    except BaseException:
        quick.quire_fetch_request_release(made)
        raise
    return made


def _expressions(named: Mapping[str, Union[str, Expression]]) -> dict[str, Expression]:
    return {name: column if isinstance(column, Expression) else Expression(column) for name, column in named.items()}


def _put(call: Any, request: int, name: str, *rest: Optional[int]) -> None:
    encoded = _values.encoded(name)
    _request.put(call, request, encoded, len(encoded), *rest)
