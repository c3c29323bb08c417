"""Figures from rows of views as plain dictionaries, which cost a thirtieth of plotly's objects and look the same.

A figure's `uirevision` stays, so that zoom and hidden traces survive every update. Times are ISO texts in UTC, which
plotly draws without converting; unknown values are gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from math import ceil, inf
from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors, memory_marker
from neuron_top.units import bytes_text, percent_text
from neuron_top.views.core_metrics import CAPACITY, CORE_METRICS, MEMORY, PEAK, UTILIZATION, CoreMetric, reported
from neuron_top.views.core_rows import CoreRow, legend_kinds, silence_text
from neuron_top.views.device_map import outliers
from neuron_top.views.model import CoreKind, Point

Figure = dict[str, Any]
GIB = 1024**3
PERCENT: dict[str, Any] = {"ticksuffix": " %"}
"""An axis of percent in the format of `percent_text`."""
LEGEND_ROW = 20
"""Pixels for each entry of a legend: a narrow panel gives each a row of its own."""
HALF_A_DAY = 50
"""Pixels of half the name of a day, below the first tick of an axis of time."""
WIDE = 128
"""The most cores in a row of the heat map."""
_TICK_HEIGHT = 15
"""Pixels that a name at a line of the heat map needs."""
NUMBERED = 16
"""The most cells of a heat map that show their number."""


@lru_cache(maxsize=1 << 16)
def iso(seconds: float) -> str:
    """A time as plotly reads it: UTC, milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6]


