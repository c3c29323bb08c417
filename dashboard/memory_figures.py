"""Charts of memory: over time, and by category with peak and capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from neuron_top.dashboard.chart_colors import ChartColors, memory_area, memory_marker
from neuron_top.dashboard.figures import (
    GIB,
    LEGEND_ROW,
    PERCENT,
    Figure,
    add_left_over,
    byte_unit,
    capacity_line,
    core_name,
    empty,
    iso,
    layout,
    moments,
    plain,
)
from neuron_top.dashboard.page_diff import AppendChart, PageChart
from neuron_top.views.bands import Bands
from neuron_top.views.colors import Hue
from neuron_top.views.core_rows import CoreRow, capacity_of, legend_kinds, ordered_kinds, total
from neuron_top.views.exhausted import ExhaustedCore, ExhaustedMemory
from neuron_top.views.memory import MemoryKinds, MemoryTable
from neuron_top.views.model import CoreKind

__all__ = ["bars", "busy_over_time", "empty", "exhausted", "kinds_over_time", "lines", "over_time"]
HEIGHT = 320
TALL = 500
"""Beside a panel of two charts."""
_EXHAUSTED_DRAWN = 128
_BARS_OF_CORES = 32
"""With more cores than this, a bar stands for a device."""
FEW_BARS = 8
"""Up to this many have room for their whole names."""


class _Bar(NamedTuple):
    """A core, or a device with all of its cores. Bytes; None unknown."""

    name: str
    key: str
    """Key of the core that a click chooses."""
    kinds: dict[str, int]
    memory: int | None
    peak: int | None
    """None for a device, as its cores may have had their peaks at different moments."""
    capacity: int | None


def core_label(row: CoreRow) -> str:
    """A short label of a core."""
    return f"rank {row.rank}" if row.rank is not None and row.kind is CoreKind.LOCAL else core_name(row)


def over_time(view: MemoryTable, colors: ChartColors) -> PageChart | AppendChart:
    """Memory of all cores: a line for each, or of many the lowest, the median and the highest."""
    if view.memory is None or not view.memory.times:
        return AppendChart(lines(view, colors))
    capacities = _capacities(view.rows)
    unit, size = byte_unit(max([*view.memory.high, *capacities]))
    edges = tuple(capacity / size for capacity in capacities)
    return bands(view.memory, colors, scale=1 / size, edges=edges, title={"text": unit})


def busy_over_time(view: MemoryTable, colors: ChartColors) -> PageChart:
    """Utilization of all cores, if there are many."""
    if view.utilization is None or not view.utilization.times:
        return PageChart(empty(colors, "utilization of each core stands on the overview", 220))
    return bands(view.utilization, colors, scale=100, height=220, **PERCENT, range=[0, 105])


def lines(view: MemoryTable, colors: ChartColors) -> Figure:
    """A line per core of the peaks of each bucket: joining buckets never hides one. The open bucket waits."""
    if not any(len(series.points) > 1 for series in view.series):
        return empty(colors, "no memory was reported yet", 320)
    capacities = _capacities(view.rows)
    unit, size = byte_unit(max([*(point.peak for one in view.series for point in one.points), *capacities]))
    data: list[dict[str, Any]] = []
    for number, series in enumerate(view.series):
        points = series.points[:-1]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": core_label(series.row),
                "x": [iso(p.time) for p in points],
                "y": [round(p.peak / size, 4) for p in points],
                "line": {"width": 1.3, "color": tuple(colors.hues.values())[number % (len(colors.hues) - 1)]},
            }
        )
    return {
        "data": data,
        "layout": layout(
            colors,
            320,
            showlegend=len(data) <= 16,
            shapes=_edges([capacity / size for capacity in capacities], colors),
            yaxis={"title": {"text": unit}, "rangemode": "tozero"},
            xaxis=moments([]),
        ),
    }


def _capacities(rows: Sequence[CoreRow]) -> list[int]:
    """The capacities that cores have, a few of them."""
    return sorted({row.capacity for row in rows if row.capacity})[:4]


def _edges(places: Sequence[float], colors: ChartColors) -> list[dict[str, Any]]:
    """Dashed lines across a chart at these capacities."""
    dashed = {"color": colors.bad, "dash": "dash", "width": 1}
    return [capacity_line(colors, xref="paper", x0=0, x1=1, y0=y, y1=y, line=dashed) for y in places]


def _with_left_over(bar: _Bar) -> dict[str, int]:
    sizes = dict(bar.kinds)
    add_left_over(sizes, (bar.memory or 0) - sum(sizes.values()))
    return sizes


def bars(view: MemoryTable, colors: ChartColors, *, height: int = HEIGHT) -> Figure:
    """A bar per core, or per device of many, stacked by kind; unattributed memory is gray, peak and capacity marked."""
    drawn = _bars_of_devices(view.rows) if is_by_device(view) else _bars_of_cores(view)
    if not drawn:
        return empty(colors, "no memory was reported yet", 320)
    names = [bar.name for bar in drawn]
    known = [size for bar in drawn for size in (bar.memory, bar.peak, bar.capacity) if size is not None]
    unit, divisor = byte_unit(max(known, default=None))
    stacked = [_with_left_over(bar) for bar in drawn]
    stacks = {kind: [bar.get(kind, 0) for bar in stacked] for kind in ordered_kinds(k for bar in stacked for k in bar)}
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": plain(kind.replace("_", " ")),
            "x": names,
            "y": [round(size / divisor, 4) for size in sizes],
            "customdata": [bar.key for bar in drawn],
            "marker": memory_marker(colors, kind),
        }
        for kind, sizes in stacks.items()
        if any(sizes)
    ]
    capacities = {bar.capacity for bar in drawn}
    is_one_capacity = len(capacities) == 1
    marks = [("peak", [bar.peak for bar in drawn], colors.text)]
    marks += [] if is_one_capacity else [("capacity", [bar.capacity for bar in drawn], colors.bad)]
    for name, values, color in marks:
        if any(value is not None for value in values):
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": names,
                    "y": [None if value is None else round(value / divisor, 4) for value in values],
                    "marker": {
                        "symbol": "line-ew-open",
                        "size": 16 if len(drawn) <= 16 else 4,
                        "line": {"width": 2},
                        "color": color,
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
            shapes=_edges([size / divisor for size in capacities if size and is_one_capacity], colors),
            xaxis=_bar_axis(view, drawn, colors),
            yaxis={"title": {"text": unit}, "rangemode": "tozero"},
        ),
    }


def is_by_device(view: MemoryTable) -> bool:
    """Whether the cores are so many that a bar stands for a device."""
    return len(view.rows) > _BARS_OF_CORES and all(row.device is not None for row in view.rows)


def _bars_of_cores(view: MemoryTable) -> list[_Bar]:
    rows = [series.row for series in view.series]
    several = len({row.node for row in rows}) > 1
    return [
        _Bar(
            f"{plain(row.node)} {core_label(row)}" if several else core_label(row),
            row.key,
            row.kinds,
            row.memory,
            row.peak,
            row.capacity,
        )
        for row in rows
    ]


def _bars_of_devices(rows: Sequence[CoreRow]) -> list[_Bar]:
    devices: dict[tuple[str, int | None], list[CoreRow]] = {}
    for row in rows:
        devices.setdefault((row.node, row.device), []).append(row)
    several = len({row.node for row in rows}) > 1
    return [
        _Bar(
            f"{plain(node)} {device}" if several else f"{device}",
            max(cores, key=lambda row: row.peak or 0).key,
            {kind: sum(row.kinds.get(kind, 0) for row in cores) for kind in legend_kinds(cores)},
            total(row.memory for row in cores),
            None,
            capacity_of(cores),
        )
        for (node, device), cores in devices.items()
    ]


def _bar_axis(view: MemoryTable, drawn: Sequence[_Bar], colors: ChartColors) -> dict[str, Any]:
    """The axis of the bars: numbers of devices or cores with one word for them all, where they are many."""
    axis: dict[str, Any] = {"type": "category"}
    upright = {"tickangle": 0, "tickfont": {"size": 10, "color": colors.quiet}}
    if len({row.node for row in view.rows}) > 1:
        return axis
    if is_by_device(view):
        return axis | upright | {"title": {"text": "device"}}
    word, _space, _number = drawn[0].name.partition(" ")
    if len(drawn) <= FEW_BARS or any(not bar.name.startswith(f"{word} ") for bar in drawn):
        return axis
    numbers = [bar.name.removeprefix(f"{word} ") for bar in drawn]
    some = slice(None, None, 1 + len(drawn) // 17)
    ticks = {"tickvals": [bar.name for bar in drawn][some], "ticktext": numbers[some]}
    return axis | upright | ticks | {"title": {"text": word}}


def kinds_over_time(view: MemoryKinds | None, colors: ChartColors, *, height: int = HEIGHT) -> Figure:
    """Memory of one core by kind as stacked areas, at the moments of the highest totals; its whole memory as a line.

    While the job goes on, the newest interval is left out: its highest total may still come.
    """
    if view is None or not (view.kinds or view.memory):
        return empty(colors, "no memory was reported", 320)
    settled = slice(None if view.over else -1)
    times, whole = [iso(time) for time in view.times[settled]], view.memory[settled]
    if not times and not whole:
        return empty(colors, "the first samples are still being collected", height)
    unit, divisor = byte_unit(max((point.peak for point in view.memory), default=None))
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": _drawn(times),
            "stackgroup": "kinds",
            "name": plain(kind.replace("_", " ")),
            "x": list(times),
            "y": [None if size is None else round(size / divisor, 4) for size in view.kinds[kind][settled]],
            **memory_area(colors, kind),
        }
        for kind in ordered_kinds(view.kinds)
        if any(view.kinds[kind])
    ]
    data.append(
        {
            "type": "scatter",
            "mode": _drawn(whole),
            "name": "total",
            "x": [iso(point.time) for point in whole],
            "y": [round(point.peak / divisor, 4) for point in whole],
            "line": {"width": 1.4, "dash": "dot", "color": colors.text},
        }
    )
    axis = {"title": {"text": unit}, "rangemode": "tozero"}
    return {
        "data": data,
        "layout": layout(colors, height, showlegend=True, yaxis=axis, xaxis=moments(times or data[-1]["x"])),
    }


def _drawn(points: Sequence[Any]) -> str:
    """A single point is no line."""
    return "lines" if len(points) > 1 else "markers"


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
        for kind in ordered_kinds(kind for core in cores for kind in core.kinds)
    ]
    axes = {"xaxis": {"type": "category"}, "yaxis": {"title": {"text": "GiB"}, "rangemode": "tozero"}}
    return {"data": data, "layout": layout(colors, 300, barmode="stack", showlegend=True, **axes)}


def _short_place(core: ExhaustedCore) -> str:
    """A place, shortened so that it fits below a bar."""
    numbers = (("d", core.device), ("c", core.core))
    parts = [plain(core.node), *(f"{letter}{number}" for letter, number in numbers if number is not None)]
    return " ".join(filter(None, parts)) or plain(core.place)


def bands(
    view: Bands,
    colors: ChartColors,
    *,
    scale: float = 1.0,
    height: int = 320,
    edges: tuple[float, ...] = (),
    **axis: Any,
) -> PageChart:
    """Three lines, the space between the outer two filled; `edges`: capacities, as dashed lines."""
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
        line("lowest", view.low, line=thin),
        line("highest", view.high, line=thin, fill="tonexty", fillcolor=_faint(color)),
        line("median", view.middle, line={"color": colors.text, "width": 1.6}),
    ]
    figure: Figure = {
        "data": data,
        "layout": layout(
            colors,
            height,
            showlegend=True,
            shapes=_edges(edges, colors),
            yaxis={"rangemode": "tozero", **axis},
            xaxis=moments(times),
        ),
    }
    return PageChart(figure, tuple(("data", place, name) for place in range(3) for name in ("x", "y")))


def _faint(color: str) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"
