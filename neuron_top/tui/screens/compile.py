"""The compile screen: progress, a row per graph, and who compiled what when."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.run.model import Run
from neuron_top.tui.panels import graphs
from neuron_top.tui.panels.compiling import compile_panel
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.widgets.drawn import Drawn
from neuron_top.tui.widgets.table import Table
from neuron_top.views.graphs import GraphRow, graph_page, graph_table, timeline
from neuron_top.views.overview import CompileCard, cache_card

NOTHING = (
    "No graph yet.",
    "A row appears for each graph that is looked up, compiled, loaded or waited for, from the job's log and from our",
    "own backend. To compile a job's graphs beforehand: neurontop compile -- torchrun … train.py",
)


class CompileScreen(LiveScreen):
    """Graphs."""

    PLACE: ClassVar[str] = "compile"
    BINDINGS = bindings_for("compile")

    def body(self) -> Iterable[Widget]:
        """Card, table, timeline."""
        yield Drawn("card", lambda look, view, w, h: compile_panel(look, view[0], view[1], w, h), _card_lines)
        table: Table[GraphRow] = Table(graphs.COLUMNS, lambda row: row.key, graphs.filter_text, id="graphs")
        table.nothing = NOTHING
        yield table
        yield Drawn("timeline", graphs.timeline_panel, graphs.timeline_lines)

    @property
    def table(self) -> Table[GraphRow]:
        """The graphs."""
        return self.query_one("#graphs", Table)

    def read(self, run: Run, now: float) -> Any:
        """Table, cache card and timeline of one moment."""
        return graph_table(run, now, self.top.estimator), cache_card(run), timeline(run, now)

    def show(self, view: Any) -> None:
        """Hand them on."""
        table, cache, times = view
        self.query_one("#card", Drawn).show((table.card, cache))
        self.table.show(table.rows)
        self.query_one("#timeline", Drawn).show(times)

    def opened(self, row: GraphRow) -> None:
        """A graph's page."""
        read = partial(graph_page, key=row.key, estimator=self.top.estimator)
        self.top.push_screen(DetailPage(read, graphs.graph_page_lines, f"{row.key} is not part of this run any more."))


def _card_lines(view: Any) -> int:
    """The card's counts alone: the graphs at work have rows of their own here."""
    card: CompileCard = view[0]
    return 3 + (card.queue_total is not None) + card.trial_run


SCREEN = CompileScreen