def plain(text: str) -> str:
    """Escape a text for a chart: plotly interprets some tags and links."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def layout(colors: ChartColors, height: int, **more: Any) -> dict[str, Any]:
    """The layout that all charts share."""
    axis = {
        "gridcolor": colors.line,
        "zerolinecolor": colors.line,
        "linecolor": colors.line,
        "automargin": True,
        "tickfont": {"color": colors.quiet},
    }
    whole: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 22, "b": 8},  # room for the chart's menu at the top
        "paper_bgcolor": colors.ground,
        "plot_bgcolor": colors.ground,
        "font": {"color": colors.text, "family": "system-ui, sans-serif", "size": 12},
        "hoverlabel": {"font": {"family": "ui-monospace, monospace"}},
        "uirevision": "kept",
        "showlegend": False,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 11}},
        "colorway": list(colors.hues.values()),
        "xaxis": dict(axis),
        "yaxis": dict(axis),
    }
    for name, value in more.items():
        whole[name] = {**whole[name], **value} if isinstance(whole.get(name), dict) else value
    if whole["xaxis"].get("type") == "date":  # only the first tick names the day, and none that would be cut is drawn
        whole["margin"]["l"] = max(whole["margin"]["l"], HALF_A_DAY)
    return whole


def empty(colors: ChartColors, words: str, height: int = 220) -> Figure:
    """A chart without data, with the reason."""
    note = {
        "text": plain(words),
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "font": {"color": colors.quiet, "size": 13},
    }
    hidden = {"visible": False}
    whole = layout(colors, height, annotations=[note], xaxis=hidden, yaxis=hidden)
    # With one revision plotly would keep the ranges of these axes for the first data, and draw reversed ones upwards.
    return {"data": [], "layout": whole | {"uirevision": "empty"}}


def heat(rows: Sequence[CoreRow], measure: CoreMetric, colors: ChartColors) -> Figure:
    """Cores as a heat map: a column per device with its cores one below the other, or a line per device or node.

    Both axes count columns and lines, so that marks have the size of their cells.
    """
    lines = _lines(rows)
    width = max((len(line) for _name, line in lines), default=0)
    cells = [[*line, *[None] * (width - len(line))] for _name, line in lines]
    names = [[name] * width for name, _line in lines]
    upright = width <= 8 < len(lines)
    if upright:
        cells, names = ([list(column) for column in zip(*grid, strict=True)] for grid in (cells, names))
    cell = 34 if len(cells) <= 12 else 16 if len(cells) <= 40 else 8
    shares = {row.key: share for row in rows if (share := _measured(row, measure)) is not None}
    numbers = {"texttemplate": "%{z:.0f} %"} if len(rows) <= NUMBERED and width <= 8 else {}
    trace = _heat_trace(cells, names, colors)
    fresh = {"z": _values(cells, shares, stale=False), **numbers}
    old = {
        "z": _values(cells, shares, stale=True),
        "colorscale": [[0, colors.ground], [1, colors.quiet]],
        "showscale": False,
    }
    plain_axis = {"showgrid": False, "zeroline": False}
    height = min(900, 94 + cell * max(1, len(cells)))
    every = ceil(_TICK_HEIGHT * len(cells) / max(1, height - 94))
    return {
        "data": [{**trace, **fresh}, *_cell_marks(rows, cells, shares, colors), {**trace, **old}],
        "layout": layout(
            colors,
            height,
            yaxis={
                "range": [len(cells) - 0.5, -0.5],
                **plain_axis,
                **({"dtick": 1, "tickformat": "d"} if upright else _named([name for name, _line in lines], every)),
            },
            xaxis={
                "range": [-0.5, len(cells[0] if cells else ()) - 0.5],
                **plain_axis,
                **(_devices(lines, colors) if upright else {"dtick": max(1, width // 16)}),
            },
        ),
    }


def _heat_trace(
    cells: Sequence[Sequence[CoreRow | None]], names: Sequence[Sequence[str]], colors: ChartColors
) -> Figure:
    """A heat map of cores without its values. `names`: of the device or node, by cell."""
    return {
        "type": "heatmap",
        "text": [
            [f"{_core_name(row)}<br>{name}" if row is not None else "" for row, name in zip(*pair, strict=True)]
            for pair in zip(cells, names, strict=True)
        ],
        "customdata": [[row.key if row is not None else "" for row in line] for line in cells],
        "zmin": 0,
        "zmax": 100,
        "hoverongaps": False,
        "colorscale": [[index / (len(colors.heat) - 1), color] for index, color in enumerate(colors.heat)],
        "xgap": 2 if len(cells[0] if cells else ()) <= 64 else 0,
        "ygap": 2 if len(cells) <= 40 else 0,
        "hovertemplate": "%{text}: %{z:.0f} %<extra></extra>",
        "colorbar": {
            **PERCENT,
            "thickness": 10,
            "outlinewidth": 0,
            "xpad": 24,  # beside the chart's menu, not under it
            "tickfont": {"color": colors.quiet},
        },
    }


def _cell_marks(
    rows: Sequence[CoreRow],
    cells: Sequence[Sequence[CoreRow | None]],
    shares: Mapping[str, float],
    colors: ChartColors,
) -> list[Figure]:
    """Marks on the cells of cores with an unknown, old or outlying value."""
    places = [(row, (x, y)) for y, line in enumerate(cells) for x, row in enumerate(line) if row is not None]
    odd = set(outliers({row.key: shares[row.key] for row in rows if not row.stale and row.key in shares}))
    unknown = [place for row, place in places if row.key not in shares]
    old = [place for row, place in places if row.stale and row.key in shares]
    standing_out = [place for row, place in places if row.key in odd]
    return [
        _cells("not reported", unknown, **_hatch(colors.quiet)),
        _cells("old value", old, **_hatch(colors.text)),
        _cells("stands out", standing_out, line={"color": colors.warn, "width": 2}),
    ]


def _named(names: Sequence[str], every: int = 1) -> dict[str, Any]:
    """The ticks of named lines, of `every` so many one; where there are very many, only some of them."""
    some = range(0, len(names), max(every, 1 + len(names) // 60))
    return {"tickvals": list(some), "ticktext": [names[place] for place in some]}


def _devices(lines: Sequence[tuple[str, list[CoreRow]]], colors: ChartColors) -> dict[str, Any]:
    """The axis of columns that are devices: their numbers, upright; with the node where there are several."""
    nodes = len({group[0].node for _name, group in lines})
    if nodes > 1 or len(lines) > 32 or any(group[0].device is None for _name, group in lines):
        return _named([name for name, _line in lines])
    ticks = _named([f"{group[0].device}" for _name, group in lines])
    return {**ticks, "tickangle": 0, "tickfont": {"size": 10, "color": colors.quiet}, "title": {"text": "device"}}


def _hatch(color: str) -> dict[str, Any]:
    """The pattern of cells whose values are old."""
    pattern = {"shape": "/", "fgcolor": color, "fgopacity": 0.6, "size": 10, "solidity": 0.1}
    return {"line": {"width": 0}, "fill": "toself", "fillcolor": "rgba(0,0,0,0)", "fillpattern": pattern}


def _cells(name: str, places: Sequence[tuple[int, int]], **drawn: Any) -> Figure:
    """Cells of a heat map by their edges; a click goes through them to the cell."""
    half = 0.5
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [at for x, _ in places for at in (x - half, x + half, x + half, x - half, x - half, None)],
        "y": [at for _, y in places for at in (y - half, y - half, y + half, y + half, y - half, None)],
        "hoverinfo": "skip",
        **drawn,
    }


def _lines(rows: Sequence[CoreRow]) -> list[tuple[str, list[CoreRow]]]:
    nodes = len({row.node for row in rows})

    def name(row: CoreRow) -> str:
        where = f"{plain(row.node)} " if nodes > 1 else ""
        return (
            f"{where}device {row.device}" if row.device is not None else where.strip() or plain(row.node) or "this host"
        )

    by_device = [(title, list(group)) for title, group in groupby(rows, name)]
    if len(by_device) > 100:
        by_device = [(node, list(group)) for node, group in groupby(rows, lambda row: row.node)]
    split = []
    for title, group in by_device:
        split += [
            (title if first == 0 else f"{title} +{first}", group[first : first + WIDE])
            for first in range(0, len(group), WIDE)
        ]
    return split


def _measured(row: CoreRow, measure: CoreMetric) -> float | None:
    """A value rounded to three decimals, enough for a color and short to send."""
    share = measure.share(row) if measure.share is not None else None
    return round(share, 3) if share is not None else None


def _values(
    cells: Sequence[Sequence[CoreRow | None]], shares: Mapping[str, float], *, stale: bool
) -> list[list[float | None]]:
    """Values in percent for the cells of cores that report, or of those that no longer do; shares by core key."""
    return [
        [
            round(100 * shares[row.key], 1) if row is not None and row.stale is stale and row.key in shares else None
            for row in line
        ]
        for line in cells
    ]


def core_name(row: CoreRow) -> str:
    """A core by its number, or the worker that stands for one."""
    return f"{'core' if row.kind is CoreKind.NEURON else 'worker'} {row.core}"


def _core_name(row: CoreRow) -> str:
    rank = f", rank {row.rank}" if row.rank is not None else ""
    return f"{core_name(row)}{rank}"


def byte_unit(most: float | None) -> tuple[str, int]:
    """The unit of an axis up to this many bytes, and its divisor; the same unit that `bytes_text` chooses."""
    return ("MiB", 1024**2) if most is not None and most < 999.5 * 1024**2 else ("GiB", GIB)


def capacity_line(colors: ChartColors, **place: Any) -> dict[str, Any]:
    """A line of a chart at the capacity, with its name."""
    label = {
        "text": "capacity",
        "font": {"size": 10, "color": colors.quiet},
        "textposition": "end",
        "textangle": 0,
        "xanchor": "right",
        "yanchor": "top",
    }
    return {"type": "line", "label": label, **place}


@lru_cache(maxsize=1 << 16)
def _drawn(time: float, value: float | None, scale: float) -> tuple[str, float | None]:
    """One point as it is sent. Cached, because an update of a chart has all points of the last one, and one more."""
    return iso(time), None if value is None else round(value * scale, 6)


def line(
    name: str, points: Iterable[tuple[float, float | None]], color: str, *, scale: float = 1.0, **more: Any
) -> dict[str, Any]:
    """One line over time, from (seconds, value)."""
    pairs = [_drawn(time, value, scale) for time, value in points]
    return {
        "type": "scatter",
        "mode": "lines" if len(pairs) > 1 else "markers",  # a single point is no line
        "name": name,
        "x": [x for x, _ in pairs],
        "y": [y for _, y in pairs],
        "line": {"color": color, "width": 1.6},
        **more,
    }


def peaks(points: Sequence[Point]) -> list[tuple[float, float]]:
    """(time, peak) of each bucket."""
    return [(point.time, point.peak) for point in points]


def means(points: Sequence[Point]) -> list[tuple[float, float]]:
    """(time, mean) of each bucket."""
    return [(point.time, point.mean) for point in points]


def series(
    points: Sequence[Point], name: str, colors: ChartColors, *, height: int = 200, words: str = "", **axis: Any
) -> Figure:
    """A single series with its mean."""
    if not points:
        return {"data": [], "layout": empty(colors, words, height)["layout"]}
    trace = line(name, means(points), colors.accent)
    if len(points) < 60:
        trace["mode"] = "lines+markers"
    return {"data": [trace], "layout": layout(colors, height, yaxis=axis, xaxis=moments(trace["x"]))}


def add_left_over(sizes: dict[str, int], left_over: int) -> None:
    """Add memory that no kind accounts for: to a worker's rest, which it reports at other moments than its total is
    measured, else as a kind of its own.
    """
    if left_over > 0:
        kind = "rest" if "rest" in sizes else "unattributed"
        sizes[kind] = sizes.get(kind, 0) + left_over


def kinds(row: CoreRow, colors: ChartColors) -> Figure:
    """A core's memory by kind as one bar against its capacity."""
    sizes = {kind: row.kinds[kind] for kind in legend_kinds([row]) if row.kinds[kind]}
    add_left_over(sizes, (row.memory or 0) - sum(row.kinds.values()))
    unit, divisor = byte_unit(row.capacity or row.memory)
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": [""],
            "x": [round(size / divisor, 4)],
            "name": plain(name.replace("_", " ")),
            "marker": memory_marker(colors, name),
            "hovertemplate": f"{plain(name)}: {bytes_text(size)}<extra></extra>",
        }
        for name, size in sizes.items()
    ]
    edge = [row.capacity / divisor] if row.capacity else []
    shapes = [capacity_line(colors, x0=x, x1=x, y0=-0.5, y1=0.5, line={"color": colors.bad, "width": 2}) for x in edge]
    return {
        "data": data,
        "layout": layout(
            colors,
            110 + LEGEND_ROW * len(data),
            barmode="stack",
            showlegend=True,
            shapes=shapes,
            xaxis={"title": {"text": unit}, "rangemode": "tozero"},
        ),
    }


