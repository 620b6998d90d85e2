"""Attributes whose values a program has in another form than the store: enumerations, days, times, JSON, and more."""

from __future__ import annotations

import enum
import json
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from ..errors import InvalidArgument, WrongType
from . import _types
from ._types import AttributeType

if TYPE_CHECKING:
    from .properties import Attr

__all__ = ["JSON"]

T = TypeVar("T")

_SOURCE = "the store has "


class JSONText:
    """What `json` writes, kept as text: `attr(as_=quire.JSON)`, for dicts, lists, texts, numbers, booleans and None."""

    def __repr__(self) -> str:
        return "quire.JSON"


JSON = JSONText()
"""For `attr(as_=quire.JSON)`: what `json` writes, kept as text."""

Conversion = Union[type[T], tuple[Callable[[T], Any], Callable[[Any], T]], JSONText, None]
"""What `attr(as_=...)` takes."""


_NUMBERS = (
    _types.Integer16, _types.Integer32, _types.Integer64, _types.Double, _types.Float, _types.Decimal, _types.Date)
_ORDERED = frozenset(kind.number for kind in _NUMBERS)
"""Types in the store whose order is taken for that of the values, unless the declaration says otherwise."""


def converted(
    where: str, python: object, as_: Any, stored: Optional[AttributeType], ordered: Optional[bool] = None
) -> Optional[AttributeType]:
    """The type of an attribute that is converted; None for one that is not. Raises TypeError."""
    if not (ordered is None or isinstance(ordered, bool)):
        raise TypeError(f"{where}: ordered is True, False or None, not {ordered!r:.60}")
    made = _converted(where, python, as_, stored)
    if made is not None:
        made.unordered = _unordered(where, made, ordered)
    elif ordered is not None:
        raise TypeError(f"{where}: ordered is for values that as_ converts; leave it out")
    return made


def _unordered(where: str, made: AttributeType, ordered: Optional[bool]) -> str:
    """Why the order of what is stored is not that of the values, and what to do; "" where it is."""
    is_enumeration = issubclass(made.python, enum.Enum)
    misplaced = _misplaced(made.python) if is_enumeration else None
    if misplaced:
        first, second = misplaced
        named = made.python.__name__
        said = (
            f"{named}.{first.name} is less than {named}.{second.name}, but {first.value!r} is greater than "
            f"{second.value!r}. Give the members values in the order of the members, such as numbers.")
        if ordered:
            raise TypeError(f"{where}: ordered=True does not hold: {said}")
        return said
    if ordered is False:
        return "It is declared with ordered=False. Sort the objects in Python, or ask for another attribute."
    if ordered or misplaced is not None or made.number in _ORDERED:
        return ""
    named = "What it holds" if made.python is object else made.python.__name__
    remedy = "the members numbers for values" if is_enumeration else "it as a number (type=quire.Integer64)"
    return (
        f"{named} is stored as {made.name}, which has an order of its own. {'Give' if is_enumeration else 'Store'} "
        f"{remedy}, or declare ordered=True where both orders are the same.")


def _misplaced(members: Any) -> Optional[Sequence[enum.Enum]]:
    """Two members that Python orders otherwise than their values; none of an enumeration in order, and None where it
    has no order."""
    try:
        by_value = sorted(members, key=lambda member: member.value)
        return next(((second, first) for first, second in zip(by_value, by_value[1:]) if not first < second), ())
    except Exception:
        # A method of the program may need what is not there yet.
        return None


def _converted(where: str, python: object, as_: Any, stored: Optional[AttributeType]) -> Optional[AttributeType]:
    if as_ is None:
        as_ = python if isinstance(python, type) and (python in (date, time) or issubclass(python, enum.Enum)) else None
    if as_ is None:
        return None
    if as_ is JSON:
        return _made(where, python, _base(where, stored, _types.String), _json, json.loads)
    if isinstance(as_, tuple) and len(as_) == 2 and all(map(callable, as_)):
        return _made(where, python, _base(where, stored, _types.String), *as_, printed=_text)
    if as_ is date:
        return _made(where, date, _base(where, stored, _types.Date, _types.Date), _midnight, _day, str)
    if as_ is time:
        return _made(where, time, _base(where, stored, _types.Integer64, _types.Integer64), microseconds, _time, str)
    if isinstance(as_, type) and issubclass(as_, enum.Enum):
        return _made(
            where, as_, _base(where, stored, _of_members(where, as_)), lambda member: member.value, as_, _member_name)
    raise TypeError(
        f"{where}: as_ is an enumeration, date, time, quire.JSON, or a pair of functions (encode, decode), "
        f"not {as_!r:.80}")


def _base(
    where: str, given: Optional[AttributeType], usual: AttributeType, only: Optional[AttributeType] = None
) -> AttributeType:
    if given is None:
        return usual
    if not isinstance(given, AttributeType) or (only is not None and given is not only):
        raise TypeError(f"{where}: type={given!r} is no type that it can be stored as")
    return given


def _of_members(where: str, members: type[enum.Enum]) -> AttributeType:
    kinds = {type(member.value) for member in members}
    found = _types.DEFAULTS.get(kinds.pop()) if len(kinds) == 1 else None
    if found is None:
        raise TypeError(
            f"{where}: the values of {members.__name__} are not all of one type that an attribute can be; give a pair "
            "of functions: as_=(encode, decode)")
    return found


