"""Blocks of a context that concern what it can undo."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _values
from .._c._load import library, quick
from ..errors import check
from . import _tasks

if TYPE_CHECKING:
    from .context import Context


def group(context: Context, name: Optional[str]) -> Iterator[None]:
    """A block whose changes are undone together."""
    encoded = None if name is None else _values.encoded(name)
    context._check_task()
    context._delivery.begin()
    error, entered = c_void_p(), None
    arguments = context._raw, encoded, 0 if encoded is None else len(encoded), byref(error)
    try:
        # Inside, because a KeyboardInterrupt may come as the call returns, when the group has begun.
        status = library.quire_context_begin_undo_group(*arguments)
        context._delivery.after(status, error)
        entered = _tasks.enter(context, "an undo_group()")
        yield
    except BaseException:
        _tasks.leave(context, entered)
        # What the block raised is what matters; the group ends in any case, if it has begun.
        if not error.value and not context.closed and context.undo_enabled:
            library.quire_context_end_undo_group(context._raw, None)
        raise
    _tasks.leave(context, entered)
    context._delivery.begin()
    context._delivery.after(library.quire_context_end_undo_group(context._raw, byref(error)), error)


def without(context: Context) -> Iterator[None]:
    """A block whose changes are for good."""
    was_registering = bool(quick.quire_context_is_undo_registering(context._writable))
    _set_registration(context, False)
    entered = _tasks.enter(context, "a without_undo()")
    try:
        yield
    finally:
        _tasks.leave(context, entered)
        if not context.closed and context.undo_enabled:
            _set_registration(context, was_registering)


def revert(context: Context, call: Any) -> None:
    """Undoes or redoes by a call of the library."""
    context._check_task()
    context._delivery.settle()
    error = c_void_p()
    context._delivery.after(call(context._raw, None, byref(error)), error)


def _set_registration(context: Context, is_registering: bool) -> None:
    error = c_void_p()
    check(library.quire_context_set_undo_registration(context._raw, is_registering, byref(error)), error)
