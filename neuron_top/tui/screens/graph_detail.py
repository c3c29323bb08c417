"""A graph's page, alive; with its log lines, and the reason of its miss once somebody asks for it."""

from __future__ import annotations

from functools import partial

from neuron_top.ingest.log_line import LogLine
from neuron_top.run.model import Run
from neuron_top.tui.panels.graph_page import graph_page_lines
from neuron_top.tui.screens.async_page import ExplainablePage
from neuron_top.views.graphs import GraphPage, graph_page
from neuron_top.views.miss_explanation import MissExplanation, question

Shown = tuple[GraphPage, list[LogLine], MissExplanation | None]


class GraphDetail(ExplainablePage):
    """One graph by its key."""

    def __init__(self, key: str, *, ask: bool = False) -> None:
        super().__init__(
            self._page,
            graph_page_lines,
            f"{key} is not part of this run any more.",
            complete=self._with_lines,
            place=lambda view: newest_line(view[0]),
            ask=ask,
        )
        self._key = key
        self._known: dict[tuple[tuple[str, int], ...], list[LogLine]] = {}

    def _page(self, run: Run, now: float) -> GraphPage | None:
        return graph_page(run, now, self._key, self.top.estimator)

    def _with_lines(self, page: GraphPage) -> Shown:
        places = tuple((place.source, place.offset) for place in page.lines)
        if places not in self._known:
            self._known = {places: self.top.feed.log_lines(places)}
        return page, self._known[places], self._why

    def action_why(self) -> None:
        """Ask the cache, in a thread, why this graph missed."""
        asked = self.top.feed.read(partial(question, key=self._key))
        if asked is None:
            self.notice("it did not miss in this run, or no line named it")
        else:
            self.look_up(asked)

    def answered(self) -> None:
        """Show it with the rest."""
        self.top.draw()


def newest_line(page: GraphPage | None) -> tuple[str, int] | None:
    """Where the newest log line of a graph stands."""
    return (page.lines[-1].source, page.lines[-1].offset) if page is not None and page.lines else None
