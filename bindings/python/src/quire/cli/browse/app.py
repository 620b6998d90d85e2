"""The browser."""

from __future__ import annotations

import os
from typing import Any, Callable, ClassVar, Optional

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.timer import Timer
from textual.widgets import Footer, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from ...contexts.store import Store
from ...errors import Error
from ..exits import Problem
from ..values import shown
from .choosing import Chooser, Details, written
from .following import Following
from .listing import Choice, Listing
from .rows import Headings, Rows

__all__ = ["Browser"]

_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_AFTER_A_KEY = 0.2
# Of more sections than these, a list on the side is no help.
_SECTIONS_LISTED = 2000


class Browser(App[None]):
    """Entities and sections on the left, rows in the middle, and where there is room, details on the right."""

    TITLE = "quire"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "browser.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/"),
        Binding("s", "sections", "Sections"),
        Binding("o", "order", "Order"),
        Binding("r", "reload", "Reload"),
        Binding("escape", "rows", "Rows", key_display="Esc"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, store: Store, entity: Optional[str] = None) -> None:
        super().__init__()
        self._store = store
        self._first = entity
        self._listing: Optional[Listing] = None
        self._following = Following(store.path)
        self._typing: Optional[Timer] = None
        self._names: list[str] = []

    def compose(self) -> ComposeResult:
        headings = Headings(id="headings", markup=False)
        yield Static(id="top", markup=False)
        with Horizontal(id="middle"):
            with Vertical(id="side"):
                yield Label("Entities", classes="title")
                yield OptionList(id="entities", compact=True)
                yield Label("Sections", classes="title", id="sections-title")
                yield OptionList(id="sections", compact=True)
            with Vertical(id="list"):
                yield Input(placeholder="Search, or = and a predicate", id="search", compact=True)
                yield headings
                yield Rows(headings, id="rows")
            with VerticalScroll(id="details"):
                yield Static(id="detail", markup=False)
        yield Static(id="message", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        # What cannot be counted cannot be shown either, but for the message.
        if self._guarded(self._list_entities):
            counts = self._counts
            # First what has rows.
            name = self._first or next((name for name in self._names if counts[name]), next(iter(self._names), None))
            if name is not None:
                self.query_one("#entities", OptionList).highlighted = self._names.index(name)
                self._choose(name)
        self.query_one(Rows).focus()
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look)

    # MARK: entities and sections

    def _list_entities(self) -> None:
        self._names = sorted(self._store.classes)
        self._counts = {
            name: self._store.context.query(kind).count() for name, kind in self._store.classes.items()}
        entities = self.query_one("#entities", OptionList)
        chosen = entities.highlighted
        entities.clear_options()
        entities.add_options(Option(_counted(name, self._counts[name])) for name in self._names)
        entities.highlighted = chosen

    def _list_sections(self) -> None:
        sections, listing = self.query_one("#sections", OptionList), self._listing
        sections.clear_options()
        names = listing.names if listing is not None else []
        sections.add_options(
            Option(_counted(name or "(none)", listing.count_of(place) if listing is not None else 0))
            for place, name in enumerate(names[:_SECTIONS_LISTED]))
        if len(names) > _SECTIONS_LISTED:
            sections.add_option(Option(Text(f"… {len(names) - _SECTIONS_LISTED:,} more"), disabled=True))
        self.query_one("#side").set_class(bool(names), "divided")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_list.id == "entities":
            self._choose(self._names[event.option_index])
        elif event.option_list.id == "sections" and self._listing is not None:
            self.query_one(Rows).move_to(self._listing.first_row(event.option_index))
        self.query_one(Rows).focus()

    def _choose(self, entity: str) -> None:
        def show() -> None:
            self._listing = Listing(self._store, entity)
            search = self.query_one("#search", Input)
            with search.prevent(Input.Changed):
                search.value = ""
            self._show()

        self._guarded(show)

    def _show(self, row: int = 0) -> None:
        assert self._listing is not None
        self._list_sections()
        self.query_one(Rows).show(self._listing, row)
        self._tell_top()

    def _tell_top(self) -> None:
        listing = self._listing
        if listing is None:
            return
        rows = "row" if len(listing) == 1 else "rows"
        parts = [os.path.basename(self._store.path), listing.entity.name, f"{len(listing):,} {rows}"]
        parts += [f"by {listing.section}"] if listing.section else []
        parts += [f"order {listing.order}"] if listing.order else []
        self.query_one("#top", Static).update(shown("  ·  ".join(parts)))

    # MARK: rows

    def on_rows_moved(self, event: Rows.Moved) -> None:
        # The message may come when the screen is already being taken down.
        if not self.query(Rows) or not self.query("#detail"):
            return
        rows, listing = self.query_one(Rows), self._listing
        detail = self.query_one("#detail", Static)
        if listing is None or not self.query_one("#details").display:
            return
        if not len(listing):
            detail.update("")
            return
        self._guarded(lambda: detail.update(written(listing.details(rows.cursor))), keeps_message=True)
        self.query_one("#details").scroll_home(animate=False)

    def on_rows_failed(self, event: Rows.Failed) -> None:
        # Where another program has deleted the row, the list is read anew.
        if not self._look():
            self._tell(event.error)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        rows, listing = self.query_one(Rows), self._listing
        if listing is None:
            return
        if self.query_one("#details").display:
            self.query_one("#details").focus()
            return
        self._guarded(lambda: self.push_screen(Details(listing.details(rows.cursor))))

    def on_resize(self) -> None:
        # Details may have come into view.
        self.call_after_refresh(lambda: self.query_one(Rows).post_message(Rows.Moved()))

    # MARK: search, order, sections

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._typing is not None:
            self._typing.stop()
        # A predicate makes sense when it is complete.
        if not event.value.startswith("="):
            self._typing = self.set_timer(_SECONDS_AFTER_A_KEY, lambda: self._change(search=event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self._typing is not None:
            self._typing.stop()
        if self._change(search=event.value):
            self.query_one(Rows).focus()

    def action_search(self) -> None:
        self.query_one("#search", Input).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """In the rows, there is no way back to them."""
        return action != "rows" or not self.screen.is_mounted or not isinstance(self.focused, Rows)

    def action_rows(self) -> None:
        self.query_one(Rows).focus()

    def action_sections(self) -> None:
        if self._listing is not None:
            self._ask("Sections by", self._listing.divisions(), self._listing.section, "section")

    def action_order(self) -> None:
        if self._listing is not None:
            self._ask("Order by", self._listing.orders(), self._listing.order, "order")

    def _ask(self, title: str, choices: list[Choice], current: Optional[str], what: str) -> None:
        def take(chosen: Optional[str]) -> None:
            if chosen is not None:
                self._change(**{what: chosen})
            self.query_one(Rows).focus()

        self.push_screen(Chooser(title, choices, current), take)

    def _change(self, **what: Optional[str]) -> bool:
        listing = self._listing
        if listing is None:
            return False

        def change() -> None:
            listing.change(**what)
            self._show()

        return self._guarded(change)

    # MARK: following other processes

    def _look(self) -> bool:
        """Reads anew where another process has saved."""
        if not self.query("#entities"):
            # The last tick comes while the screen is taken down.
            return False
        found = self._following.has_changed()
        if found:
            self.action_reload()
        return found

    def action_reload(self) -> None:
        listing, rows = self._listing, self.query_one(Rows)
        if listing is None:
            return

        def reload() -> None:
            id = listing.id_at(rows.cursor)
            # First, because the context moves on with it.
            listing.reload()
            self._list_entities()
            found = listing.row_of(id)
            self._show(rows.cursor if found is None else found)

        self._guarded(reload)

    def _guarded(self, work: Callable[[], object], keeps_message: bool = False) -> bool:
        """Does some work of the store. What it fails with is shown, and what was on the screen stays."""
        try:
            work()
        except (Error, Problem) as error:
            self._tell(error)
            return False
        if not keeps_message:
            self.query_one("#message", Static).display = False
        return True

    def _tell(self, error: Exception) -> None:
        message = self.query_one("#message", Static)
        message.update(Text("\n".join(map(shown, str(error).splitlines()))))
        message.display = True


def _counted(name: str, count: int) -> Any:
    """A name with a number, which stands at the right."""
    from rich.table import Table

    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    line.add_column(justify="right", no_wrap=True)
    # Models of applications have many entities without objects.
    line.add_row(Text(shown(name), "" if count else "dim"), Text(f"{count:,}", "dim"))
    return line
