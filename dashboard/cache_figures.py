"""The treemap of the caches: root, compiler version, state, age; areas are bytes on disk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.dashboard.chart_colors import ChartColors, readable
from neuron_top.dashboard.figures import GIB, Figure, empty, iso, layout, line, plain
from neuron_top.services.trash import PlanHistory
from neuron_top.units import bytes_text, counted
from neuron_top.views.colors import Hue
from neuron_top.views.entries import EntryRow

AGES = ((86400.0, "used or written within a day"), (7 * 86400.0, "within a week"), (30 * 86400.0, "within a month"))
OLDEST = "longer ago"
AHEAD = "dated ahead of the clock"
TREEMAP_HEIGHT = 320
"""Least height in pixels: the chart fills its panel, which is as high as those beside it."""
_LEGIBLE = {"minsize": 9, "mode": "hide"}
"""A part that is too small for text of this size has none; its text is shown on hover."""
_COMPILER = re.compile(r"neuronxcc-(\d+\.\d+\.\d+)")
COLORED_BY = ("age", "compiler", "state")
_GOOD, _BAD = ("hit",), ("failed", "corrupt", "inconsistent", "stale-lock", "partial")
_HUES = tuple(hue for hue in Hue if hue not in (Hue.RED, Hue.GRAY))


def age_word(seconds: float | None) -> str:
    """The bucket that an age falls into."""
    if seconds is None:
        return AHEAD
    return next((word for limit, word in AGES if seconds < limit), OLDEST)


def age_colors(colors: ChartColors) -> dict[str, str]:
    """The color of each age."""
    return dict(zip((*(word for _limit, word in AGES), OLDEST), reversed(colors.heat), strict=False))


def _short(path: tuple[str, ...]) -> str:
    """A short label for a part: of a compiler only its version."""
    version = _COMPILER.match(path[-1]) if len(path) == 2 else None
    return version[1] if version is not None else path[-1]


def treemap(rows: Sequence[EntryRow], colors: ChartColors, by: str = "age") -> Figure:
    """Bytes by root → compiler → state → age; what is colored is age, or compiler."""
    if not rows:
        return empty(colors, "no cache entries", TREEMAP_HEIGHT)
    sums: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        path = (row.root, row.compiler or "no compiler folder", row.state, age_word(row.age))
        for depth in range(1, len(path) + 1):
            part = sums[path[:depth]]
            part[0] += row.bytes
            part[1] += 1
    paths = sorted(sums)
    fills = [_color(path, colors, by) for path in paths]
    trace = {
        "type": "treemap",
        "branchvalues": "total",
        "ids": ["\t".join(path) for path in paths],
        "labels": [plain(_short(path)) for path in paths],
        "customdata": [plain(path[-1]) for path in paths],
        "parents": ["\t".join(path[:-1]) for path in paths],
        "values": [max(1, sums[path][0]) for path in paths],
        "text": [f"{bytes_text(sums[path][0])}, {counted(sums[path][1], 'entry', 'entries')}" for path in paths],
        "hovertemplate": "%{customdata}<br>%{text}<extra></extra>",
        "textinfo": "label+text",
        "textfont": {"color": [readable(fill, colors) for fill in fills], "size": 13},
        # For the root, as Plotly takes no list here.
        "outsidetextfont": {"color": readable(colors.line, colors), "size": 13},
        "marker": {
            "colors": fills,
            "line": {"color": colors.ground, "width": 1},
        },
        "tiling": {"pad": 2},
        "pathbar": {"visible": True},
    }
    form = layout(colors, TREEMAP_HEIGHT, uniformtext=_LEGIBLE)
    del form["height"]
    return {"data": [_settled(trace, paths)], "layout": form}


def growth_chart(points: Sequence[tuple[float, int]], acts: Sequence[PlanHistory], colors: ChartColors) -> Figure:
    """The present content of the caches by the time it was written, and the moments when something was removed."""
    if not points:
        return empty(colors, "no cache entries", 200)
    unit, size = ("GiB", GIB) if points[-1][1] >= GIB else ("MiB", GIB // 1024)
    curve = line(f"in the caches, {unit}", points, colors.accent, scale=1 / size, fill="tozeroy")
    curve["line"] |= {"shape": "hv"}
    data = [curve]
    acts = [one for one in acts if is_in_calendar(one.begun.at)]
    if acts:
        texts = [f"{one.begun.verb}: {bytes_text(one.taken)} into the trash" for one in acts]
        data.append({
            "type": "scatter", "mode": "markers", "name": "evicted, in the trash", "cliponaxis": False,
            "x": [iso(one.begun.at) for one in acts], "y": [0] * len(acts),
            "marker": {"symbol": "triangle-down", "size": 10, "color": colors.warn},
            "text": [plain(text) for text in texts], "hovertemplate": "%{x}<br>%{text}<extra></extra>",
        })  # fmt: skip
    heights = {"rangemode": "tozero", "ticksuffix": f" {unit}"}
    time = {"type": "date", "tickangle": 0}  # named, so that charts.js fits the first drawing, too
    return {"data": data, "layout": layout(colors, 200, xaxis=time, yaxis=heights)}


def _settled(trace: Figure, paths: Sequence[tuple[str, ...]]) -> Figure:
    """Values in which each whole is the sum of its parts, although an empty part counts as one byte so that it is
    drawn."""
    values = dict(zip(paths, trace["values"], strict=True))
    of_children: dict[tuple[str, ...], int] = defaultdict(int)
    for path in sorted(paths, key=len, reverse=True):
        values[path] = of_children.get(path, values[path])
        of_children[path[:-1]] += values[path]
    return trace | {"values": [values[path] for path in paths]}


def _color(path: tuple[str, ...], colors: ChartColors, by: str) -> str:
    if len(path) < 3:
        return colors.line
    if by == "compiler":
        return colors.hues[_HUES[crc32(path[1].encode()) % len(_HUES)]]
    if by == "age":
        return age_colors(colors).get(path[3], colors.quiet) if len(path) > 3 else colors.heat[2]
    return colors.good if path[2] in _GOOD else colors.bad if path[2] in _BAD else colors.warn
