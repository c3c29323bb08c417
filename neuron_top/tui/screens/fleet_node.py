"""A node of the fleet, and each of its cores: enter opens the worst core, left and right go from core to core."""

from __future__ import annotations

from functools import partial
from typing import Any

from neuron_top.services.fleet import FleetService
from neuron_top.tui.panels import fleet as panel
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.screens.polled_page import PolledPage
from neuron_top.views.fleet import NodeRow
from neuron_top.views.fleet_core import CorePage


class NodeScreen(AsyncPage):
    """A node with a mark for each of its cores."""

    def __init__(self, fleet: FleetService, row: NodeRow) -> None:
        failed = f"Node {row.node} cannot be shown"
        find = partial(fleet.node, row.node)
        super().__init__(find, panel.node_page_lines, waiting=f"asking for {row.node}…", failed=failed)
        self._fleet, self._row = fleet, row

    def action_open(self) -> None:
        """The least busy core."""
        spread = self._row.metrics.get("utilization")
        worst = spread.worst_core if spread is not None else ""
        self.host.open(CoreScreen(self._fleet, self._row.node, int(worst) if worst.isdigit() else 0))


class CoreScreen(PolledPage):
    """A core with its last hour."""

    def __init__(self, fleet: FleetService, node: str, core: int) -> None:
        self._fleet, self._node, self._core, self._count = fleet, node, core, core + 1
        waiting = f"asking for core {core} of {node}…"
        super().__init__(self._ask, panel.core_page_lines, waiting=waiting, failed="The core cannot be shown")

    def _ask(self, page: PolledPage) -> CorePage:
        return self._fleet.core(self._node, self._core)

    def _on_result(self, result: Any) -> None:
        if isinstance(result, CorePage):
            self._count = result.cores
            if result.core != self._core:  # asked for before the key was pressed
                return
        super()._on_result(result)

    def action_shift(self, by: int) -> None:
        """The next core, or the one before."""
        self._core = (self._core + (1 if by > 0 else -1)) % self._count
        self.notice(f"core {self._core}…")
        self._poller.poll()
