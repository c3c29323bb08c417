"""The page of a graph or of a cache entry, alive: what the run reports about it and what the caches hold of it.

Whichever of the two was opened, both are shown where both are known; with the graph's log lines, and the reason of its
miss once somebody asks for it. Caches are read in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from textual.strip import Strip

from neuron_top.errors import NeuronTopError
from neuron_top.services.feeds import LogLine
from neuron_top.tui.panels.graph_page import detail_lines
from neuron_top.tui.panels.why import WHY_TITLE, why_lines
from neuron_top.tui.screens.async_page import MissLookup
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.theme import Theme
from neuron_top.views.entries import EntryRow
from neuron_top.views.graphs import GraphPage, graph_page
from neuron_top.views.miss_explanation import MissExplanation, MissQuery, question
from neuron_top.views.model import Run


class ShownGraph(NamedTuple):
    """What the page draws."""

    key: str
    page: GraphPage | None
    """The graph as the run knows it."""
    lines: Sequence[LogLine]
    entries: Sequence[EntryRow] | None
    """Its entries in caches; None until they were read."""
    why: MissExplanation | None


class GraphDetail(DetailPage):
    """One graph by its key, or one cache entry."""

    def __init__(self, key: str, entry: EntryRow | None = None, *, why: bool = False) -> None:
        """`entry`: the one that was opened; else all that the caches have of the graph. `why`: ask at once why it
        missed."""
        super().__init__(
            self._page,
            _draw,
            "",
            complete=self._with_depth,
            log_line=lambda view: newest_line(view.page),
        )
        self._key, self._ask_at_once = key, why
        self._entries: Sequence[EntryRow] | None = [entry] if entry is not None else None
        self._lookup = MissLookup(self, answered=lambda: self.host.draw())
        self._why_is_new = False
        """It was asked, and was not scrolled to yet."""
        self._lines: dict[tuple[tuple[str, int], ...], list[LogLine]] = {}

    def on_mount(self) -> None:
        """Look for it in the caches, and ask why it missed if the page was opened for that."""
        if self._entries is None:
            self.run_worker(self._look_in_caches, thread=True)
        if self._ask_at_once:
            self.action_why()

    def _look_in_caches(self) -> None:
        page = self.host.feed.read(partial(graph_page, key=self._key))
        module = page.row.module if page is not None else self._key
        try:
            rows = self.host.services.cache_listing.entries().rows
        except (NeuronTopError, OSError):
            rows = ()
        found = [row for row in rows if row.module == module]
        if self.app.is_running:
            self.app.call_from_thread(self._on_entries, found)

    def _on_entries(self, found: Sequence[EntryRow]) -> None:
        self._entries = found
        self.host.draw()

    def _page(self, run: Run, now: float) -> tuple[GraphPage | None]:
        return (graph_page(run, now, self._key, self.host.estimator),)

    def _with_depth(self, read: tuple[GraphPage | None]) -> ShownGraph:
        (page,) = read
        positions = tuple((line.source, line.offset) for line in page.lines) if page is not None else ()
        if positions not in self._lines:
            self._lines = {positions: self.host.feed.log_lines(positions)}
        return ShownGraph(self._key, page, self._lines[positions], self._entries, self._lookup.explanation)

    def show(self, view: Any) -> None:
        """Draw it anew; the answer to why it missed is scrolled to once, as it may stand below the screen."""
        super().show(view)
        why = self._lookup.explanation
        if self._why_is_new and why is not None:
            self._why_is_new = False
            title = next(n for n, line in enumerate(self.page.text.splitlines()) if line.startswith(WHY_TITLE))
            self.page.reveal(title, len(why_lines(self.host.render_theme, why, self.size.width)) + 1)

    def action_why(self) -> None:
        """Ask the caches why it missed: as the run looked it up, else that of the entry."""
        query = self.host.feed.read(partial(question, key=self._key))
        if query is None and self._entries:
            one = self._entries[0]
            query = MissQuery(module=one.module, roots=(one.root,), compiler=one.compiler)
        if query is None:
            self.notice("this graph did not miss in this run, or no log line names it")
        else:
            self._lookup.explanation, self._why_is_new = None, True
            self._lookup.start(query)


def _draw(theme: Theme, view: ShownGraph, width: int) -> list[Strip]:
    return detail_lines(theme, view.key, view.page, view.lines, view.entries, view.why, width)


def newest_line(page: GraphPage | None) -> tuple[str, int] | None:
    """Source and offset of the newest log line of a graph."""
    return (page.lines[-1].source, page.lines[-1].offset) if page is not None and page.lines else None
