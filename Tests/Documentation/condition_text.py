"""The text of a block of conditions.

    pages > 300                             the condition as text
        Book.pages > 300                    the same in Python, where it is shown
        -> Faust, Middlemarch               what it finds, or the error
"""
import typing

ARROW = "-> "


def entries(text: str) -> typing.Iterator[tuple[int, str, list[str], str]]:
    """Each condition: its place among the lines from 0, its text, the same in Python, and the rows."""
    lines = text.splitlines()
    start, condition, python = 0, "", []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if not line.startswith(" "):
            start, condition, python = number, line, []
        elif line.strip().startswith(ARROW.strip()):
            yield start, condition, python, line.strip()[len(ARROW):]
        else:
            python.append(line.strip())
