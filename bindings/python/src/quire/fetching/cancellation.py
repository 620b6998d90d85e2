"""Ending a query that takes long."""

from __future__ import annotations

from .._c import _handle
from .._c._load import quick
from .._c._public import public

__all__ = ["Cancellation"]


@public
class Cancellation(_handle.Handle):
    """Ends queries from another thread: `query.watched(cancellation=...)`, and there `cancellation.cancel()`.

    What runs with it raises `Cancelled` within some milliseconds, what begins later at once; the store and the context
    can be used as before. An `update`, `delete` or `insert_rows` that was ended has changed nothing. It cannot be taken
    back: make a new one for the next query. Any thread.
    """

    _survives_fork = True

    def __init__(self) -> None:
        super().__init__(quick.quire_cancellation_create(), quick.quire_cancellation_release)

    def cancel(self) -> None:
        """Ends all queries that have it. Again, it does nothing."""
        quick.quire_cancellation_cancel(self._raw)

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return bool(quick.quire_cancellation_is_cancelled(self._raw))

    def __repr__(self) -> str:
        if self.closed:
            return "<Cancellation (closed)>"
        return f"<Cancellation{' (cancelled)' if self.cancelled else ''}>"
