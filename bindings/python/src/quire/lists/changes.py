"""What happened to a live list."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from ctypes import addressof, byref, c_int64, c_void_p, sizeof, string_at
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Optional, TypeVar, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import failure, text
from ..models._conversions import restored
from ..predicates._evaluation import python_value
from ._section_values import SectionValues, name_of, value_of

if TYPE_CHECKING:
    from ..models.model import Model
    from .results import Results

__all__ = [
    "AggregateChange", "Change", "ChangeSet", "Delete", "DeleteSection", "Insert", "InsertSection", "Move", "Path",
    "PlanOrder", "RowChange", "SectionChange", "Step", "StepKind", "Update",
]

M = TypeVar("M", bound="Model")

_CHANGE = struct.Struct("=IIqqqqqqqQ")
_STEP = struct.Struct("=IIqqqqqqqqqQQ")
assert _CHANGE.size == sizeof(_ffi.quire_change) and _STEP.size == sizeof(_ffi.quire_step)


@public
class Path(NamedTuple):
    """Place of a row: its section, and its place in that, both from 0."""

    section: int
    row: int


@public
class Change(Generic[M]):
    """A change of one row: an `Insert`, `Delete`, `Move` or `Update`.

    "Old" counts in the list before all changes of the set, "new" in the list after all of them. What does not apply is
    None. Two that say the same of the same list are equal.
    """

    __slots__ = ("id", "old", "new", "old_flat", "new_flat", "keys", "_results")
    __match_args__ = ("old", "new")

    def __init__(
        self, results: Results[M], id: int, old: Optional[Path], old_flat: int, new: Optional[Path], new_flat: int,
        keys: tuple[str, ...] = ()
    ) -> None:
        self.id = id
        """The object's id at the time of the change; for deletes the last one it had."""
        self.old = old
        """Place before."""
        self.new = new
        """Place after."""
        self.old_flat = old_flat if old is not None else None
        """Place before, counted over all sections."""
        self.new_flat = new_flat if new is not None else None
        """Place after, counted over all sections."""
        self.keys = keys
        """What changed, of updates and moves: names of properties, and key paths to a related object that did.

        Those are of the sort keys, the section key and what `Results.display` was given. Empty for rows that only
        came to stand elsewhere under another query, and between snapshots.
        """
        self._results = results

    @property
    def results(self) -> Results[M]:
        """The live list that it happened in; of a `Composite`, the one of its lists."""
        return self._results

    @property
    def object(self) -> Optional[M]:
        """The object. Thread: that of the context.

        None for one that was deleted, unless the application holds it, and for one with a temporary id (below 0) that
        has been saved since: ask in the handler.
        """
        return self._results._object_of_change(self.id)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Change):
            return NotImplemented
        return self._results is other._results and self._places() == other._places()

    def __hash__(self) -> int:
        return hash(self._places())

    def _places(self) -> tuple[Any, ...]:
        return type(self), self.id, self.old, self.new, self.old_flat, self.new_flat

    def __repr__(self) -> str:
        places = [f"{name}={tuple(place)}" for name, place in (("old", self.old), ("new", self.new)) if place]
        return f"<{type(self).__name__} {self.id} {' '.join(places)}>"


@public
class Insert(Change[M]):
    """A row that came: `new` is its place."""

    __slots__ = ()
    __match_args__ = ("new",)

    old: None
    old_flat: None
    new: Path
    new_flat: int


@public
class Delete(Change[M]):
    """A row that went: `old` was its place. The object may exist all the same and only have left the list."""

    __slots__ = ()
    __match_args__ = ("old",)

    old: Path
    old_flat: int
    new: None
    new_flat: None


@public
class Move(Change[M]):
    """A row that went from `old` to `new`. It may also have changed otherwise."""

    __slots__ = ()

    old: Path
    old_flat: int
    new: Path
    new_flat: int


@public
class Update(Change[M]):
    """A row that shows other values and kept its place among the rows that did not change."""

    __slots__ = ()

    old: Path
    old_flat: int
    new: Path
    new_flat: int


