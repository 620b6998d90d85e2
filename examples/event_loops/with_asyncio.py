#!/usr/bin/env python3
"""Has asyncio call when another thread has saved something, and shows it in a live list.

    PYTHONPATH=bindings/python/src python3 examples/event_loops/with_asyncio.py
"""
import asyncio
import threading
import time

import quire

MESSAGE_COUNT = 5


class Message(quire.Model):
    number: quire.Attr[int]
    text: quire.Attr[str]


def write_messages(store: quire.Store) -> None:
    """What the other thread does. A store is for all threads; a context is not, so each save has its own."""
    for number in range(1, MESSAGE_COUNT + 1):
        time.sleep(0.02)
        with store.background() as context:
            context.add(Message(number=number, text="saved by another thread"))


async def show_messages(store: quire.Store) -> None:
    """Until all messages have come."""
    context = store.context
    messages = context.query(Message).order_by(Message.number).live()
    has_all = asyncio.Event()

    @messages.on_change
    def show(changes: quire.ChangeSet[Message]) -> None:
        for change in changes:
            message = change.object
            if isinstance(change, quire.Insert) and message is not None:
                print(f"{message.number}: {message.text}")
        if len(messages) == MESSAGE_COUNT:
            has_all.set()

    loop = asyncio.get_running_loop()
    # The context has a descriptor, which stays readable until what was saved is merged.
    loop.add_reader(context, context.merge)
    # Not before the list is there: it tells changes, and not the rows that it began with.
    writer = threading.Thread(target=write_messages, args=[store])
    writer.start()
    try:
        await asyncio.wait_for(has_all.wait(), timeout=10)
    finally:
        loop.remove_reader(context)
        writer.join()


def main() -> None:
    with quire.open(":memory:", [Message]) as store:
        asyncio.run(show_messages(store))


if __name__ == "__main__":
    main()
