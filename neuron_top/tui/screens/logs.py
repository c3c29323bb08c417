"""The log screen: every source in the order of arrival, filtered, followed, jumped through."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.services.feeds import LineLevel
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.widgets.log_view import JumpEnd, LogView
from neuron_top.views.model import Run


class LogsScreen(LiveScreen):
    """Log lines."""

    NAME: ClassVar[str] = "logs"
    FILTER_HINT: ClassVar[str] = "words  !word  /expression/  level:warning  rank:3  family:compile  source:name"
    BINDINGS = screen_bindings("logs")

    def __init__(self) -> None:
        super().__init__()
        self._origin: str | None = None

    def body(self) -> Iterable[Widget]:
        """One view of the log."""
        yield LogView(lambda: self.host.feed)

    @property
    def log_view(self) -> LogView:
        """The lines."""
        return self.query_one(LogView)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: the lines come from the feed's log."""

    def show(self, view: Any) -> None:
        """Show newer lines."""
        self.log_view.renew()

    def apply_filter(self, query: str) -> None:
        """Keep the lines that match."""
        self.log_view.filter(query)

    def show_line(self, source: str, offset: int, origin: str) -> None:
        """The line that something on the screen `origin` came from; escape goes back there."""
        self.close_filter()
        self._origin = origin
        if not self.log_view.show(source, offset):
            self.notice("that line cannot be read any more")

    def show_lines(self, query: str, origin: str) -> None:
        """The lines of something on the screen `origin`; escape goes back there."""
        self.close_filter()
        self._origin = origin
        self.log_view.follow_all()
        self.log_view.filter(query)

    def follow_other_feed(self) -> None:
        """Follow the logs of another feed than before; a filter stays."""
        self._origin = None
        for view in self.query(LogView):  # none before the screen was shown
            view.follow_feed()

    def clear_cursor(self) -> bool:
        """Back to where a line was shown from, else follow again; False when it followed already."""
        view, origin = self.log_view, self._origin
        if origin is None and view.following and not view.filtered and not view.skip:
            return False
        self._origin = None
        view.follow_all()
        if origin is not None:
            self.host.go_back(origin)
        return True

    def copied(self) -> str:
        """The line under the cursor."""
        line = self.log_view.current
        return line.text if line is not None else ""

    def action_move(self, by: int) -> None:
        """Up or down."""
        self.log_view.move(by)

    def action_page(self, by: int) -> None:
        """A page."""
        self.log_view.page(by)

    def action_edge(self, end: int) -> None:
        """First or last."""
        self.log_view.edge(end)

    def action_shift(self, by: int) -> None:
        """Sideways."""
        self.log_view.shift(by)

    def action_follow(self) -> None:
        """Follow the end, or stop following."""
        self.log_view.toggle_follow()

    def action_group(self) -> None:
        """Equal lines as one row, or each by itself."""
        self.log_view.toggle_groups()
        self.notice("equal lines share a row" if self.log_view.groups else "every line has a row of its own")

    def action_marked_only(self) -> None:
        """Show only the lines that are marked, or all again."""
        self.log_view.only_marked()

    def action_next_match(self, by: int) -> None:
        """The next line that matches the filter; without one, the next marked line."""
        if self.log_view.matches_only:
            self._jump(by, LineLevel.PLAIN, "match")
        else:
            self._jump(by, LineLevel.EVENT, "marked line")

    def action_next_error(self, by: int) -> None:
        """The next error."""
        self._jump(by, LineLevel.ERROR, "error")

    def _jump(self, by: int, least: LineLevel, what: str) -> None:
        words = {
            JumpEnd.AROUND: "from the top again" if by > 0 else "from the end again",
            JumpEnd.ALONE: f"no other {what}",
            JumpEnd.NONE: f"no {what}",
        }
        self.log_view.jump(by, least, lambda end: self.notice(words[end]))

    def action_open(self) -> None:
        """The page of the graph that the line under the cursor is about."""
        self._open(why=False)

    def action_why(self) -> None:
        """The same, with the reason why it missed."""
        self._open(why=True)

    def _open(self, *, why: bool) -> None:
        line = self.log_view.current
        key = self.host.feed.read(partial(graph_of_line, source=line.source, offset=line.offset)) if line else None
        if key is None:
            self.notice("this line is not about a graph" if line else "select a line first (arrow keys)")
            return
        from neuron_top.tui.screens.graph_detail import GraphDetail

        self.host.open(GraphDetail(key, why=why))


def graph_of_line(run: Run, now: float, source: str, offset: int) -> str | None:
    """The graph that a line reported, by its key."""
    for graph in run.compiles.graphs.values():
        if any((place.source, place.offset) == (source, offset) for place in graph.lines):
            return graph.key
    return None


SCREEN = LogsScreen