RowChange = Union[Insert[M], Delete[M], Move[M], Update[M]]
"""What iterating a `ChangeSet` gives: `RowChange[Book]`. `isinstance` tells type checkers which places there are."""

_KINDS: dict[int, type[Any]] = {
    _ffi.QUIRE_CHANGE_INSERT: Insert,
    _ffi.QUIRE_CHANGE_DELETE: Delete,
    _ffi.QUIRE_CHANGE_MOVE: Move,
    _ffi.QUIRE_CHANGE_UPDATE: Update,
}


@public
@dataclass(frozen=True)
class SectionChange:
    """A change of a section: an `InsertSection` or a `DeleteSection`. A section whose name changes is both."""

    index: int
    """Place of the section, from 0."""
    name: str
    """Its name, as `Section.name` is or was."""
    value: Any = field(default=None, compare=False, repr=False)
    """Its value, as `Section.value` is or was."""


@public
class InsertSection(SectionChange):
    """A section that came: `index` is its place after all changes of the set."""


@public
class DeleteSection(SectionChange):
    """A section that went: `index` was its place before all changes of the set, and `name` its name."""


@public
@dataclass(frozen=True)
class AggregateChange:
    """An aggregate that came to have another value. Of a section that came it is all of them."""

    section: Optional[int]
    """Place of the section after all changes of the set, from 0; None for the whole list."""
    name: str
    """Its name, as given to `Query.live`."""
    value: Any
    """What it is now; None also where it cannot be calculated."""


@public
class StepKind(enum.IntEnum):
    """What a `Step` does."""

    INSERT_ROW = _ffi.QUIRE_STEP_INSERT_ROW
    DELETE_ROW = _ffi.QUIRE_STEP_DELETE_ROW
    MOVE_ROW = _ffi.QUIRE_STEP_MOVE_ROW
    UPDATE_ROW = _ffi.QUIRE_STEP_UPDATE_ROW
    INSERT_SECTION = _ffi.QUIRE_STEP_INSERT_SECTION
    DELETE_SECTION = _ffi.QUIRE_STEP_DELETE_SECTION
    REPLACE_ROWS = _ffi.QUIRE_STEP_REPLACE_ROWS


@public
class Step(NamedTuple):
    """One step of the linear form of a change set, or of a plan. What its kind does not need is -1, or empty.

    In the linear form the destination of a move is counted after the row has been taken out, and sections are empty
    when they come and go.
    """

    kind: StepKind
    id: int
    section: int
    row: int
    to_section: int
    to_row: int
    flat: int
    to_flat: int
    removed: int = -1
    """Of `REPLACE_ROWS`: how many rows go at `flat`."""
    inserted: int = -1
    """Of `REPLACE_ROWS`: how many rows come there."""
    removed_ids: tuple[int, ...] = ()
    """Their ids, of those that go."""
    inserted_ids: tuple[int, ...] = ()
    """Their ids, of those that come. A row that stays and is in the range for its header is among both."""


@public
class PlanOrder(enum.IntEnum):
    """How a list view takes changes; see `ChangeSet.plan`."""

    BEFORE_CHILD = _ffi.QUIRE_PLAN_BEFORE_CHILD
    RANGES = _ffi.QUIRE_PLAN_RANGES
    BATCH = _ffi.QUIRE_PLAN_BATCH


_STEP_KINDS = {int(kind): kind for kind in StepKind}
_SECTION_KINDS: dict[int, Union[type[InsertSection], type[DeleteSection]]] = {
    _ffi.QUIRE_CHANGE_INSERT: InsertSection,
    _ffi.QUIRE_CHANGE_DELETE: DeleteSection,
}


