"""The graphs of a report: one row each, failures with advice, waits, work done twice, compiles after warm-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from neuron_top.cache.model.failures import FailureKind, failure_of
from neuron_top.explain.flag_changes import FlagsChange, differences
from neuron_top.run.graph import Attempt, AttemptOutcome, Graph, GraphState, WorkerGraph
from neuron_top.run.model import Run
from neuron_top.views.failure_advice import ADVICE
from neuron_top.views.graph_failure import failure_text, newest_failure
from neuron_top.views.metric import Provenance
from neuron_top.views.miss_sentences import flags_text
from neuron_top.views.waits import waited_seconds

_BASES = {"measured": Provenance.MEASURED, "bracketed": Provenance.AT_MOST, "unknown": Provenance.UNKNOWN}


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a graph from outside the run: its cache entry, or earlier runs."""

    seconds: float | None = None
    """Of its compile."""
    flags: tuple[str, ...] | None = None
    artifact_bytes: int | None = None
    graph_bytes: int | None = None


Memory = Mapping[str, Remembered]
"""By module."""


class GraphLine(msgspec.Struct, frozen=True, kw_only=True):
    """One graph."""

    key: str
    named: bool
    """False where the log does not name it; `key` is then a number of ours."""
    result: GraphState
    seconds: float | None
    provenance: Provenance
    """How `seconds` is known."""
    rank: int | None
    """The rank that compiled it, else the first that met it."""
    ranks: tuple[int, ...]
    hits: int
    attempts: int
    failures: int
    began: float | None
    step: int | None
    """Training step that was the last reported when its first compile began; None before training, or unknown."""
    after_warm_up: bool
    wait_seconds: float | None
    """Longest wait for its lock."""
    saved_seconds: float | None
    """What its compile took before, where this run only had to load it."""
    graph_bytes: int | None
    artifact_bytes: int | None
    peak_rss_bytes: int | None
    operators: int | None
    block_hits: int | None
    """Equal blocks of the model that it served besides the first; None where nobody reported it."""
    direction: str
    flags: tuple[str, ...] | None
    compiler: str | None
    lines: tuple[str, ...]
    """Where its last log lines stand, `source:offset`."""


class FailureLine(msgspec.Struct, frozen=True, kw_only=True):
    """A graph that failed, in this run or, stored, in an earlier one."""

    key: str
    stored: bool
    kind: str
    """`deterministic`, `environment` or `unknown`: whether a retry can help."""
    code: str | None
    count: int
    message: str
    advice: str


class WaitLine(msgspec.Struct, frozen=True, kw_only=True):
    """Waits for one graph's lock."""

    key: str
    waits: int
    longest_seconds: float | None
    total_seconds: float
    ranks: tuple[int, ...]


class DuplicateKind(StrEnum):
    """What was done more than once."""

    COMPILED_TWICE = "compiled twice"
    PATH_IN_FLAGS = "flags differ in a path"
    ORDER_OF_FLAGS = "flags differ in order"
    OTHER_FLAGS = "other flags"

    @property
    def is_avoided_by_equal_flags(self) -> bool:
        """The same graph was compiled under several sets of flags."""
        return self is not DuplicateKind.COMPILED_TWICE


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """Work that was done more than once."""

    kind: DuplicateKind
    graphs: tuple[str, ...]
    seconds: float | None
    """What all compiles but the longest took."""
    text: str


_FLAG_KINDS = {
    FlagsChange.LOG_PATH_ONLY: DuplicateKind.PATH_IN_FLAGS,
    FlagsChange.ORDER_ONLY: DuplicateKind.ORDER_OF_FLAGS,
}


def graph_lines(run: Run, memory: Memory) -> tuple[GraphLine, ...]:
    """All graphs, the slowest compiles first, then failures, then the rest in the order they were met."""
    late = {graph.key for graph in run.compiles.totals.new_since(run.training.warm_time)}
    lines = [
        _graph_line(run, graph, memory.get(graph.key, Remembered()), late) for graph in run.compiles.graphs.values()
    ]
    return tuple(sorted(lines, key=lambda line: (-(line.seconds or 0.0), -line.failures)))


def _graph_line(run: Run, graph: Graph, known: Remembered, late: set[str]) -> GraphLine:
    digest = run.compiles.totals.summary(graph)
    ranks = {rank for worker in graph.workers.values() if (rank := run.rank_of(worker)) is not None}
    starts = [attempt.start for attempt in graph.attempts if attempt.start is not None]
    began = min(starts, default=graph.first)
    only_hit = digest.hits > 0 and not digest.misses
    return GraphLine(
        key=graph.key,
        named=graph.module is not None,
        result=digest.state,
        seconds=graph.duration.seconds,
        provenance=_BASES[graph.duration.precision.value],
        rank=_compiled_by(run, graph, min(ranks, default=None)),
        ranks=tuple(sorted(ranks)),
        hits=digest.hits,
        attempts=digest.misses,
        failures=digest.failures + digest.failures_met,
        began=began,
        step=run.training.step_at(began) if digest.misses else None,
        after_warm_up=graph.key in late,
        wait_seconds=max(
            (seconds for worker in graph.workers.values() for seconds in wait_seconds(worker)), default=None
        ),
        saved_seconds=known.seconds if only_hit else None,
        graph_bytes=graph.graph_bytes if graph.graph_bytes is not None else known.graph_bytes,
        artifact_bytes=graph.artifact_bytes if graph.artifact_bytes is not None else known.artifact_bytes,
        peak_rss_bytes=graph.peak_rss_bytes,
        operators=graph.operators,
        block_hits=graph.block_hits,
        direction=graph.direction,
        flags=graph.flags or known.flags,
        compiler=graph.compiler,
        lines=tuple(f"{place.source.removeprefix('log:')}:{place.offset}" for place in graph.lines[-3:]),
    )


