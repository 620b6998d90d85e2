"""A working set of objects."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_int, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union, overload

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import Omitted, public
from ..errors import (
    Conflict, ConstraintError, InvalidState, NotFound, StoreClosed, check, failure, log, text,
)
from ..predicates.keys import Key
from ..objects import _identity
from ..models import _hooks, _rules
from ..models._entity import Entity, template_name
from ..models.model import Model
from ..fetching.cancellation import Cancellation
from . import _batch, _bulk, _finding, _making, _pending, _transaction, _undo, history
from ._delivery import Delivery
from .query import Query

if TYPE_CHECKING:
    from . import merging
    from .store import Store

__all__ = ["Context"]

M = TypeVar("M", bound=Model)
D = TypeVar("D")

_RAISE: Any = Omitted()


@public
class Context(history.Authoring):
    """A working set of objects: what was added, changed and deleted since the last save, and what was read.

    `Store.context` is the first one; `Store.create_context` makes more. A context, its objects and its live lists are
    used by one thread at a time: a call that overlaps with another raises `WrongThread`.

    A context on a store reads one moment of it, which begins with the first read. Objects, queries and lists show
    nothing that others save later. `merge` advances the context to the newest commit. So do its saves and batch
    requests, `refresh_all`, `reset`, a `rollback` after a conflict, `Model.refresh`, `Query.refreshing`, the beginning
    and the end of a `transaction`, and `process` where `merges_automatically` is set. `pin` has it stay at a moment.

    Unsaved changes are seen by queries at once. Live lists move, and their handlers are called, by these calls and by
    `process`, `rollback`, `undo`, `redo`, an `undo_group`, `obtain_permanent_ids`, `Results.set_query` and
    `Results.suspended`. No read does that: no query, no value of an object, no row of a list. When a handler raises,
    the others are called all the same; then the exception comes out of the call that processed. So does a
    KeyboardInterrupt, and before all others. `has_lost_moment` says what becomes of a context that others leave behind.
    """

    def __init__(self, store: Store, parent: Optional[Context] = None) -> None:
        self._begin(store, parent, _making.create(store, parent))

    def _begin(self, store: Store, parent: Optional[Context], made: _handle.Slot) -> None:
        self._store = store
        self._parent = parent
        self._children: weakref.WeakSet[Context] = weakref.WeakSet()
        self._maps: dict[Entity, _identity.Objects] = {}
        self._temporary: list[_identity.Reference] = []
        self._conflicted = False
        self._in_transaction = False
        """Whether a child is in a block of `transaction`; of a context without parent the library knows."""
        self._delivery = Delivery(self, None if parent is None else parent._delivery)
        self._hooks = _hooks.State()
        self._merge_handler: Optional[merging.Handler] = None
        _handle.Handle.__init__(self, made, _finish, self._maps)
        _hooks.install(self, store._schema)

    @property
    def store(self) -> Store:
        """Its store. Any thread."""
        return self._store

    @property
    def parent(self) -> Optional[Context]:
        """The context that it reads through and saves to, or None when that is the store. Any thread."""
        return self._parent

    def create_child(self) -> Context:
        """Makes a context on this one, for changes that are kept or dropped as a whole: `save` them, or `close` it.

        It sees what this context has, saved or not. Its saves are changes of this context, one thing to undo here, and
        reach the store when this one saves. It is used by the same thread. Ids are the same in both, objects are not:
        `child.get(Book, book.id)`. What is changed here later reaches it by `merge`. A save raises `Conflict` where
        both have changed the same attribute, unless its `merge_policy` settles that. Rows of values come from the
        store, and batch requests raise `Unsupported`.
        """
        made = self._store._enlist(Context(self._store, self))
        self._children.add(made)
        return made

    def close(self) -> None:
        """Ends it and its children. What was not saved is lost, live lists are closed; objects keep what was read.

        Raises `InvalidState`, and leaves it open, in registered functions and in progress functions that it calls, and
        `WrongThread` while another thread uses it.
        """
        if self._pointer is not None:
            error = c_void_p()
            try:
                check(library.quire_context_check_entry(self._pointer, byref(error)), error)
            except StoreClosed:
                # It can be closed all the same.
                pass
        for child in list(self._children):
            child.close()
        for each in self._delivery.lists:
            each.close()
        _transaction.abandon(self)
        super().close()

    def _retire(self) -> None:
        for each in self._delivery.lists:
            each._retire()
        super()._retire()

    # MARK: objects

    def add(self, object: M) -> M:
        """Puts a new object into the context and gives it back. It gets its id, and a row at the next save.

        Objects that it refers to have to be in the context already. Adding it again does nothing.
        Raises TypeError and `InvalidArgument` for values that do not fit; nothing is added then.
        """
        _pending.add(self, object)
        return object

    def delete(self, object: Model) -> None:
        """Deletes an object: for queries at once, in the store at the next save.

        Its delete rules apply when changes are processed. One that was never saved is simply forgotten. Deleting it
        again does nothing.
        """
        _pending.delete(self, object)

    @overload
    def get(self, model: type[M], id: int) -> M: ...
    @overload
    def get(self, model: type[M], id: int, default: D) -> Union[M, D]: ...
    def get(self, model: type[M], id: int, default: Any = _RAISE) -> Any:
        """The object of a class, or of one that inherits from it, with this id.

        Raises `NotFound` when there is none or it was deleted here, unless there is a `default`.
        """
        entity = self._store._schema.check(model)
        id = _values.whole(id, "an id")
        try:
            if not _values.fits(id):
                raise NotFound(f"There is no {entity.name} with the id {id}.", entity=entity.name, id=id)
            return _identity.adopt(self, _identity.look_up(self, entity, id))
        except NotFound:
            if default is _RAISE:
                raise
            return default

    def get_by_uri(self, uri: str) -> Model:
        """The object that `Model.uri` named, in this or another process.

        Raises `NotFound` when there is none any more, and `InvalidArgument` for what is no such URI.
        """
        if not isinstance(uri, str):
            raise TypeError(f"a URI is a text, not {type(uri).__name__}")
        encoded = _values.encoded(uri)
        error, found = c_void_p(), c_void_p()
        status = library.quire_context_object_for_uri(self._raw, encoded, len(encoded), byref(found), byref(error))
        if status:
            raise failure(status, error)
        assert found.value is not None
        return _identity.adopt(self, found.value)

    def find(self, model: type[M], /, **value: Any) -> Optional[M]:
        """The object of a class, or of one that inherits from it, with a value of one attribute or to-one relationship:
        `context.find(Book, isbn="...")`. None where there is none; of several, the one with the lowest id.

        Unsaved changes count, and are processed first, as by a query. An index on the attribute (`__unique__`,
        `__indexes__`) makes it fast. Raises `InvalidArgument` for anything but one attribute of the class.
        """
        return _finding.find(self, model, value)

    def find_or_add(
        self, model: type[M], /, defaults: Optional[Mapping[str, Any]] = None, **value: Any
    ) -> tuple[M, bool]:
        """The object that `find` finds; where there is none, one that is added with this value and the `defaults`.
        Gives the object, and whether it was added: `book, is_added = context.find_or_add(Book, isbn="...")`.

        Another context may have added the same since; with `__unique__` the save settles that by the `merge_policy`.
        Raises what `find` and `add` raise.
        """
        return _finding.find_or_add(self, model, defaults, value)

    def query(self, model: type[M]) -> Query[M]:
        """A query for all objects of a class and those that inherit from it."""
        self._raw
        self._store._schema.check(model)
        return Query(self, model)

    def template(self, model: type[M], name: str, /, **variables: Any) -> Query[M]:
        """The query that the class keeps under a name in `__templates__`, with values for the variables of its
        condition: `context.template(Quote, "cheaper", limit=5)`. A class of `Store.classes` has the templates that the
        model of the file has for its entity, see `ModelDescription.templates`.

        More conditions and keys to order by can be added. A limit or an offset replaces that of the template.

        Raises `InvalidArgument` when there is no such template, when a variable has no value, and for a value without a
        variable.
        """
        self._raw
        entity = self._store._schema.check(model)
        return Query(self, model)._from_template(template_name(entity, name), variables)

    def insert_many(self, model: type[Model], columns: _bulk.TableLike) -> range:
        """Adds many objects in one call: `insert_many(Quote, {"author": authors, Quote.price: prices})`.

        Keys are attributes by their names in the class. Each column has one value for each object. Attributes left out
        have their defaults. Columns may be arrays of NumPy and of Arrow. Instead of columns it takes a table of polars,
        pandas, pyarrow or DuckDB, whose columns have the names of attributes: `insert_many(Quote, frame)`. Dates
        without a time zone are of UTC there. Gives the ids. The objects are pending, as if added one by one; nothing is
        added when a value does not fit, and the exception names its row, counted from 0.
        """
        entity, table, count = self._table(model, columns, "insert_many")
        if count == 0:
            return range(0)
        error, first = c_void_p(), c_int64()
        status = library.quire_context_insert_rows(
            self._writable, entity.encoded_name, len(entity.encoded_name), *table.arguments, count, byref(first),
            byref(error))
        if status:
            raise _rules.complete(self, failure(status, error))
        if first.value < 0:  # temporary
            return range(first.value, first.value - count, -1)
        return range(first.value, first.value + count)

    def insert_rows(
        self, model: type[Model], columns: _bulk.TableLike, *, merge: bool = True,
        upsert: bool = False, cancellation: Optional[Cancellation] = None,
        progress: Optional[Callable[[int], object]] = None,
    ) -> array[int]:
        """Inserts many objects into the store at once, without making objects here; gives their ids.

        The columns are those of `insert_many`. They are saved when it returns, all or none, or with the `transaction`
        around it. Live lists of this context show them, with `merge=False` after the next `merge`. With `upsert` a row
        whose values are those of a saved object in one of the class's `__unique__` updates that object: it keeps its id
        and what has no column; of two such rows the second updates what the first made. None is like no other value.

        Another thread ends it by `cancellation`, and so does `progress`, which is called with the number of rows
        written so far, by giving False; both as in `Query.watched`. Raises `ValidationError` (a property that needs a
        value has none), `ConstraintError`, `Busy`, `ReadOnly`, `Cancelled`; nothing was inserted then.
        """
        entity, table, count = self._table(model, columns, "insert_rows")
        if count == 0:
            return array("q")
        return _batch.insert(
            self, lambda *rest: library.quire_context_batch_insert(
                self._raw, entity.encoded_name, len(entity.encoded_name), *table.arguments, count, *rest), merge,
            upsert, cancellation, progress)

    def _table(
        self, model: type[Model], columns: _bulk.TableLike, what: str
    ) -> tuple[Entity, _bulk.Table, int]:
        """Columns as the library takes them, and how many rows they have."""
        self._raw
        entity = self._store._schema.check(model)
        table = _bulk.Table(entity, columns, what)
        return entity, table, table.count

    # MARK: pending changes

    @property
    def has_changes(self) -> bool:
        """Whether there is something to save: changes of objects, or what was set in `Store.metadata`.

        A child context saves no metadata. `rollback` drops the changes of objects alone.
        """
        return bool(quick.quire_context_has_changes(self._raw))

    @property
    def inserted(self) -> list[Model]:
        """The objects that were added and not yet saved, oldest first."""
        return _pending.objects(self, _ffi.QUIRE_PENDING_INSERTED)

    @property
    def updated(self) -> list[Model]:
        """The objects of the store that have changes which are not yet saved, oldest first."""
        return _pending.objects(self, _ffi.QUIRE_PENDING_UPDATED)

    @property
    def deleted(self) -> list[Model]:
        """The objects of the store that the next save will remove, oldest first."""
        return _pending.objects(self, _ffi.QUIRE_PENDING_DELETED)

    def process(self) -> None:
        """Applies delete rules and brings live lists up to date, whose handlers are called."""
        self._delivery.prepare()
        error = c_void_p()
        self._delivery.after(library.quire_context_process(self._raw, byref(error)), error)

    # MARK: merging

    def merge(self) -> None:
        """Advances to the newest commit: takes over what others have saved, or what the parent has changed.

        Objects show the new values, deleted ones are gone, and live lists move. Unsaved changes stay on top of the new
        values; of two changes of one attribute this context's is then the later. Of a file without notes (`quire.open`)
        or a history everything is read anew where another program has saved. See `merges_automatically` and `fileno`.
        """
        self._delivery.settle_before_move()
        error = c_void_p()
        self._delivery.after(library.quire_context_merge(self._raw, byref(error)), error)

    @property
    def merges_automatically(self) -> bool:
        """Whether `process` begins with `merge`. False unless set; a save never does, so that what
        others have changed in the same objects is a conflict."""
        return bool(quick.quire_context_merges_automatically(self._pointer))

    @merges_automatically.setter
    def merges_automatically(self, merges: bool) -> None:
        error = c_void_p()
        check(library.quire_context_set_merges_automatically(self._raw, bool(merges), byref(error)), error)

    def fileno(self) -> int:
        """A descriptor that polls readable as long as there is something to `merge`, so that event loops can wait for
        it: `loop.add_reader(context, context.merge)`. Only poll it. It ends with the context. It polls readable for
        what other programs commit to a file of SQLite, too, and now and then for nothing."""
        error, made = c_void_p(), c_int()
        check(library.quire_context_descriptor(self._raw, byref(made), byref(error)), error)
        return made.value

    @property
    def merge_policy(self) -> Union[merging.MergePolicy, merging.Decide]:
        """What a save does with objects that another writer has changed: a `MergePolicy`, ERROR at first, or a function
        that is given each `ObjectConflict` and gives the policy for it.

        The function may read objects and run queries, but not change, save or roll back anything of this context or
        of its parents (`InvalidState`). What it raises comes out of the save, which writes nothing then.
        """
        if self._merge_handler is not None:
            return self._merge_handler.decide
        from . import merging

        return merging.MergePolicy(quick.quire_context_merge_policy(self._raw))

    @merge_policy.setter
    def merge_policy(self, policy: Union[merging.MergePolicy, merging.Decide]) -> None:
        from . import merging

        self._merge_handler = merging.set_policy(self, policy)

    # MARK: saving

    def save(self) -> None:
        """Writes all pending changes in one transaction, settling conflicts with other writers by the `merge_policy`.

        Changes are processed, `Model.will_save` is called, objects are validated and written, and `Model.did_save` is
        called. What others have saved before is taken over then, as by `merge`. On failure nothing was written and the
        changes stay pending. Raises `ValidationError` (values, counts, rules, the "deny" rule; all that is wrong in one
        error), `Conflict`, `ConstraintError`, `Busy`, `ReadOnly`, `DatabaseError`, `InvalidState` (called by a hook of
        a save), and what a hook raised. `Conflict` and `ConstraintError` have the objects in conflict in `conflicts`.

        What `did_save` and handlers of live lists raise comes out after the save. The changes are in the file then,
        and `has_changes` is false unless a hook or a handler has made new ones.
        """
        self._check_save()
        if self._in_transaction:
            raise InvalidState(
                "A transaction of a child saves at its end, and could not take an earlier save back. Do not save "
                "inside it.")
        self._write(library.quire_context_save)

    @contextmanager
    def transaction(self) -> Iterator[Context]:
        """A block that is one transaction of the file: its end saves, and when it raises nothing of it stays.

        It covers all that is written inside: changes of objects, `save`, `insert_rows`, `Query.update` and
        `Query.delete`. When the block or the save at its end raises, file, objects and live lists are as they were
        before; objects that were added are gone. The exception comes out of the block; what goes wrong while the
        changes are dropped is logged beside it. What handlers of live lists and `did_save` raise once the block has
        been saved is logged, too (logger "quire"), so that a block which raises has failed.

        Meanwhile other contexts of the store read what was there before the block. Their writes wait, and raise `Busy`
        after the `timeout` of the store, on the same thread at once. Keep blocks short. In a child it is a transaction
        of the parent, into which the end saves, and `save` raises `InvalidState` inside. When a task of an event loop
        awaits inside, calls of other tasks that change or save something in this context raise `InvalidState`.

        Raises `InvalidState` when there are unsaved changes before it, because they would get lost with those of the
        block, and inside another such block; `Busy`, `ReadOnly`.
        """
        yield from _transaction.block(self)

    def _write(self, call: Any, at_end: bool = False) -> None:
        """Saves by a call of the library. At the end of a block, what handlers and `did_save` raise after the changes
        were written is logged: to raise it would make the block look as if it had failed."""
        self._delivery.begin()
        if self._parent is not None:
            self._parent._delivery.settle()
        error = c_void_p()
        status = call(self._raw, byref(error))
        try:
            self._written(status, error)
        except Exception as failed:
            if status or not at_end:
                if not status:
                    _transaction.note_save(self, failed)
                raise
            log("The block has been saved; what was told of that has failed.", failed)

    def _written(self, status: int, error: c_void_p) -> None:
        self._conflicted = status == _ffi.QUIRE_CONFLICT or (self._conflicted and bool(status))
        _identity.learn_ids(self)
        cause = None if self._merge_handler is None else self._merge_handler.take_failure()
        found: list[merging.ObjectConflict] = []
        if status in (_ffi.QUIRE_CONFLICT, _ffi.QUIRE_CONSTRAINT):
            # Loaded with the first conflict: most programs run without one.
            from . import merging

            found = merging.conflicts(self, error)
        try:
            with _hooks.told(self):
                self._delivery.after(status, error, cause)
        except (Conflict, ConstraintError) as failed:
            failed.conflicts = found
            raise

    def rollback(self) -> None:
        """Drops all pending changes: added objects are forgotten, deleted ones return, changed ones get back what was
        read. After a `Conflict` the context advances, as by `merge`, and everything is read anew."""
        self._delivery.begin()
        changed = [] if self.closed else self.updated + self.deleted
        error = c_void_p()
        status = library.quire_context_rollback(self._writable, byref(error))
        for object in changed:
            _identity.forget_values(object)
        if self._conflicted and not status:
            # The library reads everything anew.
            self._conflicted = False
            self._forget_values()
        self._delivery.after(status, error)

    def refresh_all(self) -> None:
        """Has all objects show what is in the store now. The context advances for that, as by `merge`.

        What was changed in them stays on top of that, and the next save writes it without a conflict. Objects without
        changes are read again when they are used. Live lists follow with the next processing of changes at the latest.
        """
        self._delivery.settle()
        error = c_void_p()
        # Lists hear of what the library knows to be in use.
        for objects in self._maps.values():
            _identity.take_all(objects)
        status = library.quire_context_refresh_all(self._raw, byref(error))
        self._forget_values()
        self._delivery.after(status, error)

    def reset(self) -> None:
        """Drops all pending changes and forgets all objects: whatever is asked for next is read anew, as it is by then.

        Objects from before raise `InvalidState` when they are used. Live lists stay, and give new objects.
        """
        self._delivery.begin()
        error = c_void_p()
        status = library.quire_context_reset(self._writable, byref(error))
        # A hook that fails does not prevent it.
        if not status or status == _ffi.QUIRE_FUNCTION:
            self._conflicted = False
            for objects in self._maps.values():
                _identity.forget_objects(objects)
        self._delivery.after(status, error)

    def obtain_permanent_ids(self) -> None:
        """Gives a permanent id to added objects that could not have one at once (see `Model.id`), and another one to
        those whose id a program that knows nothing of Quire or Core Data has used, which a save says by `Conflict`.

        The objects stay unsaved. Changes are processed first. Raises `Busy`, `ReadOnly`, `DatabaseError`.
        """
        self._check_save()
        self._delivery.begin()
        error = c_void_p()
        status = library.quire_context_obtain_permanent_ids(self._raw, byref(error))
        top = self
        while top._parent is not None:
            top = top._parent
        _identity.learn_ids(top, of_all=True)
        self._delivery.after(status, error)

    # MARK: undo

    def enable_undo(self, levels: int = 0) -> None:
        """Has changes be kept from now on, so that they can be undone; at most `levels` groups of them, 0 for all.

        What happens between two processings of changes is one group: `process`, `save` and every query end it.
        `undo_group` makes other groups. Saves do not end what can be undone: an insertion that was saved becomes a
        deletion, a deletion an insertion of the same object with the same id, and the next save writes that. `rollback`
        and `reset` end everything. Called again, it changes the number of levels.
        """
        levels = _values.whole(levels, "the number of levels")
        if not 0 <= levels < 2**63:
            raise ValueError(f"the number of levels is not negative and below 2**63, not {levels}")
        error = c_void_p()
        check(library.quire_context_enable_undo(self._writable, levels, byref(error)), error)

    def disable_undo(self) -> None:
        """Turns undo off; what could be undone and redone is forgotten."""
        error = c_void_p()
        check(library.quire_context_disable_undo(self._writable, byref(error)), error)

    @property
    def undo_enabled(self) -> bool:
        """Whether changes can be undone."""
        return bool(quick.quire_context_is_undo_enabled(self._raw))

    def undo(self) -> None:
        """Takes back the last group of changes, if there is one, and calls the handlers of live lists.

        Objects get the values that they had, on both sides of relationships; what delete rules did is taken back too.
        What other contexts, processes and batch requests did takes no part in it; an object whose row is gone is left
        out. Raises `InvalidState` when undo is off or within an `undo_group`.
        """
        _undo.revert(self, library.quire_context_undo)

    def redo(self) -> None:
        """Does again what was undone last. Every new change, one of a handler included, ends that."""
        _undo.revert(self, library.quire_context_redo)

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(quick.quire_context_can_undo(self._raw))

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return bool(quick.quire_context_can_redo(self._raw))

    @property
    def undo_name(self) -> str:
        """Name of the group that `undo` would take back, or ""."""
        return text(quick.quire_context_undo_name(self._raw))

    @property
    def redo_name(self) -> str:
        """Name of the group that `redo` would do again, or ""."""
        return text(quick.quire_context_redo_name(self._raw))

    @contextmanager
    def undo_group(self, name: Optional[str] = None) -> Iterator[None]:
        """A block whose changes are undone together, with a name for a menu: `with context.undo_group("Rename"):`.

        Blocks within it are part of it. Changes are processed before and after the outermost one. When the block
        raises, its changes stay and can be undone.
        """
        yield from _undo.group(self, name)

    @contextmanager
    def without_undo(self) -> Iterator[None]:
        """A block whose changes are for good: undoing what was before them gives the values of then."""
        yield from _undo.without(self)

    def remove_undo_actions(self) -> None:
        """Forgets what could be undone and redone. The changes stay."""
        error = c_void_p()
        check(library.quire_context_remove_undo_actions(self._writable, byref(error)), error)

    def __repr__(self) -> str:
        if self.closed:
            return "<Context (closed)>"
        return f"<Context of {self._store.path!r}{', with unsaved changes' if self.has_changes else ''}>"

    # MARK: inside

    def _objects_of(self, entity: Entity) -> _identity.Objects:
        objects = self._maps.get(entity.root)
        if objects is None:
            objects = self._maps.setdefault(entity.root, _identity.Objects())
        return objects

    def _forget_values(self) -> None:
        """Has all objects ask the library again: what it knows of them may have become another."""
        for objects in list(self._maps.values()):
            _identity.forget_all(objects)

    def _adopt(self, handle: int) -> Model:
        """The object of a handle, which it takes over."""
        return _identity.adopt(self, handle)

    def _abandon(self) -> None:
        _identity.forget_handles(self._maps.values())
        super()._abandon()


def _finish(pointer: int, maps: dict[Entity, _identity.Objects]) -> None:
    _identity.release_all(maps.values())
    library.quire_context_release(pointer)
