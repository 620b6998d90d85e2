"""By what live lists gather their rows in sections."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import byref, c_double, c_void_p
from typing import Any, Optional, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, WrongType, failure
from ..predicates import _owners
from ..predicates.expression import Expression
from ..predicates.keys import TEXT_ORDERS, KeyPath, TextOrder, path_of

__all__ = [
    "SectionKey", "SectionRule", "by_day", "by_expression", "by_letter", "by_month", "by_number", "by_value", "by_week",
    "by_year",
]

SectionSource = Union[KeyPath, Expression]


@public
class SectionRule(_handle.Handle):
    """What makes the sections of a live list, and their order: from `quire.sections.by_letter` and its like.

    For `Query.live` and `Results.set_query`. Immutable; any thread, any number of lists.
    """

    _survives_fork = True

    def __init__(
        self, key: SectionSource, grouping: int, *, descending: bool, fixed: Iterable[Any], text: TextOrder = "binary",
        locale: Optional[str] = None, time_zone: Optional[str] = None, width: float = 0, origin: float = 0,
        bounds: Sequence[float] = ()
    ) -> None:
        if text not in TEXT_ORDERS:
            raise InvalidArgument(f"{text!r} is not an order of text; there are {', '.join(TEXT_ORDERS)}.")
        self._fixed = tuple(map(_values.lasting, fixed))
        values = _values.Values([_values.any_value(each) for each in self._fixed])
        try:
            limits = (c_double * len(bounds))(*bounds) if bounds else None
        except TypeError:
            raise WrongType(f"bounds are numbers, not {bounds!r:.80}") from None
        options = _ffi.quire_section_rule_options(
            struct_size=ctypes.sizeof(_ffi.quire_section_rule_options), grouping=grouping, is_descending=descending,
            text_order=TEXT_ORDERS[text], locale=_optional(locale, "a locale"),
            time_zone=_optional(time_zone, "a time zone"), width=width, origin=origin, bounds=limits,
            bound_count=len(bounds), fixed_sections=values.array if values.count else None,
            fixed_section_count=values.count)
        error, made = c_void_p(), c_void_p()
        if isinstance(key, Expression):
            status = library.quire_section_rule_create_with_expression(
                key._raw, byref(options), byref(made), byref(error))
        else:
            path = _values.encoded(path_of(key))
            status = library.quire_section_rule_create(path, len(path), byref(options), byref(made), byref(error))
        if status:
            raise failure(status, error)
        assert made.value is not None
        super().__init__(made.value, quick.quire_section_rule_release)
        self._text = str(key) if isinstance(key, Expression) else path_of(key)
        self._quire_keys = _owners.of(key)
        self._mixes_values = isinstance(key, Expression) and grouping == _ffi.QUIRE_GROUPING_VALUE
        """Whether the values of sections may be of several types."""

    def __repr__(self) -> str:
        return f"<SectionRule {self._text}{' (closed)' if self.closed else ''}>"


SectionKey = Union[KeyPath, Expression, SectionRule]
"""What a live list can be divided by: a property, the text of a key path, an expression, or a rule."""


def _optional(text: Optional[str], what: str) -> Optional[bytes]:
    if text is None:
        return None
    return _values.terminated(text, what)


def by_value(
    key: SectionSource, *, descending: bool = False, text: TextOrder = "binary", locale: Optional[str] = None,
    fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each value of a key or an expression: `by_value(Task.state, fixed=["open", "done"])`.

    Sections are ordered by their values, whatever orders the rows; with `descending` great ones come first and None
    last. Texts that are equal in the order `text` share a section. The sections in `fixed` come first, in this order,
    also when they have no rows.
    """
    return SectionRule(
        key, _ffi.QUIRE_GROUPING_VALUE, descending=descending, text=text, locale=locale, fixed=fixed)


def by_expression(format: str, *arguments: Any, descending: bool = False, fixed: Iterable[Any] = ()) -> SectionRule:
    """A section for each value that an expression gives, as `by_value(Expression(format, *arguments))`.

    `by_expression("TERNARY(price > %@, 'dear', 'cheap')", 100)`; registered functions may take part.
    """
    return by_value(Expression(format, *arguments), descending=descending, fixed=fixed)


def by_letter(
    key: SectionSource, *, locale: Union[None, str, Sequence[str]] = None, descending: bool = False,
    fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each first letter, as an index of the locale has it: `by_letter(Quote.author, locale="sv")`.

    Of several locales the first orders texts, and the letters are those of all. Texts that come before all letters,
    such as digits, are in the section "#", and those behind them in the section "\u2026". None and "" have a section of
    their own, "". The value of a section is its letter.
    """
    if isinstance(locale, Iterable) and not isinstance(locale, str):
        locale = ",".join(_values.terminated(each, "a locale").decode() for each in locale)
    return SectionRule(key, _ffi.QUIRE_GROUPING_LETTER, descending=descending, locale=locale, fixed=fixed)


def by_day(
    key: SectionSource, *, time_zone: str = "UTC", descending: bool = False, fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each day of a date in an IANA time zone: `by_day(Quote.created_at, time_zone="Europe/Berlin")`.

    It is called "2026-11-21"; its value is the datetime at which the day begins, in UTC. `fixed` takes any datetime of
    each day. Dates that datetime does not know, which are floats, count as of the first or last day that it does: their
    sections are "0001-01-01" and "9999-12-31". None has a section of its own, "".
    """
    return SectionRule(key, _ffi.QUIRE_GROUPING_DAY, descending=descending, time_zone=time_zone, fixed=fixed)


def by_week(
    key: SectionSource, *, time_zone: str = "UTC", locale: Optional[str] = None, descending: bool = False,
    fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each week, called by its first day, as `by_day`. The locale says on which day weeks begin."""
    return SectionRule(
        key, _ffi.QUIRE_GROUPING_WEEK, descending=descending, time_zone=time_zone, locale=locale, fixed=fixed)


def by_month(
    key: SectionSource, *, time_zone: str = "UTC", descending: bool = False, fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each month, called "2026-11", as `by_day`."""
    return SectionRule(key, _ffi.QUIRE_GROUPING_MONTH, descending=descending, time_zone=time_zone, fixed=fixed)


def by_year(
    key: SectionSource, *, time_zone: str = "UTC", descending: bool = False, fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each year, called "2026", as `by_day`."""
    return SectionRule(key, _ffi.QUIRE_GROUPING_YEAR, descending=descending, time_zone=time_zone, fixed=fixed)


def by_number(
    key: SectionSource, *, width: float = 0, origin: float = 0, bounds: Sequence[float] = (), descending: bool = False,
    fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each range of numbers: `by_number("price", width=10)`, `by_number("price", bounds=[0, 100])`.

    Ranges that are `width` wide, one of them from `origin` on; or those between the bounds, before the first (called
    "<0", its value is minus infinity) and from the last on. A section is called by its lower bound, which is its value.
    """
    return SectionRule(
        key, _ffi.QUIRE_GROUPING_NUMBER, descending=descending, width=width, origin=origin, bounds=bounds, fixed=fixed)


def rule_of(section_by: SectionKey) -> Optional[SectionRule]:
    """The rule where one is given or needed; a key path alone needs none."""
    if isinstance(section_by, SectionRule):
        return section_by
    if isinstance(section_by, Expression):
        return by_value(section_by)
    return None
