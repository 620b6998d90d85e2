"""What a save does with objects that another writer has changed, and what it tells of them."""

from __future__ import annotations

import ctypes
import enum
import weakref
from collections.abc import Callable, Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _ffi
from .._c._load import library, quick
from .._c._public import public
from ..errors import failure
from ..objects import _identity
from ..predicates._evaluation import python_value
from ..models._conversions import as_restored
from ..models.properties import ToMany

if TYPE_CHECKING:
    from ..models._entity import Entity
    from ..models.model import Model
    from .context import Context

__all__ = ["MergePolicy", "ObjectConflict"]


@public
class MergePolicy(enum.IntEnum):
    """What a save does with an object that another writer has changed since it was read: `Context.merge_policy`.

    A changed object that was deleted in the store is gone under STORE_WINS and ROLLBACK, and inserted again under
    OBJECT_WINS and OVERWRITE; the other way round the deletion is given up, or carried out. Many-to-many members that
    both sides added or removed are merged under STORE_WINS and OBJECT_WINS. A new object with the unique values of
    another is dropped in favour of that, which gets its values as the policy says; what referred to the new one refers
    to the other. Where the other is no object of its class, the save raises `ConstraintError`.
    """

    ERROR = _ffi.QUIRE_MERGE_ERROR
    """The save raises `Conflict` or `ConstraintError` and writes nothing. The default."""
    STORE_WINS = _ffi.QUIRE_MERGE_STORE_WINS
    """Property by property: what the store changed wins, other changes here stay."""
    OBJECT_WINS = _ffi.QUIRE_MERGE_OBJECT_WINS
    """Property by property: what was changed here wins over what the store changed."""
    OVERWRITE = _ffi.QUIRE_MERGE_OVERWRITE
    """The whole object as it is in memory."""
    ROLLBACK = _ffi.QUIRE_MERGE_ROLLBACK
    """The changes of the object are dropped."""


@public
@dataclass(frozen=True)
class ObjectConflict:
    """One object that could not be saved, in all its versions: mappings of attributes, and of relationships to one
    object to the id of that."""

    kind: str
    """"changed" or "deleted" by another writer; "referred": deleted here, and another writer has had `other` refer to
    it; "unique": `other` has the same values, where only one object may have them."""
    object: Model
    other: Optional[Model]
    committed: Optional[Mapping[str, Any]]
    """As it was read or last saved here; None for a new object."""
    stored: Optional[Mapping[str, Any]]
    """As it is in the store now; None when there is no row. Of the kind "unique" it is what is stored of `other`, with
    the attributes of its class."""
    current: Optional[Mapping[str, Any]]
    """As it is here; None when it is deleted here."""


_KINDS = {
    _ffi.QUIRE_CONFLICT_CHANGED: "changed", _ffi.QUIRE_CONFLICT_DELETED: "deleted",
    _ffi.QUIRE_CONFLICT_REFERRED: "referred", _ffi.QUIRE_CONFLICT_UNIQUE: "unique",
}

Decide = Callable[[ObjectConflict], MergePolicy]


class Handler:
    """A function that decides conflicts, as the library calls it. The context keeps it as long as it is set."""

    def __init__(self, context: Context, decide: Decide) -> None:
        self.decide = decide
        self._context = weakref.ref(context)
        self._failure: Optional[BaseException] = None
        self._callback = _ffi.quire_merge_handler_decide(self._called)

    def attach(self, context: Context) -> None:
        handler = _ffi.quire_merge_handler(
            struct_size=ctypes.sizeof(_ffi.quire_merge_handler), decide=self._callback)
        error = c_void_p()
        status = library.quire_context_set_merge_handler(context._raw, byref(handler), byref(error))
        if status:
            raise failure(status, error)

    def take_failure(self) -> Optional[BaseException]:
        """What the function raised since the last time."""
        failed, self._failure = self._failure, None
        return failed

    def _called(self, user_data: Optional[int], conflict: int) -> int:
        try:
            context = self._context()
            if context is None or self._failure is not None:
                return int(MergePolicy.ERROR)
            answer = self.decide(_conflict(context, conflict))
            if not isinstance(answer, MergePolicy):
                raise TypeError(f"a merge policy function gives a MergePolicy, not {answer!r}")
            return int(answer)
        except BaseException as failed:
            # It comes out of the save.
            self._failure = failed
            return int(MergePolicy.ERROR)


def set_policy(context: Context, policy: Union[MergePolicy, Decide]) -> Optional[Handler]:
    """Sets a policy, or a function, which is given back as its handler."""
    if isinstance(policy, MergePolicy):
        error = c_void_p()
        status = library.quire_context_set_merge_policy(context._raw, policy, byref(error))
        if status:
            raise failure(status, error)
        return None
    if not callable(policy):
        raise TypeError(f"a merge policy is a MergePolicy or a function, not {type(policy).__name__}")
    handler = Handler(context, policy)
    handler.attach(context)
    return handler


def conflicts(context: Context, error: c_void_p) -> list[ObjectConflict]:
    """What the error of a save tells of objects in conflict."""
    if not error.value:
        return []
    found = []
    for index in range(quick.quire_error_conflict_count(error)):
        conflict = quick.quire_error_conflict(error, index)
        if conflict:
            found.append(_conflict(context, conflict))
    return found


def _conflict(context: Context, conflict: int) -> ObjectConflict:
    object = _object(context, quick.quire_conflict_object(conflict))
    assert object is not None
    kind = _KINDS.get(quick.quire_conflict_cause(conflict), "unknown")
    other = _object(context, quick.quire_conflict_other(conflict))
    entity = type(object)._quire_entity
    stored = entity if kind != "unique" or other is None else type(other)._quire_entity
    return ObjectConflict(
        kind, object, other,
        _values(conflict, _ffi.QUIRE_CONFLICT_VERSION_COMMITTED, entity),
        _values(conflict, _ffi.QUIRE_CONFLICT_VERSION_STORED, stored),
        _values(conflict, _ffi.QUIRE_CONFLICT_VERSION_CURRENT, entity))


def _object(context: Context, borrowed: Optional[int]) -> Optional[Model]:
    if not borrowed:
        return None
    return _identity.adopt(context, quick.quire_object_retain(borrowed))


def _values(conflict: int, version: int, entity: Entity) -> Optional[Mapping[str, Any]]:
    if not quick.quire_conflict_has(conflict, version):
        return None
    values: dict[str, Any] = {}
    for name, each in entity.properties.items():
        if isinstance(each, ToMany):
            continue
        error, value = c_void_p(), _ffi.quire_value()
        status = library.quire_conflict_value(
            conflict, version, each._key_bytes, len(each._key_bytes), byref(value), byref(error))
        if status:
            raise failure(status, error)
        values[name] = python_value(value, None)
    return as_restored(values, entity.attributes)
