"""A working set of objects."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union, overload

from .._c import _buffers, _ffi, _handle, _values
from .._c._load import library, quick
from ..errors import Conflict, ConstraintError, Error, InvalidArgument, InvalidState, NotFound, failure, log
from ..predicates.keys import Key
from ..objects import _identity
from ..models import _hooks, _rules
from ..models._description import unmade
from ..models._entity import Entity, template_name
from ..models.model import Model
from ..models.properties import Attr, ToMany, ToOne, blamed
from ..fetching.cancellation import Cancellation
from . import _batch, _bulk, merging
from ._finding import Finding
from ._merge import Merging
from ._transaction import Transacting
from ._undo import Undoing
from .query import Query

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Context"]

M = TypeVar("M", bound=Model)
D = TypeVar("D")

_RAISE: Any = object()


class Context(Finding, Merging, Transacting, Undoing):
    """A working set of objects: what was added, changed and deleted since the last save, and what was read.

    `Store.context` is the first one; `Store.create_context` makes more. A context, its objects and its live lists are
    used by one thread at a time: a call that overlaps with another raises `WrongThread`.

    Changes are seen by queries at once. Live lists move, and their handlers are called, when changes are processed: by
    `process`, `save`, `rollback`, `obtain_permanent_ids` and whenever a query runs. When a handler raises, the others
    are called all the same; then the exception comes out of the call that processed. So does a KeyboardInterrupt, and
    before all others.
    """

    def __init__(self, store: Store, parent: Optional[Context] = None) -> None:
        error, made = c_void_p(), _handle.Slot(library.quire_context_release)
        if parent is None:
            status = library.quire_context_create(store._raw, byref(made), byref(error))
        else:
            status = library.quire_context_create_child(parent._raw, byref(made), byref(error))
        if status:
            raise failure(status, error)
        self._store = store
        self._parent = parent
        self._children: weakref.WeakSet[Context] = weakref.WeakSet()
        self._maps: dict[Entity, _identity.Objects] = {}
        self._temporary: list[_identity.Reference] = []
        self._lists = []
        self._failures = []
        self._conflicted = False
        self._hooks = _hooks.State()
        self._merge_handler: Optional[merging.Handler] = None
        super().__init__(made, _finish, self._maps)
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
            self._check_entry()
        for child in list(self._children):
            child.close()
        for each in self._live_lists():
            each.close()
        self._abandon_transaction()
        super().close()

    def _retire(self) -> None:
        for each in self._live_lists():
            each._retire()
        super()._retire()

    # MARK: objects

    def add(self, object: M) -> M:
        """Puts a new object into the context and gives it back. It gets its id, and a row at the next save.

        Objects that it refers to have to be in the context already. Adding it again does nothing.
        Raises TypeError and `InvalidArgument` for values that do not fit; nothing is added then.
        """
        if not isinstance(object, Model):
            raise TypeError(f"an object of a model class can be added, not {_values.called(object)}")
        entity = self._store._schema.check(type(object))
        try:
            former = object._quire_context
        except AttributeError:
            raise unmade(type(object)) from None
        if former is not None:
            if former is self and not object.is_deleted:
                return object
            raise InvalidState(
                f"{object!r} was in a context before. Make a new object instead.", entity=entity.name, id=object.id)
        keys: list[bytes] = []
        packed: list[_values.Packed] = []
        lists: list[tuple[bytes, _values.Packed]] = []
        for each, value in object._quire_set_values():
            try:
                ready = each._pack(value)
            except Error as failed:
                raise blamed(failed, each) from None
            if isinstance(each, ToMany):
                lists.append((each._key_bytes, ready))
            else:
                keys.append(each._key_bytes)
                packed.append(ready)
        error, made = c_void_p(), c_void_p()
        self._hooks.adding = True
        try:
            try:
                status = library.quire_context_insert(
                    self._raw, entity.encoded_name, len(entity.encoded_name), byref(made), byref(error))
            finally:
                self._hooks.adding = False
            if status:
                raise failure(status, error)
            handle = made.value
            assert handle is not None
            if keys:
                values = _values.Values(packed)
                status = library.quire_object_set_values(
                    handle, _buffers.key_array(keys), values.array, len(keys), byref(error))
                if status:
                    raise self._failed_to_add(status, error)
            for key, members in lists:
                values = _values.Values((members,))
                status = library.quire_object_set(handle, key, len(key), values.array, byref(error))
                if status:
                    raise self._failed_to_add(status, error)
        except BaseException:
            if made.value is not None:
                self._take_back(made.value, entity)
                quick.quire_object_release(made)
            raise
        _identity.attach(object, self, quick.quire_object_id(handle), handle)
        for each in entity.properties.values():
            # Relationships are asked for each time: the other side can change them.
            if not isinstance(each, Attr):
                object.__dict__.pop(each._name, None)
        try:
            object.awake_from_insert()
        except BaseException:
            self._take_back(handle, entity)
            raise
        return object

    def _failed_to_add(self, status: int, error: c_void_p) -> Error:
        failed = _rules.complete(self, failure(status, error))
        # Of an object that is taken back.
        failed.id = 0
        return failed

    def _take_back(self, handle: int, entity: Entity) -> None:
        # What it was made to hold was there before: it lets go of that first, so that no delete rule takes it along.
        for each in entity.properties.values():
            if isinstance(each, (ToOne, ToMany)):
                nothing = _values.Values((each._pack([]) if isinstance(each, ToMany) else each._pack(None),))
                library.quire_object_set(handle, each._key_bytes, len(each._key_bytes), nothing.array, None)
        library.quire_context_delete(self._raw, handle, None)

    def delete(self, object: Model) -> None:
        """Deletes an object: for queries at once, in the store at the next save.

        Its delete rules apply when changes are processed. One that was never saved is simply forgotten. Deleting it
        again does nothing.
        """
        if not isinstance(object, Model):
            raise TypeError(f"an object of a model class can be deleted, not {_values.called(object)}")
        if object._quire_context is None:
            raise InvalidState(
                f"{object!r} is in no context, so there is nothing to delete.", entity=type(object).__name__)
        if object._quire_context is not self:
            raise InvalidArgument(
                f"{object!r} belongs to another context. Look it up in this one: Context.get.",
                entity=type(object).__name__, id=object.id)
        try:
            handle = _identity.handle(object, writing=True)
        except NotFound:
            if object.is_deleted:
                return
            raise
        error = c_void_p()
        status = library.quire_context_delete(self._raw, handle, byref(error))
        if status:
            raise failure(status, error)

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

    def query(self, model: type[M]) -> Query[M]:
        """A query for all objects of a class and those that inherit from it."""
        self._raw
        self._store._schema.check(model)
        return Query(self, model)

    def template(self, model: type[M], name: str, /, **variables: Any) -> Query[M]:
        """The query that the class keeps under a name in `__templates__`, with values for the variables of its
        condition: `context.template(Quote, "cheaper", limit=5)`.

        More conditions, keys to order by and limits can be added. Raises `InvalidArgument` when there is no such
        template, when a variable has no value, and for a value without a variable.
        """
        self._raw
        entity = self._store._schema.check(model)
        return Query(self, model)._from_template(template_name(entity, name), variables)

    def insert_many(self, model: type[Model], columns: Mapping[Union[str, Key], Sequence[Any]]) -> range:
        """Adds many objects in one call: `insert_many(Quote, {"author": authors, Quote.price: prices})`.

        Keys are attributes by their names in the class; each column has one value for each object. Attributes left out
        have their defaults. Gives the ids. The objects are pending, as if added one by one; nothing is
        added when a value does not fit, and the exception names its row, counted from 0.
        """
        entity, table, count = self._table(model, columns, "insert_many")
        if count == 0:
            return range(0)
        error, first = c_void_p(), c_int64()
        status = library.quire_context_insert_rows(
            self._raw, entity.encoded_name, len(entity.encoded_name), *table.arguments, count, byref(first),
            byref(error))
        if status:
            raise _rules.complete(self, failure(status, error))
        if first.value < 0:  # temporary
            return range(first.value, first.value - count, -1)
        return range(first.value, first.value + count)

    def insert_rows(
        self, model: type[Model], columns: Mapping[Union[str, Key], Sequence[Any]], *, merge: bool = True,
        upsert: bool = False, cancellation: Optional[Cancellation] = None,
        progress: Optional[Callable[[int], object]] = None,
    ) -> array[int]:
        """Inserts many objects into the store at once, without making objects here; gives their ids.

        The columns are those of `insert_many`. They are saved when it returns, all or none, or with the `transaction`
        around it. Live lists of this context show them, unless `merge` is false. With `upsert` a row whose values are
        those of a saved object in one of the class's `__unique__` updates that object: it keeps its id and what has no
        column; of two such rows the second updates what the first made. None is like no other value.

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
        self, model: type[Model], columns: Mapping[Union[str, Key], Sequence[Any]], what: str
    ) -> tuple[Entity, _bulk.Table, int]:
        """Columns as the library takes them, and how many rows they have."""
        self._raw
        entity = self._store._schema.check(model)
        table = _bulk.Table(entity, columns, what)
        return entity, table, table.count

    # MARK: pending changes

    @property
    def has_changes(self) -> bool:
        """Whether a save would write something."""
        return bool(quick.quire_context_has_changes(self._raw))

    @property
    def inserted(self) -> list[Model]:
        """The objects that were added and not yet saved, oldest first."""
        return self._pending(_ffi.QUIRE_PENDING_INSERTED)

    @property
    def updated(self) -> list[Model]:
        """The objects of the store that have changes which are not yet saved, oldest first."""
        return self._pending(_ffi.QUIRE_PENDING_UPDATED)

    @property
    def deleted(self) -> list[Model]:
        """The objects of the store that the next save will remove, oldest first."""
        return self._pending(_ffi.QUIRE_PENDING_DELETED)

    def process(self) -> None:
        """Applies delete rules and brings live lists up to date, whose handlers are called."""
        self._prepare()
        error = c_void_p()
        self._after(library.quire_context_process(self._raw, byref(error)), error)

    @property
    def merge_policy(self) -> Union[merging.MergePolicy, merging.Decide]:
        """What a save does with objects that another writer has changed: a `MergePolicy`, ERROR at first, or a function
        that is given each `ObjectConflict` and gives the policy for it.

        The function may read objects and run queries, but not change, save or roll back anything of this context or
        of its parents (`InvalidState`). What it raises comes out of the save, which writes nothing then.
        """
        if self._merge_handler is not None:
            return self._merge_handler.decide
        return merging.MergePolicy(quick.quire_context_merge_policy(self._raw))

    @merge_policy.setter
    def merge_policy(self, policy: Union[merging.MergePolicy, merging.Decide]) -> None:
        self._merge_handler = merging.set_policy(self, policy)

    def save(self) -> None:
        """Writes all pending changes in one transaction, settling conflicts with other writers by the `merge_policy`.

        Changes are processed, `Model.will_save` is called, objects are validated and written, and `Model.did_save` is
        called. On failure nothing was written and the changes stay pending. Raises `ValidationError` (values, counts,
        rules, the "deny" rule; all that is wrong in one error), `Conflict`, `ConstraintError`, `Busy`, `ReadOnly`,
        `DatabaseError`, `InvalidState` (called by a hook of a save), and what a hook raised. What `did_save` raises
        comes out after the save, which is made then. `Conflict` and
        `ConstraintError` have the objects in conflict in `conflicts`.
        """
        if self._in_transaction:
            raise InvalidState(
                "A transaction of a child saves at its end, and could not take an earlier save back. Do not save "
                "inside it.")
        self._write(library.quire_context_save)

    def _write(self, call: Any, at_end: bool = False) -> None:
        """Saves by a call of the library. At the end of a block, what handlers and `did_save` raise after the changes
        were written is logged: to raise it would make the block look as if it had failed."""
        self._begin()
        if self._parent is not None:
            self._parent._settle()
        error = c_void_p()
        status = call(self._raw, byref(error))
        try:
            self._written(status, error)
        except Exception as failed:
            if status or not at_end:
                raise
            log("The block has been saved; what was told of that has failed.", failed)

    def _written(self, status: int, error: c_void_p) -> None:
        self._conflicted = status == _ffi.QUIRE_CONFLICT or (self._conflicted and bool(status))
        self._learn_ids()
        cause = None if self._merge_handler is None else self._merge_handler.take_failure()
        found = merging.conflicts(self, error) if status in (_ffi.QUIRE_CONFLICT, _ffi.QUIRE_CONSTRAINT) else []
        try:
            with _hooks.told(self):
                self._after(status, error, cause)
        except (Conflict, ConstraintError) as failed:
            failed.conflicts = found
            raise

    def rollback(self) -> None:
        """Drops all pending changes: added objects are forgotten, deleted ones return, changed ones get back what was
        saved."""
        self._begin()
        changed = [] if self.closed else self.updated + self.deleted
        error = c_void_p()
        status = library.quire_context_rollback(self._raw, byref(error))
        for object in changed:
            _identity.forget_values(object)
        if self._conflicted and not status:
            # The library reads everything anew.
            self._conflicted = False
            for objects in self._maps.values():
                _identity.forget_all(objects)
        self._after(status, error)

    def refresh_all(self) -> None:
        """Has all objects show what is in the store now; `Model.refresh` does it with one.

        What was changed in them stays on top of that, and the next save writes it without a conflict. Live lists hear
        of it when changes are next processed; of other rows that another program has changed, when fetched again.
        """
        error = c_void_p()
        # Lists hear of what the library knows to be in use.
        for objects in self._maps.values():
            _identity.take_all(objects)
        status = library.quire_context_refresh_all(self._raw, byref(error))
        for objects in self._maps.values():
            _identity.forget_all(objects)
        if status:
            raise failure(status, error)

    def reset(self) -> None:
        """Drops all pending changes and forgets all objects: whatever is asked for next is read anew.

        Objects from before raise `InvalidState` when they are used. Live lists stay, and give new objects.
        """
        self._begin()
        error = c_void_p()
        status = library.quire_context_reset(self._raw, byref(error))
        # A hook that fails does not prevent it.
        if not status or status == _ffi.QUIRE_FUNCTION:
            self._conflicted = False
            for objects in self._maps.values():
                _identity.forget_objects(objects)
        self._after(status, error)

    def obtain_permanent_ids(self) -> None:
        """Gives a permanent id to added objects that could not have one at once (see `Model.id`), and another one to
        those whose id a program that knows nothing of Quire or Core Data has used, which a save says by `Conflict`.

        The objects stay unsaved. Changes are processed first. Raises `Busy`, `ReadOnly`, `DatabaseError`.
        """
        self._begin()
        error = c_void_p()
        status = library.quire_context_obtain_permanent_ids(self._raw, byref(error))
        top = self
        while top._parent is not None:
            top = top._parent
        top._learn_ids(of_all=True)
        self._after(status, error)

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

    def _adopt(self, handle: int) -> Model:
        """The object of a handle, which it takes over."""
        return _identity.adopt(self, handle)

    def _abandon(self) -> None:
        _identity.forget_handles(self._maps.values())
        super()._abandon()

    def _pending(self, which: int) -> list[Model]:
        error, taken = c_void_p(), c_void_p()
        status = library.quire_context_pending(self._raw, which, byref(taken), byref(error))
        if status:
            raise failure(status, error)
        return self._take_objects(taken)

    def _take_objects(self, taken: c_void_p) -> list[Model]:
        """The objects of a list, which is given back."""
        error = c_void_p()
        try:
            found = []
            for index in range(quick.quire_list_count(taken)):
                handle = c_void_p()
                status = library.quire_list_object(taken, index, byref(handle), byref(error))
                if status:
                    raise failure(status, error)
                assert handle.value is not None
                found.append(_identity.adopt(self, handle.value))
            return found
        finally:
            quick.quire_list_release(taken)

    def _learn_ids(self, of_all: bool = False) -> None:
        """Files the objects whose ids have become others under these, here and in children. Permanent ids are looked at
        too where it may be one `of_all`."""
        if of_all:
            self._temporary = [each for objects in self._maps.values() for each in objects.values()]
        still: list[_identity.Reference] = []
        for reference in self._temporary:
            handle = reference.handle
            object = reference()
            if handle is None or object is None:
                continue
            id = quick.quire_object_id(handle)
            if id < 0:
                still.append(reference)
            if id == reference.id:
                continue
            objects = self._objects_of(type(object)._quire_entity)
            if objects.get(reference.id) is reference:
                del objects[reference.id]
            reference.id = id
            objects[id] = reference
        self._temporary = still
        for child in list(self._children):
            child._learn_ids(of_all)


def _finish(pointer: int, maps: dict[Entity, _identity.Objects]) -> None:
    _identity.release_all(maps.values())
    library.quire_context_release(pointer)
