"""Two reports, or two caches, side by side: what differs in environment, time, graphs, memory and loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from statistics import mean

import msgspec

from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import HITS
from neuron_top.diagnose import Diagnosis
from neuron_top.units import bytes_text, count_text, counted, signed_percent_text
from neuron_top.views.diagnosis import one_line
from neuron_top.views.memory_place import places_differ, places_text
from neuron_top.views.metric import Provenance, Unit, value_text
from neuron_top.views.report import Report
from neuron_top.views.report_time import ReportStep

_COMPARED = ("wall", "compile_wall", "compile_share", "compile_sum", "waiting", "tracing", "graphs", "graphs_hit",
             "graphs_missed", "operators_compiled", "hit_rate", "block_hits", "failures", "cached_failures", "late",
             "duplicate_seconds", "torch_compiles", "torch_graphs", "torch_breaks", "torch_recompiles", "torch_hits",
             "torch_misses", "torch_seconds", "step_seconds", "throughput", "loss")  # fmt: skip


_OF_EACH_RUN = frozenset(("run", "logs", "NEURONTOP_RUN", "NEURONTOP_EVENTS_DIR", "TORCH_TRACE"))
"""Facts that always differ between two runs and explain nothing."""
_SAME = 0.01
"""Share below which a change is not reported as a rise or a fall."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of both. `change`: (b − a) ÷ a, None where that means nothing."""

    name: str
    label: str
    unit: str
    """Of A, and of B unless `unit_b` says otherwise."""
    a: float | None
    b: float | None
    a_provenance: Provenance
    b_provenance: Provenance
    change: float | None
    unit_b: str = ""
    """Of B where it is another one: then nothing is a change."""


class GraphPair(msgspec.Struct, frozen=True, kw_only=True):
    """One graph of both (or of one): results and compile seconds."""

    key: str
    a: str
    b: str
    a_seconds: float | None
    b_seconds: float | None


TOTAL = "total"
"""The name for all kinds of memory together."""


class MemoryPair(msgspec.Struct, frozen=True, kw_only=True):
    """Peak bytes per core, the mean over cores: of all kinds together (`total`), or of one kind."""

    kind: str
    a: float | None
    b: float | None
    change: float | None


class Curves(msgspec.Struct, frozen=True, kw_only=True):
    """The same series of both on one axis; times count from each run's start."""

    name: str
    unit: str
    a: tuple[ReportStep, ...]
    b: tuple[ReportStep, ...]
    by_step: bool = False
    """`time` of a point is a training step."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs."""

    a: str
    b: str
    answer: tuple[str, ...]
    """The question of a tensor-parallel job: did memory per core fall, and what did it cost in throughput?"""
    environment: tuple[tuple[str, str, str], ...]
    """(name, in a, in b) of what differs."""
    metrics: tuple[Pair, ...]
    graphs: tuple[GraphPair, ...]
    only_a: int
    only_b: int
    memory: tuple[MemoryPair, ...]
    cores: tuple[int, int]
    """How many cores (or local workers) each used."""
    memory_of: tuple[str, str]
    """Whose memory each one's is (`the host`, `GPUs`); "" where none is known. Where they differ, no change is told."""
    curves: tuple[Curves, ...]
    a_diagnosis: Diagnosis | None = None
    b_diagnosis: Diagnosis | None = None
    """What went wrong in each; None where no log was read for it."""


class CacheComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two caches. Bytes are disk blocks."""

    a: str
    b: str
    answer: tuple[str, ...]
    metrics: tuple[Pair, ...]
    graphs: tuple[GraphPair, ...]
    only_a: int
    only_b: int


def compare(a: Report, b: Report) -> Comparison:
    """What differs between two runs."""
    metrics = tuple(_pair(a, b, name) for name in _COMPARED)
    places = memory_of(a), memory_of(b)
    memory = _memory(a, b, alike=not places_differ(*places))
    graphs = _graphs(
        {line.key: (line.result, line.seconds) for line in a.graphs},
        {line.key: (line.result, line.seconds) for line in b.graphs},
    )
    title_a, title_b = distinct_titles((a, b))
    return Comparison(
        a=title_a,
        b=title_b,
        answer=(*failure_sentences({"A": a, "B": b}), *_answer(metrics, memory, places)),
        environment=_environment(dict(a.environment), dict(b.environment)),
        metrics=tuple(metric for metric in metrics if metric.a is not None or metric.b is not None),
        graphs=graphs,
        only_a=sum(not graph.b for graph in graphs),
        only_b=sum(not graph.a for graph in graphs),
        memory=memory,
        cores=(len(a.memory), len(b.memory)),
        memory_of=places,
        curves=_curves(a, b, memory_alike=not places_differ(*places)),
        a_diagnosis=a.diagnosis,
        b_diagnosis=b.diagnosis,
    )


def distinct_titles(reports: Sequence[Report]) -> list[str]:
    """What each run is called, with its begin where two are called the same: most are, after their program."""
    counts = Counter(view.title for view in reports)
    titles = [view.title if counts[view.title] == 1 else _with_begin(view) for view in reports]
    again = Counter(titles)
    return [title if again[title] == 1 else f"{title} ({place})" for place, title in enumerate(titles, 1)]


def _with_begin(view: Report) -> str:
    if view.start is None:
        return view.title
    return f"{view.title}, {datetime.fromtimestamp(view.start, UTC).strftime('%b %-d %H:%M:%S UTC')}"


def failure_sentences(reports: Mapping[str, Report]) -> tuple[str, ...]:
    """Why each run failed that did, by name: figures of such a run say little."""
    failed = {name: view.diagnosis for name, view in reports.items() if view.diagnosis is not None}
    return tuple(
        f"{name} {'was ' if diagnosis.interrupted_by else ''}{one_line(diagnosis)}."
        for name, diagnosis in failed.items()
        if diagnosis.failed
    )


def compare_caches(a: Snapshot, b: Snapshot) -> CacheComparison:
    """What differs between two caches."""
    first, second = a.totals().all, b.totals().all
    metrics = tuple(
        Pair(
            name=name,
            label=label,
            unit=unit,
            a=x,
            b=y,
            a_provenance=Provenance.MEASURED,
            b_provenance=Provenance.MEASURED,
            change=change(x, y),
        )
        for name, label, unit, x, y in (
            ("entries", "entries", "count", first.entries, second.entries),
            ("usable", "usable entries", "count", _usable(a), _usable(b)),
            ("bytes", "size on disk", Unit.BYTES, first.bytes, second.bytes),
            (
                "compile_seconds",
                "compile time of what is known",
                "seconds",
                first.compile_seconds,
                second.compile_seconds,
            ),
        )
    )
    graphs = _graphs(_entries(a.entries), _entries(b.entries))
    only_a, only_b = sum(not graph.b for graph in graphs), sum(not graph.a for graph in graphs)
    both = len(graphs) - only_a - only_b
    shared = counted(both, "entry is", "entries are")
    answer = (f"{shared} in both, {count_text(only_a)} only in {a.root}, {count_text(only_b)} only in {b.root}.",)
    return CacheComparison(
        a=a.root, b=b.root, answer=answer, metrics=metrics, graphs=graphs, only_a=only_a, only_b=only_b
    )


def _usable(snapshot: Snapshot) -> int:
    return sum(entry.state in HITS for entry in snapshot.entries)


def _entries(entries: Sequence[Entry]) -> dict[str, tuple[str, float | None]]:
    return {entry.path: (str(entry.state), entry.compile_seconds) for entry in entries}


def _pair(a: Report, b: Report, name: str) -> Pair:
    one = next(metric for metric in a.metrics if metric.name == name)
    other = next(metric for metric in b.metrics if metric.name == name)
    differs = one.value is not None and other.value is not None and one.unit != other.unit
    return Pair(
        name=name,
        label=one.label,
        unit=one.unit if one.value is not None else other.unit,
        a=one.value,
        b=other.value,
        a_provenance=one.provenance,
        b_provenance=other.provenance,
        change=None if differs else change(one.value, other.value),
        unit_b=other.unit if differs else "",
    )


def change(a: float | None, b: float | None) -> float | None:
    """(b − a) ÷ a; None if that is undefined."""
    return (b - a) / a if a and b is not None and isfinite(a) and isfinite(b) else None


def _graphs(
    a: Mapping[str, tuple[str, float | None]], b: Mapping[str, tuple[str, float | None]]
) -> tuple[GraphPair, ...]:
    """In both first, the largest difference of compile time on top; then what only one has."""
    rows = []
    for key in dict.fromkeys([*a, *b]):
        (left, x), (right, y) = a.get(key, ("", None)), b.get(key, ("", None))
        rows.append(GraphPair(key=key, a=left, b=right, a_seconds=x, b_seconds=y))
    return tuple(
        sorted(rows, key=lambda row: (not (row.a and row.b), -abs((row.a_seconds or 0) - (row.b_seconds or 0))))
    )


def memory_of(view: Report) -> str:
    """The place of the memory that a run's cores report."""
    return places_text(line.place for line in view.memory if line.peak is not None)


