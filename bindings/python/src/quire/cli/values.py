"""Values as text and as JSON, and back."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import uuid
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

__all__ = ["as_json", "as_text", "from_text", "instant", "is_list", "no_date", "shown", "sized"]

# What a terminal would obey, or what turns the direction of text.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FRACTION = re.compile(r"\.(\d+)")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?([eE][+-]?\d+)?|inf)$")
_REFERENCE = datetime(2001, 1, 1, tzinfo=timezone.utc)
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def shown(text: str) -> str:
    """Text of a file for a terminal: on one line, and without what a terminal would obey."""
    return _CONTROL.sub(lambda found: _NAMES.get(found[0], f"\\u{ord(found[0]):04x}"), text)


def sized(size: int) -> str:
    """A number of bytes for people."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            break
        amount /= 1000
    else:
        unit = "TB"
    return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is of many objects."""
    return isinstance(value, list)


def as_text(value: Any, null: str = "") -> str:
    """A value in a file of text. `from_text` reads it back."""
    if value is None:
        return null
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if is_list(value):
        return json.dumps(as_json(value), ensure_ascii=False)
    return str(value)


def as_json(value: Any) -> Any:
    """A value for JSON: what JSON has no word for is text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if is_list(value):
        return [as_json(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else as_text(value)
    return as_text(value)


def from_text(kind: str, text: Union[str, int, float, bool]) -> Any:
    """The value of an attribute of type `kind`, from text or from a value of JSON. Raises ValueError with a reason."""
    if kind.startswith("Integer"):
        return _whole(text)
    if kind in ("Double", "Float"):
        return _real(text)
    if kind == "Boolean":
        return _boolean(text)
    if kind == "Date":
        return instant(text)
    if kind == "Decimal":
        return _decimal(text)
    if not isinstance(text, str):
        if kind == "Undefined":
            return text
        raise ValueError(f"{text!r} is no text")
    if kind == "UUID":
        try:
            return uuid.UUID(text)
        except ValueError:
            raise ValueError(f"'{_beginning(text)}' is no UUID") from None
    if kind in ("Binary", "Transformable"):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"'{_beginning(text)}' is not in Base64") from None
    return text


def _beginning(text: object) -> str:
    return shown(f"{text!s:.40}")


def _whole(text: Union[str, int, float, bool]) -> int:
    try:
        if isinstance(text, bool) or (isinstance(text, float) and not text.is_integer()):
            raise ValueError
        return int(text)
    except (ValueError, OverflowError):
        raise ValueError(f"'{_beginning(text)}' is no whole number") from None


def _real(text: Union[str, int, float, bool]) -> float:
    try:
        if isinstance(text, bool):
            raise ValueError
        return float(text)
    except (ValueError, OverflowError):
        raise ValueError(f"'{_beginning(text)}' is no number") from None


def _decimal(text: Union[str, int, float, bool]) -> Decimal:
    try:
        if isinstance(text, bool):
            raise ValueError
        found = Decimal(str(text))
    except (ValueError, InvalidOperation):
        raise ValueError(f"'{_beginning(text)}' is no decimal number") from None
    return found


def _boolean(text: Union[str, int, float, bool]) -> bool:
    word = str(text).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(f"'{_beginning(text)}' is neither true nor false")


def no_date(text: object) -> ValueError:
    """The exception for what is no date."""
    return ValueError(f"'{_beginning(text)}' is no date in ISO 8601, such as 2026-11-21T10:30:00Z")


def instant(text: Union[str, int, float, bool]) -> Union[datetime, float]:
    """An instant in ISO 8601, of UTC where it names no zone; or a number of seconds since 2001."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text)
    written = str(text).strip()
    if _NUMBER.match(written):
        return float(written)
    # Python before 3.11 reads no Z, and no fractions but those of three and six digits.
    plain = _FRACTION.sub(lambda found: f".{found[1][:6]:0<6}", written)
    if plain[-1:] in ("Z", "z"):
        plain = plain[:-1] + "+00:00"
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        raise ValueError(f"'{_beginning(text)}' is no date in ISO 8601, such as 2026-11-21T10:30:00Z") from None
    if found.tzinfo is None:
        return found.replace(tzinfo=timezone.utc)
    try:
        return found.astimezone(timezone.utc)
    except OverflowError:
        # In UTC it is outside of the years 1 to 9999.
        return (found - _REFERENCE).total_seconds()
