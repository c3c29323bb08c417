"""Nodes of a fleet as cells of a heat map, a sign on each that is silent or slow; and the cores of one node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil, sqrt
from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.figures import PERCENT, Figure, durations, empty, layout, line, plain
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.units import count_text, duration_text
from neuron_top.views.colors import Hue
from neuron_top.views.fleet import metric_named
from neuron_top.views.fleet_cells import CellMark, FleetCell, FleetCells
from neuron_top.views.fleet_node import FleetCorePage, NodePage
from neuron_top.views.phases import HUES, SILENT, WAITING, PhaseTimeline
from neuron_top.views.rank_steps import StepMap
from neuron_top.views.states import JobState

MOST_ACROSS = 50
MOST_NAMED = 16
"""Up to this many cells have the names of their nodes."""
_NAMES_ACROSS = 36
"""Characters of names side by side, with their signs: a phone has room for so many."""
_LONGEST_NAME = 32
"""Characters; of a longer name the middle is left out, because nodes are told apart by the ends."""
GIB = 1024**3
_SELECTED = "✓"
_SIGNS = {CellMark.SILENT: "✗", CellMark.SLOW: "▲"}
_LONGEST_BESIDE = 20
"""Characters of a name beside its row of a chart."""
_CORES_ACROSS = 32
PHASE_ROWS = 30
"""Groups of nodes that are drawn; the page says how many more there are."""
_PATTERNS: dict[str, str] = {
    SILENT: "x", WAITING: "/", JobState.EXTRACTING: "-", JobState.COMPILING: ".", JobState.FINISHED: "|",
    JobState.INTERRUPTED: "+", JobState.CUT_OFF: "\\",
}  # fmt: skip
"""A second sign of a phase, beside its color."""


def nodes_figure(cells: FleetCells, colors: ChartColors, selected: Collection[str] = ()) -> PageChart:
    """A cell per node by name, colored by its worst core, and a gray one for a node that reports no value; those of
    selected nodes have a frame and a sign.

    Names lie in what stays, values in what moves.
    """
    count = len(cells.cells)
    if not count:
        return PageChart(empty(colors, "no node matches", 70))
    named = count <= MOST_NAMED
    longest = min(_LONGEST_NAME, max(len(plain(cell.node)) for cell in cells.cells))
    across = min(MOST_ACROSS, max(8, ceil(sqrt(count * 2.5))))
    if named:
        across = max(1, min(across, _NAMES_ACROSS // (longest + 3)))
    rows = [cells.cells[first : first + across] for first in range(0, count, across)]
    words = "%{customdata}" if named else "%{customdata} %{text}"
    side = 40 if len(rows) <= 4 else 24
    trace = {
        "type": "heatmap",
        "z": [[_short(cell.worst) for cell in row] for row in rows],
        "text": [[_cell_text(cell, selected, named=named) for cell in row] for row in rows],
        "texttemplate": "%{text}",
        "customdata": [[plain(cell.node) for cell in row] for row in rows],
        "zmin": 0,
        "zmax": 100,
        "hoverongaps": False,
        "colorscale": [[index / (len(colors.heat) - 1), color] for index, color in enumerate(colors.heat)],
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": f"{words}<br>{cells.metric.title}: {_hover(cells)}<extra></extra>",
        "colorbar": _scale(colors, 0, 100, cells.metric.text(0.0), cells.metric.text(cells.top)),
    }
    unknown = trace | {  # plotly draws no text for a cell without a value
        "z": [[1 if cell.worst is None else None for cell in row] for row in rows],
        "text": [[_unknown_text(cell, selected, named=named) for cell in row] for row in rows],
        "colorscale": [[0, colors.line], [1, colors.line]],
        "hovertemplate": f"{words}<br>{cells.metric.title}: not known<extra></extra>",
        "showscale": False,
    }
    bare = {"visible": False, "fixedrange": True}
    whole = layout(
        colors, 30 + side * len(rows), xaxis=bare, yaxis={**bare, "autorange": "reversed"}, margin={"t": 8, "b": 8}
    )
    if frames := [
        _frame(column, number, colors)
        for number, row in enumerate(rows)
        for column, cell in enumerate(row)
        if cell.node in selected
    ]:
        whole["shapes"] = frames
    moving = tuple(("data", number, part) for number in (0, 1) for part in ("z", "text"))
    return PageChart({"data": [trace, unknown], "layout": whole}, moving)


def _frame(column: int, row: int, colors: ChartColors) -> Figure:
    """A frame around a cell."""
    return {
        "type": "rect",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": colors.text, "width": 2},
    }


def _scale(colors: ChartColors, low: float, high: float, least: str, most: str) -> Figure:
    """What the two ends of the colors stand for."""
    return {
        "tickvals": [low, high],
        "ticktext": [least, most],
        "thickness": 10,
        "outlinewidth": 0,
        "len": 1,
        "ypad": 0,
        "ticklabeloverflow": "allow",
        "xpad": 24,  # beside the chart's menu, not under it
        "tickfont": {"color": colors.quiet},
    }


def _unknown_text(cell: FleetCell, selected: Collection[str], *, named: bool) -> str:
    return _cell_text(cell, selected, named=named, without="?") if cell.worst is None else ""


def _cell_text(cell: FleetCell, selected: Collection[str], *, named: bool, without: str = "") -> str:
    """The signs of a cell, `without` one of its own that, and its node's name."""
    signs = (_SELECTED if cell.node in selected else "") + _SIGNS.get(cell.mark, without)
    return f"{signs} {_short_name(plain(cell.node))}".lstrip() if named else signs


