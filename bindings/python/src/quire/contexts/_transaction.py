"""A block of a context that is one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .._c._load import library, quick
from ..errors import Error, InvalidState, check, log
from ._telling import Telling

if TYPE_CHECKING:
    from .context import Context


class Transacting(Telling):
    """The part of a context that holds transactions."""

    _conflicted = False
    _in_transaction = False
    """Whether a child is in such a block; of a context without parent the library knows."""

    @contextmanager
    def transaction(self) -> Iterator[Context]:
        """A block that is one transaction of the file: its end saves, and when it raises nothing of it stays.

        It covers all that is written inside: changes of objects, `save`, `insert_rows`, `Query.update` and
        `Query.delete`. When the block or the save at its end raises, file, objects and live lists are as they were
        before; objects that were added are gone. The exception comes out of the block; what goes wrong while the
        changes are dropped is logged beside it. What handlers of live lists and `did_save` raise once the block has
        been saved is logged, too (logger "quire"), so that a block which raises has failed.

        Other contexts of the store cannot read the file meanwhile: they wait, and raise `Busy` after the `timeout` of
        the store, on the same thread at once. Keep blocks short. In a child it is a transaction of the parent, into
        which the end saves, and `save` raises `InvalidState` inside.

        Raises `InvalidState` when there are unsaved changes before it, because they would get lost with those of the
        block, and inside another such block; `Busy`, `ReadOnly`.
        """
        context: Any = self
        self._check_no_transaction()
        begins = True
        try:
            # Inside, because a KeyboardInterrupt may come as the call returns, when the transaction is open.
            self._begin_transaction()
            begins = False
            yield context
            self._in_transaction = False
            context._write(
                library.quire_context_commit_transaction if self._parent is None else library.quire_context_save,
                at_end=True)
        except BaseException as ended:
            if begins and isinstance(ended, Error):
                raise
            self._in_transaction = False
            try:
                self._drop_transaction()
            except Exception as failed:
                log("Dropping the changes of a transaction failed too, beside what ended it.", failed)
            raise

    def _check_no_transaction(self) -> None:
        """Raises where a block cannot begin, so that it has nothing to drop."""
        if self._parent is None:
            if quick.quire_context_is_in_transaction(self._raw):
                raise InvalidState("The context has a transaction open already; they do not nest.")
        elif self._in_transaction:
            raise InvalidState("This context is in a transaction already; they do not nest.")
        elif quick.quire_context_has_changes(self._raw):
            raise InvalidState("There are unsaved changes from before the transaction. Save or roll them back first.")

    def _begin_transaction(self) -> None:
        if self._parent is None:
            error = c_void_p()
            check(library.quire_context_begin_transaction(self._raw, byref(error)), error)
        else:
            self._in_transaction = True

    def _drop_transaction(self) -> None:
        context: Any = self
        if self.closed:
            return
        if self._parent is not None:
            if context.has_changes:
                context.rollback()
        elif quick.quire_context_is_in_transaction(self._raw):
            self._begin()
            error = c_void_p()
            status = library.quire_context_rollback_transaction(self._raw, byref(error))
            if not status:
                self._conflicted = False
            self._after(status, error)

    def _abandon_transaction(self) -> None:
        """Before the context is closed: objects that are still held would keep the transaction open."""
        if self._pointer is not None and self._parent is None:
            library.quire_context_rollback_transaction(self._pointer, None)
