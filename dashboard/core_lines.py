"""Utilization and memory of one core over its last minutes, as a chart with two scales."""

from __future__ import annotations

from typing import Any

from neuron_top.dashboard import figures
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.views.colors import Hue
from neuron_top.views.cores import CorePage


def core_lines(core: CorePage | None, colors: ChartColors) -> dict[str, Any]:
    """The figure; without a core it says so."""
    if core is None:
        return figures.empty(colors, "no core selected", 240)
    most = max((value for _time, value in core.recent_memory if value is not None), default=None)
    unit, size = figures.byte_unit(core.row.capacity or most)
    used = figures.line("utilization", core.recent_utilization, colors.accent, scale=100)
    orange = colors.hues[Hue.ORANGE]
    memory = figures.line(f"memory, {unit}", core.recent_memory, orange, scale=1 / size, yaxis="y2")
    busiest = max(1.0, *(value for _time, value in core.recent_utilization if value is not None))
    shares = figures.PERCENT | {"range": [0, 100 * busiest * 1.02]}
    layout_ = figures.layout(colors, 240, showlegend=True, yaxis=shares)
    layout_["yaxis2"] = {
        "automargin": True,
        "overlaying": "y",
        "side": "right",
        "tickmode": "auto",
        "showgrid": False,
        "rangemode": "tozero",
        "ticksuffix": f" {unit}",
        "tickfont": {"color": colors.quiet},
    }
    if core.row.capacity:
        layout_["yaxis2"]["range"] = [0, core.row.capacity / size * 1.02]
    layout_["uirevision"] = core.row.key
    layout_["xaxis"] |= figures.moments(used["x"])
    return {"data": [used, memory], "layout": layout_}
