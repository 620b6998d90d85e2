"""What live lists calculate of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._c import _ffi, _values
from .._c._load import library
from .._c._public import public
from ..errors import failure
from ..models._conversions import restored
from ..predicates._evaluation import python_value

if TYPE_CHECKING:
    from .results import Results

__all__ = ["Aggregates"]


@public
class Aggregates(Mapping[str, Any]):
    """The aggregates of a live list, or of one of its sections, by name: `live.aggregates["total"]`.

    They are made of `sum: count: min: max: average:` of what is asked of each row that the list shows; None does not
    count. Of no values, count and sum are 0 and the others None. Sums are exact, rounded when they are read: an int
    where all are integers and 64 bits hold it, a Decimal of decimals, otherwise a float. `min:` and `max:` of an
    attribute are values as objects have them. What else is calculated has the form of the store. They follow related
    objects, too, and what changed is in `ChangeSet.aggregate_changes`.

    Reading raises `PredicateError` where a row gives something that has no sum or no order. `dict(live.aggregates)`
    keeps what they are now. Thread: that of the context.
    """

    __slots__ = ("_results", "_place", "_attributes", "_check")

    def __init__(
        self, results: Results[Any], place: Optional[int], check: Optional[Callable[[], object]] = None
    ) -> None:
        self._results = results
        self._place = -1 if place is None else place
        self._attributes = results._aggregate_attributes
        self._check = check

    def __getitem__(self, name: str) -> Any:
        if name not in self._attributes:
            raise KeyError(name)
        if self._check is not None:
            self._check()
        encoded = _values.encoded(name)
        error, value = c_void_p(), _ffi.quire_value()
        status = library.quire_results_aggregate(
            self._results._raw, self._place, encoded, len(encoded), byref(value), byref(error))
        if status:
            raise failure(status, error)
        return restored(self._attributes[name], python_value(value, None))

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        return f"<Aggregates {', '.join(self._attributes)}>"
