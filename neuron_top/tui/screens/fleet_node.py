"""A node of the fleet, and each of its cores: enter opens the worst core, left and right go from core to core."""

from __future__ import annotations

from functools import partial

from neuron_top.services.fleet import FleetService
from neuron_top.tui.panels import fleet as panel
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.screens.polled_page import PolledPage
from neuron_top.views.fleet import NodeRow
from neuron_top.views.fleet_core import FleetCorePage


def node_page(fleet: FleetService, row: NodeRow) -> AsyncPage:
    """A node with a mark for each of its cores; enter opens the least busy core."""
    spread = row.metrics.get("utilization")
    worst = spread.worst_core if spread is not None else ""
    return AsyncPage(
        partial(fleet.node, row.node),
        panel.node_page_lines,
        waiting=f"asking for {row.node}…",
        failed=f"Node {row.node} cannot be shown",
        below=lambda: core_page(fleet, row.node, int(worst) if worst.isdigit() else 0),
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
            if core == self._core:  # no key was pressed meanwhile
                return found

    def turn(self, by: int) -> str:
        self._core = (self._core + by) % self._count
        return f"core {self._core}…"
