"""Charts of compiling: timeline by worker, cumulative time, durations, hits and misses."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log2
from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors, state_color, state_marker
from neuron_top.dashboard.figures import PERCENT, Figure, durations, empty, iso, layout, moments, plain
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.units import UNKNOWN, duration_text
from neuron_top.views.cache_lookups import CacheLookup, LookupResult
from neuron_top.views.colors import Hue
from neuron_top.views.graphs import GraphRow
from neuron_top.views.timeline import Bar, Lane, SpanKind, Timeline

LANES_SHOWN = 64
BARS_SHOWN = 4000
MARKS_SHOWN = 4000
MOST_TICKS = 6
"""Axes with counts up to this have a tick for each, as there is no half lookup."""
FEW = 60
"""Below this many points each gets a marker."""
POINTS = 1000
"""The most points of the curve of lookups, of which a job of a thousand nodes has tens of thousands."""
WORDS = {
    "done": "compiled",
    "failed": "failed",
    "interrupted": "interrupted",
    "wait": "waited",
    "now": "compiling",
    "waits": "waiting",
}
STATE_OF = {"done": "compiled", "wait": "waiting", "waits": "waiting", "now": "compiling"}
"""Kind of bar → the state with the same color."""


def lanes(view: Timeline, lookups: Sequence[CacheLookup], colors: ChartColors) -> PageChart:
    """The lanes of each worker: compiles by outcome, lock waits, hits and cached failures as marks."""
    shown = view.lanes[:LANES_SHOWN]
    if not shown and not lookups:
        return PageChart(empty(colors, "no compile and no wait yet"))
    names = {lane.worker: _lane_name(lane.rank, lane.pid, lane.worker) + _alike(lane) for lane in shown}
    for lookup in lookups:
        if lookup.worker not in names and len(names) < LANES_SHOWN:
            names[lookup.worker] = _lane_name(lookup.rank, lookup.pid, lookup.worker)
    labels = list(dict.fromkeys([*(names[lane.worker] + _track(lane) for lane in shown), *names.values()]))
    by_kind: dict[str, list[tuple[Lane, Bar]]] = {kind: [] for kind in WORDS}
    every = [(lane, bar) for lane in shown for bar in lane.bars]
    for lane, bar in sorted(every, key=_start)[-BARS_SHOWN:]:
        if bar.kind is SpanKind.WAIT:
            kind = "waits" if bar.end is None else "wait"
        else:
            kind = "now" if bar.end is None else bar.outcome or "done"
        by_kind.setdefault(kind, []).append((lane, bar))
    data = [_bars(kind, pairs, names, view.now, colors) for kind, pairs in by_kind.items()]
    data += [_marks(kind, lookups, names, colors) for kind in (LookupResult.HIT, LookupResult.CACHED_FAILURE)]
    parts = ("x", "base", "y", "text", "customdata")
    moving = tuple(("data", n, part) for n, trace in enumerate(data) for part in parts if part in trace)
    hidden = len({lane.worker for lane in view.lanes}) - len({lane.worker for lane in shown})
    note = {
        "text": f"{hidden} more workers are not drawn",
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1.06,
        "xanchor": "right",
        "font": {"color": colors.quiet},
    }
    notes = [note] if hidden > 0 else []
    figure = {
        "data": data,
        "layout": layout(
            colors,
            min(1200, 110 + 26 * len(labels)),
            barmode="overlay",
            showlegend=True,
            annotations=notes,
            xaxis={"type": "date", "tickangle": 0, **_common_span(view, lookups)},
            yaxis={
                "type": "category",
                "categoryorder": "array",
                "categoryarray": labels,
                "autorange": "reversed",
            },
        ),
    }
    return PageChart(figure, moving)


def _common_span(view: Timeline, lookups: Sequence[CacheLookup]) -> dict[str, Any]:
    """The same range of time for all charts of a page while nobody zooms; {} where all is one moment.

    Its ends lie on a grid of a fiftieth of it, so that what goes on does not change every chart every second.
    """
    times = [time for time in (view.start, view.end) if time is not None]
    times += [lookup.time for lookup in (*lookups[:1], *lookups[-1:])]
    if not times or max(times) - min(times) < 1:
        return {}
    first, last = min(times), max(times)
    step = 2.0 ** floor(log2((last - first) / 50))
    ends = {"minallowed": floor(first / step) * step, "maxallowed": (floor(last / step) + 1) * step}
    return {"autorangeoptions": {name: seconds * 1000 for name, seconds in ends.items()}}  # plotly takes no text here


def _start(pair: tuple[Lane, Bar]) -> float:
    return pair[1].start


def _bars(kind: str, pairs: Sequence[tuple[Lane, Bar]], names: dict[str, str], now: float, colors: ChartColors) -> Any:
    lengths = [max(0.0, (bar.end if bar.end is not None else now) - bar.start) for _lane, bar in pairs]
    return {
        "type": "bar",
        "orientation": "h",
        "name": WORDS.get(kind, kind),
        "base": [iso(bar.start) for _lane, bar in pairs],
        "x": [round(length * 1000) for length in lengths],
        "y": [names[lane.worker] + _track(lane) for lane, _bar in pairs],
        "text": [_hover_text(bar, length) for (_lane, bar), length in zip(pairs, lengths, strict=True)],
        "customdata": ["" if bar.by_pytorch else bar.graph for _lane, bar in pairs],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            **state_marker(colors, STATE_OF.get(kind, kind)),
            "line": {"width": 1, "color": colors.ground},
        },
    }


def _hover_text(bar: Bar, length: float) -> str:
    who = f"{plain(bar.graph)}, by PyTorch itself" if bar.by_pytorch else plain(bar.graph)
    return f"{who}<br>{'' if bar.exact else 'about '}{duration_text(length)}"


def _marks(kind: LookupResult, lookups: Sequence[CacheLookup], names: dict[str, str], colors: ChartColors) -> Any:
    symbol = "diamond" if kind is LookupResult.HIT else "x"
    found = [lookup for lookup in lookups if lookup.kind is kind and lookup.worker in names][-MARKS_SHOWN:]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "x": [iso(lookup.time) for lookup in found],
        "y": [names[lookup.worker] for lookup in found],
        "customdata": [lookup.graph for lookup in found],
        "text": [plain(lookup.graph) for lookup in found],
        "hovertemplate": f"{kind}: %{{text}}<extra></extra>",
        "marker": {"color": state_color(colors, kind), "symbol": symbol, "size": 8},
    }


def _lane_name(rank: int | None, pid: int | None, worker: str) -> str:
    if rank is not None:
        return f"rank {rank}" + (f" · {pid}" if pid is not None else "")
    return worker_text(None, pid) if pid is not None else plain(worker.rpartition("/")[2]) or "unknown"


def worker_text(rank: int | None, pid: int | None) -> str:
    """Who compiles, in a table."""
    if rank is not None:
        return f"rank {rank}"
    return f"process {pid}" if pid is not None else UNKNOWN


def _alike(lane: Lane) -> str:
    return f" +{lane.alike} alike" if lane.alike else ""


def _track(lane: Lane) -> str:
    """The text that tells a further lane of a worker from its first one."""
    return f" ({lane.track + 1})" if lane.track else ""


def cumulative(view: Timeline, lookups: Sequence[CacheLookup], colors: ChartColors) -> Figure:
    """Cumulative compile time of all workers, by the end of each compile; `lookups` are those of the timeline."""
    ends = sorted(
        (bar.end, bar.end - bar.start)
        for lane in view.lanes
        for bar in lane.bars
        if bar.kind is SpanKind.COMPILE and bar.end is not None
    )
    if not ends:
        return empty(colors, "no compile has finished yet")
    total, points = 0.0, [(iso(view.start if view.start is not None else ends[0][0]), 0.0)]
    for end, seconds in ends:
        total += seconds
        points.append((iso(end), total))
    upward, unit_seconds = durations(total)
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers" if len(points) < FEW else "lines",
        "fill": "tozeroy",
        "line": {"shape": "hv", "color": colors.good},
        "x": [x for x, _ in points],
        "y": [round(y / unit_seconds, 3) for _, y in points],
    }
    return {
        "data": [trace],
        "layout": layout(
            colors,
            220,
            yaxis={**upward, "rangemode": "tozero"},
            xaxis=moments(trace["x"]) | _common_span(view, lookups),
        ),
    }


def spread(rows: Sequence[GraphRow], colors: ChartColors) -> Figure:
    """Histogram of compile durations; the last compile of each graph."""
    seconds = [row.seconds for row in rows if row.seconds is not None]
    if not seconds:
        return empty(colors, "no compile duration is known yet")
    along, unit_seconds = durations(max(seconds))
    trace: dict[str, Any] = {
        "type": "histogram",
        "x": [round(value / unit_seconds, 3) for value in seconds],
        "nbinsx": 30,
        "marker": {"color": colors.accent},
        "hovertemplate": "%{x}, graphs: %{y}<extra></extra>",
    }
    return {
        "data": [trace],
        "layout": layout(
            colors,
            220,
            bargap=0.05,
            xaxis=along,
            yaxis={"title": {"text": "graphs"}, **_whole_numbers(len(seconds))},
        ),
    }


def _whole_numbers(most: int) -> dict[str, Any]:
    """Ticks of an axis of counts up to `most`."""
    return {"dtick": 1} if most <= MOST_TICKS else {"tickformat": ",d"}


def rate(
    lookups: Sequence[CacheLookup], colors: ChartColors, height: int = 240, view: Timeline | None = None
) -> Figure:
    """Cumulative hits and misses, and the hit rate of distinct graphs; at most POINTS of the lookups are points.

    `view`: the timeline of the same page, whose range of time it has.
    """
    if not lookups:
        return empty(colors, "no cache lookup yet", height)
    times, shares, lines = _cumulative_lookups(lookups)
    color = {
        LookupResult.HIT: state_color(colors, LookupResult.HIT),
        LookupResult.MISS: colors.hues[Hue.ORANGE],
        LookupResult.CACHED_FAILURE: state_color(colors, LookupResult.CACHED_FAILURE),
    }
    names = dict(zip(LookupResult, ("hits", "misses", "cached failures"), strict=True))
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": names[kind],
            "x": times,
            "y": values,
            "line": {"shape": "hv", "color": color[kind]},
        }
        for kind, values in lines.items()
        if values[-1]
    ]
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "hit rate of graphs",
            "x": times,
            "y": shares,
            "yaxis": "y2",
            "line": {"shape": "hv", "dash": "dot", "color": colors.quiet},
        }
    )
    if len(times) < FEW:
        data = [{**trace, "mode": "lines+markers", "marker": {"size": 5}} for trace in data]
    counts = {"rangemode": "tozero", **_whole_numbers(max(values[-1] for values in lines.values()))}
    axis = moments(times) | (_common_span(view, lookups) if view is not None else {})
    figure: Figure = {
        "data": data,
        "layout": layout(colors, height, showlegend=True, yaxis=counts, xaxis=axis),
    }
    figure["layout"]["yaxis2"] = {
        "overlaying": "y",
        "side": "right",
        **PERCENT,
        "range": [0, 102],
        "dtick": 25,
        "showgrid": False,
        "automargin": True,
    }
    return figure


def _cumulative_lookups(
    lookups: Sequence[CacheLookup],
) -> tuple[list[str], list[float], dict[LookupResult, list[int]]]:
    """(times, hit rate of distinct graphs in percent, number of lookups by result), at most POINTS of each.

    The last lookup is always among them. A graph that missed once stays a miss.
    """
    sums = dict.fromkeys(LookupResult, 0)
    graphs: dict[str, LookupResult] = {}
    graphs_hit = 0
    times, shares = [], []
    lines: dict[LookupResult, list[int]] = {kind: [] for kind in LookupResult}
    apart = -(-len(lookups) // POINTS)
    for left, lookup in zip(range(len(lookups) - 1, -1, -1), lookups, strict=True):
        sums[lookup.kind] += 1
        before = graphs.get(lookup.graph)
        graphs[lookup.graph] = now = before if before is LookupResult.MISS else lookup.kind
        graphs_hit += (now is LookupResult.HIT) - (before is LookupResult.HIT)
        if left % apart:
            continue
        times.append(iso(lookup.time))
        shares.append(round(100 * graphs_hit / len(graphs), 2))
        for kind, values in lines.items():
            values.append(sums[kind])
    return times, shares, lines
