"""The methods of model classes that the library calls: `will_save` and their like."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .._c import _ffi, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidState, ValidationError, failure, log, remember_hook
from ..objects import _identity
from . import _rules

if TYPE_CHECKING:
    from ..protocols import Context
    from ._schema import Schema
    from .model import Model


@public
class SnapshotEvents(enum.IntFlag):
    """Why an object has other values than before, for `Model.awake_from_snapshot`."""

    UNDO_INSERTION = _ffi.QUIRE_SNAPSHOT_UNDO_INSERTION
    """Its insertion was undone: it is deleted now."""
    UNDO_DELETION = _ffi.QUIRE_SNAPSHOT_UNDO_DELETION
    """Its deletion was undone: it is there again."""
    UNDO_UPDATE = _ffi.QUIRE_SNAPSHOT_UNDO_UPDATE
    """A change of it was undone, or done again."""
    ROLLBACK = _ffi.QUIRE_SNAPSHOT_ROLLBACK
    """A rollback has given back what was saved."""
    REFRESH = _ffi.QUIRE_SNAPSHOT_REFRESH
    """It was refreshed, or another context's changes were merged."""
    MERGE_POLICY = _ffi.QUIRE_SNAPSHOT_MERGE_POLICY
    """The merge policy has settled a conflict over it."""


NAMES = (
    "awake_from_insert", "awake_from_fetch", "prepare_for_deletion", "will_save", "validate", "did_save",
    "will_turn_into_fault", "did_turn_into_fault", "awake_from_snapshot",
)

_numbers = itertools.count(1)
_contexts: weakref.WeakValueDictionary[int, Context] = weakref.WeakValueDictionary()
"""By the number that the library knows them by: a pointer to one might outlive it."""
_reasons = threading.local()
"""`last`: the text that the library is about to copy."""


class State:
    """What hooks are doing to a context."""

    __slots__ = ("adding", "validating", "failures")

    def __init__(self) -> None:
        self.adding = False
        """`Context.add` is inserting an object, and calls its hook itself once it has its values."""
        self.validating: list[Model] = []
        self.failures: list[BaseException] = []
        """What `did_save` raised, which the library need not know."""


def overridden(model: type[Model], base: type[Model]) -> frozenset[str]:
    """The hooks that a class has."""
    return frozenset(name for name in NAMES if getattr(model, name) is not getattr(base, name))


def install(context: Context, schema: Schema) -> None:
    """Has the library call the hooks that classes have. Where none has one, it calls nothing."""
    if not schema.hooks:
        return
    number = next(_numbers)
    _contexts[number] = context
    for entity, names in schema.hooks.items():
        hooks = _ffi.quire_hooks(struct_size=ctypes.sizeof(_ffi.quire_hooks), user_data=number)
        for name in names:
            setattr(hooks, name, _CALLBACKS[name])
        error = c_void_p()
        status = library.quire_context_set_hooks(
            context._raw, entity.encoded_name, len(entity.encoded_name), byref(hooks), byref(error))
        if status:
            raise failure(status, error)


def _instance(context: Context, pointer: int) -> Model:
    # A save has given ids that were temporary before.
    if context._temporary:
        _identity.learn_ids(context)
    return _identity.adopt(context, quick.quire_object_retain(pointer))


def _called(number: int, pointer: int, target: Any, body: Callable[[Context, int], None]) -> bool:
    # An exception that left here would be printed and lost.
    try:
        context = _contexts.get(number)
        if context is not None and not context.closed:
            # The library calls it within a call that was allowed, such as the read of another task.
            blocks, context._blocks = context._blocks, ()
            try:
                body(context, pointer)
            finally:
                context._blocks = blocks
        return True
    except BaseException as exception:
        reason = _values.data(remember_hook(exception).encode(errors="replace"), _ffi.QUIRE_VALUE_TEXT)
        _reasons.last = values = _values.Values([reason])
        ctypes.memmove(target, values.array, ctypes.sizeof(_ffi.quire_value))
        return False


def _method(name: str) -> Callable[[Context, int], None]:
    def call(context: Context, pointer: int) -> None:
        getattr(_instance(context, pointer), name)()

    return call


