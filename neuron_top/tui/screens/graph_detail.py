"""A graph's page, alive; with its log lines, and the reason of its miss once somebody asks for it."""

from __future__ import annotations

from functools import partial

from neuron_top.pipeline.log_line import LogLine
from neuron_top.run.model import Run
from neuron_top.tui.panels.graph_page import graph_page_lines
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.views.graphs import GraphPage, graph_page
from neuron_top.views.why import Question, Why, question

Shown = tuple[GraphPage, list[LogLine], Why | None]


class GraphDetail(DetailPage):
    """One graph by its key. `ask`: ask why it missed at once."""

    def __init__(self, key: str, *, ask: bool = False) -> None:
        super().__init__(
            self._page,
            graph_page_lines,
            f"{key} is not part of this run any more.",
            complete=self._with_lines,
            place=lambda view: newest_line(view[0]),
        )
        self._key, self._ask = key, ask
        self._known: dict[tuple[tuple[str, int], ...], list[LogLine]] = {}
        self._why: Why | None = None

    def on_mount(self) -> None:
        """Ask, if that is what the page was opened for."""
        if self._ask:
            self.action_why()

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
            self.notice("looking into the cache…")
            self.run_worker(partial(self._answer, asked), thread=True)

    def _answer(self, asked: Question) -> None:
        answer = self.top.library.why(asked)
        self.top.call_from_thread(self._answered, answer)

    def _answered(self, answer: Why) -> None:
        self._why = answer
        self.notice("")
        self.top.draw()


def newest_line(page: GraphPage | None) -> tuple[str, int] | None:
    """Where the newest log line of a graph stands."""
    return (page.lines[-1].source, page.lines[-1].offset) if page is not None and page.lines else None
