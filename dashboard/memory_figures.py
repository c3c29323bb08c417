"""Charts of memory: over time, and by category with peak and capacity."""

from __future__ import annotations

from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors, memory_area, memory_marker
from neuron_top.dashboard.figures import GIB, LEGEND_ROW, Figure, empty, iso, layout, moments, plain
from neuron_top.dashboard.page_diff import AppendChart, PageChart
from neuron_top.views.bands import Bands
from neuron_top.views.colors import Hue
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.exhausted import ExhaustedCore, ExhaustedMemory
from neuron_top.views.memory import MemoryKinds, MemoryTable
from neuron_top.views.model import CoreKind

__all__ = ["bars", "busy_over_time", "empty", "exhausted", "kinds_over_time", "lines", "over_time"]
HEIGHT = 320
TALL = 500
"""Beside a panel of two charts."""
_EXHAUSTED_DRAWN = 128


def core_label(row: CoreRow) -> str:
    """A short label of a core."""
    return f"rank {row.rank}" if row.rank is not None and row.kind is CoreKind.LOCAL else f"{row.kind} {row.core}"


def over_time(view: MemoryTable, colors: ChartColors) -> PageChart | AppendChart:
    """Memory of all cores: a line each, or where they are many what the least, the middle and the most had."""
    if view.memory is None or not view.memory.times:
        return AppendChart(lines(view, colors))
    capacities = tuple(sorted({row.capacity / GIB for row in view.rows if row.capacity}))[:4]
    return bands(view.memory, colors, scale=1 / GIB, edges=capacities, title={"text": "GiB"})


def busy_over_time(view: MemoryTable, colors: ChartColors) -> PageChart:
    """Utilization of all cores, where they are many."""
    if view.utilization is None or not view.utilization.times:
        return PageChart(empty(colors, "utilization of each core stands on the overview", 220))
    return bands(view.utilization, colors, height=220, tickformat=".0%", range=[0, 1.05])


def lines(view: MemoryTable, colors: ChartColors) -> Figure:
    """A line per core of the peaks of each bucket: joining buckets never hides one. The open bucket waits."""
    if not any(len(series.points) > 1 for series in view.series):
        return empty(colors, "no memory was reported yet", 320)
    data: list[dict[str, Any]] = []
    for number, series in enumerate(view.series):
        points = series.points[:-1]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": core_label(series.row),
                "x": [iso(p.time) for p in points],
                "y": [round(p.peak / GIB, 4) for p in points],
                "line": {"width": 1.3, "color": tuple(colors.hues.values())[number % (len(colors.hues) - 1)]},
            }
        )
    capacities = {row.capacity for row in view.rows if row.capacity}
    edge = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
    dashed = {"color": colors.bad, "dash": "dash", "width": 1}
    shapes = [{**edge, "y0": size / GIB, "y1": size / GIB, "line": dashed} for size in sorted(capacities)[:4]]
    return {
        "data": data,
        "layout": layout(
            colors,
            320,
            showlegend=len(data) <= 16,
            shapes=shapes,
            yaxis={"title": {"text": "GiB"}, "rangemode": "tozero"},
        ),
    }


def bars(view: MemoryTable, colors: ChartColors, *, height: int = HEIGHT) -> Figure:
    """A bar per core stacked by kind; unattributed memory is gray; peak and capacity are marks."""
    rows = [series.row for series in view.series]
    if not rows:
        return empty(colors, "no memory was reported yet", 320)
    names = [core_label(row) for row in rows]
    kinds = {kind for row in rows for kind in row.kinds}
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": plain(kind.replace("_", " ")),
            "x": names,
            "y": [round(row.kinds.get(kind, 0) / GIB, 4) for row in rows],
            "customdata": [row.key for row in rows],
            "marker": memory_marker(colors, kind),
        }
        for kind in sorted(kinds)
    ]
    rest = [max(0, (row.memory or 0) - sum(row.kinds.values())) / GIB for row in rows]
    if any(rest):
        data.append(
            {
                "type": "bar",
                "name": "unattributed",
                "x": names,
                "customdata": [row.key for row in rows],
                "y": [round(value, 4) for value in rest],
                "marker": memory_marker(colors, "unattributed"),
            }
        )
    for name, values, symbol in (
        ("peak", [row.peak for row in rows], "line-ew-open"),
        ("capacity", [row.capacity for row in rows], "line-ew-open"),
    ):
        if any(value is not None for value in values):
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": names,
                    "y": [None if value is None else round(value / GIB, 4) for value in values],
                    "marker": {
                        "symbol": symbol,
                        "size": 16,
                        "line": {"width": 2},
                        "color": colors.bad if name == "capacity" else colors.text,
                    },
                }
            )
    return {
        "data": data,
        "layout": layout(
            colors,
            height - 60 + LEGEND_ROW * len(data),
            barmode="stack",
            showlegend=True,
            xaxis={"type": "category"},
            yaxis={"title": {"text": "GiB"}, "rangemode": "tozero"},
        ),
    }


def kinds_over_time(view: MemoryKinds | None, colors: ChartColors, *, height: int = HEIGHT) -> Figure:
    """What filled one core, one kind upon the other, at the moments when they were most; its whole memory as a line.

    The open stretch of time waits: its fullest moment may still come.
    """
    if view is None or not view.kinds:
        return empty(colors, "no breakdown by category was reported for this core", 320)
    times = [iso(time) for time in view.times[:-1]]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "stackgroup": "kinds",
            "name": plain(kind.replace("_", " ")),
            "x": list(times),
            "y": [None if size is None else round(size / GIB, 4) for size in sizes[:-1]],
            **memory_area(colors, kind),
        }
        for kind, sizes in view.kinds.items()
    ]
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "total",
            "x": [iso(point.time) for point in view.memory[:-1]],
            "y": [round(point.peak / GIB, 4) for point in view.memory[:-1]],
            "line": {"width": 1.4, "dash": "dot", "color": colors.text},
        }
    )
    axis = {"title": {"text": "GiB"}, "rangemode": "tozero"}
    return {"data": data, "layout": layout(colors, height, showlegend=True, yaxis=axis, xaxis=moments(times))}


def exhausted(memory: ExhaustedMemory, colors: ChartColors) -> Figure:
    """A bar per core that ran out of memory, stacked by kind: what filled its bank."""
    cores = [core for core in memory.cores if core.kinds][:_EXHAUSTED_DRAWN]
    names = [_short_place(core) for core in cores]
    data = [
        {
            "type": "bar",
            "name": plain(kind.replace("_", " ")),
            "x": names,
            "y": [round(core.kinds.get(kind, 0) / GIB, 4) for core in cores],
            "customdata": [plain(core.place) for core in cores],
            "hovertemplate": "%{customdata}: %{y} GiB",
            "marker": memory_marker(colors, kind),
        }
        for kind in sorted({kind for core in cores for kind in core.kinds})
    ]
    axes = {"xaxis": {"type": "category", "tickangle": 0}, "yaxis": {"title": {"text": "GiB"}, "rangemode": "tozero"}}
    return {"data": data, "layout": layout(colors, 300, barmode="stack", showlegend=True, **axes)}


def _short_place(core: ExhaustedCore) -> str:
    """A place in as few letters as stand below a bar."""
    numbers = (("d", core.device), ("c", core.core))
    parts = [plain(core.node), *(f"{letter}{number}" for letter, number in numbers if number is not None)]
    return " ".join(filter(None, parts)) or core.place


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
