"""Rules that make the sections of a list, such as `by_letter`, and what its sections are."""

from .lists.section_rule import (
    SectionRule,
    by_day,
    by_expression,
    by_letter,
    by_month,
    by_number,
    by_value,
    by_week,
    by_year,
)
from .lists.sections import Section, Sections

__all__ = [
    "Section", "SectionRule", "Sections", "by_day", "by_expression", "by_letter", "by_month", "by_number", "by_value",
    "by_week", "by_year",
]
