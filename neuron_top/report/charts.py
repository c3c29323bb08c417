"""The charts of a report: where the time went, who compiled when, how many at once, memory, loss and throughput."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from operator import itemgetter

import msgspec

from neuron_top.report.columns import metric_text, seconds_text, short
from neuron_top.report.svg import Amount, Axis, BarShape, Point, bars, lanes, lines, steps
from neuron_top.run.graph import GraphState
from neuron_top.units import bytes_text, counted, duration_text, number_text, percent_text
from neuron_top.views.report import PartName, Report
from neuron_top.views.report_time import ReportStep, Segment
from neuron_top.views.timeline import Lane, SpanKind
from neuron_top.views.torch_trace import OURS, FrameState

LANES_DRAWN = 64
BARS_DRAWN = 4000
"""Bars of all lanes together; the longest are drawn, and the heading says so."""
CURVES_DRAWN = 64
CURVES_NAMED = 8
"""As many as there are colors; of more, only a hover says which is which."""
LARGEST = 15
_FRAME_CLASSES = {FrameState.FAILED: "failed", FrameState.UNFINISHED: "interrupted"}
_PARTS = {
    PartName.COMPILING: "done",
    PartName.WAITING: "wait",
    PartName.TRACING: "trace",
    PartName.TRAINING: "train",
    PartName.REST: "interrupted",
}
_TOLD = (("done", "compile"), ("failed", "failed"), ("wait", "waiting for another's compile"),
         ("trace", "tracing"), ("interrupted", "interrupted"), ("train", "training"))  # fmt: skip


class Chart(msgspec.Struct, frozen=True):
    """A picture with its heading, what its marks mean, and its data in words for those who do not see it."""

    heading: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    """(class, meaning)."""
    note: str = ""


def charts(view: Report) -> list[Chart]:
    """The charts that have anything to show; all with times share one axis."""
    axis = _axis(view)
    found = [*_parts(view), *(_over_time(view, axis) if axis is not None else ()), *_of_graphs(view)]
    for series in view.series:
        by_step = series.by_step
        places = [point.time for point in series.points]
        own = Axis(min(places), max(places), not by_step)  # a run that resumed from a checkpoint repeats steps
        if own.end > own.start and (by_step or axis is not None):
            title = series.name.capitalize() + (f", {series.unit}" if series.unit else "")
            drawn = lines(
                own if by_step else axis or own, [(series.name, _points(series.points))], number_text, zero=False
            )
            found.append(Chart(title, drawn))
    return found


def _axis(view: Report) -> Axis | None:
    times = [view.start, view.end, view.timeline.start, view.timeline.end]
    known = [time for time in times if time is not None]
    return Axis(min(known), max(known)) if known and max(known) > min(known) else None


def _parts(view: Report) -> Iterator[Chart]:
    """The wall time as one bar; of one part alone there is nothing to see."""
    whole = sum(part.seconds for part in view.parts)
    if len(view.parts) < 2:
        return
    reach, drawn, legend = 0.0, [], []
    for part in view.parts:
        text = f"{part.name}, {duration_text(part.seconds)} ({percent_text(part.seconds / whole)})"
        drawn.append(BarShape(reach, reach + part.seconds, _PARTS[part.name], text))
        legend.append((_PARTS[part.name], text))
        reach += part.seconds
    yield Chart(
        "Where the time went", lanes(Axis(0.0, whole), [("wall time", drawn)], height=30.0), tuple(legend), _once(view)
    )


def _once(view: Report) -> str:
    """What the parts of the bar are, and what the rest of it is."""
    names = [part.name for part in view.parts]
    traced = " else PyTorch traced for the compile cache," if PartName.TRACING in names else ""
    left = "imports, loading, saving" if traced else "imports, loading, tracing, saving"
    rest = f"; the rest is what no line dates: {left}" if PartName.REST in names else ""
    return f"Each second once: somebody compiled, else somebody waited for that,{traced} else it trained{rest}."


def _over_time(view: Report, axis: Axis) -> Iterator[Chart]:
    rows = _lanes(view)
    if rows:
        drawn, left = _longest(rows)
        workers = [lane.worker for lane in view.timeline.lanes]
        hidden = len({*workers}) - len({*workers[:LANES_DRAWN]})
        notes = [f"{counted(left, 'short bar')} not drawn"] if left else []
        notes += [f"{counted(hidden, 'more worker')} not drawn"] if hidden > 0 else []
        kinds = {bar.kind for _, bars_of in drawn for bar in bars_of}
        legend = tuple(pair for pair in _TOLD if pair[0] in kinds)
        yield Chart("Timeline", lanes(axis, drawn, height=20.0), legend, "; ".join(notes))
    if view.concurrency:
        yield Chart("Compiles at once", steps(axis, _points(view.concurrency), number_text))
    if view.compile_memory:
        yield Chart(
            "Memory of the compilers",
            steps(axis, _points(view.compile_memory), bytes_text),
            note="At most: the peaks of the compiles that ran, added up.",
        )
    if view.host_memory:
        yield Chart("Host memory in use", lines(axis, [("host", _points(view.host_memory))], bytes_text))
    memory = [(f"core {line.core}", _points(line.series)) for line in view.memory if line.series]
    if memory:
        note = f"the first {CURVES_DRAWN} of {len(memory)} cores" if len(memory) > CURVES_DRAWN else ""
        few = memory if len(memory) <= CURVES_NAMED else []
        named = tuple((f"line-key c{index}", name) for index, (name, _) in enumerate(few))
        yield Chart("Memory per core", lines(axis, memory[:CURVES_DRAWN], bytes_text), named, note)


def _of_graphs(view: Report) -> Iterator[Chart]:
    slow = [line for line in view.graphs if line.attempts and line.seconds][:LARGEST]
    if len(slow) > 1:
        rows = [
            Amount(
                short(line.key),
                line.seconds or 0.0,
                seconds_text(line.seconds, line.provenance),
                "failed" if line.result is GraphState.FAILED else "done",
            )
            for line in slow
        ]
        compiled = sum(1 for line in view.graphs if line.attempts and line.seconds)
        yield Chart("Slowest compiles", bars(rows), note=f"the longest of {compiled}" if compiled > LARGEST else "")
    large = sorted((line for line in view.graphs if line.peak_rss_bytes), key=lambda line: -(line.peak_rss_bytes or 0))
    if len(large) > 1:
        rows = [
            Amount(short(line.key), float(line.peak_rss_bytes or 0), bytes_text(line.peak_rss_bytes))
            for line in large[:LARGEST]
        ]
        yield Chart(
            "Peak memory of compiles", bars(rows), note="Resident memory of the compiler's processes, measured."
        )
    spent = next(metric for metric in view.metrics if metric.name == "compile_wall")
    if len(view.precompile) > 1 and spent.value:
        rows = [Amount("this run was held up for", spent.value, metric_text(spent), "wait")]
        rows += [
            Amount(f"beforehand with {counted(one.workers, 'worker')}", one.seconds, f"≈ {duration_text(one.seconds)}")
            for one in view.precompile
        ]
        yield Chart(
            "What compiling beforehand would have taken",
            bars(rows),
            note="Estimated: simulated from the "
            "durations above, longest first, with memory and processors for all workers.",
        )


def _points(points: Sequence[ReportStep]) -> list[Point]:
    return [(point.time, point.value) for point in points]


def _lanes(view: Report) -> list[tuple[str, list[BarShape]]]:
    end = view.timeline.end or 0.0
    path = [_segment(one) for one in view.critical_path]
    rows = [("critical path", path)] if path and len(view.timeline.lanes) > 1 else []
    rows += [
        (
            _name(lane),
            [
                _bar(bar.graph, bar.kind, bar.outcome, bar.start, bar.end if bar.end is not None else end)
                for bar in lane.bars
            ],
        )
        for lane in view.timeline.lanes[:LANES_DRAWN]
    ]
    rows += _pytorch_lanes(view)
    if view.training:
        rows.append(
            (
                "training",
                [
                    BarShape(start, stop, "train", f"training, {duration_text(stop - start)}")
                    for start, stop in view.training
                ],
            )
        )
    return rows


def _pytorch_lanes(view: Report) -> list[tuple[str, list[BarShape]]]:
    """A lane for each process of which PyTorch compiled something by itself."""
    rows: dict[str, list[BarShape]] = {}
    for frame in view.torch.frames if view.torch is not None else ():
        if frame.backend == OURS or not frame.graphs:
            continue
        name = f"torch rank {frame.rank}" if frame.rank is not None else f"torch {frame.pid}"
        kind = _FRAME_CLASSES.get(frame.state, "done")
        for (start, end), part in zip(frame.spans, ("compile", *["backward"] * len(frame.spans)), strict=False):
            tooltip = f"{frame.function} {frame.compile_id}: {part}, {duration_text(end - start)}"
            rows.setdefault(name, []).append(BarShape(start, end, kind, tooltip, frame.function))
    return sorted(rows.items())[:LANES_DRAWN]


def _name(lane: Lane) -> str:
    if lane.track:
        return ""  # what its worker did at the same time as what stands above
    if lane.rank is not None:
        return f"rank {lane.rank}"
    return f"pid {lane.pid}" if lane.pid is not None else "compiles"


def _segment(one: Segment) -> BarShape:
    kind = "done" if one.kind is SpanKind.COMPILE else one.kind
    tooltip = f"{short(one.graph)}: {one.kind}, {duration_text(one.end - one.start)}"
    return BarShape(one.start, one.end, kind, tooltip, _label(one.graph))


def _bar(graph: str, kind: SpanKind, outcome: str, start: float, end: float) -> BarShape:
    what = "wait" if kind is SpanKind.WAIT else outcome or "running"
    length = f", {duration_text(end - start)}" if end > start else ""
    return BarShape(start, end, what, f"{short(graph)}: {what}{length}", _label(graph))


def _label(key: str) -> str:
    """What distinguishes a graph from the others, in a bar."""
    return key.removeprefix("MODULE_")


def _longest(rows: list[tuple[str, list[BarShape]]]) -> tuple[list[tuple[str, list[BarShape]]], int]:
    """The longest bars in their lanes, as many as are drawn, and how many are left out. Of equal ones, which are many
    in logs with whole seconds, the first.
    """
    places = [
        (bar.end - bar.start, lane, place) for lane, (_, bars) in enumerate(rows) for place, bar in enumerate(bars)
    ]
    if len(places) <= BARS_DRAWN:
        return rows, 0
    kept = {(lane, place) for _, lane, place in nlargest(BARS_DRAWN, places, key=itemgetter(0))}
    drawn = [
        (name, [bar for place, bar in enumerate(bars) if (lane, place) in kept])
        for lane, (name, bars) in enumerate(rows)
    ]
    return drawn, len(places) - BARS_DRAWN
