"""Conditions of the command line, in which text in ISO 8601 beside a date is a date."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any, Union

from .._c._values import REFERENCE, is_distant, seconds
from ..models.model_description import (
    AttributeDescription,
    EntityDescription,
    ModelDescription,
    RelationshipDescription,
)
from ..predicates.predicate import Predicate
from .exits import Exit, Problem
from .values import from_text, no_date, shown

__all__ = ["with_dates"]

# Parts of the canonical text of a predicate, which has one space around operators and text in double quotes.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_NAME = rf"(?:#{_TEXT}|#?[^\W\d]\w*)"
_PATH = rf"(?:\$\w+|{_NAME})(?:\.@?{_NAME}|\[\w+\])*"
_VALUE = rf"(?:{_TEXT}|\{{(?:{_TEXT}|[^\"{{}}])*\}})"
_OPERATOR = r" (?:[=!<>]=|[<>]|IN|BETWEEN|CONTAINS)(?:\[\w+\])? "
_CAST = rf"CAST\({_TEXT}, \"NSDate\"\)"
_PARTS = re.compile(
    rf"(?P<cast>{_CAST})"
    rf"|SUBQUERY\((?P<collection>{_PATH}), (?P<variable>\$\w+), "
    rf"|(?P<path>{_PATH}){_OPERATOR}(?P<value>{_VALUE})"
    rf"|(?P<first>{_VALUE}){_OPERATOR}(?P<last>{_PATH})"
    # Any other text or path is skipped as a whole.
    rf"|{_TEXT}|{_PATH}", re.DOTALL)
_DATES = re.compile(rf"{_CAST.replace(_TEXT, f'(?P<text>{_TEXT})', 1)}|{_TEXT}", re.DOTALL)
_READ_BY_CAST = re.compile(r"[+-]?(?:0[xX][\da-fA-F]+|\d*\.?\d+(?:[eE][+-]?\d+)?)|-?inf|nan")
"""Numbers as a cast reads them."""
_STEPS = re.compile(rf"\$\w+|@?{_NAME}|\[\w+\]", re.DOTALL)
_OF_VALUES = ("@min", "@max", "@distinctUnionOfObjects", "@unionOfObjects")
"""Operators whose result is of the type of what they are applied to."""

_Property = Union[EntityDescription, AttributeDescription, None]


def with_dates(model: ModelDescription, entity: EntityDescription, condition: str) -> str:
    """The condition, with texts that are compared with dates as dates. Raises what the library says of the condition.

    The library compares text with a date as it is: it is never equal, and has no order.
    """
    # Its canonical text, so that one form has to be looked for.
    canonical = str(Predicate(condition))
    variables: dict[str, _Property] = {}

    def is_date(path: str) -> bool:
        found = _property(model, entity, variables, path)
        return isinstance(found, AttributeDescription) and found.type == "Date"

    def as_date(found: re.Match[str]) -> str:
        if found[0].startswith('"'):
            return f'CAST({_date(found[0], condition)}, "NSDate")'
        text = found["text"]
        return found[0] if _READ_BY_CAST.fullmatch(text[1:-1]) else f'CAST({_date(text, condition)}, "NSDate")'

    def replaced(part: re.Match[str]) -> str:
        if part["variable"]:
            variables[part["variable"]] = _property(model, entity, variables, part["collection"])
        place = "value" if part["value"] and is_date(part["path"]) else (
            "first" if part["first"] and is_date(part["last"]) else "cast" if part["cast"] else "")
        if not place:
            return part[0]
        start, end = (edge - part.start() for edge in part.span(place))
        return part[0][:start] + _DATES.sub(as_date, part[place]) + part[0][end:]

    found = _PARTS.sub(replaced, canonical)
    # A condition without dates stays as it was written, so that messages point at the right place.
    return condition if found == canonical else found


def _property(
    model: ModelDescription, entity: EntityDescription, variables: dict[str, _Property], path: str,
) -> _Property:
    """What a key path leads to: an attribute, or the entity of a relationship; None where that is not known."""
    found: Any = entity
    for step in _STEPS.findall(path):
        if step[0] == "$":
            found = variables.get(step)
        elif step == "SELF" or step[0] == "[" or step in _OF_VALUES:
            continue
        elif not isinstance(found, EntityDescription):
            return None
        else:
            name = re.sub(r"\\(.)", r"\1", step[2:-1]) if step[:2] == '#"' else step.lstrip("#")
            found = found.properties.get(name)
            if isinstance(found, RelationshipDescription):
                found = model.entities[found.destination]
    return found if isinstance(found, (EntityDescription, AttributeDescription)) else None


def _date(quoted: str, condition: str) -> str:
    """The seconds since 2001 that a text is. Infinite ones are in quotes."""
    text = re.sub(r"\\(.)", r"\1", quoted[1:-1])
    try:
        found = from_text("Date", text)
        if not isinstance(found, datetime) and not is_distant(found):
            # As for an import: a number is for dates outside of the years 1 to 9999.
            raise no_date(text)
    except ValueError as error:
        place = max(condition.find(f"'{text}'"), condition.find(f'"{text}"'))
        where = f"\n{shown(condition)}\n{' ' * place}^" if place >= 0 else ""
        raise Problem(Exit.REQUEST, f"{error}.{where}") from None
    # As the library makes them of a datetime, to the last bit.
    since = seconds(found) - REFERENCE if isinstance(found, datetime) else float(found)
    return repr(since) if math.isfinite(since) else f'"{since}"'
