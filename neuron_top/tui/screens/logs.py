"""The log screen: every source in the order of arrival, filtered, followed, jumped through."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.run.model import Run
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.widgets.log_view import LogView


class LogsScreen(LiveScreen):
    """Log lines."""

    PLACE: ClassVar[str] = "logs"
    FILTER_HINT: ClassVar[str] = "words  !word  /expression/  level:warning  rank:3  family:compile  source:name"
    BINDINGS = bindings_for("logs")

    def __init__(self) -> None:
        super().__init__()
        self._origin: str | None = None

    def body(self) -> Iterable[Widget]:
        """One view of the log."""
        yield LogView(lambda: self.top.feed)

    @property
    def log_view(self) -> LogView:
        """The lines."""
        return self.query_one(LogView)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: the lines come from the feed's own book."""

    def show(self, view: Any) -> None:
        """Newer lines."""
        self.log_view.renew()

    @property
    def can_filter(self) -> bool:
        """Lines can be filtered."""
        return True

    def filtered(self, query: str) -> None:
        """Keep the lines that match."""
        self.log_view.filter(query)

    def show_place(self, source: str, offset: int, origin: str) -> None:
        """The line that something elsewhere came from; escape goes back there."""
        self._origin = origin
        if not self.log_view.show(source, offset):
            self.notice("that line cannot be read any more")

    def show_query(self, query: str, origin: str) -> None:
        """The lines of something elsewhere."""
        self._origin = origin
        self.log_view.filter(query)

    def let_go(self) -> bool:
        """Back to where a line was shown from, else follow again; False when it followed already."""
        view, origin = self.log_view, self._origin
        if origin is None and view.following and not view.filtered:
            return False
        self._origin = None
        view.filter("")
        view.follow()
        if origin is not None:
            self.top.go_back(origin)
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
        """Follow, or stand still."""
        self.log_view.toggle_follow()

    def action_marked_only(self) -> None:
        """Only what matters."""
        self.log_view.only_marked()

    def action_next_match(self, by: int) -> None:
        """The next marked line."""
        self.log_view.jump(by, ("error", "warning", "event"), lambda: self.notice("no further marked line"))

    def action_next_error(self, by: int) -> None:
        """The next error."""
        self.log_view.jump(by, ("error",), lambda: self.notice("no further error"))

    def action_open(self) -> None:
        """The page of the graph that the line under the cursor tells of."""
        self._open(ask=False)

    def action_why(self) -> None:
        """The same, with the reason of its miss."""
        self._open(ask=True)

    def _open(self, *, ask: bool) -> None:
        line = self.log_view.current
        key = self.top.feed.read(partial(graph_of_line, source=line.source, offset=line.offset)) if line else None
        if key is None:
            self.notice("this line tells of no graph" if line else "choose a line first (arrow keys)")
            return
        from neuron_top.tui.screens.graph_detail import GraphDetail

        self.top.push_screen(GraphDetail(key, ask=ask))


def graph_of_line(run: Run, now: float, source: str, offset: int) -> str | None:
    """The graph that a line told of, by its key."""
    for graph in run.compiles.graphs.values():
        if any((place.source, place.offset) == (source, offset) for place in graph.lines):
            return graph.key
    return None


SCREEN = LogsScreen
