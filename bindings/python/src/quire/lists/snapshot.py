"""One state of a live list, kept."""

from __future__ import annotations

from array import array
from ctypes import byref, c_int64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import failure
from ..objects import _rows
from ._section_values import name_of, value_of
from .changes import ChangeSet
from .sections import section_columns

if TYPE_CHECKING:
    from ..models.model import Model
    from .results import Results

__all__ = ["Snapshot", "SnapshotSection"]

M = TypeVar("M", bound="Model")


@public
@dataclass(frozen=True)
class SnapshotSection:
    """A section of a snapshot."""

    name: str
    """As `Section.name`."""
    start: int
    """Place of its first row, counted over all sections."""
    count: int
    """Number of its rows."""
    value: Any
    """As `Section.value`."""


@public
class Snapshot(_handle.Handle, Generic[M]):
    """The ids and sections of a live list at one moment, from `Results.snapshot`. It never changes.

    It shares memory with the list, so that it is cheap to take and to keep. Two are equal when they have the same
    sections with the same rows. Any thread may read it.
    """

    _survives_fork = True

    def __init__(self, results: Results[M], pointer: int) -> None:
        super().__init__(pointer, quick.quire_snapshot_release)
        self._results = results
        self._values_of_sections = results._values_of_sections[1]

    def __len__(self) -> int:
        return int(quick.quire_snapshot_count(self._raw))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot):
            return NotImplemented
        return bool(quick.quire_snapshot_equal(self._raw, other._raw))

    __hash__ = None  # type: ignore[assignment]

    @property
    def generation(self) -> int:
        """`Results.generation` when it was taken."""
        return int(quick.quire_snapshot_generation(self._raw))

    @property
    def ids(self) -> array[int]:
        """All ids in order, as an array of 64-bit numbers."""
        return _rows.ids_of(quick.quire_snapshot_ids, self._raw, 0, len(self))

    @property
    def sections(self) -> list[SnapshotSection]:
        """The sections in order."""
        error, page = c_void_p(), c_void_p()
        status = quick.quire_snapshot_sections(self._raw, _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
        if status:
            raise failure(status, error)
        try:
            columns = section_columns(page.value or 0)
        finally:
            quick.quire_page_release(page)
        values = self._values_of_sections
        return [
            SnapshotSection(name_of(values, name, value), start, count, value_of(values, value))
            for name, start, count, value in zip(*columns)]

    def position_of(self, id: int) -> Optional[int]:
        """The place of an id, counted over all sections, or None when it is not in the list."""
        id = _values.whole(id, "an id")
        pointer = self._raw
        if not _values.fits(id):
            return None
        error = c_void_p()
        wanted, place = c_int64(id), c_int64()
        status = quick.quire_snapshot_positions(pointer, byref(wanted), 1, byref(place), byref(error))
        if status:
            raise failure(status, error)
        return None if place.value < 0 else place.value

    def changes_to(self, later: Snapshot[M]) -> ChangeSet[M]:
        """What turns the list as it was here into that of `later`, as a change of the list would be told.

        Rows that stayed in place are updates when they came to show other values in between. That is known of two
        moments of one list, in whatever order, with no `Results.fetch` in between.
        """
        error, made = c_void_p(), c_void_p()
        status = library.quire_snapshot_changes(self._raw, later._raw, byref(made), byref(error))
        if status:
            raise failure(status, error)
        assert made.value is not None
        return ChangeSet(
            self._results, made.value, (self._values_of_sections, later._values_of_sections))

    def __repr__(self) -> str:
        if self.closed:
            return "<Snapshot (closed)>"
        return f"<Snapshot {len(self)} rows>"
