"""Windows above the browser: a choice, and the details of an object."""

from __future__ import annotations

from typing import ClassVar, Optional

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from .listing import NONE, Choice

__all__ = ["Chooser", "Details", "written"]

# The room in the window and beside the rows.
_WIDTH = 54
_WIDEST_NAME = 30


class Chooser(ModalScreen[Optional[str]]):
    """One of several things. Its result is the value of what was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, choices: list[Choice], current: Optional[str]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._current = current or ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(self._title, classes="title", markup=False)
            yield OptionList(*(Option(Text(each.label)) for each in self._choices), id="choices", compact=True)

    def on_mount(self) -> None:
        choices = self.query_one("#choices", OptionList)
        choices.highlighted = next(
            (place for place, each in enumerate(self._choices) if (each.value or "") == self._current), 0)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].value)


class Details(ModalScreen[None]):
    """All that an object has, where there is no room for it beside the rows."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,enter,q", "dismiss", "Back")]

    def __init__(self, details: list[tuple[str, str]]) -> None:
        super().__init__()
        self._details = details

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="window details"):
            yield Static(written(self._details))

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()


def written(details: list[tuple[str, str]]) -> Text:
    """Names with their values: beside them in a column where these are short, otherwise below."""
    found = Text()
    margin = min(max((cell_len(name) for name, _ in details), default=0), _WIDEST_NAME) + 2
    for name, value in details:
        found.append(name, "bold")
        lines = value.splitlines() or [""]
        if len(lines) == 1 and cell_len(lines[0]) <= _WIDTH - max(margin, cell_len(name) + 2):
            found.append(" " * max(margin - cell_len(name), 2))
            found.append(lines[0] + "\n", "dim" if value == NONE else "")
        else:
            found.append("".join(f"\n  {line}" for line in lines) + "\n")
    return found