def _awake_from_insert(context: Context, pointer: int) -> None:
    if not context._hooks.adding:
        _instance(context, pointer).awake_from_insert()


def _validate(context: Context, pointer: int) -> None:
    instance = _instance(context, pointer)
    context._hooks.validating.append(instance)
    try:
        instance.validate()
    except ValidationError as refusal:
        for each in refusal.failures:
            key = None
            if each.key:
                key = type(instance)._quire_entity.property_named(each.key)._key_bytes
            message = _values.encoded(each.message or f"{instance!r} is not valid.")
            error = c_void_p()
            status = library.quire_object_refuse(
                pointer, key, 0 if key is None else len(key), message, len(message), byref(error))
            if status:
                raise failure(status, error) from None
    finally:
        context._hooks.validating.pop()


def _did_save(number: int, pointer: int) -> None:
    try:
        context = _contexts.get(number)
        if context is None or context.closed:
            return
        try:
            _instance(context, pointer).did_save()
        except BaseException as exception:
            context._hooks.failures.append(exception)
    except BaseException as exception:
        log("did_save could not be called.", exception)


def _did_turn_into_fault(context: Context, pointer: int) -> None:
    instance = _instance(context, pointer)
    _identity.forget_values(instance)
    instance.did_turn_into_fault()


def _awake_from_snapshot(number: int, pointer: int, events: int, target: Any) -> bool:
    def awake(context: Context, pointer: int) -> None:
        instance = _instance(context, pointer)
        _identity.forget_values(instance)
        instance.awake_from_snapshot(SnapshotEvents(events))

    return _called(number, pointer, target, awake)


def _callback(kind: Any, body: Callable[[Context, int], None]) -> Any:
    return kind(lambda number, pointer, target: _called(number, pointer, target, body))


_CALLBACKS: dict[str, Any] = {
    "awake_from_insert": _callback(_ffi.quire_hooks_awake_from_insert, _awake_from_insert),
    "awake_from_fetch": _callback(_ffi.quire_hooks_awake_from_fetch, _method("awake_from_fetch")),
    "prepare_for_deletion": _callback(_ffi.quire_hooks_prepare_for_deletion, _method("prepare_for_deletion")),
    "will_save": _callback(_ffi.quire_hooks_will_save, _method("will_save")),
    "validate": _callback(_ffi.quire_hooks_validate, _validate),
    "did_save": _ffi.quire_hooks_did_save(_did_save),
    "will_turn_into_fault": _callback(_ffi.quire_hooks_will_turn_into_fault, _method("will_turn_into_fault")),
    "did_turn_into_fault": _callback(_ffi.quire_hooks_did_turn_into_fault, _did_turn_into_fault),
    "awake_from_snapshot": _ffi.quire_hooks_awake_from_snapshot(_awake_from_snapshot),
}


@contextlib.contextmanager
def told(context: Context) -> Iterator[None]:
    """Raises what `did_save` raised during the save that was made, after everything else that follows it."""
    state = context._hooks
    try:
        yield
    except BaseException:
        failures, state.failures = state.failures, []
        for other in failures:
            log("A did_save failed too.", other)
        raise
    failures, state.failures = state.failures, []
    for other in failures[1:]:
        log("Another did_save failed too.", other)
    if failures:
        raise failures[0]


# MARK: validation


def validate(instance: Model) -> bool:
    """Validates an object by its rules and its hook; False when this is its hook, which the library is calling."""
    context = instance._quire_context
    if context is None:
        raise InvalidState(
            f"{instance!r} is in no context yet, which validates it; context.add(...) puts it into one.",
            entity=type(instance).__name__)
    if any(each is instance for each in context._hooks.validating):
        return False
    error = c_void_p()
    status = library.quire_object_validate(_identity.handle(instance), byref(error))
    if status:
        raise _rules.complete(context, failure(status, error))
    return True


def complete(own: Callable[[Any], None]) -> Callable[[Any], None]:
    """`validate` as a class has written it, made to validate the whole object when it is called from outside."""

    @functools.wraps(own)
    def whole(self: Model) -> None:
        if not validate(self):
            own(self)

    return whole
