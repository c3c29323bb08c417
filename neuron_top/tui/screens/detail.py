"""The page of one thing (a graph, a core, a run), alive as long as it is open; escape goes back to its row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from textual.strip import Strip
from textual.widget import Widget

from neuron_top.run.model import Run
from neuron_top.tui.drawing import Line
from neuron_top.tui.look import Theme
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.widgets.page import Page

Read = Callable[[Run, float], Any]
Draw = Callable[[Theme, Any, int], Sequence[Strip]]


class DetailPage(LiveScreen):
    """Reads one thing's page and draws it; None means that the thing is gone."""

    PLACE: ClassVar[str] = "detail"
    BINDINGS = bindings_for("detail")

    def __init__(
        self,
        read: Read,
        draw: Draw,
        gone: str,
        *,
        complete: Callable[[Any], Any] = lambda view: view,
        place: Callable[[Any], tuple[str, int] | None] = lambda view: None,
        query: Callable[[Any], str] = lambda view: "",
    ) -> None:
        """`complete` adds to a view what is no part of the run (lines of files); `place` and `query` lead to its log
        lines: where the newest stands, or what finds them."""
        super().__init__()
        self._read, self._draw, self._gone = read, draw, gone
        self._complete, self._place, self._query = complete, place, query
        self._view: Any = None

    def body(self) -> Iterable[Widget]:
        """One page."""
        yield Page(lambda look, width: ())

    def read(self, run: Run, now: float) -> Any:
        """The page's view."""
        return self._read(run, now)

    def show(self, view: Any) -> None:
        """Draw it anew; the place in it stays."""
        self._view = view = self._complete(view) if view is not None else None
        if view is None:
            self.query_one(Page).show(lambda look, width: [Line(look, width).put(self._gone, look.quiet).strip()])
        else:
            self.query_one(Page).show(lambda look, width: self._draw(look, view, width))

    def action_open(self) -> None:
        """Nothing lies below an ordinary page."""

    def action_log_lines(self) -> None:
        """The log, where this was told."""
        if self._view is None:
            return
        query = self._query(self._view)
        if query:
            self.show_lines(query)
        else:
            self.show_line(self._place(self._view))

    def action_why(self) -> None:
        """Only a graph can miss."""
        self.notice("only a graph's page has this")

    def action_back(self) -> None:
        """Close."""
        self.dismiss()

    def action_move(self, by: int) -> None:
        """Scroll."""
        self.query_one(Page).move(by)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        self.query_one(Page).page(by)

    def action_edge(self, end: int) -> None:
        """To the top or the bottom."""
        self.query_one(Page).edge(end)

    def action_shift(self, by: int) -> None:
        """Pages fit their width: nothing to shift."""

    def copied(self) -> str:
        """The whole page as text."""
        return self.query_one(Page).text