def _short_name(name: str, longest: int = _LONGEST_NAME) -> str:
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def _names_beside(names: Sequence[str]) -> Figure:
    """Of an axis of rows: long names are shortened, but not where a hand points; else they leave a phone no chart."""
    if all(len(name) <= _LONGEST_BESIDE for name in names):
        return {}
    short = [_short_name(name, _LONGEST_BESIDE) for name in names]
    return {"tickmode": "array", "tickvals": list(names), "ticktext": short}


def _short(value: float | None) -> int | None:
    """A share in whole percent, enough for a color and short to send."""
    return None if value is None else round(100 * value)


def _hover(cells: FleetCells) -> str:
    if cells.metric.words:
        steps = len(cells.metric.words) - 1
        return "%{z} (" + ", ".join(f"{100 * n // steps}: {word}" for n, word in enumerate(cells.metric.words)) + ")"
    return "worst %{z} %" if cells.top == 1.0 else f"worst %{{z}} % of {cells.metric.text(cells.top)}"


def cores_figure(page: NodePage, metric: str, colors: ChartColors) -> PageChart:
    """The cores of a node."""
    values = page.cores.get(metric) or ()
    known = [value for value in values if value is not None]
    if not values:
        return PageChart(empty(colors, "this node reports nothing of its cores", 120))
    shown = metric_named(metric)
    low, high = (0.0, 1.0) if metric == "utilization" else (min(known, default=0.0), max(known, default=0.0))
    starts = range(0, len(values), _CORES_ACROSS)
    rows = [list(values[first : first + _CORES_ACROSS]) for first in starts]
    trace = {
        "type": "heatmap",
        "z": rows,
        "y": [f"core {first}" for first in starts],
        "customdata": [list(range(first, first + len(row))) for first, row in zip(starts, rows, strict=True)],
        "colorscale": [[index / (len(colors.heat) - 1), color] for index, color in enumerate(colors.heat)],
        "xgap": 2,
        "ygap": 2,
        "text": [[shown.text(value) for value in row] for row in rows],
        "hovertemplate": "core %{customdata}: %{text}<extra></extra>",
        "zmin": low,
        "zmax": high,
        "colorbar": _scale(colors, low, high, shown.text(low), shown.text(high)),
    }
    whole = layout(
        colors,
        56 + 26 * len(rows),
        xaxis={"visible": False, "fixedrange": True},
        yaxis={"autorange": "reversed", "type": "category", "fixedrange": True},
        title={"text": f"{shown.title} by core; a click opens one", "font": {"size": 12}},
        margin={"t": 30, "b": 4},
    )
    return PageChart({"data": [trace], "layout": whole})


def history_figure(page: NodePage, colors: ChartColors) -> Figure:
    """The least, median and most busy core of a node over the last hour; without a history, the reason."""
    history = page.history
    if history.missing:
        return empty(colors, history.missing, 160)
    lines: list[dict[str, Any]] = [
        line("least busy core", history.low, colors.warn, scale=100.0),
        line("median", history.median, colors.accent, scale=100.0),
        line("most busy core", history.high, colors.quiet, scale=100.0),
    ]
    axes = {"yaxis": {"range": [0, 105], **PERCENT}, "xaxis": {"type": "date"}}
    return {"data": lines, "layout": layout(colors, 220, showlegend=True, **axes)}


