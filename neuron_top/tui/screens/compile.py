"""The compile screen: progress, a row per graph, and who compiled what when."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.widget import Widget

from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import graphs
from neuron_top.tui.panels import timeline as timeline_panel
from neuron_top.tui.panels.compiling import compile_panel
from neuron_top.tui.panels.torch_frames import torch_lines, torch_panel
from neuron_top.tui.screens.base import FRAME_LINES
from neuron_top.tui.screens.graph_detail import GraphDetail, newest_line
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Table
from neuron_top.views.graphs import GraphRow, graph_page, graph_table
from neuron_top.views.missing import has_compiles
from neuron_top.views.model import Run
from neuron_top.views.progress import CompileCard, cache_card
from neuron_top.views.timeline import folded, timeline
from neuron_top.views.torch_trace import torch_view
from neuron_top.views.welcome import NO_GRAPH, NO_GRAPH_YET

ORDERS = (("active", "State", False), ("slowest", "Time", True), ("largest", "Artifact", True))
"""Which graphs come first, by the column that decides."""

LEAST_ROWS = 6
"""Lines that the table keeps in a small window, including its head; the panels below get the rest."""


class TimelineWidget(RenderWidget):
    """The timeline; a click on its lanes opens the log at that moment."""

    def __init__(self) -> None:
        super().__init__("timeline", timeline_panel.timeline_panel, timeline_panel.timeline_lines)

    def on_click(self, event: events.Click) -> None:
        """Open the log at the clicked time."""
        screen = self.screen
        if self.view is not None and event.y > 0 and isinstance(screen, CompileScreen):
            screen.show_log_at(timeline_panel.moment_at(self.view, event.x, self.size.width))


class CompileScreen(TableScreen):
    """Graphs."""

    NAME: ClassVar[str] = "compile"
    BINDINGS = screen_bindings("compile")

    def body(self) -> Iterable[Widget]:
        """Card, table, timeline."""
        yield RenderWidget("card", lambda theme, view, w, h: compile_panel(theme, view[0], view[1], w, h), _card_lines)
        table: Table[GraphRow] = Table(graphs.COLUMNS, lambda row: row.key, graphs.filter_text, id="graphs")
        table.nothing, table.lasting = NO_GRAPH_YET, True
        yield table
        yield RenderWidget("torch", torch_panel, torch_lines)
        yield TimelineWidget()

    @property
    def table(self) -> Table[GraphRow]:
        """The graphs."""
        return self.query_one("#graphs", Table)

    def read(self, run: Run, now: float) -> Any:
        """Table, cache card and timeline of one moment."""
        lanes, _lookups = folded(timeline(run, now), ())
        return graph_table(run, now, self.host.estimator), cache_card(run), lanes, torch_view(run, now)

    def show(self, view: Any) -> None:
        """Pass the view to the widgets."""
        table, cache, times, frames = view
        card = self.query_one("#card", RenderWidget).show((table.card, cache))
        self.table.nothing = NO_GRAPH if table.card.over else NO_GRAPH_YET
        self.table.show_columns(graphs.columns(table.rows))
        self.table.show(graphs.active_first(table.rows))
        room = max(0, self.size.height - FRAME_LINES - card - min(LEAST_ROWS, 1 + len(table.rows)))
        room -= self.query_one("#torch", RenderWidget).show(frames, room // 2)
        self.query_one("#timeline", RenderWidget).show(times, room)

    def action_order(self) -> None:
        """Active graphs first, then the slowest, then the largest."""
        titles = [title for _name, title, _reverse in ORDERS]
        at = titles.index(self.table.sorted_title) + 1 if self.table.sorted_title in titles else 0
        name, title, reverse = ORDERS[at % len(ORDERS)]
        self.table.sort_by_title(title, reverse)
        self.notice(f"{name} first")

    def opened(self, row: GraphRow) -> None:
        """A graph's page."""
        self.host.open(GraphDetail(row.key))

    def action_why(self) -> None:
        """The page of the chosen graph, with the reason of its miss."""
        row = self.table.order.current
        if row is None:
            self.notice("select a graph first (arrow keys)")
        else:
            self.host.open(GraphDetail(row.key, why=True))

    def action_log_lines(self) -> None:
        """The newest log line of the chosen graph."""
        row = self.table.order.current
        if row is None:
            self.notice("select a graph first (arrow keys)")
        else:
            self.show_log_line(newest_line(self.host.feed.read(partial(graph_page, key=row.key))))


def _card_lines(view: Any) -> int:
    """The card's counts alone: graphs at work have rows of their own here, and the table says where there is none."""
    card: CompileCard = view[0]
    if not has_compiles(card, view[1]):
        return 1
    return 3 + (view[1].fetches is not None) + (card.queue_total is not None) + card.trial_run


SCREEN = CompileScreen
