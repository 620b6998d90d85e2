"""Queries: which objects, in which order, how many, and as what."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_int64, c_void_p
from contextlib import nullcontext
from functools import reduce
from operator import and_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, NoReturn, Optional, TypeVar, Union, overload

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, MultipleFound, NotFound, WrongType
from ..predicates import _evaluation, _owners
from ..predicates.expression import Expression
from ..predicates.keys import Key, KeyPath, Order, order_of, path_in
from ..predicates.predicate import Predicate, no_condition
from ..objects import _identity, _rows
from ..models._entity import Destination
from ..fetching import _projection, _request, _watch
from ..fetching.cancellation import Cancellation
from ..fetching.column import Columns, Pages, read_columns, read_tuples, tuples

if TYPE_CHECKING:
    from ..models.model import Model
    from ..lists.results import Results
    from ..lists.section_rule import SectionKey
    from .context import Context

__all__ = ["Query"]

M = TypeVar("M", bound="Model")
R = TypeVar("R")

# Large enough to make the call around a page cheap, small enough to begin soon and to hold little.
_ROWS_AT_A_TIME = 2000

# The greatest number of rows that the library counts to.
_MOST = 2**63 - 1


@public
class Query(Generic[M]):
    """A description of a list of objects, from `Context.query`. It reads nothing until it is asked for something.

    It is immutable: each method gives a new query. Iterating it, `all`, `count` and the like run it each time, unsaved
    changes of the context included. Running it processes pending changes first, so handlers of live lists may be
    called. Thread: that of the context.
    """

    __slots__ = (
        "_context", "_model", "_conditions", "_orders", "_limit", "_offset", "_batch_size", "_groups", "_having",
        "_is_distinct", "_template", "_prefetched", "_refreshes", "_excludes_subentities", "_excludes_pending",
        "_cancellation", "_progress")

    _context: Context
    _model: type[M]
    _conditions: tuple[Predicate, ...]
    _orders: tuple[Order, ...]
    _limit: Optional[int]
    _offset: int
    _batch_size: int
    _groups: tuple[str, ...]
    _having: Optional[Predicate]
    _is_distinct: bool
    _template: Optional[tuple[str, dict[str, Any]]]
    _prefetched: tuple[str, ...]
    _refreshes: bool
    _excludes_subentities: bool
    _excludes_pending: bool
    _cancellation: Optional[Cancellation]
    _progress: Optional[_watch.Progress]

    def __init__(self, context: Context, model: type[M]) -> None:
        self._context = context
        self._model = model
        self._conditions = ()
        self._orders = ()
        self._limit = None
        self._offset = 0
        self._batch_size = 0
        self._groups = ()
        self._having = None
        self._is_distinct = False
        self._template = None
        self._prefetched = ()
        self._refreshes = False
        self._excludes_subentities = False
        self._excludes_pending = False
        self._cancellation = None
        self._progress = None

    def _but(self, **changes: Any) -> Query[M]:
        made: Query[M] = Query(self._context, self._model)
        for name in Query.__slots__[2:]:
            setattr(made, name, changes.get(name, getattr(self, name)))
        return made

    def where(self, condition: Union[str, Predicate], *arguments: Any) -> Query[M]:
        """Only objects that fulfil the condition too: `where("price < %f AND author == %@", 5, "Goethe")`, or
        `where((Quote.price < 5) & (Quote.author == goethe))`. Of several predicates, `where(A, B)`, all must hold.

        Text names properties as the store does; see `Predicate` for the arguments. Raises `PredicateError`.
        """
        return self._but(_conditions=(*self._conditions, self._condition(condition, arguments)))

    def order_by(self, *keys: Union[KeyPath, Order]) -> Query[M]:
        """Orders by these keys, after those given before: `order_by(Quote.author, Quote.created_at.desc(), "-price")`.

        None comes first ascending and last descending, text orders by code point, and equal rows order by id.
        """
        orders = tuple(map(order_of, keys))
        _owners.check(self._model, _owners.joined(orders))
        self._context.store._schema.orders.check(self._model._quire_entity, sorts=[each.path for each in orders])
        return self._but(_orders=(*self._orders, *orders))

    def limit(self, count: Optional[int]) -> Query[M]:
        """At most `count` objects; 0 is none, and None takes a limit back."""
        return self._but(_limit=None if count is None else _values.natural(count, "limit"))

    def offset(self, count: int) -> Query[M]:
        """Leaves out the first `count` objects."""
        return self._but(_offset=_values.natural(count, "offset"))

    def batch_size(self, count: int) -> Query[M]:
        """Reads the values of so many objects at a time; 0 leaves the number to the package.

        Without effect where no objects are read, as in `count` and `values`.
        """
        return self._but(_batch_size=_values.natural(count, "batch_size"))

    def group_by(self, *keys: KeyPath) -> Query[M]:
        """One row for all objects that have the same values at these keys and those given before, in `dictionaries`,
        `values`, `columns` and `explain`; `count` gives the number of groups. What is of objects raises
        `InvalidArgument`.

        Every column must then be one of the keys, an aggregate such as `sum:(price)`, or made of these. These rows come
        straight from the store, without unsaved changes.
        """
        return self._but(_groups=(*self._groups, *(path_in(self._model, key) for key in keys)))

    def having(self, condition: Union[str, Predicate], *arguments: Any) -> Query[M]:
        """Only groups that fulfil the condition too, where `group_by` makes some.

        It may name a column (`having("total > 10")`), also as a variable (`$total`), or spell out what it is made of
        (`sum:(price) > 10`).
        """
        made = self._condition(condition, arguments)
        return self._but(_having=made if self._having is None else self._having & made)

    def distinct(self) -> Query[M]:
        """Equal rows become one in `dictionaries`, `values`, `columns` and `explain`: `distinct().values(Quote.note)`.

        The order must then be one of columns. As with `group_by`, the rows come straight from the store, and what is of
        objects raises `InvalidArgument`.
        """
        return self._but(_is_distinct=True)

    def prefetch(self, *paths: KeyPath) -> Query[M]:
        """Reads related objects together with those of the query: `prefetch(Quote.author, "author.quotes")`.

        Each relationship, and each step of a path of them, takes one statement instead of one for each object. The
        related objects stay read as long as an object of the result is there; a live list holds those of the last rows.
        Without effect where no objects are read, as in `count` and `values`.
        """
        return self._but(_prefetched=(*self._prefetched, *(path_in(self._model, path) for path in paths)))

    def refreshing(self) -> Query[M]:
        """Has the query show what is in the store now, also in objects that were read before. The whole context moves
        on for that, as by `Context.merge`.

        Unsaved changes stay, on top of the new values. Where another writer has saved another value of the same
        attribute, the next `save` writes the value here.
        """
        return self._but(_refreshes=True)

    def excluding_subentities(self) -> Query[M]:
        """Only objects of the class itself, none of classes that inherit from it."""
        return self._but(_excludes_subentities=True)

    def excluding_pending_changes(self) -> Query[M]:
        """Asks what is saved: unsaved objects are left out, and saved values decide.

        Objects that come all the same show their unsaved values. Live lists always include pending changes
        (`Unsupported`).
        """
        return self._but(_excludes_pending=True)

    def watched(
        self, *, cancellation: Optional[Cancellation] = None, progress: Optional[Callable[[int], object]] = None
    ) -> Query[M]:
        """Lets another thread end the query, or shows how far it is: `watched(progress=lambda rows: print(rows))`.

        `progress` is called now and then with the number of rows read so far, on the thread that runs the query; False
        ends that. Not to be used from there are the context and the others of its store (`InvalidState`). The query
        raises `Cancelled`, or what the function raised. Ctrl-C ends a query without any of this. The same holds for
        `update` and `delete`, until they have done the last row: what is ended has changed nothing.
        """
        _watch.check(cancellation, progress)
        return self._but(_cancellation=cancellation, _progress=progress)

    # MARK: running

    def __iter__(self) -> Iterator[M]:
        """The objects, whose values are read some at a time. Which objects there are is decided at the start.

        One that is deleted meanwhile comes all the same and says so when it is read; but when other classes inherit
        from that of the query, so that it can no longer be told what it was, it is left out.
        """
        _projection.check_objects(self, "iterating")
        step = self._batch_size or _ROWS_AT_A_TIME
        taken = self._take(step)
        with taken if not self._prefetched else nullcontext():
            self._deliver()
            count = quick.quire_list_count(taken._raw)
            for first in range(0, count, step):
                yield from self._objects(taken, first, min(step, count - first))

    def all(self) -> list[M]:
        """All objects, with their values."""
        _projection.check_objects(self, "all()")
        step = self._batch_size
        taken = self._take(step)
        with taken if not self._prefetched else nullcontext():
            count = quick.quire_list_count(taken._raw)
            found: list[M] = []
            for first in range(0, count, step or max(count, 1)):
                found += self._objects(taken, first, min(step or count, count - first))
        self._deliver()
        return found

    def first(self) -> Optional[M]:
        """The first object, or None."""
        _projection.check_objects(self, "first()")
        found = self._at_most(1).all()
        return found[0] if found else None

    def one(self) -> M:
        """The only object. Raises `NotFound` when there is none, `MultipleFound` when there are more."""
        _projection.check_objects(self, "one()")
        found = self._at_most(2).all()
        if not found:
            raise NotFound(f"There is no {self._model.__name__} that fulfils the query {self!r}.")
        if len(found) > 1:
            raise MultipleFound(f"More than one {self._model.__name__} fulfils the query {self!r}.")
        return found[0]

    def count(self) -> int:
        """How many objects there are, or groups, see `group_by`; limit and offset count."""
        count = c_int64()
        if _projection.makes_rows(self):
            request = _projection.counting_request(self)
        else:
            request = self._request(_ffi.QUIRE_RESULT_OBJECTS)
        try:
            self._run(library.quire_context_count, request, byref(count))
        finally:
            quick.quire_fetch_request_release(request)
        self._deliver()
        return count.value

    def exists(self) -> bool:
        """Whether there is any object."""
        _projection.check_objects(self, "exists()", _projection.remedy_of_existence(self))
        return self._at_most(1).count() > 0

    def ids(self) -> array[int]:
        """The ids of the objects, as an array of 64-bit numbers. No object is made."""
        _projection.check_objects(self, "ids()")
        _projection.check_values(self, "ids()")
        taken = self._fetch(_ffi.QUIRE_RESULT_IDS)
        try:
            found = _rows.ids_of(quick.quire_list_ids, taken, 0, quick.quire_list_count(taken))
        finally:
            taken.give_back()
        self._deliver()
        return found

    def values(self, *keys: KeyPath) -> list[tuple[Any, ...]]:
        """A tuple of values for each object, without making objects: `values(Quote.author, "book.title")`.

        A to-one relationship gives an id. Without keys, all attributes in the order of the class. With `group_by`, a
        tuple for each group, and without keys those of the groups.
        """
        _projection.check_values(self, "values()")
        if _projection.makes_rows(self):
            found = _projection.keyed_rows(self, keys)
            wanted = [found[key].to_list() for key in keys] or [each.to_list() for each in found.values()]
            return list(zip(*wanted))
        return self._read(read_tuples, keys)

    def columns(self, *keys: KeyPath) -> Columns:
        """The values of all objects column by column, by key path, as a table for pandas, polars and others.

        Numbers are used without a copy. See `Columns`, and `Column`.
        """
        _projection.check_values(self, "columns()")
        if _projection.makes_rows(self):
            return _projection.keyed_rows(self, keys)
        return self._read(read_columns, keys)

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema: names and types of what `columns()` reads. It runs the query."""
        return self.columns().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream of what `columns()` reads. See `Columns`."""
        return self.columns().__arrow_c_stream__()

    def dictionaries(self, *keys: KeyPath, **columns: Union[str, Expression]) -> list[dict[str, Any]]:
        """A dict for each row: `group_by(Quote.author).dictionaries(Quote.author, total="sum:(price)")`.

        The keys are attributes, to-one relationships (their ids) and key paths through these; the named columns are
        expressions of the language, in which `sum: count: min: max: average: median: stddev:` of a key are taken of all
        rows of a group, or of all rows. Nothing at all gives every attribute. Every dict has all of them, None where
        there is no value. Unsaved changes are left out: rows come from the store. See `aggregate` for `attr(as_=...)`.
        """
        _projection.check_values(self, "dictionaries()")
        found = _projection.rows(self, keys, columns)
        return [dict(zip(found, row)) for row in tuples(found)]

    def aggregate(self, **columns: Union[str, Expression]) -> dict[str, Any]:
        """What is calculated of all objects in the store together: `aggregate(dearest="max:(price)")`. The least and
        the greatest are values as objects have them. What else is calculated has the form of the store."""
        if not columns:
            raise InvalidArgument("aggregate needs what to calculate, such as total=\"sum:(price)\".")
        _projection.check_all(self)
        _projection.check_values(self, "aggregate()")
        rows = tuples(_projection.rows(self, (), columns))
        if len(rows) != 1:
            raise InvalidArgument(
                f"aggregate is for calculations that give one row, and this gives {len(rows)}; take dictionaries(...).")
        return dict(zip(columns, rows[0]))

    def explain(self, *keys: KeyPath, **columns: Union[str, Expression]) -> str:
        """What running the query would do: the SQL, its arguments, SQLite's plan with the indexes it would use, and the
        parts that no index serves. For people; the wording changes between versions.

        With keys and columns, what `dictionaries` of them would do. With `group_by` and without columns, those are the
        keys of the groups.
        """
        if keys or columns or _projection.makes_rows(self):
            request = _projection.request(self, keys if keys or columns else self._groups, columns)
        else:
            request = self._request(_ffi.QUIRE_RESULT_OBJECTS)
        error, made = c_void_p(), c_void_p()
        try:
            status = library.quire_fetch_request_explain(request, self._context._raw, byref(made), byref(error))
        finally:
            quick.quire_fetch_request_release(request)
        if status:
            self._context._delivery.fail(status, error, delivers=self._refreshes)
        assert made.value is not None
        try:
            found = _evaluation.python_value(quick.quire_evaluation_value(made.value).contents, None)
        finally:
            quick.quire_evaluation_release(made.value)
        self._deliver()
        return str(found)

    def live(
        self, section_by: Optional[SectionKey] = None, *,
        aggregates: Optional[Mapping[str, Union[str, Expression]]] = None, cache: Optional[str] = None,
        wait: bool = True
    ) -> Results[M]:
        """A list that stays up to date, in sections by the values of `section_by` when that is given.

        That is a key path, an expression, or a rule such as `quire.sections.by_letter(Quote.author, locale="sv")`.
        Sections come first in the order. A limit and an offset stay true: a row that is pushed out of the window is
        reported as deleted, and one that is drawn in as inserted.

        `aggregates` names what is calculated of the rows, of each section and of the whole list, and kept up to date:
        `live(Quote.author, aggregates={"total": "sum:(price * amount)"})`; see `Results.aggregates`.

        `cache` names a file beside the store in which the list leaves its rows and sections when it is read, so that
        the next program to list the same need not read them again while the store has not been written. It is never
        wrong: what does not fit the query and the store as they are is not used. It has no effect for stores in
        memory, child contexts, lists with aggregates, limits and offsets, rules that are more than a key path, and
        predicates that give another answer at another time. `Store.delete_cache` deletes it.

        With `wait=False` a thread of the store reads it, and it is empty until the context merges after that:
        `await quotes.live(wait=False)`, or `Context.merge` once the context polls readable (`Context.fileno`). Lists
        with a limit, an offset, aggregates, a cache or functions of the program are read at once. So are those of a
        child, of a pinned context, within a `transaction`, and of a file without a write-ahead log.
        """
        from ..lists.results import Results

        return Results(self, section_by, aggregates or {}, cache, wait)

    # MARK: changing the store

    @overload
    def update(
        self, changes: Mapping[Union[str, Key], Any] = ..., /, *, merge: bool = ..., returning_ids: Literal[True],
        **values: Any
    ) -> array[int]: ...
    @overload
    def update(
        self, changes: Mapping[Union[str, Key], Any] = ..., /, *, merge: bool = ...,
        returning_ids: Literal[False] = ..., **values: Any
    ) -> int: ...
    def update(
        self, changes: Mapping[Union[str, Key], Any] = MappingProxyType({}), /, *, merge: bool = True,
        returning_ids: bool = False, **values: Any
    ) -> Union[int, array[int]]:
        """Sets properties of all objects of the query in the store: `query.where("price < 5").update(price=5)`.

        It is saved at once, in one transaction, and no object is made for it. What is saved decides which objects the
        query has: all that is saved by then, also what others have saved and this context has not merged. Its unsaved
        changes stay unsaved, on top of the new values. Gives how many objects the query has, or with `returning_ids`
        their ids. Properties are given by their names in the class, or by keys: `update({Quote.author: goethe})`. An
        attribute may be given an expression, which is calculated for each object from what was saved:
        `update(price=Quote.price * 2)`.

        Objects of this context and its live lists take the change over. With `merge=False` they do so by the next
        `Context.merge`, as those of other contexts. Raises `ValidationError` (None for what needs a value),
        `ConstraintError`, `Busy`, `ReadOnly`, `Cancelled` (see `watched`); nothing was changed then.
        """
        from . import _batch

        wanted: dict[Union[str, Key], Any] = dict(changes)
        for name, value in values.items():
            wanted[name] = value
        ids = _batch.update(self, wanted, merge)
        return ids if returning_ids else len(ids)

    @overload
    def delete(self, *, merge: bool = ..., returning_ids: Literal[True]) -> array[int]: ...
    @overload
    def delete(self, *, merge: bool = ..., returning_ids: Literal[False] = ...) -> int: ...
    def delete(self, *, merge: bool = True, returning_ids: bool = False) -> Union[int, array[int]]:
        """Deletes all objects of the query from the store, by the delete rules: `query.where("price < 5").delete()`.

        It is saved at once, in one transaction; see `update` for what it sees, what it gives, and `merge`. Objects that
        the rule "cascade" takes along are not counted. Raises `ValidationError` (the rule "deny", a relationship that
        must not be left empty), `Busy`, `ReadOnly`, `Cancelled` (see `watched`); nothing was deleted then.
        """
        from . import _batch

        ids = _batch.delete(self, merge)
        return ids if returning_ids else len(ids)

    @overload
    def __getitem__(self, index: int) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> list[M]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[M, list[M]]:
        """Runs the query for one place or a slice of places, counted from 0: `query[100:150]`."""
        if isinstance(index, slice):
            start = 0 if index.start is None else _values.whole(index.start, "the start of a slice")
            stop = None if index.stop is None else _values.whole(index.stop, "the end of a slice")
            if start < 0 or (stop is not None and stop < 0) or index.step not in (None, 1):
                raise InvalidArgument("A slice of a query counts from the start, in steps of 1; turn its order around.")
            room = None if self._limit is None else max(self._limit - start, 0)
            if not _values.fits(self._offset + start):
                room = start = 0
            rest = self._but(_offset=self._offset + start, _limit=room)
            return (rest if stop is None else rest._at_most(max(stop - start, 0))).all()
        index = _values.whole(index, "a place of a query")
        if index < 0:
            raise InvalidArgument("A place of a query counts from the start; turn its order around.")
        found = self[index : index + 1]
        if not found:
            raise IndexError(f"the query has no object at {index}")
        return found[0]

    def __bool__(self) -> NoReturn:
        raise WrongType("A query is neither true nor false by itself: ask exists(), count(), or all() for a list.")

    if not TYPE_CHECKING:
        # Hidden from type checkers, which say so by themselves. `list(query)` goes on without a length.

        def __len__(self):
            raise WrongType("A query has no length before it runs: ask count(), or take all() for a list.")

    def __repr__(self) -> str:
        parts = [] if self._template is None else [f"template({self._template[0]!r})"]
        parts += [f"where({str(each)!r})" for each in self._conditions if not each.closed]
        if self._orders:
            parts.append("order_by(" + ", ".join(_written(o) for o in self._orders) + ")")
        parts += _projection.written(self)
        parts += [] if self._limit is None else [f"limit({self._limit})"]
        parts += [f"offset({self._offset})"] if self._offset else []
        return f"<Query {'.'.join([self._model.__name__, *parts])}>"

    # MARK: inside

    def _at_most(self, count: int) -> Query[M]:
        return self._but(_limit=min(count, _MOST if self._limit is None else self._limit))

    def _condition(self, condition: Union[str, Predicate], arguments: tuple[Any, ...]) -> Predicate:
        if isinstance(condition, Predicate):
            for each in arguments:
                if not isinstance(each, Predicate):
                    raise WrongType(
                        f"A Predicate has its arguments already, and {each!r:.60} is none. Join conditions with &, or "
                        "call where once for each.")
            condition = reduce(and_, arguments, condition)._shared()
        elif isinstance(condition, str):
            condition = Predicate(condition, *arguments)
        else:
            attributes = self._model._quire_entity.attributes.values()
            # Mostly it was asked whether there is a value.
            named = next((each for each in attributes if each._is_optional), next(iter(attributes), None))
            raise no_condition(condition) if named is None else no_condition(condition, str(named))
        _owners.check(self._model, condition._quire_keys)
        self._context.store._schema.orders.check(self._model._quire_entity, condition)
        return condition

    def _request(self, result_type: int) -> int:
        """A fetch request of the library; the caller owns it."""
        return _request.create(self, result_type)

    def _from_template(self, name: str, variables: dict[str, Any]) -> Query[M]:
        """The query with a template of the library's model under it; that it is complete shows at once."""
        _owners.check(self._model, _owners.joined(variables.values()))
        made = self._but(_template=(name, {key: _values.lasting(value) for key, value in variables.items()}))
        # What slices and `one` limit further, or move on, they must know.
        limit, offset = _request.bounds(made)
        return made._but(_limit=limit, _offset=offset)

    def _fetch(self, result_type: int) -> _handle.Slot:
        """Runs it and gives its list; the caller delivers changes when it has read what it needs."""
        taken = _handle.Slot(quick.quire_list_release)
        request = self._request(result_type)
        try:
            self._run(library.quire_context_fetch, request, byref(taken))
        finally:
            quick.quire_fetch_request_release(request)
        return taken

    def _deliver(self) -> None:
        """After a run. One that refreshes objects calls handlers; any other only reads."""
        if self._refreshes:
            self._context._delivery.deliver()

    def _run(self, call: Any, request: int, *arguments: Any) -> None:
        """A call of the library that runs a request, with what it takes besides; raises what it fails with."""
        error = c_void_p()
        watch = _watch.watch(self._progress)
        if watch is not None:
            watch.attach(request)
        if self._refreshes:
            # What is refreshed, lists show apart from what is pending.
            self._context._delivery.settle()
        status = call(self._context._raw, request, *arguments, byref(error))
        if status:
            cause = None if watch is None else watch.take_failure()
            self._context._delivery.fail(status, error, cause, delivers=self._refreshes)

    def _take(self, step: int) -> _handle.Handle:
        """The result of a run that objects are made of, in batches of `step`."""
        if not self._reads_objects:
            return _handle.Handle(self._fetch(_ffi.QUIRE_RESULT_IDS), quick.quire_list_release)
        # The library has to make the objects.
        run = self._but(_batch_size=step)
        return _handle.Handle(run._fetch(_ffi.QUIRE_RESULT_OBJECTS), quick.quire_list_release)

    @property
    def _reads_objects(self) -> bool:
        return self._refreshes or bool(self._prefetched)

    def _read(self, read: Callable[[type[M], Sequence[KeyPath], Pages, Destination], R], keys: Sequence[KeyPath]) -> R:
        """All rows, by `read_columns` or the like."""
        def page_of(names: Any, count: int, flags: int, out_page: Any, out_error: Any) -> int:
            self._run(library.quire_context_fetch_page, request, names, count, flags, out_page)
            return 0

        request = self._request(_ffi.QUIRE_RESULT_IDS)
        try:
            found = read(self._model, keys, page_of, self._context.store._schema.destination)
        finally:
            quick.quire_fetch_request_release(request)
        self._deliver()
        return found

    def _objects(self, taken: _handle.Handle, first: int, count: int) -> list[M]:
        source = _rows.Source(taken._raw)
        ids = _rows.read_ids(quick.quire_list_ids, taken._raw, first, count)
        if self._reads_objects and ids:
            # Has the library read the batch, and what comes with it.
            try:
                quick.quire_object_release(source.object_at(first))
            except NotFound:
                pass
        if self._refreshes:
            _identity.forget_shown(self._context, self._model, ids)
        found = _rows.objects_of(self._context, self._model, ids, source, first)
        if self._prefetched:
            for each in found:
                each.__dict__["_quire_prefetched"] = taken
        return found  # type: ignore[return-value]


def _written(order: Order) -> str:
    return repr(("" if order.ascending else "-") + order.path) if order.text == "binary" else repr(order)
