"""The list in the middle of the browser."""

from __future__ import annotations

from typing import ClassVar, Optional

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from ...errors import Error
from ..writers import fitted
from .listing import Listing

__all__ = ["Headings", "Rows"]

_SAMPLE = 100
_WIDEST = 60
_BETWEEN = 2
# A column that does not get so many cells, or all that it wants, is left to the details.
_LEAST = 24
# Room for the number of columns that are left out.
_MORE = 5


class Headings(Static):
    """The names of the columns, above the rows."""


class Rows(ScrollView, can_focus=True):
    """The rows of a listing, with a cursor. Only the lines on the screen are read."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--section", "rows--blurred"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False), Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False), Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "first", "First", show=False), Binding("end,G", "last", "Last", show=False),
        Binding("enter", "open", "Details"),
    ]

    class Moved(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """Details of the row under the cursor are wanted."""

    class Failed(Message):
        """A row could not be read."""

        def __init__(self, error: Error) -> None:
            super().__init__()
            self.error = error

    def __init__(self, headings: Headings, *, id: Optional[str] = None) -> None:
        super().__init__(id=id)
        self._headings = headings
        self.listing: Optional[Listing] = None
        self._places: list[int] = []
        """The columns that are shown."""
        self._widths: list[int] = []
        self.cursor = 0
        """The row under the cursor."""

    def show(self, listing: Listing, row: int = 0) -> None:
        """Shows a listing from now on, or what has become of it."""
        self.listing = listing
        self.cursor = max(min(row, len(listing) - 1), 0)
        self._measure()
        self._reveal()
        self.post_message(self.Moved())

    def on_resize(self, event: Resize) -> None:
        self._measure()

    def _measure(self) -> None:
        listing = self.listing
        width = self.scrollable_content_region.width
        if listing is None or width <= 0:
            return
        self.virtual_size = Size(width, max(listing.line_count, 1))
        headings = [each.heading for each in listing.columns] or ["id"]
        sample = [cells for row in range(min(len(listing), _SAMPLE)) if (cells := self._row(row))]
        wanted = [min(max(map(cell_len, column)), _WIDEST) for column in zip(headings, *sample)]
        # The heading of a section says it for each row.
        shown = [place for place in range(len(wanted)) if not self._is_section(place)]
        self._places = _fitting(shown, wanted, width)
        more = ""
        if len(self._places) < len(shown):
            width -= _MORE
            self._places = _fitting(shown, wanted, width)
            more = f"+{len(shown) - len(self._places)}"
        self._widths = fitted([wanted[place] for place in self._places], width, _BETWEEN, _LEAST)
        width = self.scrollable_content_region.width
        written = self._written(tuple(headings))
        self._headings.update(written + more.rjust(width - cell_len(written)))
        self.refresh()

    def _row(self, row: int) -> tuple[str, ...]:
        """The cells of a row; none where it cannot be read, which is told once."""
        assert self.listing is not None
        cells = self.listing.row(row)
        if self.listing.failure is not None:
            # While it is drawn, a message would end at the screen.
            self.call_later(self._tell_failure)
        return cells

    def _tell_failure(self) -> None:
        listing = self.listing
        if listing is not None and listing.failure is not None:
            self.post_message(self.Failed(listing.failure))
            listing.failure = None

    def _is_section(self, place: int) -> bool:
        listing = self.listing
        return listing is not None and len(listing.columns) > 1 and listing.columns[place].path == listing.section

    def _written(self, cells: tuple[str, ...]) -> str:
        listing = self.listing
        assert listing is not None
        parts: list[str] = []
        for place, width in zip(self._places, self._widths):
            text = cells[place]
            size = cell_len(text)
            if size > width:
                text = set_cell_size(text, width - 1) + "…"
            elif place < len(listing.columns) and listing.columns[place].is_number:
                text = " " * (width - size) + text
            else:
                text += " " * (width - size)
            parts.append(text)
        return (" " * _BETWEEN).join(parts)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        listing, plain = self.listing, self.rich_style
        if listing is None or number >= listing.line_count:
            text = "Nothing is found." if listing is not None and number == 0 else ""
            return _strip(text, width, plain + Style(dim=True))
        line = listing.line(number)
        if line.section is not None:
            name = line.section or "(none)"
            return _strip(f"{name}  {line.size:,}", width, self.get_component_rich_style("rows--section"))
        style = plain
        if line.row == self.cursor:
            style = self.get_component_rich_style("rows--cursor" if self.has_focus else "rows--blurred")
        cells = self._row(line.row)
        return _strip(self._written(cells) if cells else "(cannot be read)", width, style)

    # MARK: the cursor

    def move_to(self, row: int) -> None:
        """Puts the cursor on a row, where there is one."""
        if self.listing is None or not len(self.listing):
            return
        row = max(min(row, len(self.listing) - 1), 0)
        if row != self.cursor:
            self.cursor = row
            self.refresh()
            self.post_message(self.Moved())
        self._reveal()

    def _reveal(self) -> None:
        if self.listing is None or not len(self.listing):
            return
        line = self.listing.line_of(self.cursor)
        # The heading of a section comes into view with its first row.
        above = 1 if line and self.listing.line(line - 1).section is not None else 0
        self.scroll_to_region(Region(0, line - above, 1, 1 + above), animate=False, force=True)

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.move_to(self.cursor + by * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.listing) - 1 if self.listing is not None else 0)

    def action_open(self) -> None:
        if self.listing is not None and len(self.listing):
            self.post_message(self.Opened())

    def on_click(self, event: Click) -> None:
        number = event.y + self.scroll_offset.y
        if self.listing is None or number >= self.listing.line_count:
            return
        line = self.listing.line(number)
        if line.section is None and line.row == self.cursor:
            self.action_open()
        else:
            self.move_to(line.row)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()


def _fitting(places: list[int], wanted: list[int], width: int) -> list[int]:
    """The columns that have room, the first before others. One that has none leaves its room to the next."""
    found: list[int] = []
    for place in places:
        if not found or sum(min(wanted[each], _LEAST) + _BETWEEN for each in [*found, place]) - _BETWEEN <= width:
            found.append(place)
    return found


def _strip(text: str, width: int, style: Style) -> Strip:
    return Strip([Segment(set_cell_size(text, width), style)], width)