def core_words(row: CoreRow, now: float) -> str:
    """A core in one line, with the age of its values."""
    share = MEMORY.share(row) if MEMORY.share is not None else None
    beside = f", with {bytes_text(row.beside)} of other cores in its bank" if row.beside else ""
    used = f" of {CAPACITY.text(row)} ({percent_text(share)}{beside})" if share is not None else ""
    memory = f"{MEMORY.text(row)}{used}"
    others = reported([one for one in CORE_METRICS if one.is_optional], [row])
    words = [f"{UTILIZATION.text(row)} busy", memory, *(f"{one.title} {one.text(row)}" for one in (PEAK, *others))]
    silence = silence_text([row], now)
    name = _core_name(row)
    where = f"{name[:1].upper()}{name[1:]} on {', '.join(filter(None, (row.node or 'this host', row.gpu)))}"
    return f"{where}: {silence and f'{silence}; last '}{', '.join(words)}"


def steps(places: Sequence[float]) -> dict[str, Any]:
    """An axis of steps, with whole numbers even for few steps."""
    few = {"dtick": 1} if places and max(places) - min(places) <= 10 else {}
    return {"title": {"text": "step"}, "tickformat": ",d", **few}


def durations(longest: float) -> tuple[dict[str, Any], float]:
    """(an axis of durations up to this one, in seconds; how many seconds its unit has)."""
    units = (("s", 1.0, 180.0), ("min", 60.0, 3 * 3600.0), ("h", 3600.0, 4 * 86400.0), ("d", 86400.0, inf))
    unit, seconds = next((unit, seconds) for unit, seconds, below in units if longest < below or below == inf)
    return {"ticksuffix": f" {unit}"}, seconds


def moments(times: Sequence[str]) -> dict[str, Any]:
    """An axis of time for these (of `iso`, rising): upright words; where all is one moment, a minute around it.

    A point that is pointed at says that its time is UTC, which all charts draw.
    """
    axis: dict[str, Any] = {"type": "date", "tickangle": 0, "hoverformat": "%b %-d, %H:%M:%S UTC"}
    if times and times[0][:19] == times[-1][:19]:
        middle = datetime.fromisoformat(times[0])
        axis["range"] = [(middle + timedelta(seconds=side)).isoformat() for side in (-30, 30)]
    return axis
