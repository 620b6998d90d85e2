"""Blocks of a context that span an `await`, and what other tasks may not do meanwhile.

The task that has begun a block is known by its identity. A context variable would be inherited by the tasks that the
block starts, which can go on when the block has ended.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from .._c import _handle
from ..errors import InvalidState

if TYPE_CHECKING:
    from ._delivery import Delivery
    from .context import Context

TRANSACTION = "a transaction()"
_EFFECTS = {
    TRANSACTION: "which would commit or take back what this call does along with its own changes",
    "an undo_group()": "whose changes are undone together: this change would be undone with them",
    "a without_undo()": "so this change could not be undone",
    "a pinned()": "which keeps it at its moment",
}


class Block:
    """A block of a context that a task has begun and not yet ended."""

    __slots__ = ("name", "_task")

    def __init__(self, name: str, task: Optional[object]) -> None:
        self.name = name
        self._task: Optional[Callable[[], Any]] = None
        if task is not None:
            # Weakly: a task that waits holds its context, and the two would end with the cyclic collector alone.
            self._task = weakref.ref(task)

    def check(self) -> None:
        """Raises for another task than its own. A task that has ended left the block to those that come after it."""
        owner = None if self._task is None else self._task()
        if owner is None or owner is current() or _has_ended(owner):
            return
        name = owner.get_name() if hasattr(owner, "get_name") else owner.name
        raise InvalidState(
            f"Task {name!r} is inside {self.name} block of this context, {_EFFECTS[self.name]}. End that block before "
            "the next await, or give each task a context of its own: store.create_context() or store.background().")


class Shared(_handle.Handle):
    """What a context knows of the tasks that use it."""

    if TYPE_CHECKING:
        _delivery: Delivery
        _parent: Optional[Context]

    _blocks: tuple[Block, ...] = ()
    """The blocks that are open, for changes of objects; none where no task has begun one."""
    _pins: tuple[Block, ...] = ()
    """The blocks of `pinned`, with or without a task."""

    @property
    def _writable(self) -> int:
        """The pointer for a call that changes something. Raises InvalidState for another task than that of a block."""
        if self._blocks:
            self._check_task()
        return self._raw

    def _check_task(self) -> None:
        """Raises InvalidState where another task is inside a block that the change would belong to."""
        # A handler follows the change of another task, within a call that this task has made.
        if not self._delivery._is_running:
            for block in self._blocks:
                block.check()

    def _check_save(self) -> None:
        """The same before what is written to the store, or to the parent. Saves are no matter of undo."""
        for block in self._blocks:
            if block.name is TRANSACTION:
                block.check()
        parent = self._parent
        while parent is not None:
            if parent._blocks:
                parent._check_task()
            parent = parent._parent


def current() -> Optional[object]:
    """The task that runs on this thread. A program that has not loaded an event loop has none."""
    # AttributeError where another thread is just loading it.
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is not None:
        try:
            task: Optional[object] = asyncio.current_task()
            if task is not None:
                return task
        except (RuntimeError, AttributeError):
            pass
    trio: Any = sys.modules.get("trio")
    if trio is not None:
        try:
            return trio.lowlevel.current_task()  # type: ignore[no-any-return]
        except (RuntimeError, AttributeError):
            pass
    return None


def enter(context: Shared, name: str) -> Optional[Block]:
    """Records a block that has begun; None where no task has begun it, since nothing runs beside it then."""
    task = current()
    if task is None:
        return None
    block = Block(name, task)
    context._blocks = (*context._blocks, block)
    return block


def leave(context: Shared, block: Optional[Block]) -> None:
    """Records that a block ends. Leaving it again does nothing."""
    if block is not None:
        context._blocks = tuple(each for each in context._blocks if each is not block)


def _has_ended(task: Any) -> bool:
    return bool(task.done()) if hasattr(task, "done") else task.coro.cr_frame is None
