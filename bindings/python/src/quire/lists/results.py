"""Live lists: sectioned, ordered, and up to date."""

from __future__ import annotations

import ctypes
from array import array
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_int64, c_void_p
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union

from .._c import _buffers, _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, NotFound, WrongType, failure
from ..predicates import _owners
from ..predicates.expression import Expression
from ..predicates.keys import KeyPath, path_in, path_of
from ..objects import _identity, _rows
from ..models import _rules
from ..models.model import Model
from ..fetching import _projection, _watch
from ..fetching.column import Columns, Pages, read_columns, read_tuples
from ._live import Live
from ._shown import Request, Shown, check, prefetched, request_of, sections_of
from ._section_values import SectionValues
from .aggregates import Aggregates
from .changes import ChangeSet, Path
from .section_rule import SectionKey, SectionRule
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..protocols import Query

__all__ = ["Results"]

M = TypeVar("M", bound="Model")

_ROWS_AT_A_TIME = 2048

# As many as the library reads ahead.
_ROWS_AHEAD = 64


@public
class Results(Live[M], Generic[M]):
    """A list of objects that stays up to date, from `Query.live`: a sequence over all its sections.

    It moves when its context processes changes, saved or not (see `Context`), and then calls the handlers that
    `on_change` registered. Keep a reference to it: a list that is collected follows nothing. Closing it, or the end
    of a `with` block, ends it too. Thread: that of the context, unless said otherwise.

    Iterating it, or one of its sections, gives the rows that it had at the start, whatever happens to it meanwhile;
    about those that are deleted meanwhile, see `Query.__iter__`.
    """

    _section_at = library.quire_results_section
    _section_count = quick.quire_results_section_count
    _sections_page = library.quire_results_sections

    def __init__(
        self, query: Query[M], section_by: Optional[SectionKey], aggregates: Mapping[str, Union[str, Expression]],
        cache: Optional[str] = None, wait: bool = True
    ) -> None:
        check(query)
        context = query._context
        key, rule, values = sections_of(query, section_by)
        options = _ffi.quire_results_options(
            struct_size=ctypes.sizeof(_ffi.quire_results_options), queues_changes=True, section_key_path=key,
            section_rule=None if rule is None else rule._raw,
            cache_name=None if cache is None else _values.terminated(cache, "the name of a cache"))
        request = query._request(_ffi.QUIRE_RESULT_OBJECTS)
        # Of its own, because any thread may fetch the list again.
        watch = _watch.Watch(query._progress)
        self._shown = request_of(query, watch, rule, values)
        self._former_section_values = values
        """Those of the query before, for the sections that go with it."""
        self._awaited: Optional[tuple[int, Request]] = None
        """The query that is being read in the background, and the library's number for it."""
        error, made = c_void_p(), _handle.Slot(library.quire_results_release)
        try:
            watch.attach(request)
            status = library.quire_results_create(context._raw, request, byref(options), byref(made), byref(error))
        finally:
            quick.quire_fetch_request_release(request)
        if status:
            raise _rules.complete(context, failure(status, error))
        super().__init__(
            made, library.quire_results_release, context, quick.quire_results_generation(made).contents)
        self._last = range(0)
        self._last_section = range(0), 0, -1
        # After a block of `suspended` that could not resume it.
        self._stays_suspended = False
        # Objects that the program may not have asked for yet.
        self._held: deque[list[Any]] = deque(maxlen=4)
        self._aggregate_texts: dict[str, str] = {}
        try:
            for name, expression in aggregates.items():
                self._add_aggregate(name, expression)
            self._note_aggregates()
            self.fetch() if wait else self._begin_fetch()
        except BaseException:
            self.close()
            raise
        context._delivery.add(quick.quire_results_number(self._raw), self)

    def fetch(self) -> None:
        """Reads it anew. Its handlers are not told.

        It shows the moment of its context then (see `Context`), with what is unsaved: what others have saved since
        comes with `Context.merge`.
        """
        self._context._delivery.begin()
        error = c_void_p()
        status = library.quire_results_fetch(self._raw, byref(error))
        self._note_fetch(not status)
        self._context._delivery.after(status, error, self._request_shown.watch.take_failure())

    def _begin_fetch(self) -> None:
        self._context._delivery.begin()
        error = c_void_p()
        status = library.quire_results_fetch_async(self._raw, byref(error))
        self._note_fetch(not status)
        self._context._delivery.after(status, error, self._request_shown.watch.take_failure())

    @property
    def is_fetched(self) -> bool:
        """Whether it was read, so that it has rows and follows its context. False for a while after
        `Query.live(wait=False)`."""
        return bool(quick.quire_results_is_fetched(self._raw))

    def __await__(self) -> Generator[Any, None, Results[M]]:
        """Waits in an event loop until it is read: `await quotes.live(wait=False)`. Merges the context then. The same
        after `set_query(..., wait=False)`."""
        from . import _arrival

        return _arrival.arrival(self).__await__()

    def set_query(self, query: Query[M], section_by: Optional[SectionKey] = None, wait: bool = True) -> None:
        """Shows another query from now on, and tells the handlers the difference as one change.

        For what is typed into a search field, another order, other sections:
        `live.set_query(quotes.where("contents CONTAINS[cd] %@", text), section_by=Quote.author)`. Rows that stay are
        told of only when they move. Sections of equal values in the store stay, too. Their names may then be
        others, which is not told: members of two enumerations may both be stored as 1. Raises what `Query.live` raises;
        the list then stays as it is.

        With `wait=False` the rows are read in the background, and the list goes on with those that it has. The merge
        for which the context polls readable (`Context.fileno`) shows the new ones and calls the handlers. `await live`
        waits for that, and `awaits_query` says whether it is still to come. A later call takes the place of an earlier
        one. What fails in the background raises from that merge, and the list stays as it is. Lists with a limit, an
        offset, aggregates or functions of the program are read at once, and so are those of children, transactions and
        pinned contexts.
        """
        context = self._context
        if query._context is not context:
            raise InvalidArgument("A list follows its context; give it a query of that.")
        check(query)
        context.store._schema.orders.check(query._model._quire_entity, *self._aggregate_texts.values())
        key, rule, values = sections_of(query, section_by)
        watch = _watch.Watch(query._progress)
        request = query._request(_ffi.QUIRE_RESULT_OBJECTS)
        error = c_void_p()
        try:
            watch.attach(request)
            if not wait:
                return self._begin_query(request, key, rule, request_of(query, watch, rule, values))
            context._delivery.settle()
            context._delivery.take()
            if rule is None:
                status = library.quire_results_set_request(
                    self._raw, request, key, 0 if key is None else len(key), byref(error))
            else:
                status = library.quire_results_set_request_with_rule(self._raw, request, rule._raw, byref(error))
        finally:
            quick.quire_fetch_request_release(request)
        if not status:
            self._awaited = None
            self._show(request_of(query, watch, rule, values))
            try:
                context._delivery.take()
            finally:
                self._former_section_values = values
        self._section_list = None
        context._delivery.after(status, error, watch.take_failure())

    def _begin_query(
        self, request: Any, key: Optional[bytes], rule: Optional[SectionRule], next: Request
    ) -> None:
        self._context._delivery.begin()
        error, number = c_void_p(), c_int64()
        status = library.quire_results_set_request_async(
            self._raw, request, key, 0 if key is None else len(key), None if rule is None else rule._raw,
            byref(number), byref(error))
        if not status:
            self._awaited = number.value, next
        self._section_list = None
        self._context._delivery.after(status, error, next.watch.take_failure())

    @property
    def awaits_query(self) -> bool:
        """Whether a query of `set_query(..., wait=False)` is still being read: the list shows the one before."""
        return bool(quick.quire_results_awaits_request(self._raw))

    def _show(self, next: Request) -> None:
        self._former_section_values, self._shown = self._shown.section_values, next
        self._section_list = None
        self._note_aggregates()

    @property
    def _request_shown(self) -> Request:
        awaited = self._awaited
        if awaited is not None and not self.closed:
            if quick.quire_results_request_number(self._raw) == awaited[0]:
                self._awaited = None
                self._show(awaited[1])
        return self._shown

    @property
    def _model(self) -> type[Model]:
        return self._request_shown.model

    @property
    def _mixes_section_values(self) -> bool:  # type: ignore[override]
        return self._request_shown.mixes_section_values

    @property
    def _values_of_sections(self) -> tuple[Optional[SectionValues], Optional[SectionValues]]:
        """What the values of sections are, before and after the changes that are taken from the library."""
        shown = self._request_shown
        return self._former_section_values, shown.section_values

    def display(self, *key_paths: KeyPath) -> None:
        """Names what rows show of related objects: `live.display("author.name", "tags.@count")`.

        From now on a change there is told as an `Update` of each row that shows it, which names the key path in its
        `keys`. They replace those named before.
        """
        paths = [_values.encoded(path_in(self._model, each)) for each in key_paths]
        error = c_void_p()
        status = library.quire_results_set_displayed_key_paths(
            self._raw, _buffers.key_array(paths), len(paths), byref(error))
        if status:
            raise failure(status, error)

    def snapshot(self) -> Snapshot[M]:
        """The rows and sections as they are now, for good: see `Snapshot`."""
        error, made = c_void_p(), c_void_p()
        status = library.quire_results_snapshot(self._raw, byref(made), byref(error))
        if status:
            raise failure(status, error)
        assert made.value is not None
        return Snapshot(self, made.value)

    @contextmanager
    def suspended(self, tell: bool = True) -> Generator[None, None, None]:
        """Leaves the list as it is within a `with` block, and then shows what has happened meanwhile.

        That is told as one change; with `tell=False` it is not, because the view has done the same already: a row that
        the user has dragged. Raises `InvalidState` when it is suspended already.

        Where what it needs cannot be read at the end, that raises and the list stays as it is; the end of another such
        block shows what has happened since the first began.
        """
        self._context._delivery.begin()
        error = c_void_p()
        arguments, status = (self._raw, byref(error)), 0
        try:
            # Inside, because a KeyboardInterrupt may come as the call returns, when the list is suspended.
            status = library.quire_results_suspend(*arguments)
            if status == _ffi.QUIRE_INVALID_STATE and self._stays_suspended:
                failure(status, error)
                status, error = 0, c_void_p()
            self._context._delivery.after(status, error)
            self._stays_suspended = False
            yield
        finally:
            # Also where a handler raised at the beginning, but not where the list and its context go together.
            if not status and not error.value and not self.closed and self._followed() is not None:
                self._stays_suspended = True
                self._context._delivery.settle()
                if not self.closed:
                    status = library.quire_results_resume(self._raw, tell, byref(error))
                    self._stays_suspended = bool(status)
                self._section_list = None
                self._context._delivery.after(status, error)

    # MARK: reading

    def __len__(self) -> int:
        return int(quick.quire_results_count(self._raw))

    def __contains__(self, item: object) -> bool:
        return isinstance(item, Model) and self._path_of(item) is not None

    def index(self, item: Any, start: int = 0, stop: Optional[int] = None) -> int:
        """The place of an object, counted over all sections. Raises ValueError when it is not in the list."""
        path = self.path_of(item) if item in self else None
        if path is not None:
            place = self.flat(path)
            if place in range(*slice(start, stop).indices(len(self))):
                return place
        raise ValueError(f"{item!r} is not in the list")

    def count(self, item: Any) -> int:
        """1 when the object is in the list, otherwise 0."""
        return 1 if item in self else 0

    @property
    def ids(self) -> array[int]:
        """All ids in order, as an array of 64-bit numbers."""
        return _rows.ids_of(quick.quire_results_ids, self._raw, 0, len(self))

    def values(self, *keys: KeyPath, first: int = 0, count: Optional[int] = None) -> list[tuple[Any, ...]]:
        """A tuple of values for each of `count` rows from `first` on, without making objects: what a window shows.

        A to-one relationship gives an id. Without keys, all attributes in the order of the class; without `count`, all
        rows from `first` on. Raises `InvalidArgument` for rows that there are not.
        """
        return read_tuples(self._model, keys, self._pages(first, count), self._context.store._schema.destination)

    def columns(self, *keys: KeyPath, first: int = 0, count: Optional[int] = None) -> Columns:
        """The same column by column, by key path, as a table for pandas, polars and others. See `Columns`."""
        return read_columns(self._model, keys, self._pages(first, count), self._context.store._schema.destination)

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema: names and types of all attributes."""
        return self.columns().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream of all rows, as they are now, with all attributes. See `Columns`."""
        return self.columns().__arrow_c_stream__()

    @property
    def aggregates(self) -> Aggregates:
        """What is calculated of all rows, by the names given to `Query.live`: `live.aggregates["total"]`."""
        # Made anew, because what is kept would keep the list.
        return Aggregates(self, None)

    def path_of(self, object: Model) -> Optional[Path]:
        """The section and row of an object, or None when it is not in the list."""
        if not isinstance(object, Model):
            raise TypeError(f"an object of a model class has a path, not {type(object).__name__}")
        return self._path_of(object)

    def position_of(self, id: int) -> Optional[int]:
        """The place of an id, counted over all sections, or None when it is not in the list."""
        id = _values.whole(id, "an id")
        pointer = self._raw
        if not _values.fits(id):
            return None
        error = c_void_p()
        wanted, place = c_int64(id), c_int64()
        status = library.quire_results_positions(pointer, byref(wanted), 1, byref(place), byref(error))
        if status:
            raise failure(status, error)
        return None if place.value < 0 else place.value

    @property
    def index_titles(self) -> list[str]:
        """The titles for an index beside the list: `Section.index_title` of each, equal ones beside each other once."""
        if self._names_sections:
            return [title for title, _ in self._titles()]
        error, page = c_void_p(), c_void_p()
        status = library.quire_results_index_titles(
            self._raw, _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
        if status:
            raise failure(status, error)
        try:
            return _buffers.raw_values(_buffers.columns(page.value or 0)[0])
        finally:
            quick.quire_page_release(page)

    def section_for_index_title(self, place: int) -> int:
        """The section that belongs to the title at this place of `index_titles`. Raises `NotFound`."""
        place = _values.whole(place, "a place of index_titles")
        if not _values.fits(place):
            raise NotFound(f"There is no index title at {place}.")
        if self._names_sections:
            titles = self._titles()
            if not 0 <= place < len(titles):
                raise NotFound(f"There is no index title at {place}.")
            return titles[place][1]
        error, section = c_void_p(), c_int64()
        status = library.quire_results_section_for_index_title(self._raw, place, byref(section), byref(error))
        if status:
            raise failure(status, error)
        return section.value

    def __repr__(self) -> str:
        name = self._model.__name__
        if self.closed:
            return f"<Results {name} (closed)>"
        sections = quick.quire_results_section_count(self._raw)
        return f"<Results {name} {sections} sections {len(self)} rows>"

    # MARK: inside

    def _pages(self, first: int, count: Optional[int]) -> Pages:
        first = _values.whole(first, "the first row")
        count = max(len(self) - first, 0) if count is None else _values.whole(count, "the number of rows")
        if not (_values.fits(first) and _values.fits(count)):
            raise InvalidArgument(f"The list has {len(self)} rows, not the {count} from {first} on.")
        return partial(library.quire_results_page, self._raw, first, count)

    def _note_fetch(self, succeeded: bool) -> None:
        self._section_list = None
        if succeeded:
            _identity.forget_pages(self._context, self._model, self.ids)

    @property
    def _names_sections(self) -> bool:
        return self._values_of_sections[1] is not None

    def _titles(self) -> list[tuple[str, int]]:
        """The titles for an index, each with its section."""
        found: list[tuple[str, int]] = []
        for place, section in enumerate(self.sections):
            if not found or found[-1][0] != section.index_title:
                found.append((section.index_title, place))
        return found

    def _section_of(self, section: int) -> tuple[Results[Any], int]:
        return self, section

    def _described(self) -> str:
        return f"A live list of {self._shown.model.__name__}"

    def _path_at(self, row: int) -> Path:
        """The section and row of a place counted over all sections."""
        rows, section, generation = self._last_section
        if generation != self.generation or row not in rows:
            error, wanted, place = c_void_p(), c_int64(row), c_int64()
            status = library.quire_results_section_of(self._raw, byref(wanted), 1, byref(place), byref(error))
            if status:
                raise failure(status, error)
            section = place.value
            found = self._read_section(section)
            rows = range(found.start, found.start + found.count)
            self._last_section = rows, section, self.generation
        return Path(section, row - rows.start)

    def _add_aggregate(self, name: str, expression: Union[str, Expression]) -> None:
        if not isinstance(name, str):
            raise WrongType(f"an aggregate has a text for a name, not {type(name).__name__}")
        made = expression if isinstance(expression, Expression) else Expression(expression)
        _owners.check(self._model, made._quire_keys)
        self._context.store._schema.orders.check(self._model._quire_entity, made)
        encoded = _values.encoded(name)
        error = c_void_p()
        status = library.quire_results_add_aggregate(self._raw, encoded, len(encoded), made._raw, byref(error))
        if status:
            raise failure(status, error)
        self._aggregate_texts[name] = str(made)

    def _note_aggregates(self) -> None:
        """Finds the attributes that aggregates have values of."""
        entity, destination = self._model._quire_entity, self._context.store._schema.destination
        self._aggregate_attributes = {
            name: entity.attribute_of(text, destination) for name, text in self._aggregate_texts.items()}

    def _iterate(self, first: int, count: int) -> Iterator[M]:
        """The objects of these rows, read some at a time, even when the list moves on before the end."""
        ids = self._ids(first, count)
        generation = self.generation
        # A save gives these other ids.
        later = (id for id in ids[_ROWS_AT_A_TIME:] if id < 0)
        unsaved: dict[int, Any] = {each.id: each for each in _rows.existing(self._context, self._model, later)}
        return self._iterate_ids(ids, first, generation, unsaved)

    def _iterate_ids(self, ids: list[int], first: int, generation: int, unsaved: dict[int, Any]) -> Iterator[M]:
        for start in range(0, len(ids), _ROWS_AT_A_TIME):
            some = ids[start : start + _ROWS_AT_A_TIME]
            if self.generation == generation:
                yield from self._window(first + start, len(some))
                continue
            for id in some:
                if id in unsaved:
                    yield unsaved[id]
                else:
                    yield from _rows.existing(self._context, self._model, (id,))  # type: ignore[misc]

    def _window(self, first: int, count: int) -> list[M]:
        found = _rows.known(self._context, self._model, self._ids(first, count))
        if found is not None and self._request_shown.prefetches:
            # What comes with them may have been read by another query, and let go.
            found = found if all("_quire_prefetched" in each.__dict__ for each in found) else None
        if found is None:
            ahead = self._read_ahead(first, count)
            found = self._read(range(first, first + count)) if ahead is None else ahead
        self._last = range(first, first + count)
        return found  # type: ignore[return-value]

    def _read_ahead(self, first: int, count: int) -> Optional[list[Any]]:
        """These rows, when the list is being scrolled, which holds those behind them from now on."""
        last = self._last
        if not (0 < count <= _ROWS_AHEAD and 0 < len(last) <= _ROWS_AHEAD):
            return None
        if last.start < first <= last.stop:
            rows = range(first, min(first + count + _ROWS_AHEAD, len(self)))
        elif last.start <= first + count < last.stop:
            rows = range(max(first - _ROWS_AHEAD, 0), first + count)
        else:
            return None
        try:
            found = self._read(rows)
        except NotFound:
            # It may be none of those that were asked for.
            return None
        self._held.append(found)
        return found[first - rows.start : first - rows.start + count]

    def _read(self, rows: range) -> list[Any]:
        ids = self._ids(rows.start, len(rows))
        if not ids or not self._request_shown.prefetches:
            return _rows.objects_of(self._context, self._model, ids, Shown(self), rows.start, is_complete=True)
        return prefetched(self, ids, rows.start)

    def _ids(self, first: int, count: int) -> list[int]:
        return _rows.read_ids(quick.quire_results_ids, self._raw, first, count)

    def _path_of(self, item: Model) -> Optional[Path]:
        if item._quire_context is not self._context:
            self._raw
            return None
        error = c_void_p()
        path = _ffi.quire_index_path()
        try:
            handle = _identity.handle(item)
        except NotFound:
            return None
        status = library.quire_results_index_path(self._raw, handle, byref(path), byref(error))
        if status:
            failed = failure(status, error)
            if isinstance(failed, NotFound):
                return None
            raise failed
        return Path(path.section, path.row)

    def _object_of_change(self, id: int) -> Optional[M]:
        reference = self._context._objects_of(self._model._quire_entity).get(id)
        instance = None if reference is None else reference()
        if instance is not None:
            return instance  # type: ignore[return-value]
        try:
            handle = _identity.look_up(self._context, self._model._quire_entity, id)
        except NotFound:
            return None
        return _identity.adopt(self._context, handle)  # type: ignore[return-value]

    def _take_changes(self) -> Iterator[ChangeSet[M]]:
        """The change sets that the library has queued, oldest first."""
        shown = self._shown
        yield from self._queued_changes()
        if self._request_shown is not shown:
            self._former_section_values = self._shown.section_values

    def _queued_changes(self) -> Iterator[ChangeSet[M]]:
        while not self.closed:
            error, taken = c_void_p(), c_void_p()
            status = quick.quire_results_next_changes(self._raw, byref(taken), byref(error))
            if status:
                raise failure(status, error)
            if taken.value is None:
                return
            change = ChangeSet(self, taken.value)
            self._section_list = None
            objects = self._context._objects_of(self._model._quire_entity)
            # What is not changed is read again, too, where the objects are fewer than the changes.
            ids = list(objects) if len(objects) < len(change) else change._changed_ids()
            for id in ids:
                reference = objects.get(id)
                instance = None if reference is None else reference()
                if instance is not None:
                    _identity.forget_values(instance)
            yield change
