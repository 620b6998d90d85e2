"""The rows that every contender works on, the changes that every contender makes, and answers that can be compared.

`quotes.c` and `Sample.swift` make the same rows and changes.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import groupby
from typing import Iterable, NamedTuple, Sequence

LOW_64 = (1 << 64) - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

WINDOW = 50
AT_ONCE = 10_000
"""How many new rows a transaction writes."""


class Row(NamedTuple):
    author: str
    title: str
    created: datetime
    price: float


def row(place: int, rows: int) -> Row:
    # A multiplication by a large odd number scatters the authors and titles over the rows.
    mixed = (place * 0x9E3779B97F4A7C15 & LOW_64) >> 20
    return Row(
        author(place, rows), f"Title {mixed % 100000007} of the collected works",
        EPOCH + timedelta(seconds=1_500_000_000 + mixed % 100_000_000), mixed % 100_000 / 100)


def author(place: int, rows: int) -> str:
    mixed = (place * 0x9E3779B97F4A7C15 & LOW_64) >> 20
    return f"Author {mixed % max(1, rows // 50):06d}"


def all_rows(rows: int) -> list[Row]:
    return [row(place, rows) for place in range(rows)]


def changed_id(turn: int, rows: int) -> int:
    """The row that the change with this number is about."""
    return turn * 7919 % rows + 1


def new_author(turn: int, rows: int) -> str:
    return author(turn * 104729 + 17, rows)


def window_place(turn: int, rows: int) -> int:
    return turn * 104729 % max(1, rows - WINDOW)


# MARK: answers


def checksum(numbers: Iterable[int]) -> int:
    """Tells lists apart that have other numbers, or the same in another order."""
    sum = 0
    for number in numbers:
        sum = (sum * 31 + number) & 0xFFFFFFFF
    return sum


def told_ids(ids: Sequence[int]) -> str:
    return f"{len(ids)} ids {checksum(ids)}"


def told_list(ids: Sequence[int], section_counts: Sequence[int]) -> str:
    return f"{told_ids(ids)} in {len(section_counts)} sections {checksum(section_counts)}"


def told_window(rows: Iterable[Sequence]) -> str:
    """Of rows of author, title, date and price."""
    letters = cents = count = 0
    for author, title, _, price in rows:
        letters += len(author) + len(title)
        cents += round(price * 100)
        count += 1
    return f"{count} rows, {letters} letters, {cents} cents"


# MARK: what a program has to write that has no live list


def sections(authors: Iterable[str]) -> list[tuple[str, int, int]]:
    """Name, first row and number of rows of each section."""
    found, start = [], 0
    for name, members in groupby(authors):
        count = sum(1 for _ in members)
        found.append((name, start, count))
        start += count
    return found


def difference(old: Sequence[int], new: Sequence[int]) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Places that went, places that came, and moves from one to another, between two lists of ids.

    What both lists begin and end with is left out first, which makes it fast where little has changed. Of what is in
    both, the longest part that kept its order stays.
    """
    first, old_end, new_end = 0, len(old), len(new)
    while first < old_end and first < new_end and old[first] == new[first]:
        first += 1
    while old_end > first and new_end > first and old[old_end - 1] == new[new_end - 1]:
        old_end -= 1
        new_end -= 1
    old_places = {id: place for place, id in enumerate(old[first:old_end], first)}
    new_places = {id: place for place, id in enumerate(new[first:new_end], first)}
    deleted = [place for id, place in old_places.items() if id not in new_places]
    inserted = [place for id, place in new_places.items() if id not in old_places]
    both = [(place, new_places[id]) for id, place in old_places.items() if id in new_places]
    stays = _longest_rising([to for _, to in both])
    return deleted, inserted, [pair for index, pair in enumerate(both) if index not in stays]


def _longest_rising(numbers: list[int]) -> set[int]:
    """The places of the longest part whose numbers rise."""
    from bisect import bisect_left

    ends: list[int] = []
    end_places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(end_places[length - 1] if length else -1)
        ends[length:length + 1] = [number]
        end_places[length:length + 1] = [place]
    kept = set()
    place = end_places[-1] if end_places else -1
    while place >= 0:
        kept.add(place)
        place = before[place]
    return kept
