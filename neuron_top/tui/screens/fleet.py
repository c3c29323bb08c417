"""The fleet: its jobs, a cell for each node, and the nodes as a table, the worst by a metric first."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import fleet as panel
from neuron_top.tui.panels.blame import blame_lines
from neuron_top.tui.panels.phases import phase_lines
from neuron_top.tui.screens import rank_steps
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.screens.fleet_node import NodeLogsPage, node_page
from neuron_top.tui.screens.polled_page import PolledPage
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.widgets.header import HeaderLine
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Table
from neuron_top.views.fleet import METRICS, FleetPage, NodeRow, shown_job, sorted_nodes
from neuron_top.views.fleet_cells import fleet_cells
from neuron_top.views.fleet_differences import Differences, differences, slow_selection
from neuron_top.views.fleet_text import fleet_text, node_words
from neuron_top.views.model import Run

NOTHING = (
    "No node has reported yet.",
    "Start neurontop agent on each node of the job, for example with srun --overlap --ntasks-per-node=1.",
)


class FleetScreen(TableScreen):
    """Nodes."""

    NAME: ClassVar[str] = "fleet"
    BINDINGS = screen_bindings("fleet")

    def __init__(self) -> None:
        super().__init__()
        self._poller = Poller(self, self._read_fleet, self._on_fleet, period=1.0)
        self._page: FleetPage | None = None
        self._metric = METRICS[0]
        self._marked: frozenset[str] = frozenset()

    def body(self) -> Iterable[Widget]:
        """Jobs, cells, table."""
        yield RenderWidget("jobs", panel.jobs_panel, panel.jobs_lines)
        yield RenderWidget("cells", panel.cells_panel, panel.cells_lines)
        columns = panel.node_columns(self._metric, self._marked)
        table: Table[NodeRow] = Table(columns, lambda row: row.node, node_words, id="nodes")
        table.nothing = ("Asking the database…",)
        yield table

    def on_mount(self) -> None:
        """Start to ask the database."""
        super().on_mount()
        self._poller.start()

    def arrive(self) -> None:
        """Show what is known, and ask again."""
        super().arrive()
        self._poller.arrive()

    def _read_fleet(self) -> FleetPage:
        return self.host.services.fleet.page()

    @property
    def table(self) -> Table[NodeRow]:
        """The nodes."""
        return self.query_one("#nodes", Table)

    def read(self, run: Run, now: float) -> None:
        """Return None, as the fleet is read from the database."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

    def _on_fleet(self, page: FleetPage | Exception) -> None:
        if isinstance(page, Exception):
            self.table.nothing = (f"The fleet cannot be read: {page}",)
            if self._page is None:
                self.table.redraw()
            self.notice(f"the fleet cannot be read: {page}")
            return
        self._page, self.table.nothing = page, NOTHING
        self._show_page()

    def _show_page(self, *, arrange: bool = False) -> None:
        """Show what is known; `arrange`: in the order of the metric, even while a node is chosen."""
        if self._page is None:
            return
        self.host.fleet_words = fleet_text(self._page)
        self.query_one(HeaderLine).redraw()
        self.query_one("#jobs", RenderWidget).show(self._page)
        nodes = sorted_nodes(self._page.nodes, self._metric)
        self.table.show_columns(panel.node_columns(self._metric, self._marked, nodes, self.size.width))
        self.table.show(nodes, arrange=arrange)
        names = {row.node for row in self.table.order.rows}
        kept = [node for node in self._page.nodes if node.node in names]
        cells = fleet_cells(kept, self._metric)
        self.query_one("#cells", RenderWidget).show(panel.FleetView(self._page, cells, self.size.width))

    def apply_filter(self, query: str) -> None:
        """Keep the nodes that match, as rows and as cells."""
        super().apply_filter(query)
        self._show_page()

    def action_metric(self) -> None:
        """The next metric."""
        self._metric = METRICS[(METRICS.index(self._metric) + 1) % len(METRICS)]
        self.table.sort(None)
        self.notice(f"{self._metric.title}: {self._metric.help}")
        self._show_page(arrange=True)

    def mark(self, row: NodeRow) -> None:
        """Mark a node, or remove its mark."""
        self._marked ^= {row.node}
        self._show_page()

    def clear_marks(self) -> bool:
        """Remove all marks; False when there were none."""
        if not self._marked:
            return False
        self._marked = frozenset()
        self._show_page()
        return True

    def action_plan_change(self) -> None:
        """Ask the marked nodes, else the one under the cursor, for a change of their caches."""
        from neuron_top.tui.screens.fleet_request import FleetRequestPage

        row = self.table.order.current
        nodes = sorted(self._marked) or ([row.node] if row is not None else [])
        self.host.open(FleetRequestPage(nodes))

    def action_changes(self) -> None:
        """The changes that were asked for."""
        from neuron_top.tui.screens.fleet_changes import FleetChangesPage

        self.host.open(FleetChangesPage())

    def action_different(self) -> None:
        """What is different about the marked nodes, else about the slow ones."""
        find = partial(self._differences, self._marked)
        failed = "Nothing to compare"
        self.host.open(AsyncPage(find, panel.differences_lines, waiting="comparing…", failed=failed))

    def action_blame(self) -> None:
        """Who compiled the graphs of the job of the node under the cursor, else of the one that runs."""
        job = self._job
        if not job:
            self.notice("no job yet")
            return
        find = partial(self.host.services.fleet.blame, job)
        failed = f"The blame of {job} cannot be computed"
        self.host.open(AsyncPage(find, blame_lines, waiting=f"adding up {job}…", failed=failed))

    def _differences(self, marked: frozenset[str]) -> Differences:
        page = self.host.services.fleet.page()
        return differences(page, marked or slow_selection(page))

    @property
    def _job(self) -> str:
        """The job of the row under the cursor, else the one that runs, else the newest; "" without any."""
        row = self.table.order.current
        if row is not None and row.job:
            return row.job
        return shown_job(self._page, None).job if self._page is not None and self._page.jobs else ""

    def action_ranks(self) -> None:
        """Ranks × steps of the job of the node under the cursor, else of the one that runs."""
        find = partial(self.host.services.fleet.steps, self._job or None)
        self.host.open(rank_steps.fleet_page(find, self._job))

    def action_phases(self) -> None:
        """The phases of the nodes of that job."""
        find, job = self.host.services.fleet.phases, self._job or None
        failed = "Phases cannot be shown"
        self.host.open(PolledPage(lambda page: find(job), phase_lines, waiting="asking the database…", failed=failed))

    def action_log_lines(self) -> None:
        """The log lines of the node under the cursor, from its agent."""
        row = self.table.order.current
        if row is None:
            self.notice("select a node first (arrow keys)")
            return
        self.host.open(NodeLogsPage(self.host.services.fleet, row.node))

    def opened(self, row: NodeRow) -> None:
        """The node's page, with its cores."""
        self.host.open(node_page(self.host.services.fleet, row))


SCREEN = FleetScreen
