"""A graph's page, alive; with its log lines, and the reason of its miss once somebody asks for it."""

from __future__ import annotations

from functools import partial

from neuron_top.services.feeds import LogLine
from neuron_top.tui.panels.graph_page import graph_page_lines
from neuron_top.tui.screens.async_page import MissLookup
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.views.graphs import GraphPage, graph_page
from neuron_top.views.miss_explanation import MissExplanation, question
from neuron_top.views.model import Run

Shown = tuple[GraphPage, list[LogLine], MissExplanation | None]


class GraphDetail(DetailPage):
    """One graph by its key."""

    def __init__(self, key: str, *, why: bool = False) -> None:
        """`why`: ask at once why it missed."""
        super().__init__(
            self._page,
            graph_page_lines,
            f"{key} is not part of this run any more.",
            complete=self._with_lines,
            log_line=lambda view: newest_line(view[0]),
        )
        self._key, self._ask_at_once = key, why
        self._lookup = MissLookup(self, answered=lambda: self.host.draw())
        self._lines: dict[tuple[tuple[str, int], ...], list[LogLine]] = {}

    def on_mount(self) -> None:
        """Ask, if the page was opened for that."""
        if self._ask_at_once:
            self.action_why()

    def _page(self, run: Run, now: float) -> GraphPage | None:
        return graph_page(run, now, self._key, self.host.estimator)

    def _with_lines(self, page: GraphPage) -> Shown:
        positions = tuple((line.source, line.offset) for line in page.lines)
        if positions not in self._lines:
            self._lines = {positions: self.host.feed.log_lines(positions)}
        return page, self._lines[positions], self._lookup.explanation

    def action_why(self) -> None:
        """Ask the cache why this graph missed."""
        query = self.host.feed.read(partial(question, key=self._key))
        if query is None:
            self.notice("this graph did not miss in this run, or no log line names it")
        else:
            self._lookup.start(query)


def newest_line(page: GraphPage | None) -> tuple[str, int] | None:
    """Source and offset of the newest log line of a graph."""
    return (page.lines[-1].source, page.lines[-1].offset) if page is not None and page.lines else None
