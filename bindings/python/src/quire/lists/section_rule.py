"""By what live lists gather their rows in sections."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import byref, c_double, c_void_p
from typing import Any, Optional, SupportsFloat, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import Error, InvalidArgument, WrongType, failure
from ..models._comparisons import check_equals
from ..models._conversions import is_day
from ..models.properties import Attr
from ..predicates import _owners
from ..predicates.expression import Expression
from ..predicates.keys import TEXT_ORDERS, KeyPath, TextOrder, path_of
from ._section_values import SectionValues
from ._time_zones import folder_of_tzdata

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
        bounds: Sequence[Any] = (), attribute: Optional[Attr[Any]] = None
    ) -> None:
        if text not in TEXT_ORDERS:
            raise InvalidArgument(f"{text!r} is not an order of text; there are {', '.join(TEXT_ORDERS)}.")
        fixed, bounds = tuple(fixed), tuple(bounds)
        self._attribute = _converting(getattr(key, "_quire_attribute", None) if attribute is None else attribute)
        """The attribute whose values make the sections, where its type is another than that of the store."""
        self._misfit: Optional[Error] = None
        """Why `fixed` or `bounds` are not what the store has; the attribute that has them is not known yet."""
        self._fitted: dict[int, SectionRule] = {}
        """The same rule for attributes, by their identities."""
        if is_day(self._attribute) and time_zone not in (None, "UTC"):
            raise InvalidArgument(
                f"{self._attribute} has days, which are the same in every time zone. time_zone={time_zone!r} is for "
                "moments; leave it out.")
        self._again: dict[str, Any] = dict(
            key=key, grouping=grouping, descending=descending, fixed=fixed, text=text, locale=locale,
            time_zone=time_zone, width=width, origin=origin, bounds=bounds)
        try:
            self._fixed = tuple(self._stored(each, grouping) for each in fixed)
            """The fixed sections as the store has them."""
            values = _values.Values(list(map(_single, self._fixed)))
            limits = self._numbers(bounds, grouping)
        except Error as misfit:
            if self._attribute is not None or not isinstance(key, (str, Expression)):
                raise
            # All else is checked now.
            self._fixed = ()
            self._misfit, values, limits, width = misfit, _values.Values([]), [], width or float(bool(bounds))
        options = _ffi.quire_section_rule_options(
            struct_size=ctypes.sizeof(_ffi.quire_section_rule_options), grouping=grouping, is_descending=descending,
            text_order=TEXT_ORDERS[text], locale=_optional(locale, "a locale"),
            time_zone=_optional(time_zone, "a time zone"), width=width, origin=origin,
            time_zone_folder=None if time_zone in (None, "UTC") else folder_of_tzdata(),
            bounds=(c_double * len(limits))(*limits) if limits else None, bound_count=len(limits),
            fixed_sections=values.array if values.count else None, fixed_section_count=values.count)
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

    def _stored(self, value: Any, grouping: int) -> Any:
        """A value of the attribute as the store has it."""
        if self._attribute is None or grouping == _ffi.QUIRE_GROUPING_LETTER:
            return _values.lasting(value)
        check_equals(self._attribute, value)
        return self._attribute._given(value)

    def _numbers(self, bounds: Sequence[Any], grouping: int) -> list[float]:
        """The bounds as the library takes them."""
        found = [self._stored(each, grouping) for each in bounds]
        if not all(isinstance(each, SupportsFloat) for each in found):
            raise WrongType(f"bounds are numbers, not {list(bounds)!r:.80}")
        return list(map(float, found))

    def _for(self, attribute: Optional[Attr[Any]]) -> SectionRule:
        """The rule for lists whose sections are made of the values of an attribute. A rule that was made of a name
        serves attributes of several types: each has its own form in the store, and days have no time zone."""
        self._raw
        attribute = _converting(attribute)
        if attribute is self._attribute:
            if self._misfit is not None:
                raise self._misfit.with_traceback(None)
            return self
        if attribute is None:
            return self
        found = self._fitted.get(id(attribute))
        if found is None:
            again = {**self._again, "time_zone": None} if is_day(attribute) else self._again
            # The rule holds the attribute, so that its identity stays.
            found = self._fitted[id(attribute)] = SectionRule(**again, attribute=attribute)
        return found

    @property
    def _section_values(self) -> Optional[SectionValues]:
        """What the sections of its lists have as values, where that is not what the store has."""
        attribute, grouping = self._attribute, self._again["grouping"]
        if attribute is None or grouping == _ffi.QUIRE_GROUPING_LETTER:
            return None
        if grouping == _ffi.QUIRE_GROUPING_VALUE:
            return SectionValues(attribute)
        if grouping == _ffi.QUIRE_GROUPING_NUMBER:
            bounds = self._again["bounds"]
            if not bounds or not all(isinstance(each, attribute._type.accepted) for each in bounds):
                return None
            return SectionValues(attribute, dict(zip(self._numbers(bounds, grouping), bounds)))
        return SectionValues(attribute, is_period=True) if is_day(attribute) else None

    def __repr__(self) -> str:
        return f"<SectionRule {self._text}{' (closed)' if self.closed else ''}>"


SectionKey = Union[KeyPath, Expression, SectionRule]
"""What a live list can be divided by: a property, the text of a key path, an expression, or a rule."""


def _converting(attribute: Optional[Attr[Any]]) -> Optional[Attr[Any]]:
    return None if attribute is None or attribute._type.stored is None else attribute


def _single(value: Any) -> _values.Packed:
    packed = _values.any_value(value)
    if packed[1] == _ffi.QUIRE_VALUE_LIST:
        raise InvalidArgument(f"a fixed section is a single value, not {value!r:.80}")
    return packed


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
    also when they have no rows. They are values as objects have them:
    `by_value(Shirt.color, fixed=[Color.RED, Color.BLUE])`.
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
    """A section for each first letter, as an index of the locale has it: `by_letter(Quote.author, locale="sv")`. The
    letters are those of the text in the store.

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

    The zones are those of the system's data, as Python's `zoneinfo` has them: of the folder that the environment
    variable TZDIR names, otherwise of `/usr/share/zoneinfo` and its like. A zone that the system lacks is one of the
    package `tzdata` where that is installed, and otherwise of ICU, which may be years old. A list looks at these files
    when it is made.

    Of an `Attr[date]` the value is the first day as a `date`, and `fixed` takes dates. Days are the same in every time
    zone: `by_day(Task.due, time_zone=...)` raises `InvalidArgument`. A rule of a name, as `by_day("due", ...)`, may
    serve lists of datetimes and of dates. It leaves its time zone out for dates.
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
    key: SectionSource, *, width: float = 0, origin: float = 0, bounds: Sequence[Any] = (), descending: bool = False,
    fixed: Iterable[Any] = ()
) -> SectionRule:
    """A section for each range of numbers: `by_number("price", width=10)`, `by_number("price", bounds=[0, 100])`.

    Ranges that are `width` wide, one of them from `origin` on: with a width of 0.1 from 0.1, 0.2 and 0.3 on, and 0.3 is
    the first number of the last of these. Or those between the bounds, before the first (called
    "<0", its value is minus infinity) and from the last on. A section is called by its lower bound, which is its value.
    Bounds may be values as objects have them, as in `by_number(Task.begins, bounds=[time(6), time(12)])`. Widths, and
    bounds that are numbers, count as the store does, as do the values of their sections then.
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
