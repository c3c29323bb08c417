"""A page about one thing (a graph, a core, a run), alive as long as it is open; escape goes back to its row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.drawing import Line
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import LineClicked, Page
from neuron_top.views.model import Run

Read = Callable[[Run, float], Any]
Draw = Callable[[Theme, Any, int], Sequence[Strip]]


class DetailPage(LiveScreen):
    """Reads a view and draws it; a view of None means that the thing is gone.

    A subclass may list things of which one is chosen: the choice stays with its thing, and in sight.
    """

    NAME: ClassVar[str] = "detail"
    IS_PAGE: ClassVar[bool] = True
    BINDINGS = screen_bindings("detail")
    _chosen = ""

    def __init__(
        self,
        read: Read,
        draw: Draw,
        gone: str,
        *,
        complete: Callable[[Any], Any] = lambda view: view,
        log_line: Callable[[Any], tuple[str, int] | None] = lambda view: None,
        log_query: Callable[[Any], str] = lambda view: "",
    ) -> None:
        """`complete` adds to a view what is no part of the run (lines of files). `log_line` and `log_query` lead to its
        log lines: the position of the newest, or a filter that keeps them."""
        super().__init__()
        self._read, self._draw, self._gone = read, draw, gone
        self._complete, self._log_line, self._log_query = complete, log_line, log_query
        self._view: Any = None

    def body(self) -> Iterable[Widget]:
        """One page."""
        yield Page(lambda theme, width: ())

    @property
    def page(self) -> Page:
        """The lines."""
        return self.query_one(Page)

    def read(self, run: Run, now: float) -> Any:
        """The page's view."""
        return self._read(run, now)

    def show(self, view: Any) -> None:
        """Draw the page again; the scroll position stays."""
        self._view = view = self._complete(view) if view is not None else None
        for keys in self.query(KeyBar):  # another view may lead to other pages
            keys.redraw()
        if view is None:
            self.page.show(lambda theme, width: [Line(theme, width).put(self._gone, theme.quiet).strip()])
        else:
            self.page.show(lambda theme, width: self._draw(theme, view, width))

    @property
    def choices(self) -> Sequence[str]:
        """The names of what can be chosen, top to bottom; none on a page about one thing."""
        return ()

    def lines_for(self, theme: Theme, width: int, chosen: str) -> Sequence[Strip]:
        """The page, with this one chosen: its first line begins with the cursor."""
        raise NotImplementedError

    def keep_choice(self) -> str:
        """The choice; the first one where it is gone."""
        choices = self.choices
        if choices and self._chosen not in choices:
            self._chosen = choices[0]
        return self._chosen

    def _choose(self, choice: str) -> None:
        self._chosen = choice
        self.page.show(lambda theme, width: self.lines_for(theme, width, self._chosen))

    def _line_of(self, choice: str) -> int:
        theme = self.host.render_theme
        lines = self.lines_for(theme, self.size.width, choice)
        cursor = f"{theme.glyphs.cursor} "
        return next((at for at, strip in enumerate(lines) if strip.text.startswith(cursor)), 0)

    def offers(self, action: str) -> bool:
        """Whether enter leads further, and whether there are log lines."""
        if action == "open":
            return self.has_below
        return action != "log_lines" or self.has_log_lines

    @property
    def has_below(self) -> bool:
        """Whether enter opens something."""
        return False

    @property
    def has_log_lines(self) -> bool:
        """Whether log lines belong to what is shown."""
        return self._view is not None and bool(self._log_query(self._view) or self._log_line(self._view))

    def action_open(self) -> None:
        """Do nothing: an ordinary page has nothing below it."""

    def action_log_lines(self) -> None:
        """The log lines of what the page is about."""
        if self._view is None:
            return
        query = self._log_query(self._view)
        if query:
            self.host.show_log_lines(query)
        else:
            self.show_log_line(self._log_line(self._view))

    def action_why(self) -> None:
        """Say that only a graph can miss."""
        self.notice("only the page of a graph or a cache entry explains a miss")

    def action_back(self) -> None:
        """Close."""
        self.dismiss()

    def action_move(self, by: int) -> None:
        """Choose another one, or scroll."""
        choices = self.choices
        if not choices:
            self.page.move(by)
        else:
            index = choices.index(self.keep_choice())
            self._choose(choices[max(0, min(index + by, len(choices) - 1))])
            self.page.reveal(self._line_of(self._chosen))

    def action_page(self, by: int) -> None:
        """Scroll by pages; what scrolls out of sight is not chosen any longer, so that no key acts on it unseen."""
        self.page.page(by)
        first = self.page.first
        last = first + max(1, self.page.size.height - 1)
        choices = self.choices
        in_sight = choices[
            bisect_left(choices, first, key=self._line_of) : bisect_left(choices, last, key=self._line_of)
        ]
        if in_sight and self._chosen not in in_sight:
            self._choose(in_sight[0 if by > 0 else -1])

    def action_edge(self, end: int) -> None:
        """To the first or the last one, and to the top or the bottom."""
        if choices := self.choices:
            self._choose(choices[0 if end < 0 else -1])
        self.page.edge(end)

    def on_line_clicked(self, message: LineClicked) -> None:
        """Choose what the clicked line is about; open it if it was chosen already, as in tables."""
        choices = self.choices
        if above := bisect_right(choices, message.line, key=self._line_of):
            message.prevent_default()  # a graph that is named there is not opened by the first click
            is_chosen = choices[above - 1] == self.keep_choice()
            self._choose(choices[above - 1])
            if is_chosen:
                self.action_open()

    def action_shift(self, by: int) -> None:
        """Do nothing: pages fit their width."""

    def copied(self) -> str:
        """The whole page as text."""
        return self.page.text