def core_history_figure(page: FleetCorePage, colors: ChartColors) -> Figure:
    """Utilization and memory of a core over the last hour."""
    history = page.history
    if history.missing:
        return empty(colors, "", 60)
    lines: list[dict[str, Any]] = [
        line("utilization", history.utilization, colors.accent, scale=100.0),
        line("memory", history.memory, colors.quiet, scale=1 / GIB) | {"yaxis": "y2"},
    ]
    axes = {
        "yaxis": {"range": [0, 105], **PERCENT},
        "yaxis2": {"overlaying": "y", "side": "right", "rangemode": "tozero", "ticksuffix": " GiB", "showgrid": False},
        "xaxis": {"type": "date"},
        "margin": {"r": 64},
    }
    return {"data": lines, "layout": layout(colors, 220, showlegend=True, **axes)}


def steps_figure(view: StepMap | str, colors: ChartColors) -> PageChart:
    """Ranks × steps, colored on the robust scale; a sign where a rank stands out."""
    if isinstance(view, str) or not view.rows:
        words = view if isinstance(view, str) else "No rank has reported two steps yet."
        return PageChart(empty(colors, words, 120))
    rows, names = view.rows, [plain(row.name) for row in view.rows]
    trace = {
        "type": "heatmap",
        "z": [[_seconds(value) for value in row.seconds] for row in rows],
        "x": [count_text(step) for step in view.steps],
        "y": names,
        "zmin": view.low,
        "zmax": view.high,
        "colorscale": [[index / (len(colors.heat) - 1), color] for index, color in enumerate(colors.heat)],
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{y}, step %{x}: %{z} s<extra></extra>",
        "showscale": False,
    }
    marked = [
        (step, name)
        for name, row in zip(names, rows, strict=True)
        for step, outlier in zip(view.steps, row.outliers, strict=True)
        if outlier
    ]
    signs = {
        "type": "scatter",
        "mode": "markers",
        "x": [count_text(step) for step, _ in marked],
        "y": [name for _, name in marked],
        "marker": {
            "symbol": "triangle-up",
            "size": 8,
            "color": colors.bad,
            "line": {"width": 1, "color": colors.ground},
        },
        "hoverinfo": "skip",
    }
    axes = {
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True, **_names_beside(names)},
        "xaxis": {"title": {"text": "step"}, "type": "category", "nticks": 12},
        "margin": {"l": 90},
    }
    whole = layout(colors, 90 + max(18 * len(rows), 60), **axes)
    return PageChart({"data": [trace, signs], "layout": whole}, (("data", 0, "z"),))


def _seconds(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def phases_figure(view: PhaseTimeline | str, colors: ChartColors) -> PageChart:
    """A bar per phase of each group of equal nodes, the worst first; hatched where a node waits or is silent."""
    if isinstance(view, str) or view.start is None:
        words = view if isinstance(view, str) else "No node has reported what it does yet."
        return PageChart(empty(colors, words, 120))
    shown = view.rows[:PHASE_ROWS]
    names = [plain(f"{row.node} +{len(row.alike):,} alike" if row.alike else row.node) for row in shown]
    phases = list(dict.fromkeys(bar.phase for row in shown for bar in row.bars))
    along, seconds = durations(max((bar.end for row in shown for bar in row.bars), default=view.start) - view.start)
    traces = []
    for phase in phases:
        bars = [(name, bar) for name, row in zip(names, shown, strict=True) for bar in row.bars if bar.phase == phase]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": plain(phase),
                "y": [name for name, _ in bars],
                "base": [round((bar.start - view.start) / seconds, 3) for _, bar in bars],
                "x": [round(max(1.0, bar.end - bar.start) / seconds, 3) for _, bar in bars],
                "customdata": [duration_text(bar.end - bar.start) for _, bar in bars],
                "marker": {
                    "color": colors.hues[HUES.get(phase, Hue.GRAY)],
                    "pattern": {"shape": _PATTERNS.get(phase, "")},
                },
                "hovertemplate": f"%{{y}}: {plain(phase)} for %{{customdata}}<extra></extra>",
            }
        )
    beside = _names_beside(names)
    axes = {
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True, "categoryarray": names, **beside},
        "xaxis": {**along, "title": {"text": "since the first node began"}},
        "margin": {"l": 90},
    }
    whole = layout(colors, 130 + 24 * len(shown), showlegend=True, barmode="overlay", **axes)
    return PageChart({"data": traces, "layout": whole})
