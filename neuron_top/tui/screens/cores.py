"""The cores screen: a row per core, grouped by device, the host above, out-of-memory tables below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.drawing import rule, safe
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import core_rows
from neuron_top.tui.panels.core_rows import Item
from neuron_top.tui.panels.cores import MANY, legend_line, memory_scale
from neuron_top.tui.panels.device_rows import device_lines, device_rows
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.ui_state import TableState
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Table
from neuron_top.views.core_metrics import SHARES
from neuron_top.views.core_rows import CoreRow, legend_kinds
from neuron_top.views.cores import CoreTable, core_page, core_table
from neuron_top.views.device_map import DeviceMap, share_of, shown_metric, summary_text
from neuron_top.views.model import Run
from neuron_top.views.welcome import NO_CORE, NO_CORE_YET

LEAST_TABLE = 12
"""Lines that the device map leaves for the host, the table and the bottom line."""


class CoresScreen(TableScreen):
    """Cores."""

    NAME: ClassVar[str] = "cores"
    BINDINGS = screen_bindings("cores")

    def __init__(self) -> None:
        super().__init__()
        self._folded: frozenset[str] = frozenset()
        self._view: CoreTable | None = None
        self._metric = ""

    def table_state(self) -> TableState:
        """Sort, filter, and the folded devices."""
        return msgspec.structs.replace(super().table_state(), folded=tuple(sorted(self._folded)))

    def restore_table(self, state: TableState) -> None:
        """Sort as before, and fold the same devices."""
        self._folded = frozenset(state.folded)
        super().restore_table(state)

    def body(self) -> Iterable[Widget]:
        """Host, table, legend, out-of-memory table."""
        yield RenderWidget("host", core_rows.host_panel, core_rows.host_lines)
        yield RenderWidget("map", _map, _map_lines)
        table: Table[Item] = Table(core_rows.COLUMNS, lambda item: item.key, core_rows.filter_text, id="cores")
        table.nothing, table.lasting = NO_CORE_YET, True
        table.order.group = lambda item: item.place
        yield table
        yield RenderWidget("legend", _legend, lambda cores: 1 if legend_kinds(cores) else 0)
        yield RenderWidget("exhausted", core_rows.exhausted_panel, core_rows.exhausted_lines)

    @property
    def table(self) -> Table[Item]:
        """The cores."""
        return self.query_one("#cores", Table)

    def read(self, run: Run, now: float) -> CoreTable:
        """The view."""
        return core_table(run, now)

    def show(self, view: Any) -> None:
        """Pass the view to the widgets."""
        self._view = view
        cores = _cores(view)
        self.query_one("#host", RenderWidget).show(view)
        self.query_one("#map", RenderWidget).show(self._device_map(view, cores))
        self.query_one("#legend", RenderWidget).show(cores)
        self.query_one("#exhausted", RenderWidget).show(view)
        self.table.nothing = NO_CORE if view.over else (*NO_CORE_YET, *map(safe, view.absent))
        self.table.show_columns(core_rows.columns(view))
        grouped = self.table.sorted_by is None and not self.table.query_text
        self.table.show(core_rows.items(view, legend_kinds(cores), memory_scale(cores), self._folded, grouped))

    def _device_map(self, view: CoreTable, cores: list[CoreRow]) -> tuple[DeviceMap, int, int] | None:
        """The cores by device, in the room that the table leaves; None if a line per core shows the same."""
        if len(cores) <= MANY:
            return None
        return view.devices(self._metric), self.size.width, max(3, self.size.height - LEAST_TABLE)

    def action_map_metric(self) -> None:
        """Draw the map by the next metric that any core reports."""
        cores = _cores(self._view) if self._view is not None else []
        reported = [one.name for one in SHARES if any(share_of(one, row) is not None for row in cores)]
        if len(cores) <= MANY or not reported:
            self.notice("the map is drawn where there are more than 16 cores")
            return
        shown = reported.index(shown_metric(cores, self._metric).name)
        self._metric = reported[(shown + 1) % len(reported)]
        self._show_again()

    def opened(self, row: Item) -> None:
        """Fold a group, or open a core's page."""
        if row.group is not None:
            self._folded ^= {row.key}
            self._show_again()
            return
        self.host.open(core_detail(row.key))

    def action_log_lines(self) -> None:
        """What the rank on the chosen core printed."""
        item = self.table.order.current
        query = rank_query(item.core) if item is not None and item.core is not None else ""
        if query:
            self.host.show_log_lines(query)
        else:
            self.notice("select a core with a rank first (arrow keys)")

    def action_ranks(self) -> None:
        """Open the page of ranks × steps."""
        from neuron_top.tui.screens.rank_steps import RunSteps

        self.host.open(RunSteps())

    def action_sort(self) -> None:
        """The next column; groups are there only in the first order."""
        super().action_sort()
        self._show_again()

    def apply_filter(self, query: str) -> None:
        """Filter the cores; group heads go."""
        super().apply_filter(query)
        self._show_again()

    def _show_again(self) -> None:
        if self._view is not None:
            self.show(self._view)


def core_detail(key: str) -> DetailPage:
    """A core's page."""
    return DetailPage(
        partial(core_page, key=key),
        core_rows.core_page_lines,
        "This core does not report any more.",
        log_query=lambda page: rank_query(page.row),
    )


def rank_query(row: CoreRow) -> str:
    """The filter for the log lines of the rank on a core; "" if the rank is unknown."""
    return f"rank:{row.rank}" if row.rank is not None else ""


def _cores(view: CoreTable) -> list[CoreRow]:
    return [row for group in view.groups for row in group.rows]


def _map_lines(shown: tuple[DeviceMap, int, int] | None) -> int:
    return 1 + device_lines(*shown) if shown is not None else 0


def _map(theme: Theme, shown: tuple[DeviceMap, int, int] | None, width: int, height: int) -> list[Strip]:
    if shown is None or height < 1:
        return []
    view = shown[0]
    return [rule(theme, width, "Devices", summary_text(view)), *device_rows(theme, view, width, height - 1)]


def _legend(theme: Theme, cores: Sequence[CoreRow], width: int, height: int) -> list[Strip]:
    return [legend_line(theme, cores, legend_kinds(cores), width)] if height else []


SCREEN = CoresScreen
