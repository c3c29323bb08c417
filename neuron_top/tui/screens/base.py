"""What all screens share: header, tabs, body, keys; the way from a view to the lines; the actions of the key table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from neuron_top.run.model import Run
from neuron_top.tui.keys import SCREENS, keys_for
from neuron_top.tui.screens.filtered import FilteredScreen
from neuron_top.tui.ui_state import Kept
from neuron_top.tui.widgets.header import Header, Tabs
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.poller import Poller
from neuron_top.tui.widgets.table import Opened


def bindings_for(place: str) -> list[BindingType]:
    """The key table's rows for a screen, as Textual wants them.

    What decides where the next keys go is done before they are looked at: others queue up behind the screen in front,
    and the letters of a filter that is typed fast would be taken for its keys.
    """
    return [
        Binding(key.keys, key.action, key.label, show=False, priority=key.action.startswith(("go(", "filter")))
        for key in keys_for(place)
    ]


class LiveScreen(FilteredScreen):
    """One screen of the program. Subclasses say which view they read and how it is shown."""

    PLACE: ClassVar[str] = "overview"
    AUTO_FOCUS = ""

    def body(self) -> Iterable[Widget]:
        """The widgets between the tabs and the keys."""
        raise NotImplementedError

    def read(self, run: Run, now: float) -> Any:
        """The frozen view to show; runs under the feed's lock, so it must be quick."""
        raise NotImplementedError

    def show(self, view: Any) -> None:
        """Hand a view to the widgets."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Two lines of header, the body, the line of keys."""
        yield Header()
        yield Tabs(self.PLACE)
        yield from self.body()
        yield KeyBar(self.PLACE)

    def on_mount(self) -> None:
        """Rows are arranged as they were when the program was left; a filter is seen to be there."""
        kept = self.top.kept.get(self.PLACE)
        if kept is None or self.table is None:
            return
        self.arrange_again(kept)
        if kept.filter:
            self.call_later(self._filter_again, kept.filter)

    async def _filter_again(self, query: str) -> None:
        asked = await self.filter_line()
        asked.add_class("open")
        asked.value = query

    def arranged(self) -> Kept:
        """How the rows are arranged now."""
        table = self.table
        if table is None:
            return Kept()
        return Kept(column=table.sorted_title, reverse=table.reversed, filter=table.query_text)

    def arrange_again(self, kept: Kept) -> None:
        """Arrange the rows so."""
        if self.table is not None:
            self.table.sort_by_title(kept.column, kept.reverse)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Coming here: show what is so now, at once, because a key asked for it; after the layout, which comes next."""
        if self.top.is_running:
            self.call_later(self.arrive)

    def arrive(self) -> None:
        """The screen is in front and laid out."""
        if self.is_current:
            self.top.draw()
            self.top.arrived()
            for shelf in self.query(Poller):
                shelf.look_anew()

    def update(self, header: Any, view: Any) -> None:
        """Take a newer view; called by the application, never while paused."""
        self.query_one(Header).show(header)
        self.query_one(Tabs).redraw()
        self.show(view)

    def redraw_all(self) -> None:
        """Draw every line again (a new theme, a pause)."""
        from neuron_top.tui.widgets.lines import Lines

        for widget in self.query(Lines):
            widget.redraw()

    def notice(self, text: str) -> None:
        """A sentence on the bottom line."""
        self.query_one(KeyBar).notice(text)

    # Going places

    def action_go(self, name: str) -> None:
        """Another screen."""
        self.top.go(name)

    def action_next_place(self) -> None:
        """The next screen."""
        self._neighbor(1)

    def action_previous_place(self) -> None:
        """The screen before."""
        self._neighbor(-1)

    def _neighbor(self, by: int) -> None:
        names = [place.name for place in SCREENS]
        at = names.index(self.PLACE) if self.PLACE in names else 0
        self.top.go(names[(at + by) % len(names)])

    def action_help(self) -> None:
        """The keys of this screen."""
        from neuron_top.tui.screens.help import HelpPage

        self.top.push_screen(HelpPage(self.PLACE))

    def action_alerts(self) -> None:
        """All alerts, each with its whole text."""
        from neuron_top.tui.screens.alerts import AlertsPage

        if self.PLACE != "detail":
            self.top.push_screen(AlertsPage(self.top.limits))

    def action_command_palette(self) -> None:
        """All actions by name."""
        self.top.action_command_palette()

    async def action_quit(self) -> None:
        """Leave."""
        self.top.exit(0)

    def action_back(self) -> None:
        """Close the filter, else let go of the cursor, else go back to the overview."""
        if self.close_filter() or self.let_go():
            return
        if self.PLACE != "overview":
            self.top.go("overview")
        else:
            self.top.leave_replay()

    def let_go(self) -> bool:
        """Drop the cursor; False when there was none."""
        if self.table is not None and self.table.order.release():
            self.table.redraw()
            return True
        return False

    # Time

    def action_pause(self) -> None:
        """Hold the screen, or the clock of a replay."""
        self.top.toggle_pause()

    def action_seek(self, seconds: int) -> None:
        """Move a replay."""
        self.top.seek(float(seconds))

    def action_speed(self, by: int) -> None:
        """Change the speed of a replay."""
        self.top.change_speed(by)

    def action_next_theme(self) -> None:
        """The next palette."""
        self.top.next_theme()

    # Rows

    def action_move(self, by: int) -> None:
        """Up or down."""
        if self.table is not None:
            self.table.move(by)

    def action_page(self, by: int) -> None:
        """A page up or down."""
        if self.table is not None:
            self.table.page(by)

    def action_edge(self, end: int) -> None:
        """First or last."""
        if self.table is not None:
            self.table.edge(end)

    def action_open(self) -> None:
        """The page of the chosen row."""
        if self.table is not None:
            self.table.open()

    def action_sort(self) -> None:
        """The next column."""
        if self.table is not None:
            self.notice(f"sorted by {self.table.sort_next()}")

    def action_reverse(self) -> None:
        """The other way round."""
        if self.table is not None:
            self.table.sort(self.table.sorted_by, not self.table.reversed)

    def action_copy(self) -> None:
        """The chosen row to the clipboard."""
        text = self.copied()
        if text:
            self.top.copy_to_clipboard(text)
            self.notice("copied")
        else:
            self.notice("choose a row first (arrow keys)")

    def copied(self) -> str:
        """What `y` copies."""
        if self.table is None or self.table.order.current is None:
            return ""
        return self.table.text(self.table.order.current)

    def on_opened(self, message: Opened) -> None:
        """A row of the table was opened."""
        self.opened(message.row)

    def opened(self, row: Any) -> None:
        """Show the page of a row; screens without such pages do nothing."""

    # The log

    def action_log_lines(self) -> None:
        """The log lines of the chosen row; screens whose rows have none say so."""
        self.notice("this has no log lines of its own")

    def show_line(self, place: tuple[str, int] | None) -> None:
        """The log at one line; escape comes back here."""
        if place is None:
            self.no_lines()
            return
        origin = self.top.current_mode
        self.top.go("logs")
        self.top.call_after_refresh(lambda: self.top.log_screen.show_place(*place, origin))

    def show_lines(self, query: str) -> None:
        """The log lines that match; escape comes back here."""
        origin = self.top.current_mode
        self.top.go("logs")
        self.top.call_after_refresh(lambda: self.top.log_screen.show_query(query, origin))

    def no_lines(self) -> None:
        """Nothing in any log told of it."""
        self.notice("no log line tells of it")
