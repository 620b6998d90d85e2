"""Asks the conditions of a page.

The page has `books`, a query, and `titles(objects)`, their texts. Its function `find(condition)` returns the texts of
what a query finds. What `Predicate.matches` says of all objects is compared with it.
"""
import typing

import quire
from condition_text import ARROW, entries


def check(text: str, page: dict, first_line: int) -> tuple[list[tuple[int, str]], str]:
    """What does not hold, with its lines; and the text with the rows as they are."""
    problems: list[tuple[int, str]] = []
    written: list[str] = []
    for start, condition, python, rows in entries(text):
        found = answer(page, condition)
        if found != rows:
            problems.append((first_line + start, f"{condition}\n  shown: {rows}\n  found: {found}"))
        for line in python:
            again = answer(page, evaluated(line, page))
            if again != found:
                problems.append((first_line + start, f"{line}\n  found: {again}\n  its text: {found}"))
        if not found.startswith("error: "):
            memory = in_memory(page, condition)
            if memory != found:
                problems.append((first_line + start, f"{condition}\n  in memory: {memory}\n  in SQL: {found}"))
        written += [condition, *(f"    {line}" for line in python), f"    {ARROW}{found}"]
    return problems, "\n".join(written) + "\n"


def evaluated(line: str, page: dict) -> typing.Any:
    try:
        return eval(line, page)
    except Exception as error:
        return error


def answer(page: dict, condition: typing.Any) -> str:
    """The rows of a condition with commas between, or the first line of its error."""
    try:
        if isinstance(condition, Exception):
            raise condition
        return ", ".join(page["find"](condition)) or "nothing"
    except Exception as error:
        return f"error: {str(error).splitlines()[0]}"


def in_memory(page: dict, condition: str) -> str:
    """The rows for which the condition holds when each object is asked."""
    predicate = quire.Predicate(condition)
    return ", ".join(page["titles"]([book for book in page["books"] if predicate.matches(book)])) or "nothing"