def _memory(a: Report, b: Report, *, alike: bool) -> tuple[MemoryPair, ...]:
    pairs = []
    kinds = dict.fromkeys(kind for view in (a, b) for line in view.memory for kind in line.kinds)
    for kind in (TOTAL, *kinds):
        x, y = mean_peak(a, kind), mean_peak(b, kind)
        if x is not None or y is not None:
            pairs.append(MemoryPair(kind=kind, a=x, b=y, change=change(x, y) if alike else None))
    return tuple(pairs)


def mean_peak(view: Report, kind: str) -> float | None:
    """Peak bytes of a kind, the mean over the cores of which it is known."""
    peaks = [line.peak if kind == TOTAL else line.kinds.get(kind) for line in view.memory]
    known = [peak for peak in peaks if peak is not None]
    return mean(known) if known else None


def _answer(metrics: Sequence[Pair], memory: Sequence[MemoryPair], places: tuple[str, str]) -> tuple[str, ...]:
    by_name = {pair.name: pair for pair in metrics}
    total = next((pair for pair in memory if pair.kind == TOTAL), None)
    sentences = [_memory_sentence(total, places)] if total is not None else []
    for name, what in (
        ("throughput", "Throughput"),
        ("step_seconds", "Time per step"),
        ("compile_wall", "Time spent compiling"),
        ("operators_compiled", "The number of operators compiled"),
    ):
        pair = by_name[name]
        both_known = pair.a is not None and pair.b is not None
        if both_known and (pair.change or name != "operators_compiled"):
            sentences.append(
                f"{what} cannot be compared: A's is {value_text(pair.a, pair.unit)}, "
                f"B's {value_text(pair.b, pair.unit_b)}."
                if pair.unit_b
                else _sentence(what, pair.unit, pair.a, pair.b, pair.change)
            )
    return tuple(sentences) or ("The two have no measured metric in common.",)


def _memory_sentence(total: MemoryPair, places: tuple[str, str]) -> str:
    if not places_differ(*places):
        return _sentence("Peak memory per core", Unit.BYTES, total.a, total.b, total.change)
    one, other = (
        f"{name}'s is that of {place} ({bytes_text(size)})"
        for name, place, size in zip("AB", places, (total.a, total.b), strict=True)
    )
    return f"Peak memory per core cannot be compared: {one}, {other}."


def _sentence(what: str, unit: str, a: float | None, b: float | None, change: float | None) -> str:
    if a is None or b is None:
        return f"{what} is known of one of the two only."
    text = bytes_text if unit == Unit.BYTES else lambda value: value_text(value, unit)
    if a == b or (change is not None and abs(change) < _SAME):
        return f"{what} stayed the same ({text(b)})."
    how = f"{'fell' if b < a else 'rose'} from {text(a)} to {text(b)}"
    return f"{what} {how}" + (f" ({signed_percent_text(change)})." if change else ".")


def _environment(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    names = [name for name in dict.fromkeys([*a, *b]) if name not in _OF_EACH_RUN]
    return tuple((name, a.get(name, ""), b.get(name, "")) for name in names if a.get(name) != b.get(name))


def _curves(a: Report, b: Report, *, memory_alike: bool) -> tuple[Curves, ...]:
    curves = []
    names = dict.fromkeys(curve.name for view in (a, b) for curve in view.series)
    for name in names:
        pair = [next((curve for curve in view.series if curve.name == name), None) for view in (a, b)]
        by_step = any(curve.by_step for curve in pair if curve is not None)
        sides = [
            _from_start(view, curve.points if curve is not None else (), by_time=not by_step)
            for view, curve in zip((a, b), pair, strict=True)
        ]
        units = {curve.unit for curve in pair if curve is not None}
        unit = units.pop() if len(units) == 1 else ""
        curves.append(Curves(name=name, unit=unit, a=sides[0], b=sides[1], by_step=by_step))
    memory = [tuple(line.series for line in view.memory) for view in (a, b)]
    if any(memory) and memory_alike:
        first, second = (_from_start(view, _highest(view), by_time=True) for view in (a, b))
        curves.append(Curves(name="memory of the fullest core", unit=Unit.BYTES, a=first, b=second))
    return tuple(curves)


def _highest(view: Report) -> tuple[ReportStep, ...]:
    return max(
        (line.series for line in view.memory),
        key=lambda series: max((p.value for p in series), default=0.0),
        default=(),
    )


def _from_start(view: Report, points: Sequence[ReportStep], *, by_time: bool) -> tuple[ReportStep, ...]:
    start = view.start or 0.0
    return tuple(ReportStep(point.time - start, point.value) for point in points) if by_time else tuple(points)