@public
class ChangeSet(_handle.Handle, Generic[M]):
    """Everything that happened to a live list at once. Iterating it gives the changes of rows.

    Deletions come first, last to first; then insertions, moves and updates, each first to last. A row that merely
    shifts because of others is not reported. `section_changes` has what happened to sections, `aggregate_changes` what
    came of it. Any thread may read it, until it is closed.
    """

    _survives_fork = True

    def __init__(
        self, results: Results[M], pointer: int,
        values: Optional[tuple[Optional[SectionValues], Optional[SectionValues]]] = None
    ) -> None:
        super().__init__(pointer, quick.quire_changes_release)
        self._results = results
        self._count: int = quick.quire_changes_row_count(pointer)
        self._known_keys: dict[tuple[int, int, int], tuple[str, ...]] = {}
        """Rows that have changed alike share their keys."""
        # Decoded when they are asked for, because a value that cannot be decoded takes no other change along.
        self._sections_read = [
            (_SECTION_KINDS[each.kind], each.index, text(each.name), python_value(each.value, None))
            for each in lent(quick.quire_changes_sections(pointer))]
        self._section_values = [
            self._values_of(kind, index) if values is None else values[kind is InsertSection]
            for kind, index, _, _ in self._sections_read]
        self._aggregates_read = [
            (each.section, text(each.name), python_value(each.value, None))
            for each in lent(quick.quire_changes_aggregates(pointer))]
        self._attributes = results._aggregate_attributes

    @property
    def contents_may_differ(self) -> bool:
        """Whether rows that it does not name may show other values, so that a view draws all of its rows again.

        So it is after a merge of commits of which neither the change journal nor the history of the file tells; see
        `quire.open`. Rows and sections that came, went or moved are exact all the same. Saves of this process never
        cause it.
        """
        return bool(quick.quire_changes_contents_may_differ(self._raw))

    @property
    def section_changes(self) -> tuple[Union[InsertSection, DeleteSection], ...]:
        """The sections that went, last to first, and then those that came, first to last, with their names."""
        return tuple(
            kind(index, name_of(values, name, value), value_of(values, value))
            for (kind, index, name, value), values in zip(self._sections_read, self._section_values))

    @property
    def aggregate_changes(self) -> tuple[AggregateChange, ...]:
        """What `Results.aggregates` came to be: of the whole list, then of sections, first to last.

        A related object may change an aggregate and nothing else; the set has no rows then. Between snapshots there are
        none.
        """
        return tuple(
            AggregateChange(None if section < 0 else section, name, restored(self._attributes.get(name), value))
            for section, name, value in self._aggregates_read)

    @property
    def inserted_sections(self) -> tuple[int, ...]:
        """Places of the sections that came, in the list after the changes, ascending."""
        return self._places_of(InsertSection)

    @property
    def deleted_sections(self) -> tuple[int, ...]:
        """Places of the sections that went, in the list before the changes, ascending."""
        return self._places_of(DeleteSection)

    def steps(self) -> list[Step]:
        """The same as steps to apply one after another to the list before, for widgets that are told of each.

        Each step is valid in the state at its moment: deletions, new sections, insertions and moves, sections that
        have become empty, then updates, those of moved rows among them.
        """
        return _steps(quick.quire_changes_steps(self._raw))

    def plan(self, order: PlanOrder, *, split_moves: bool = False) -> list[Step]:
        """The same as one kind of list view takes it; with `split_moves`, moves as a deletion and an insertion.

        `BEFORE_CHILD` is for Qt and documents: the steps of `steps`, but a row moves before the one at its destination,
        which is counted with the row still in its old place. `to_flat` equals `flat` where a model without sections has
        nothing to do. `RANGES` is GTK's `items-changed`: at `flat`, `removed` rows are replaced by `inserted` others,
        one range after another; rows that came to be the first of their section, or ceased to be, are in a range.
        `BATCH` is UIKit's: places before all changes for what goes, places after them for what comes; sections take
        their rows along, and no row moves out of or into one of these.
        """
        steps, error = _ffi.quire_step_array(), c_void_p()
        status = library.quire_changes_plan(
            self._raw, PlanOrder(order), split_moves, byref(steps), byref(error))
        if status:
            raise failure(status, error)
        return _steps(steps)

    def map(self, old_flat: int) -> Optional[int]:
        """Where the row went that was at this place, counted over all sections, before; None when it is gone."""
        old_flat = _values.whole(old_flat, "a place in the list")
        pointer = self._raw
        if not _values.fits(old_flat):
            return None
        error = c_void_p()
        old, new = c_int64(old_flat), c_int64()
        status = quick.quire_changes_map_positions(pointer, byref(old), 1, byref(new), byref(error))
        if status:
            raise failure(status, error)
        return None if new.value < 0 else new.value

    def __iter__(self) -> Iterator[RowChange[M]]:
        # Read as they are asked for: of a large set many programs need the number alone.
        for row in self._records():
            kind, key_count, id, old_section, old_row, old_flat, new_section, new_row, new_flat, keys = row
            yield _KINDS[kind](
                self._list_of(old_section, new_section), id,
                None if old_section < 0 else Path(old_section, old_row), old_flat,
                None if new_section < 0 else Path(new_section, new_row), new_flat,
                self._names(old_section, new_section, key_count, keys))

    def __len__(self) -> int:
        return self._count

    def _records(self) -> Iterator[tuple[Any, ...]]:
        # They stay where they are until all are read, whatever closes the set meanwhile.
        held = _handle.Slot(quick.quire_changes_release)
        held.value = quick.quire_changes_retain(self._raw)
        yield from _unpacked(_CHANGE, quick.quire_changes_rows(held.value))

    def __repr__(self) -> str:
        return (
            f"<ChangeSet {self._count} rows, {len(self.inserted_sections)} new sections, "
            f"{len(self.deleted_sections)} gone>")

    def _list_of(self, old_section: int, new_section: int) -> Results[M]:
        """The list of a row."""
        return self._results

    def _values_of(self, kind: type[SectionChange], index: int) -> Optional[SectionValues]:
        """What the values of a section are that came or went."""
        if kind is InsertSection:
            return self._list_of(-1, index)._values_of_sections[1]
        return self._list_of(index, -1)._values_of_sections[0]

    def _names(self, old_section: int, new_section: int, count: int, address: int) -> tuple[str, ...]:
        """Keys as the class of the model names its properties; key paths are as they were given."""
        if not count:
            return ()
        owner = self._list_of(old_section, new_section)
        place = count, address, id(owner)
        names = self._known_keys.get(place)
        if names is None:
            strings = (_ffi.quire_string * count).from_address(address)
            own = {each._key: name for name, each in owner._model._quire_entity.properties.items()}
            names = self._known_keys[place] = tuple(own.get(key, key) for key in map(text, strings))
        return names

    def _places_of(self, kind: type[SectionChange]) -> tuple[int, ...]:
        return tuple(sorted(index for found, index, _, _ in self._sections_read if found is kind))

    def _changed_ids(self) -> list[int]:
        """Ids of the rows that show other values."""
        return [row[2] for row in self._records() if row[0] in (_ffi.QUIRE_CHANGE_MOVE, _ffi.QUIRE_CHANGE_UPDATE)]


