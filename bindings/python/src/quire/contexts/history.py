"""What has changed in a store: the transactions that a file keeps for those that follow it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_int64, c_void_p
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union, overload

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, WrongType, check, failure, text
from ..models._conversions import as_restored
from ..models.model import Model
from ..predicates import _evaluation
from . import moment

if TYPE_CHECKING:
    from .store import Store

__all__ = ["History", "HistoryChange", "HistoryTransaction"]

_KINDS = {
    _ffi.QUIRE_HISTORY_INSERT: "insert", _ffi.QUIRE_HISTORY_UPDATE: "update", _ffi.QUIRE_HISTORY_DELETE: "delete",
}
# QUIRE_HISTORY_TOKEN_SIZE
_TOKEN_SIZE = 40
_Token = ctypes.c_uint8 * _TOKEN_SIZE


@public
class HistoryChange(NamedTuple):
    """What a transaction did to one object."""

    kind: str
    """"insert", "update" or "delete"."""
    entity: Optional[str]
    """The name of its entity; None where the model of the store has no such entity."""
    id: int
    """As `Model.id` of the object."""
    keys: Optional[tuple[str, ...]]
    """The properties that an update has changed. None where the history does not tell: any of them may have."""
    tombstone: Mapping[str, Any]
    """What a deletion has left: the last values of the attributes that are declared `preserved`, by their names in the
    store, as objects had them. A value that `attr(as_=...)` cannot decode raises `InvalidArgument` when it is read."""


@public
class HistoryTransaction(NamedTuple):
    """A save or a batch request of any program."""

    number: int
    """Grows from transaction to transaction."""
    timestamp: Union[datetime, float]
    """When it was written, by the clock of its program. Far from now, seconds since 1970."""
    author: Optional[str]
    """`Context.author` of the context that has saved."""
    name: Optional[str]
    """`Context.name` of that."""
    process: Optional[str]
    """The name of the program."""
    bundle: Optional[str]
    """The bundle identifier of the program; on systems without bundles its name again."""
    token: bytes
    """Stands for the place behind it: `Store.history(after=token)` begins with the next transaction."""
    changes: tuple[HistoryChange, ...]
    """Each object once, in no order that matters."""


@public
class History(Sequence[HistoryTransaction]):
    """The transactions that `Store.history` has found, the oldest first. It never changes. Any thread."""

    def __init__(self, transactions: Sequence[HistoryTransaction], token: bytes) -> None:
        self._transactions = tuple(transactions)
        self._token = token

    @property
    def token(self) -> bytes:
        """With which the next `Store.history` goes on. It also passes what the arguments had left out, but for what
        `limit` has cut off."""
        return self._token

    def __len__(self) -> int:
        return len(self._transactions)

    @overload
    def __getitem__(self, index: int) -> HistoryTransaction: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[HistoryTransaction, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[HistoryTransaction, tuple[HistoryTransaction, ...]]:
        return self._transactions[index]

    def __iter__(self) -> Iterator[HistoryTransaction]:
        return iter(self._transactions)

    def __repr__(self) -> str:
        return f"<History of {len(self)} {'transaction' if len(self) == 1 else 'transactions'}>"


class Authoring(moment.Pinning):
    """What a context has of this."""

    @property
    def author(self) -> Optional[str]:
        """Whose its saves and batch requests are, in the history of the store: for other programs. None unless set.

        Saves of a child are written by the context without a parent, as its own.
        """
        return _optional(quick.quire_context_author(self._raw))

    @author.setter
    def author(self, author: Optional[str]) -> None:
        self._label(library.quire_context_set_author, author)

    @property
    def name(self) -> Optional[str]:
        """What the history of the store calls it: for people. None unless set. As `author`."""
        return _optional(quick.quire_context_name(self._raw))

    @name.setter
    def name(self, name: Optional[str]) -> None:
        self._label(library.quire_context_set_name, name)

    def _label(self, call: Any, given: Optional[str]) -> None:
        error = c_void_p()
        encoded = None if given is None else _values.encoded(given)
        check(call(self._raw, encoded, 0 if encoded is None else len(encoded), byref(error)), error)


def current_token(store: Store) -> bytes:
    error, token = c_void_p(), _Token()
    status = library.quire_history_token(store._raw, token, byref(error))
    if status:
        raise failure(status, error)
    return bytes(token)


def fetch(
    store: Store, after: Optional[bytes], author: Optional[str], name: Optional[str],
    entity: Union[type[Model], str, None], since: Union[datetime, float, None], limit: Optional[int],
) -> History:
    options = _ffi.quire_history_options(struct_size=ctypes.sizeof(_ffi.quire_history_options))
    if author is not None:
        options.author = _values.terminated(author, "an author")
    if name is not None:
        options.context_name = _values.terminated(name, "the name of a context")
    if entity is not None:
        options.entity = _values.terminated(_entity_name(entity), "the name of an entity")
    if since is not None:
        options.has_since, options.since = True, _values.seconds(since)
    if limit is not None:
        options.limit = _values.natural(limit, "the limit")
        if not options.limit:
            return History((), current_token(store) if after is None else after)
    token, size = _given(after)
    error, found = c_void_p(), _handle.Slot(quick.quire_history_release)
    status = library.quire_history_fetch(store._raw, token, size, byref(options), byref(found), byref(error))
    if status:
        raise failure(status, error)
    try:
        count = quick.quire_history_count(found)
        last = _token_of(library.quire_history_next_token, found)
        return History([_transaction(store, found, index) for index in range(count)], last)
    finally:
        found.give_back()


def purge(store: Store, before: Union[bytes, datetime, float]) -> int:
    error, count = c_void_p(), c_int64()
    if isinstance(before, (bytes, bytearray, memoryview)):
        token, size = _given(bytes(before))
        status = library.quire_history_purge(store._raw, token, size, byref(count), byref(error))
    elif isinstance(before, (datetime, float, int)):
        status = library.quire_history_purge_before_date(
            store._raw, _values.seconds(before), byref(count), byref(error))
    else:
        raise WrongType(f"a history is purged before a token or a datetime, not before {type(before).__name__}")
    if status:
        raise failure(status, error)
    return count.value


def _entity_name(entity: Union[type[Model], str]) -> str:
    if isinstance(entity, str):
        return entity
    found = getattr(entity, "_quire_entity", None)
    if found is None:
        raise WrongType(f"entity is a model class or the name of an entity, not {entity!r}")
    name: str = found.name
    return name


def _given(token: Optional[bytes]) -> tuple[Any, int]:
    if token is None:
        return None, 0
    if not isinstance(token, (bytes, bytearray, memoryview)):
        raise WrongType(f"a token of the history is bytes, not {type(token).__name__}")
    if len(token) != _TOKEN_SIZE:
        raise InvalidArgument(
            f"a token of the history has {_TOKEN_SIZE} bytes, and this one has {len(token)}: it is "
            "damaged.")
    return _Token.from_buffer_copy(token), len(token)


def _optional(string: _ffi.quire_string) -> Optional[str]:
    return text(string) if string.data else None


def _token_of(call: Any, *arguments: Any) -> bytes:
    error, token = c_void_p(), _Token()
    status = call(*arguments, token, byref(error))
    if status:
        raise failure(status, error)
    return bytes(token)


def _transaction(store: Store, history: _handle.Slot, index: int) -> HistoryTransaction:
    error = c_void_p()
    info = _ffi.quire_history_transaction_info(struct_size=ctypes.sizeof(_ffi.quire_history_transaction_info))
    status = library.quire_history_transaction(history, index, byref(info), byref(error))
    if status:
        raise failure(status, error)
    return HistoryTransaction(
        info.number, _values.instant(info.timestamp), _optional(info.author), _optional(info.context_name),
        _optional(info.process_id), _optional(info.bundle_id),
        _token_of(library.quire_history_transaction_token, history, index),
        tuple(_change(store, history, index, change) for change in range(info.change_count)))


def _change(store: Store, history: _handle.Slot, transaction: int, index: int) -> HistoryChange:
    error = c_void_p()
    info = _ffi.quire_history_change_info(struct_size=ctypes.sizeof(_ffi.quire_history_change_info))
    status = library.quire_history_change(history, transaction, index, byref(info), byref(error))
    if status:
        raise failure(status, error)
    keys: Optional[tuple[str, ...]] = None
    if info.key_count >= 0:
        keys = tuple(
            text(quick.quire_history_changed_key(history, transaction, index, place))
            for place in range(info.key_count))
    left: dict[str, Any] = {}
    for place in range(info.tombstone_count):
        key, value = _ffi.quire_string(), _ffi.quire_value()
        status = library.quire_history_tombstone(
            history, transaction, index, place, byref(key), byref(value), byref(error))
        if status:
            raise failure(status, error)
        left[text(key)] = _evaluation.python_value(value, None)
    entity = _optional(info.entity)
    model = None if entity is None or not left else store._schema.find(entity)
    attributes = {} if model is None else {each._key: each for each in model._quire_entity.attributes.values()}
    return HistoryChange(_KINDS[info.kind], entity, info.id, keys, as_restored(left, attributes))
