"""Many cores over time: the space between the least and the most of them, and their median."""

from __future__ import annotations

from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.figures import Figure, iso, layout, moments
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.views.bands import Bands
from neuron_top.views.colors import Hue


def bands(
    view: Bands,
    colors: ChartColors,
    *,
    scale: float = 1.0,
    height: int = 320,
    edges: tuple[float, ...] = (),
    **axis: Any,
) -> PageChart:
    """Three lines, the space between the outer two filled; `edges` are dashed lines, capacities for instance."""
    times = [iso(time) for time in view.times]
    color = colors.hues[Hue.BLUE]

    def line(name: str, values: tuple[float, ...], **more: Any) -> dict[str, Any]:
        return {
            "type": "scatter",
            "mode": "lines+markers" if len(times) < 3 else "lines",
            "name": name,
            "x": times,
            "y": [round(value * scale, 4) for value in values],
            **more,
        }

    thin = {"color": color, "width": 1}
    data = [
        line("least", view.low, line=thin),
        line("most", view.high, line=thin, fill="tonexty", fillcolor=_faint(color)),
        line("median", view.middle, line={"color": colors.text, "width": 1.6}),
    ]
    dashed = {"color": colors.bad, "dash": "dash", "width": 1}
    shapes = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": dashed} for y in edges]
    figure: Figure = {
        "data": data,
        "layout": layout(colors, height, showlegend=True, shapes=shapes, yaxis={"rangemode": "tozero", **axis},
                         xaxis=moments(times)),
    }  # fmt: skip
    return PageChart(figure, tuple(("data", place, name) for place in range(3) for name in ("x", "y")))


def _faint(color: str) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"
