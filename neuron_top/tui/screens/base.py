"""Base of all screens: header, tabs, body, key bar, filter; and how a screen is painted.

A screen is painted once for each change, and only where its lines are. Textual itself paints a screen that is switched
to before it has anything to show, paints it twice if both its layout and a line have changed, fills the area under the
widgets, and computes styles again whenever a screen comes to the front. On a screen of 160×48 each of these costs some
milliseconds of the fifty in which a key is to be answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.errors import UsageError
from neuron_top.late_pattern import late_pattern
from neuron_top.tui.host import Host, host_of
from neuron_top.tui.widgets.header import Band, HeaderLine, Tabs
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.page import LineClicked
from neuron_top.views.model import Run
from neuron_top.views.overview import Overview

if TYPE_CHECKING:  # slow to import, so it is imported with the first filter
    from neuron_top.tui.widgets.prompt import FilterInput, Prompt


_MODULE = late_pattern(r"MODULE_[0-9a-f]+(?:\+[0-9a-f]{8})?\b")


FRAME_LINES = 3
"""Lines of every screen around its body: head, tabs and keys."""


class LiveScreen(Screen[None], inherit_bindings=False):
    """One screen of the program. Subclasses say which view they read and how it is shown."""

    NAME: ClassVar[str]
    """Its name in the key table."""
    FILTER_HINT: ClassVar[str] = ""
    """What can be typed into its filter; empty for a screen without one."""
    AUTO_FOCUS = ""
    IS_PAGE: ClassVar[bool] = False
    """Whether it was opened in front of a screen, to which escape goes back."""
    UNNAMED: ClassVar[frozenset[str]] = frozenset()
    """Actions that the key bar leaves out, since the screen itself says what their keys do, or has nothing for them."""
    may_leave = True
    """Whether keys of other screens switch away from this one."""
    prompt: Prompt | None = None
    """The line that asks for a text, once one was needed."""
    filter_input: FilterInput | None = None
    """The line that asks for a filter, once it was needed."""
    _filter_problem = ""
    """What the bottom line says is wrong with the filter."""

    @property
    def host(self) -> Host:
        """The application."""
        return host_of(self)

    def body(self) -> Iterable[Widget]:
        """The widgets between the tabs and the keys."""
        raise NotImplementedError

    def read(self, run: Run, now: float) -> Any:
        """Read the frozen view to show. Called under the feed's lock, so it must be quick."""
        raise NotImplementedError

    def overview_of(self, view: Any) -> Overview | None:
        """The overview within a view that was read: the header line is made from the same one. None where it has
        none."""
        return None

    def with_overview(self, view: Any, whole: Overview) -> Any:
        """The view with another overview in it."""
        return view

    def offers(self, action: str) -> bool:
        """Whether an action of this screen can do something now; the key bar leaves out the others."""
        return action not in self.UNNAMED

    def show(self, view: Any) -> None:
        """Hand a view to the widgets."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Two lines of header, the body, the line of keys."""
        yield HeaderLine()
        yield Tabs()
        yield from self.body()
        yield KeyBar(self.NAME, is_page=self.IS_PAGE)

    def arrive(self) -> None:
        """Draw and send the screen, once it is in front and laid out."""
        if self.is_current:
            for keys in self.query(KeyBar):  # a pause or another feed may have changed which keys have an effect
                keys.redraw()
            self.host.draw()
            self.host.arrived()

    def update(self, band: Band, view: Any) -> None:
        """Take a newer view, or that of the moment of a pause; called by the application."""
        self.query_one(HeaderLine).show(band)
        self.query_one(Tabs).show(band.verdict.alerts)
        self.show(view)

    def show_new_lines(self) -> bool:
        """Show the newest lines of the logs, of which nothing else has changed; False: the view must be read."""
        return False

    def redraw_all(self) -> None:
        """Draw every line again (a new theme, a pause)."""
        for widget in self.query(Lines):
            widget.redraw()

    def notice(self, text: str) -> None:
        """Show a sentence at the bottom for a few seconds; "" removes the one that is shown."""
        self.query_one(KeyBar).notice(text)

    @property
    def noticed(self) -> str:
        """The sentence that is shown at the bottom; "" without one."""
        return self.query_one(KeyBar).noticed

    # Keys that every screen has

    def action_back(self) -> None:
        """Undo one thing that was done to this screen: a question, the filter, marks, the cursor. If there is none, go
        to the overview, or leave a replay."""
        if self.prompt is not None and self.prompt.close():
            return
        if self.close_filter() or self.clear_marks() or self.clear_cursor():
            return
        if self.NAME != "overview":
            self.host.go("overview")
        else:
            self.host.leave_replay()

    def clear_marks(self) -> bool:
        """Remove all marks; False when there were none."""
        return False

    def clear_cursor(self) -> bool:
        """Remove the cursor; False when there was none."""
        return False

    def action_copy(self) -> None:
        """Copy the selected row, or the page, to the clipboard."""
        text = self.copied()
        if text:
            self.app.copy_to_clipboard(text)
            self.notice("copied")
        else:
            self.notice("select a row first (arrow keys)")

    def copied(self) -> str:
        """What `y` copies."""
        return ""

    def show_log_line(self, position: tuple[str, int] | None) -> None:
        """Show the log at one line (source, offset), or say that there is none."""
        if position is None:
            self.notice_no_lines()
        else:
            self.host.show_log_line(*position)

    def show_log_at(self, moment: float | None) -> bool:
        """Show the log at a moment; False if there is none."""
        if moment is None:
            return False
        from neuron_top.views.moments import place_at

        place = self.host.feed.read(partial(place_at, moment=moment))
        self.show_log_line((place.source, place.offset) if place is not None else None)
        return True

    def notice_no_lines(self) -> None:
        """Say that no log line belongs to the row."""
        self.notice("no log line mentions this")

    async def ask(self, hint: str, value: str, answered: Callable[[str], None]) -> None:
        """Ask for a text on a line at the bottom; escape leaves it."""
        if self.prompt is None:
            from neuron_top.tui.widgets.prompt import Prompt

            self.prompt = Prompt()
            await self.mount(self.prompt, before=self.query_one(KeyBar))
        self.prompt.ask(hint, value, answered)

    def watch_focused(self, focused: Widget | None) -> None:
        """Name other keys while a line at the bottom takes the letters."""
        for keys in self.query(KeyBar):
            keys.show_typing(focused is not None and focused in (self.prompt, self.filter_input))

    def on_line_clicked(self, message: LineClicked) -> None:
        """Open the graph or entry that a line of a page names."""
        named = _MODULE.search(message.text)
        if named is not None:
            self.host.open_graph(named[0])

    # Filter

    async def action_filter(self) -> None:
        """Open the filter; in the filter itself the key is a character, as an expression stands between two slashes.

        It is passed to the line like any other character, since letters typed before it may still be queued.
        """
        if self.focused is not None and self.focused in (self.prompt, self.filter_input):
            raise SkipAction
        if self.FILTER_HINT:
            self.set_focus(await self.open_filter())

    async def open_filter(self, query: str = "") -> FilterInput:
        """The filter's line, open; made the first time."""
        if self.filter_input is None:
            from neuron_top.tui.widgets.prompt import FilterInput

            self.filter_input = FilterInput(self.FILTER_HINT, self._filter_typed)
            await self.mount(self.filter_input, before=self.query_one(KeyBar))
        self.filter_input.add_class("open")
        if query:
            self.filter_input.value = query
        return self.filter_input

    def close_filter(self) -> bool:
        """Drop the filter; False when there was none."""
        if self.filter_input is None or not self.filter_input.close():
            return False
        self.set_focus(None)
        self._withdraw_problem()
        self.apply_filter("")
        return True

    def _filter_typed(self, query: str) -> None:
        """Apply the filter; a wrong one leaves the rows as they are, and the bottom line says what is wrong."""
        self._withdraw_problem()
        try:
            self.apply_filter(query)
        except UsageError as problem:
            self._filter_problem = str(problem)
            self.notice(self._filter_problem)

    def _withdraw_problem(self) -> None:
        """Remove the message about an earlier filter."""
        if self._filter_problem:
            self.query_one(KeyBar).withdraw(self._filter_problem)
            self._filter_problem = ""

    def apply_filter(self, query: str) -> None:
        """Show only what matches; an empty query shows all."""

    # Painting

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Show the current view at once after a switch, because a key asked for it; right after the layout.

        Styles depend only on the style sheet, so they are computed again only for a new theme.
        """
        event.refresh_styles = False
        if self.app.is_running:
            self.call_later(self.arrive)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Blank lines: widgets cover the whole screen."""
        return [Strip.blank(crop.width, self.host.render_theme.text)] * crop.height

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out and paint in one step: whatever else has changed is painted with it."""
        if self._repaint_required:
            self._dirty_widgets.add(self)
            self._repaint_required = False
        super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        """Paint nothing while output is held back."""
        if not self.app._batch_count:
            super()._compositor_refresh()
