"""The charts of a report: who compiled when, how many at once, memory, loss and throughput."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.report.columns import short
from neuron_top.report.svg import Axis, Bar, Point, lanes, lines, steps
from neuron_top.units import bytes_text, duration_text, number_text
from neuron_top.views.graphs import Lane
from neuron_top.views.report import Report
from neuron_top.views.report_time import Step

LANES_DRAWN = 64
BARS_DRAWN = 4000
"""Bars of all lanes together; the longest are drawn, and the heading says so."""
CURVES_DRAWN = 64


class Chart(msgspec.Struct, frozen=True):
    """A picture with its heading, what its marks mean, and its data in words for those who do not see it."""

    heading: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    """(class, meaning)."""
    note: str = ""


def charts(view: Report) -> list[Chart]:
    """The charts that have anything to show; all with times share one axis."""
    found: list[Chart] = []
    axis = _axis(view)
    if axis is not None:
        found += _time_charts(view, axis)
    for series in view.series:
        by_step = series.name.endswith("by step")
        own = Axis(series.points[0].time, series.points[-1].time, not by_step)
        if own.end > own.start and (by_step or axis is not None):
            title = series.name.capitalize() + (f", {series.unit}" if series.unit else "")
            found.append(Chart(title, lines(own if by_step else axis or own, [(series.name, _points(series.points))],
                                            number_text, zero=False)))  # fmt: skip
    return found


def _axis(view: Report) -> Axis | None:
    times = [view.start, view.end, view.timeline.start, view.timeline.end]
    known = [time for time in times if time is not None]
    return Axis(min(known), max(known)) if known and max(known) > min(known) else None


def _time_charts(view: Report, axis: Axis) -> list[Chart]:
    found = []
    rows = _lanes(view)
    if rows:
        drawn, left = _longest(rows)
        note = f"{left} short bars are not drawn" if left else ""
        hidden = len(view.timeline.lanes) - LANES_DRAWN
        note += f"{'; ' if note else ''}{hidden} more workers are not drawn" if hidden > 0 else ""
        legend = (("done", "compile"), ("failed", "failed"), ("wait", "waiting for another's compile"),
                  ("interrupted", "interrupted"), ("train", "training"))  # fmt: skip
        found.append(Chart("Timeline", lanes(axis, drawn), legend, note))
    if view.concurrency:
        found.append(Chart("Compiles at once", steps(axis, _points(view.concurrency), number_text)))
    memory = [(f"core {line.core}", _points(line.series)) for line in view.memory if line.series]
    if memory:
        note = f"the first {CURVES_DRAWN} of {len(memory)} cores" if len(memory) > CURVES_DRAWN else ""
        found.append(Chart("Memory per core", lines(axis, memory[:CURVES_DRAWN], bytes_text), note=note))
    if view.host_memory:
        found.append(Chart("Host memory in use", lines(axis, [("host", _points(view.host_memory))], bytes_text)))
    return found


def _points(points: Sequence[Step]) -> list[Point]:
    return [(point.time, point.value) for point in points]


def _lanes(view: Report) -> list[tuple[str, list[Bar]]]:
    end = view.timeline.end or 0.0
    rows = [(_name(lane), [_bar(bar.graph, bar.kind, bar.outcome, bar.start, bar.end if bar.end is not None else end)
                           for bar in lane.bars]) for lane in view.timeline.lanes[:LANES_DRAWN]]  # fmt: skip
    if view.training:
        rows.append(("training", [Bar(start, stop, "train", f"training, {duration_text(stop - start)}")
                                  for start, stop in view.training]))  # fmt: skip
    return rows


def _name(lane: Lane) -> str:
    if lane.rank is not None:
        return f"rank {lane.rank}"
    return f"pid {lane.pid}" if lane.pid is not None else "compiles"


def _bar(graph: str, kind: str, outcome: str, start: float, end: float) -> Bar:
    what = "wait" if kind == "wait" else outcome or "running"
    return Bar(start, end, what, f"{short(graph)}: {what}, {duration_text(end - start)}")


def _longest(rows: list[tuple[str, list[Bar]]]) -> tuple[list[tuple[str, list[Bar]]], int]:
    lengths = sorted((bar.end - bar.start for _, bars in rows for bar in bars), reverse=True)
    if len(lengths) <= BARS_DRAWN:
        return rows, 0
    least = lengths[BARS_DRAWN]
    drawn = [(name, [bar for bar in bars if bar.end - bar.start > least]) for name, bars in rows]
    return drawn, len(lengths) - sum(len(bars) for _, bars in drawn)