def _made(
    where: str, python: object, base: AttributeType, encode: Callable[[Any], Any], decode: Callable[[Any], Any],
    printed: Optional[Callable[[Any], Optional[str]]] = None
) -> AttributeType:
    origin = typing.get_origin(python) or python
    kind = origin if isinstance(origin, type) and origin is not Any else object

    def stored(value: Any) -> Any:
        try:
            plain = encode(value)
        except WrongType:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise InvalidArgument(f"{value!r:.60} cannot be encoded: {error}") from error
        if not isinstance(plain, base.accepted):
            raise WrongType(f"{value!r:.60} is encoded as {plain!r:.60}, which is no {base.python.__name__}")
        return base.canonical(plain)

    def read(raw: Any) -> Any:
        return restored(raw if base.decode is None else base.decode(raw), _SOURCE)

    def restored(plain: Any, source: str = "") -> Any:
        try:
            return decode(plain)
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise InvalidArgument(f"{source}{plain!r:.60}, which cannot be decoded: {error}") from error

    def canonical(value: Any) -> Any:
        # As reading it back gives it: what can change is another object.
        plain = stored(value)
        return value if isinstance(value, enum.Enum) else decode(plain)

    return AttributeType(
        base.name, base.number, kind, accepted=(kind,), canonical=canonical,
        pack=lambda value: base.pack(stored(value)), decode=read, stored=stored,
        restored=restored, printed=printed)


def restored(attribute: Optional[Attr[Any]], value: Any) -> Any:
    """A value that the library gives, or a list of such, as objects have them in this attribute."""
    convert = None if attribute is None else attribute._type.restored
    if convert is None or value is None:
        return value
    assert attribute is not None
    try:
        if isinstance(value, list):
            return [None if each is None else convert(each, _SOURCE) for each in value]
        return convert(value, _SOURCE)
    except InvalidArgument as error:
        raise InvalidArgument(
            f"{attribute}: {error.message}", entity=attribute._owner, key=attribute._name) from None


class Restored(Mapping[str, Any]):
    """Values by name, as objects have them. Each is converted when it is read: one that cannot be decoded, such as that
    of a member that an enumeration no longer has, does not take the others along."""

    __slots__ = ("_values", "_attributes")

    def __init__(self, values: Mapping[str, Any], attributes: Mapping[str, Attr[Any]]) -> None:
        self._values = values
        self._attributes = attributes

    def __getitem__(self, name: str) -> Any:
        return restored(self._attributes.get(name), self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        try:
            return repr(dict(self))
        except InvalidArgument:
            return repr(self._values)


def as_restored(values: Mapping[str, Any], attributes: Mapping[str, Attr[Any]]) -> Mapping[str, Any]:
    """Values that the library gives, by name, as objects have them in these attributes."""
    if all(attributes[name]._type.restored is None for name in values if name in attributes):
        return values
    return Restored(values, attributes)


def is_usual_form(attribute: Attr[Any], value: Any, stored: Any) -> bool:
    """Whether the store has a value as Quire writes it. Another program may have stored a moment within a day. What the
    functions of a pair write is their own affair."""
    kind = attribute._type
    return kind.stored is None or kind.printed is _text or bool(kind.stored(value) == stored)


def is_day(attribute: Optional[Attr[Any]]) -> bool:
    """Whether its values are days, which are the same in every time zone."""
    return attribute is not None and attribute._type.stored is not None and attribute._type.python is date


def _text(value: Any) -> Optional[str]:
    kind: Any = type(value)
    # The text of a class without __str__ and __repr__ is an address.
    return None if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__ else str(value)


def _member_name(member: enum.Enum) -> Optional[str]:
    """The name, unless its class says how it is written. Python's own texts differ from version to version."""
    if getattr(type(member).__str__, "__module__", None) in (None, "enum"):
        return member.name
    return str(member)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _midnight(day: date) -> datetime:
    if day != day:
        raise WrongType(f"{day!r:.20} is no date; give None instead")
    if isinstance(day, datetime):
        raise WrongType(f"{day!r} is a moment and no day; give its date()")
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc)


def _day(moment: Any) -> date:
    if isinstance(moment, float):
        raise ValueError("its year is not one from 1 to 9999")
    if not isinstance(moment, datetime):
        raise ValueError("it is no date")
    # Moments of other programs may be within the day.
    return moment.date()


def microseconds(of: time) -> int:
    """A time as the store has it: the microseconds since midnight."""
    if of.tzinfo is not None:
        raise WrongType(f"{of!r} has a time zone, which is not stored; give its time without one")
    return ((of.hour * 60 + of.minute) * 60 + of.second) * 1000000 + of.microsecond


def _time(microseconds: Any) -> time:
    # A table may have floating-point numbers.
    if not isinstance(microseconds, (int, float)) or microseconds % 1 or not 0 <= microseconds < 86400 * 1000000:
        raise ValueError("it is no whole number of microseconds since midnight")
    return (datetime.min + timedelta(microseconds=microseconds)).time()
