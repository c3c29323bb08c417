"""A node of the fleet, each of its cores, and its log lines.

Enter opens the worst core, left and right go from core to core.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.widget import Widget

from neuron_top.services.fleet import FleetService
from neuron_top.tui.panels import fleet as panel
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.screens.logs import LogsScreen
from neuron_top.tui.screens.polled_page import PolledPage
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.views.fleet import NodeRow
from neuron_top.views.fleet_node import FleetCorePage


def node_page(fleet: FleetService, row: NodeRow) -> AsyncPage:
    """A node with a mark for each of its cores; enter opens the least busy core."""
    spread = row.metrics.get("utilization")
    worst = spread.worst_core if spread is not None else ""
    has_cores = any(one.worst_core for one in row.metrics.values())
    return AsyncPage(
        partial(fleet.node, row.node),
        panel.node_page_lines,
        waiting=f"asking for {row.node}…",
        failed=f"Node {row.node} cannot be shown",
        below=(lambda: core_page(fleet, row.node, int(worst) if worst.isdigit() else 0)) if has_cores else None,
        logs=lambda: NodeLogsPage(fleet, row.node),
    )


def core_page(fleet: FleetService, node: str, core: int) -> PolledPage:
    """A core with its last hour."""
    cores = _Cores(fleet, node, core)
    return PolledPage(
        cores.ask,
        panel.core_page_lines,
        waiting=f"asking for core {core} of {node}…",
        failed="The core cannot be shown",
        turn=cores.turn,
    )


class _Cores:
    """The cores of a node, of which one is shown."""

    def __init__(self, fleet: FleetService, node: str, core: int) -> None:
        self._fleet, self._node, self._core, self._count = fleet, node, core, core + 1

    def ask(self, _page: PolledPage) -> FleetCorePage:
        while True:
            core = self._core
            found = self._fleet.core(self._node, core)
            self._count = max(1, found.cores)
            if core == self._core:  # no key has changed the core meanwhile
                return found

    def turn(self, by: int) -> str:
        self._core = (self._core + by) % self._count
        return f"core {self._core}…"


RENEW_SECONDS = 0.5


class NodeLogsPage(LogsScreen):
    """The keys of the log screen, of one node's logs; escape goes back to the fleet."""

    IS_PAGE: ClassVar[bool] = True

    def __init__(self, fleet: FleetService, node: str) -> None:
        super().__init__()
        self._node, self._logs = node, fleet.logs(node, lambda: None)

    def body(self) -> Iterable[Widget]:
        """One view of the log."""
        yield LogView(lambda: self._logs, f"Log of {self._node}")

    def on_mount(self) -> None:
        """Poll for newer lines, and for pages that were requested."""
        self.set_interval(RENEW_SECONDS, self._renew)

    def _renew(self) -> None:
        if self.is_current and not (self.host.paused and self.log_view.lines):
            if not (self.log_view.lines or self.log_view.filtered):
                self.log_view.follow()  # the requested page came too late, or not at all
            self.log_view.renew()
            self.log_view.redraw()

    def action_back(self) -> None:
        """Undo the newest narrowing, else close."""
        if not (self.close_filter() or self.clear_cursor()):
            self.dismiss()

    def action_open(self) -> None:
        """Say where the page of a graph is."""
        self.notice("graphs of a job: neurontop watch --store URL --job NAME")

    def action_why(self) -> None:
        """Likewise."""
        self.action_open()
