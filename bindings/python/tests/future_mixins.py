"""Mixins whose annotations stay text, and name what only this module has."""

from __future__ import annotations

import enum
from datetime import datetime as Moment

import quire
from quire import Attr as Value


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Timed:
    changed_at: Value[Moment | None] = quire.attr(default=None)


class Moody(Timed):
    mood: quire.Attr[Mood] = quire.attr(default=Mood.GOOD)
    next: quire.ToOne[Diary | None] = quire.relation()


class Diary(Moody, quire.Model):
    text: quire.Attr[str]
