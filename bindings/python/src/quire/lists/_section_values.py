"""Values of sections as objects have them, where the store has another form."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Optional

from ..errors import InvalidArgument
from ..models import _conversions
from ..models.properties import Attr


class SectionValues:
    """What the sections of a list have in common: values of an attribute, bounds between such, or days that begin a
    period. It takes values as the library gives them."""

    __slots__ = ("_attribute", "_bounds", "_is_period")

    def __init__(
        self, attribute: Attr[Any], bounds: Optional[Mapping[float, Any]] = None, is_period: bool = False
    ) -> None:
        self._attribute = attribute
        self._bounds = bounds
        self._is_period = is_period

    def value(self, stored: Any) -> Any:
        """The value. Raises `InvalidArgument` where none can be decoded."""
        if self._bounds is not None:
            # Nothing is before minus infinity.
            return self._bounds.get(stored, stored)
        if self._is_period:
            return stored.date() if isinstance(stored, datetime.datetime) else stored
        return _conversions.restored(self._attribute, stored)

    def name(self, name: str, stored: Any) -> str:
        """The name of a section that the library calls by that."""
        if stored is None or self._is_period:
            return name
        if self._bounds is not None:
            if stored in self._bounds:
                return self._printed(self._bounds[stored], name)
            first = next(iter(self._bounds.values()))
            return "<" + self._printed(first, name[1:])
        try:
            value = self.value(stored)
        except InvalidArgument:
            # Its rows say what is wrong when they are read.
            return name
        # Sections of one value in several forms have different names.
        return self._printed(value, name) if _conversions.is_usual_form(self._attribute, value, stored) else name

    def index_title(self, title: str, name: str) -> str:
        """The title of a section for an index, of that which the library gives and of the name."""
        if self._is_period:
            return title
        return name if self._bounds is not None else name[:1].upper()

    def _printed(self, value: Any, name: str) -> str:
        printed = self._attribute._type.printed
        found = None if printed is None else printed(value)
        return name if found is None else found


def value_of(values: Optional[SectionValues], stored: Any) -> Any:
    """A value as it is, or as those of an attribute are."""
    return stored if values is None else values.value(stored)


def name_of(values: Optional[SectionValues], name: str, stored: Any) -> str:
    """The same of a name."""
    return name if values is None else values.name(name, stored)