def lent(records: Any) -> Iterator[Any]:
    """The records of an array of the library, which may be longer than those that are known here."""
    if not records.count:
        return
    first = addressof(records.first.contents)
    kind = type(records.first.contents)
    for index in range(records.count):
        yield kind.from_address(first + index * records.stride)


def _unpacked(form: struct.Struct, records: Any) -> Iterator[tuple[Any, ...]]:
    if not records.count:
        return
    if records.stride != form.size:
        form = struct.Struct(f"{form.format}{records.stride - form.size}x")
    first = addressof(records.first.contents)
    # In parts: no other thread runs while one of them is copied.
    for start in range(0, records.count, _values.AT_ONCE):
        count = min(_values.AT_ONCE, records.count - start)
        yield from form.iter_unpack(string_at(first + start * records.stride, count * records.stride))


def _steps(steps: _ffi.quire_step_array) -> list[Step]:
    """Steps of a set or a plan, for the time that the set is there."""
    made = []
    for kind, _, *numbers, removed_ids, inserted_ids in _unpacked(_STEP, steps):
        removed, inserted = _ids(removed_ids, numbers[-2]), _ids(inserted_ids, numbers[-1])
        made.append(Step._make((_STEP_KINDS[kind], *numbers, removed, inserted)))
    return made


def _ids(address: int, count: int) -> tuple[int, ...]:
    return tuple((c_int64 * count).from_address(address)) if address else ()