def _compiled_by(run: Run, graph: Graph, otherwise: int | None) -> int | None:
    return next((run.rank_of(worker) for worker in graph.workers.values() if worker.attempts), otherwise)


def wait_seconds(worker: WorkerGraph) -> Iterator[float]:
    """How long each of its waits took, as far as it is reported."""
    for wait in worker.waits:
        if (seconds := waited_seconds(wait)) is not None:
            yield seconds


def failure_lines(run: Run) -> tuple[FailureLine, ...]:
    """Graphs that failed or whose stored failure was met, those that a retry cannot help first."""
    lines = []
    for digest in run.compiles.totals.summaries():
        if not (digest.failures or digest.failures_met):
            continue
        graph = digest.graph
        failed, judged = newest_failure(graph), failure_of(failure_text(graph))
        lines.append(
            FailureLine(
                key=graph.key,
                stored=digest.failures == 0,
                kind=judged.kind,
                code=(failed.code if failed is not None else None) or judged.code,
                count=digest.failures + digest.failures_met,
                message=judged.message,
                advice=ADVICE[judged.cause],
            )
        )
    return tuple(sorted(lines, key=lambda line: (line.kind is not FailureKind.DETERMINISTIC, -line.count)))


def wait_lines(run: Run) -> tuple[WaitLine, ...]:
    """Graphs whose lock was waited for, the longest wait first."""
    lines = []
    for graph in run.compiles.graphs.values():
        waited = {key: list(wait_seconds(one)) for key, one in graph.workers.items() if one.waits}
        if not waited:
            continue
        seconds = [value for values in waited.values() for value in values]
        ranks = {rank for key in waited if (rank := run.rank_of(graph.workers[key])) is not None}
        lines.append(
            WaitLine(
                key=graph.key,
                waits=sum(len(graph.workers[key].waits) for key in waited),
                longest_seconds=max(seconds, default=None),
                total_seconds=sum(seconds),
                ranks=tuple(sorted(ranks)),
            )
        )
    return tuple(sorted(lines, key=lambda line: -(line.longest_seconds or 0.0)))


def duplicates(lines: Sequence[GraphLine], run: Run) -> tuple[Duplicate, ...]:
    """The same graph compiled more than once, and the same graph compiled under several sets of flags."""
    repeated = []
    for line in lines:
        done = [one.duration.seconds for one in _done(run, line.key)]
        if len(done) > 1:
            known = sorted(seconds for seconds in done if seconds is not None)
            repeated.append(
                Duplicate(
                    kind=DuplicateKind.COMPILED_TWICE,
                    graphs=(line.key,),
                    seconds=sum(known[:-1]) if known else None,
                    text=f"compiled {len(done)} times in this run",
                )
            )
    repeated += [_under_flags(group) for group in _same_graph(lines)]
    return tuple(sorted(repeated, key=lambda one: -(one.seconds or 0.0)))


def _done(run: Run, key: str) -> list[Attempt]:
    graph = run.compiles.graphs.get(key)
    return (
        [attempt for attempt in graph.attempts if attempt.outcome is AttemptOutcome.DONE] if graph is not None else []
    )


def _same_graph(lines: Sequence[GraphLine]) -> list[list[GraphLine]]:
    groups: dict[str, list[GraphLine]] = {}
    for line in lines:
        graph, plus, _flags = line.key.partition("+")
        if plus and line.attempts:
            groups.setdefault(graph, []).append(line)
    return [group for group in groups.values() if len(group) > 1]


def _under_flags(group: Sequence[GraphLine]) -> Duplicate:
    first, *others = group
    kinds, texts = set(), []
    for other in others:
        if first.flags is None or other.flags is None:
            kinds.add(DuplicateKind.OTHER_FLAGS)
            texts.append("the flags are not known (give the cache with --cache)")
            continue
        difference = differences(first.flags, other.flags)
        kinds.add(_FLAG_KINDS.get(difference.kind, DuplicateKind.OTHER_FLAGS))
        texts.append(flags_text(difference))
    kind = kinds.pop() if len(kinds) == 1 else DuplicateKind.OTHER_FLAGS
    known = sorted(line.seconds for line in group if line.seconds is not None)
    return Duplicate(
        kind=kind,
        graphs=tuple(line.key for line in group),
        seconds=sum(known[:-1]) if len(known) > 1 else None,
        text="; ".join(dict.fromkeys(texts)),
    )
