"""Waiting in an event loop for a list that is read on a thread of the store."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InvalidState

if TYPE_CHECKING:
    from .results import Results

Listed = TypeVar("Listed", bound="Results[Any]")

# The program may merge, too, and then the descriptor is not readable any more.
_SECONDS_BETWEEN_LOOKS = 0.05


async def arrival(results: Listed) -> Listed:
    loop, context = asyncio.get_running_loop(), results.context
    # The program may wait with the context's own.
    descriptor = os.dup(context.fileno())
    has_failed = False
    try:
        while not results.is_fetched or results.awaits_query:
            is_ready = asyncio.Event()
            loop.add_reader(descriptor, is_ready.set)
            try:
                await asyncio.wait_for(is_ready.wait(), _SECONDS_BETWEEN_LOOKS)
            except asyncio.TimeoutError:
                if not results.is_fetched:
                    has_failed = _go_on(results, has_failed)
                continue
            finally:
                loop.remove_reader(descriptor)
            if not results.is_fetched or results.awaits_query:
                context.merge()
    finally:
        os.close(descriptor)
    return results


def _go_on(results: Results[Any], has_failed: bool) -> bool:
    """A fetch that has failed, in a merge of the program, has begun to wait for nothing. It is tried once more beside
    the context, and then here, so that `await` raises what it fails with. Returns whether it has failed so far."""
    try:
        results._begin_fetch()
    except InvalidState:
        return has_failed
    if has_failed:
        results.fetch()
    return True
