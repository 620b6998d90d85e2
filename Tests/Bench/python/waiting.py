"""How long the thread that draws waits while another one saves many rows in one commit, or while a text is typed into a
search field; `waits.c` does the same."""

from __future__ import annotations

import gc
import os
import threading
import time

import sample

SAVED = 200_000
PAUSE = 0.002


def saved_rows(rows):
    return rows if rows < SAVED // 2 else SAVED


class Calls:
    """The longest of some calls, less the time in which the thread was ready to run and had no processor."""

    def __init__(self):
        self.longest = 0.0
        # Of the thread that makes this, which is the one that draws.
        self.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def close(self):
        os.close(self.file)

    def delayed(self):
        return int(os.pread(self.file, 96, 0).split()[1]) * 1e-9

    def make(self, action):
        delay, start = self.delayed(), time.perf_counter()
        given = action()
        taken = time.perf_counter() - start
        self.longest = max(self.longest, taken - (self.delayed() - delay))
        return given


def drawn(contender, rows, fetches):
    """The longest call of a run, and the list after it; `fetches` when the list is fetched meanwhile, too."""
    new = [sample.row(rows + place, rows) for place in range(saved_rows(rows))]
    failures = []

    def save(work):
        try:
            work()
        except Exception as error:
            failures.append(error)

    live = None if fetches else contender.drawn_list()
    news = contender.news()
    thread = threading.Thread(target=save, args=[contender.saving(new)])
    gc.collect()
    calls = Calls()
    thread.start()
    turn, is_over = 0, False
    while not is_over:
        is_over = not thread.is_alive() and (live is not None and live.shows(rows + len(new)))
        start = time.perf_counter()
        live = live or calls.make(lambda: contender.drawn_list(waits=False))
        place = sample.window_place(turn, rows)
        if live.shows(rows):
            calls.make(lambda: live.window_by_ids(place))
        if news():
            calls.make(live.take_over)
        turn += 1
        time.sleep(max(0.0, start + PAUSE - time.perf_counter()))
    thread.join()
    calls.close()
    if failures:
        raise failures[0]
    return live.told_list(), calls.longest


TYPED = "4", "42", "42 ", "42 o", "42 of", "42", "4", ""
KEY_EVERY = 20


def typed(contender, rows):
    """The longest call of a run in which a text is typed into a search field, and the list after it."""
    live = contender.drawn_list()
    news = contender.news()
    gc.collect()
    calls = Calls()
    turn = key = following = 0
    while key < len(TYPED) or live.searches:
        start = time.perf_counter()
        if key < len(TYPED) and (turn >= following or not live.searches):
            text = TYPED[key]
            calls.make(lambda: live.search(text))
            key, following = key + 1, turn + KEY_EVERY
        if live.shows(sample.WINDOW):
            place = sample.window_place(turn, len(live.shown))
            calls.make(lambda: live.window_by_ids(place))
        if news():
            calls.make(live.take_over)
        turn += 1
        time.sleep(max(0.0, start + PAUSE - time.perf_counter()))
    calls.close()
    return live.told_list(), calls.longest
