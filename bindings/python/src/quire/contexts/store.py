"""Files of objects."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from ctypes import byref, c_uint32, c_void_p
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import Error, InvalidArgument, failure, text
from ..models._schema import Schema
from ..models._describing import describe
from ..models.model_description import ModelDescription
from ..models.model import Model
from . import _making, _opening, _sql_log
from . import history as _history
from .context import Context
from .metadata import Metadata

if TYPE_CHECKING:
    from ..models.loaded import LoadedModel

__all__ = ["Store", "WALInfo", "convert", "delete_store", "open"]

_TYPES = {"sqlite": _ffi.QUIRE_STORE_SQLITE, "xml": _ffi.QUIRE_STORE_XML}
_JOURNALS: dict[int, Literal["none", "saves", "all"]] = {
    _ffi.QUIRE_CHANGE_JOURNAL_NONE: "none", _ffi.QUIRE_CHANGE_JOURNAL_SAVES: "saves",
    _ffi.QUIRE_CHANGE_JOURNAL_ALL: "all"}


@public
class WALInfo(NamedTuple):
    """How large the write-ahead log of a store is, and what keeps it: `Store.wal_info`."""

    size: int
    """Bytes of the pages in the log. Its file does not become shorter when the log begins anew. 0 for a file without a
    log, or one that is read without locks."""
    unfolded_size: int
    """Bytes of those pages that are not in the file itself yet."""
    limit: int
    """The `wal_limit` of `quire.open`, or the default, in whole pages; 0 where `size` is never known."""
    older_count: int
    """Contexts that show an older moment than the newest, and merges that were worked out beside a context and wait to
    be taken. As long as there are any, the log cannot begin anew."""
    pinned_count: int
    """Those of them that are pinned, and keep their moments beyond the limit."""
    lag: int
    """How many commits the oldest of these moments lacks; those of other programs in a row count as one."""
    lost_count: int
    """Contexts that have lost the moment which they show, and have not advanced since: `Context.has_lost_moment`."""


@public
class Store(_handle.Handle):
    """An open file of objects, from `quire.open`. Any thread may use it, each with a context of its own.

    Close it, or use it in a `with` block: the end closes it, and changes that were not saved are lost. One that is
    collected while it is open raises a ResourceWarning.
    """

    def __init__(
        self,
        path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
        models: Union[Iterable[type[Model]], LoadedModel, None] = None,
        *,
        read_only: bool = False,
        must_exist: bool = False,
        relaxed_durability: bool = False,
        timeout: float = 5.0,
        track_history: bool = False,
        change_journal: Optional[Literal["none", "saves", "all"]] = None,
        wal_limit: int = 0,
        migrate: bool = False,
        type: Optional[Literal["sqlite", "xml"]] = None,
    ) -> None:
        encoded = os.fsencode(path)
        wal_limit = _values.whole(wal_limit, "the limit of the log")
        if not 0 <= wal_limit < 2**63:
            raise InvalidArgument(
                f"wal_limit is a number of bytes below 2**63, or 0 for the default; it is {wal_limit}.")
        given = _opening.GivenModel(models)
        options = _opening.options(
            timeout, is_read_only=read_only, must_exist=must_exist, relaxed_durability=relaxed_durability,
            tracks_history=track_history, change_journal=_change_journal(change_journal), wal_limit=wal_limit,
            migrates=migrate, type=_type(type))
        log = _sql_log.to_logging()
        if log is not None:
            options.log = ctypes.pointer(log)
        self._model, declared = given.slot, given.declared
        self._described: Optional[ModelDescription] = None
        error, opened = c_void_p(), _handle.Slot(library.quire_store_release)
        try:
            status = library.quire_store_open(
                encoded, len(encoded), given.pointer, byref(options), byref(opened), byref(error))
        except BaseException:
            opened.give_back()
            _sql_log.forget(log)
            raise
        if status:
            _sql_log.forget(log)
            raise failure(status, error)
        try:
            if declared is None:
                # Few programs open files of others.
                from ..models._found_classes import classes_of

                self._model.value = quick.quire_model_retain(quick.quire_store_model(opened))
                declared = Schema(classes_of(self.model))
            self._schema = declared
            self._path = text(quick.quire_store_path(opened))
            self._uuid = text(quick.quire_store_uuid(opened))
            self._contexts: weakref.WeakSet[Context] = weakref.WeakSet()
            # Code that a collection of garbage or a signal runs in between may close the store.
            self._lock = threading.RLock()
            super().__init__(opened, _finish, self._path)
            self._context = self.create_context()
        except BaseException:
            library.quire_store_close(opened, None)
            opened._then = library.quire_store_release,
            opened.give_back()
            raise

    @classmethod
    def _lent(cls, context: int, given: Optional[_opening.GivenModel]) -> Store:
        """That of a context which the library has made for a callback, with that context; `_take_back` ends it."""
        store = cls.__new__(cls)
        held = _handle.Slot(library.quire_store_release)
        held.value = library.quire_store_retain(quick.quire_context_store(context))
        store._model = _handle.Slot(quick.quire_model_release)
        store._model.value = quick.quire_model_retain(quick.quire_store_model(held))
        store._described = None
        declared = None if given is None else given.declared
        if declared is None:
            from ..models._found_classes import classes_of

            declared = Schema(classes_of(store.model))
        store._schema = declared
        store._path = text(quick.quire_store_path(held))
        store._uuid = text(quick.quire_store_uuid(held))
        store._contexts = weakref.WeakSet()
        store._lock = threading.RLock()
        _handle.Handle.__init__(store, held, library.quire_store_release)
        store._context = store._enlist(_making.adopt(Context, store, context))
        return store

    def _take_back(self) -> None:
        """The callback has returned."""
        self._context.close()
        with self._lock:
            self._pointer = None
            contexts = list(self._contexts)
        for each in contexts:
            each._retire()

    @property
    def path(self) -> str:
        """The path that it was opened with."""
        return self._path

    @property
    def uuid(self) -> str:
        """The upper-case UUID that the file was given when it was created."""
        return self._uuid

    @property
    def model(self) -> ModelDescription:
        """What the model of the store declares. Any thread, also when the store is closed."""
        if self._described is None:
            model = self._model.value
            assert model is not None
            self._described = describe(model)
        return self._described

    @property
    def classes(self) -> Mapping[str, Any]:
        """The model classes by the names of their entities: those that it was opened with, or those of the file."""
        return self._schema.by_name

    @property
    def metadata(self) -> Metadata:
        """What the file says of itself, and what programs keep there."""
        return Metadata(self)

    @property
    def context(self) -> Context:
        """Its first context, for the thread that opened it."""
        return self._context

    def create_context(self) -> Context:
        """Makes another context, such as one for another thread. It reads a moment of its own (see `Context`), and does
        not see pending changes of others."""
        return self._enlist(Context(self))

    def _enlist(self, context: Context) -> Context:
        with self._lock:
            self._contexts.add(context)
        return context

    @contextmanager
    def background(self) -> Iterator[Context]:
        """A context of its own for a block of work, often on another thread: `with store.background() as context:`.

        At the end of the block it saves, which other contexts learn when they merge; when the block or the save raises,
        its changes are dropped. Then it is closed. What `did_save` and handlers of live lists raise once the block has
        been saved is logged (logger "quire"). It runs on the thread of the caller.
        """
        context = self.create_context()
        try:
            yield context
            if context.has_changes:
                context._write(library.quire_context_save, at_end=True)
        finally:
            context.close()

    def set_log(
        self, log: Optional[_sql_log.Tell], *, includes_values: bool = False, least_seconds: float = 0.0
    ) -> None:
        """Has `log` told of each SQL statement that the store runs: its text, its seconds and its number of rows.

        `store.set_log(print)` is the shortest. None ends it. Values stand in the text as `?1` unless `includes_values`
        is true: what users have written may then be in the log. With `least_seconds` faster statements are left out.
        The function runs on the thread of the statement; calls of stores and contexts raise `InvalidState` meanwhile.

        A store that is opened while the logger "quire.sql" of the module `logging` listens to DEBUG logs there from its
        opening on, until another log is set. Any thread.
        """
        error = c_void_p()
        given = None if log is None else _sql_log.described(log, includes_values, least_seconds)
        try:
            status = library.quire_store_set_log(self._raw, None if given is None else byref(given), byref(error))
        except BaseException:
            _sql_log.forget(given)
            raise
        if status:
            _sql_log.forget(given)
            raise failure(status, error)

    def delete_cache(self, name: Optional[str] = None) -> None:
        """Deletes the cache that `Query.live` was given the name of, or all of the store. There need not be one.

        Raises `ReadOnly` where the folder cannot be written. Any thread.
        """
        error = c_void_p()
        given = None if name is None else _values.encoded(name)
        status = library.quire_results_delete_cache(self._raw, given, 0 if given is None else len(given), byref(error))
        if status:
            raise failure(status, error)

    @property
    def history_token(self) -> bytes:
        """The place at which the history of the file is now: `history` finds after it what is committed from now on.

        Bytes that name the store and a transaction, to be kept as long as a program likes. Raises `InvalidState` where
        the file keeps no history. Any thread.
        """
        return _history.current_token(self)

    def history(
        self,
        after: Optional[bytes] = None,
        *,
        author: Optional[str] = None,
        name: Optional[str] = None,
        entity: Union[type[Model], str, None] = None,
        since: Union[datetime, float, None] = None,
        limit: Optional[int] = None,
    ) -> _history.History:
        """What any program has changed in the file after a place in its history, or since the history began.

        A file keeps a history once it was opened with `track_history`, or when Core Data has turned its own on. Each
        save and each batch request is a transaction of it, the oldest first:

            for transaction in store.history(after=token):
                for change in transaction.changes:
                    print(transaction.author, change.kind, change.entity, change.id)

        `History.token` of the result is where the next call goes on. `author` and `name` are those of the context that
        has saved. With `entity`, a class or a name, other changes are left out, and so are transactions without any of
        it; entities under it count. `since` leaves out what is earlier. `limit` is how many transactions there are at
        most.

        Raises `HistoryExpired` when what followed `after` was purged, or when an older copy of the file, which does not
        have the transaction of `after`, is in its place: then read everything anew. Raises `InvalidArgument` for a
        token that is damaged or of another store, `InvalidState` where the file keeps no history, `Busy` while a
        transaction of a context is open, `StoreClosed`, `DatabaseError`. Any thread.
        """
        return _history.fetch(self, after, author, name, entity, since, limit)

    def purge_history(self, before: Union[bytes, datetime, float]) -> int:
        """Removes the transactions before the one that a token stands for, or before a date, and says how many.

        The transaction of the token stays, and so do later ones; so does each one from the first on that is not earlier
        than the date. Raises `InvalidArgument` for a token that is damaged or of another store, `HistoryExpired` for
        one that is not in the file yet, `InvalidState`, `Busy`, `ReadOnly`, `StoreClosed`, `DatabaseError`. Any thread.
        """
        return _history.purge(self, before)

    def copy(self, path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
        """Writes what is saved, as of one moment, into a new store at `path`, where there must be no file. A name
        that SQLite or Quire uses beside a store, such as one that ends with `-journal`, raises `CannotOpen`.

        Others may read and save meanwhile. The copy appears whole or not at all, and has the same UUID; caches of lists
        are not copied. A store with `external` attributes needs a name for its copy that differs in more than what
        follows the last dot, or another folder. An external file that is missing is missing in the copy, too, and the
        call says nothing of it. A copy of an XML store is one, too; `quire.convert` makes the other type. Raises
        `InvalidArgument`, `CannotOpen`, `Busy`, `InvalidState`, `StoreClosed`, `DatabaseError`. Any thread.
        """
        encoded = os.fsencode(path)
        error = c_void_p()
        status = library.quire_store_copy(self._raw, encoded, len(encoded), byref(error))
        if status:
            raise failure(status, error)

    def check(self) -> int:
        """Looks through the whole file by SQLite's `integrity_check`, and whether each text index leads to every row
        that it should. It compares no row with the model: values of a wrong type are found by reading them.

        A text index that does not is made anew, or not used any more where the store is open for reading only: the
        result is how many there were. Opening a store for writing has rebuilt those that another program's VACUUM made
        uncertain, so a store for reading alone counts these. It takes as long as reading the file and making all text
        indexes anew. It does not look for the files of `external` values: reading such a value says by `NotFound` that
        its file is missing.
        Raises `DatabaseError` when the file is damaged otherwise; its `details` are what SQLite found. Any thread.
        """
        error, mended = c_void_p(), ctypes.c_int64()
        status = library.quire_store_check(self._raw, byref(mended), byref(error))
        if status:
            raise failure(status, error)
        return mended.value

    def checkpoint(self) -> None:
        """Writes what is in the write-ahead log (WAL) into the file, and empties the WAL. The library does so by itself
        while programs write (see `wal_limit` of `open`): this is for a program that is about to copy the file by other
        means, or wants its disk space back at once.

        Waits up to `busy_timeout` for contexts of other threads to merge, and for other programs. Raises `Busy` when
        contexts show older moments even then, or another program uses the WAL: the message says which. Raises
        `ReadOnly`, `Unsupported` for an XML store, `InvalidState`, `FileMoved`, `StoreClosed`, `DatabaseError`. Any
        thread.
        """
        error = c_void_p()
        status = library.quire_store_checkpoint(self._raw, byref(error))
        if status:
            raise failure(status, error)

    def compact(self) -> int:
        """Gives free pages of the file back to the file system, and returns how many bytes these are: a file does not
        become shorter by deletions alone. Then it empties the WAL as `checkpoint` does, by which the file becomes
        shorter.

        Rows keep their ids. Others may read meanwhile, and write in between. After `Busy` the pages are free, and the
        file becomes shorter with the next checkpoint. Raises what `checkpoint` raises; `Unsupported` also for a file
        that was created without SQLite's incremental vacuum, as neither the library nor Core Data does today. Any
        thread.
        """
        error, freed = c_void_p(), ctypes.c_int64()
        status = library.quire_store_compact(self._raw, byref(freed), byref(error))
        if status:
            raise failure(status, error)
        return freed.value

    @property
    def change_journal(self) -> Literal["none", "saves", "all"]:
        """The change journal that the file keeps; see `quire.open`. Any thread.

        One of "all" that lacks some of its triggers, as after another program has dropped them, is one of "saves".
        """
        error, found = c_void_p(), c_uint32()
        status = library.quire_store_change_journal(self._raw, byref(found), byref(error))
        if status:
            raise failure(status, error)
        return _JOURNALS[found.value]

    @property
    def wal_info(self) -> WALInfo:
        """How large the write-ahead log is now, and how many contexts of this process keep it from beginning anew.

        Waits for a save that is under way. Any thread.
        """
        error = c_void_p()
        state = _ffi.quire_wal_info(struct_size=ctypes.sizeof(_ffi.quire_wal_info))
        status = library.quire_store_wal_info(self._raw, byref(state), byref(error))
        if status:
            raise failure(status, error)
        return WALInfo(
            size=state.size, unfolded_size=state.unfolded_size, limit=state.limit, older_count=state.older_count,
            pinned_count=state.pinned_count, lag=state.lag, lost_count=state.lost_count)

    def close(self) -> None:
        """Closes the file and all contexts. What was not saved is lost. Closing again does nothing.

        A query or save that is under way on another thread is waited for; a `Cancellation` ends a query sooner. What
        that thread does next raises `StoreClosed`. Raises `InvalidState`, and leaves
        everything open, in the midst of a call of the store: from registered functions and progress functions. Raises
        `FileMoved` when it is closed, but what was saved last is only in the log of a file that was moved.
        """
        pointer = self._pointer
        if pointer is None:
            return
        # First the library, which may refuse.
        error = c_void_p()
        status = library.quire_store_close(pointer, byref(error))
        failed = failure(status, error) if status else None
        if failed is not None and library.quire_store_is_open(pointer):
            raise failed
        with self._lock:
            if self._pointer is None:
                return
            self._pointer = None
            contexts = list(self._contexts)
        for each in contexts:
            each._retire()
        # Handles stay what they are until they are collected, because other threads may be passing them to a call.
        self._slot._then = library.quire_store_release,
        if failed is not None:
            raise failed

    def _close_at_exit(self) -> None:
        # A thread that is in the midst of a call of it keeps it open.
        with suppress(Error):
            self.close()

    def _abandon(self) -> None:
        # A thread that does not exist in this process may have held it.
        self._lock = threading.RLock()
        super()._abandon()

    def __repr__(self) -> str:
        return f"<Store {self._path!r}{' (closed)' if self.closed else ''}>"


def _finish(pointer: int, path: str) -> None:
    library.quire_store_release(pointer)
    warnings.warn(f"The store {path!r} was left open; close it or use it in a with block.", ResourceWarning, 2)


def open(
    path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
    models: Union[Iterable[type[Model]], LoadedModel, None] = None,
    *,
    read_only: bool = False,
    must_exist: bool = False,
    relaxed_durability: bool = False,
    timeout: float = 5.0,
    track_history: bool = False,
    change_journal: Optional[Literal["none", "saves", "all"]] = None,
    wal_limit: int = 0,
    migrate: bool = False,
    type: Optional[Literal["sqlite", "xml"]] = None,
) -> Store:
    """Opens the store at `path`, creating it when there is no file; ":memory:" is a private store in memory.

    `models` are the model classes of the store; classes that they inherit from come with them. Without them an existing
    file is opened with the model that it brings along, as files of Quire do and those of Core Data since 2015. A model
    from `quire.load_model` may be given instead. `store.classes["Item"]` is then the class of an entity. A property
    whose name is taken there has an underscore behind it, and its own name in predicates and key paths:

        in the file       in Python         in predicates and key paths
        title             title             title
        id, context       id_, context_     id, context
        class, from       class_, from_     class, from
        _hidden           hidden_           _hidden
        None, like        None_, like       #None, #like (words of the language; see `Predicate`)

    `quire.class_source` writes such classes as the text of a module.

    `read_only` never writes and needs an existing file, as does `must_exist`. With `relaxed_durability` saves are
    faster, but a power cut may undo the last ones (SQLite's synchronous=NORMAL). `timeout` is how many seconds to wait
    for a lock that another connection holds, above 0 and in steps of a millisecond.

    With `track_history` the file keeps a history of its changes from now on, for programs that follow it
    (`Store.history`). Saves and batch requests write it wherever a file keeps one, with or without this. A file that
    CloudKit mirrors is opened with `read_only` alone, and so is one with an R-Tree of which neither triggers nor the
    model say what is in it.

    `change_journal` is the change journal that the file keeps from now on, from which contexts of other processes learn
    which rows a commit has changed. With "saves", as a new file has it, saves and batch requests of Quire record their
    ids. With "all", triggers record what plain SQL changes, too. "none" removes it. Saves write it wherever a file
    keeps one, whatever is given here. A commit of which neither the journal nor the history tells has contexts reread
    everything, and lists report it with `ChangeSet.contents_may_differ`.

    `wal_limit` is how many bytes the write-ahead log may have, 65,536 or more; 0 is for 64 MB, and 16 MB in memory.
    Beyond it, contexts lose moments that are not the newest: those whose objects or lists are in use from eight times
    that on, and pinned ones never (`Context.pin`, `Context.has_lost_moment`). `Store.wal_info` tells how large the log
    is.

    A file of other versions of the classes raises `ModelMismatch`. With `migrate` it is taken over to them first, as
    `quire.migrate` does it. That goes for a file of later versions, too, which loses what these classes do not have.

    Core Data's XML stores are opened, too, and need their models. With `type="xml"` a new file becomes one. All of such
    a store is in memory while it is open, and each save writes the whole file anew: the new one is put into the place
    of the old one when it is whole. A save raises `FileMoved` when another program has changed the file since it was
    read. A file that is there must be of the `type` that is given, if one is. `migrate` does nothing for an XML store.

    Raises `InvalidModel`, `InvalidArgument`, `CannotOpen`, `NotAStore`, `ModelMismatch`, `Busy`, `ReadOnly`,
    `Unsupported`, `DatabaseError` (a damaged file; of an XML store the message names the line), and with `migrate` all
    that `quire.migrate` raises.
    """
    return Store(
        path, models, read_only=read_only, must_exist=must_exist, relaxed_durability=relaxed_durability,
        timeout=timeout, track_history=track_history, change_journal=change_journal, wal_limit=wal_limit,
        migrate=migrate, type=type)


def convert(
    path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
    target: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
    models: Union[Iterable[type[Model]], LoadedModel, None] = None,
    *,
    type: Optional[Literal["sqlite", "xml"]] = None,
) -> None:
    """Writes the store at `path` into a new file at `target`, an XML store as one of SQLite, or the other way round.

    There must be no file at `target`, where the new store appears whole or not at all. Objects, values, relationships
    and orders are kept, as are the UUID and the metadata, but for fractions of seconds of dates in metadata. A history
    and caches of lists are not kept, and large values are in the file itself. `type` is that of the new store; without
    it the other one is taken. `models` are needed for an XML store, and for a file that keeps no model.

    An XML store numbers the objects of all entities together. So objects that come from SQLite get other ids where two
    entities have an id in common.

    Raises what `quire.open` does for the store at `path`; `InvalidArgument` (the store has the type already),
    `CannotOpen` (there is a file at `target`), `Unsupported`, `DatabaseError`. Any thread.
    """
    encoded, encoded_target = os.fsencode(path), os.fsencode(target)
    given = _opening.GivenModel(models)
    error = c_void_p()
    status = library.quire_store_convert(
        encoded, len(encoded), given.pointer, encoded_target, len(encoded_target), _type(type), byref(error))
    if status:
        raise failure(status, error)


def _change_journal(name: Optional[str]) -> int:
    if name is None:
        return _ffi.QUIRE_CHANGE_JOURNAL_DEFAULT
    for number, known in _JOURNALS.items():
        if name == known:
            return number
    raise InvalidArgument(
        f"change_journal is 'none', 'saves' or 'all', or None for what the file has; it is {name!r}.")


def _type(name: Optional[str]) -> int:
    if name is None:
        return _ffi.QUIRE_STORE_ANY
    if isinstance(name, str) and name in _TYPES:
        return _TYPES[name]
    raise InvalidArgument(f"the type of a store is 'sqlite' or 'xml', or None for any; it is {name!r}.")


def delete_store(path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
    """Deletes the store at `path`, of whatever models, with all files that belong to it.

    A store that is open is refused (`InvalidState` in this process, `Busy` in another one), and so is a file that is no
    store (`NotAStore`); nothing was deleted then. An XML store is refused so, too: it is one file, which `os.remove`
    deletes. Raises `CannotOpen` when there is none, `ReadOnly`, `DatabaseError`.
    """
    encoded = os.fsencode(path)
    error = c_void_p()
    status = library.quire_store_delete(encoded, len(encoded), byref(error))
    if status:
        raise failure(status, error)
