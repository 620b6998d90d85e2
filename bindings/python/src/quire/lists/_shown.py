"""What a live list knows of the query that it shows."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from .._c import _handle, _values
from .._c._load import library
from ..errors import failure
from ..fetching import _projection, _watch
from ..models.model import Model
from ..objects import _rows
from ..predicates import _owners
from ..predicates.keys import path_of
from ._section_values import SectionValues
from .section_rule import SectionKey, SectionRule, rule_of

if TYPE_CHECKING:
    from ..protocols import Query
    from .results import Results


class Shown(_rows.Source):
    """The rows of a live list, as it is."""

    __slots__ = ("_results",)

    page_of = library.quire_results_page

    def __init__(self, results: Results[Any]) -> None:
        super().__init__(results._raw)
        self._results = results

    def object_at(self, row: int) -> int:
        error, found = c_void_p(), c_void_p()
        path = self._results._path_at(row)
        status = library.quire_results_object(self.pointer, path.section, path.row, byref(found), byref(error))
        if status:
            raise failure(status, error)
        assert found.value is not None
        return found.value


class Request(NamedTuple):
    """What a list knows of the query that it shows."""

    watch: _watch.Watch
    model: type[Model]
    prefetches: bool
    mixes_section_values: bool
    section_values: Optional[SectionValues]


def request_of(
    query: Query[Any], watch: _watch.Watch, rule: Optional[SectionRule], values: Optional[SectionValues]
) -> Request:
    """The same of a query, in sections of a rule that have such values."""
    return Request(
        watch, query._model, bool(query._prefetched), rule is not None and rule._mixes_values, values)


def check(query: Query[Any]) -> None:
    """Raises where a live list cannot show a query."""
    _projection.check_objects(query, "a live list")
    _projection.check_values(query, "a live list")


def sections_of(
    query: Query[Any], section_by: Optional[SectionKey]
) -> tuple[Optional[bytes], Optional[SectionRule], Optional[SectionValues]]:
    """A key path of the model, or the rule that says more; and what the values of sections are."""
    if section_by is None:
        return None, None, None
    entity, schema = query._model._quire_entity, query._context.store._schema
    _owners.check(query._model, _owners.of(section_by))
    rule = rule_of(section_by)
    path = path_of(section_by) if rule is None else rule._text  # type: ignore[arg-type]
    attribute = entity.attribute_of(path, schema.destination)
    if rule is not None:
        rule = rule._for(attribute)
        schema.orders.check(entity, sorts=(path,), fixed=rule._fixed)
        return None, rule, rule._section_values
    schema.orders.check(entity, sorts=(path,))
    values = None if attribute is None or attribute._type.stored is None else SectionValues(attribute)
    return _values.encoded(path), None, values


def prefetched(results: Results[Any], ids: list[int], first: int) -> list[Any]:
    """The objects of these rows, read together with what the query prefetches, which the objects hold."""
    error, taken = c_void_p(), _handle.Slot(library.quire_list_release)
    status = library.quire_results_objects(results._raw, first, len(ids), byref(taken), byref(error))
    if status:
        raise failure(status, error)
    found = _rows.objects_of(results._context, results._model, ids, _rows.Source(taken), 0, is_complete=True)
    for each in found:
        each.__dict__["_quire_prefetched"] = taken
    return found
