"""A block of a context that is one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING

from .._c._load import library, quick
from ..errors import Error, InvalidState, add_note, check, log
from . import _tasks

if TYPE_CHECKING:
    from .context import Context


def block(context: Context) -> Iterator[Context]:
    """Begins it, and ends it when the block has ended."""
    _check_none(context)
    begins, entered = True, None
    try:
        # Inside, because a KeyboardInterrupt may come as the call returns, when the transaction is open.
        _begin(context)
        begins = False
        entered = _tasks.enter(context, _tasks.TRANSACTION)
        # The context has moved on to what the transaction sees.
        context._delivery.deliver()
        yield context
        _tasks.leave(context, entered)
        context._in_transaction = False
        context._write(
            library.quire_context_commit_transaction if context._parent is None else library.quire_context_save,
            at_end=True)
    except BaseException as ended:
        _tasks.leave(context, entered)
        if begins and isinstance(ended, Error):
            raise
        context._in_transaction = False
        try:
            _drop(context)
        except Exception as failed:
            log("Dropping the changes of a transaction failed too, beside what ended it.", failed)
        raise


def note_save(context: Context, failed: Exception) -> None:
    """Says of what a handler or `did_save` has raised that the save stays."""
    if context._parent is not None:
        add_note(failed, "This was raised after the save: the changes are in the parent context.")
    # A transaction is taken back by what it raises.
    elif context._pointer is not None and not quick.quire_context_is_in_transaction(context._pointer):
        add_note(failed, "This was raised after the save: the changes are in the file.")


def abandon(context: Context) -> None:
    """Before the context is closed: objects that are still held would keep the transaction open."""
    if context._pointer is not None and context._parent is None:
        library.quire_context_rollback_transaction(context._pointer, None)


def _check_none(context: Context) -> None:
    """Raises where a block cannot begin, so that it has nothing to drop."""
    context._check_task()
    context._check_save()
    if context._parent is None:
        if quick.quire_context_is_in_transaction(context._raw):
            raise InvalidState("The context has a transaction open already; they do not nest.")
    elif context._in_transaction:
        raise InvalidState("This context is in a transaction already; they do not nest.")
    elif quick.quire_context_has_changes(context._raw):
        raise InvalidState("There are unsaved changes from before the transaction. Save or roll them back first.")


def _begin(context: Context) -> None:
    if context._parent is None:
        error = c_void_p()
        check(library.quire_context_begin_transaction(context._raw, byref(error)), error)
    else:
        context._in_transaction = True


def _drop(context: Context) -> None:
    if context.closed:
        return
    if context._parent is not None:
        if context.has_changes:
            context.rollback()
    elif quick.quire_context_is_in_transaction(context._raw):
        context._delivery.begin()
        error = c_void_p()
        status = library.quire_context_rollback_transaction(context._raw, byref(error))
        if not status:
            context._conflicted = False
        context._delivery.after(status, error)
