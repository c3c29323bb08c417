"""The report of a run: where its time went, what missed and why, what to do next time. Pure; every front end draws it.

A report is made from a run alone, live or replayed, so both are equal. What else is known of its graphs (their cache
entries, earlier runs) comes in as `memory`, and figures that rest on it say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from neuron_top.run.alerts import Limits
from neuron_top.run.cores import Core
from neuron_top.run.model import Run
from neuron_top.run.spans import Interval, Span, merged, without
from neuron_top.views import report_words
from neuron_top.views.figure import Basis, Figure, figure
from neuron_top.views.graphs import Timeline, timeline
from neuron_top.views.report_graphs import (
    Duplicate,
    FailureLine,
    GraphLine,
    Memory,
    WaitLine,
    duplicates,
    failure_lines,
    graph_lines,
    wait_lines,
)
from neuron_top.views.report_time import (
    Precompile,
    Segment,
    Step,
    closed,
    concurrency,
    critical_path,
    precompiled,
)
from neuron_top.views.summary import Summary, summary

_POINTS = 600


class MemoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """Peak memory of one core, bytes; kinds need not have peaked at one moment."""

    core: int
    kind: str
    node: str
    rank: int | None
    peak: int | None
    capacity: int | None
    kinds: dict[str, int]
    series: tuple[Step, ...]


class ExhaustedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A device that ran out of memory."""

    time: float | None
    device: int | None
    core: int | None
    requested: int | None
    kinds: dict[str, int]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Values over time, or over steps."""

    name: str
    unit: str
    points: tuple[Step, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report shows. Times are seconds since the epoch."""

    title: str
    state: str
    start: float | None
    end: float | None
    headline: tuple[str, ...]
    """Five lines that need no explanation."""
    recommendations: tuple[str, ...]
    figures: tuple[Figure, ...]
    graphs: tuple[GraphLine, ...]
    failures: tuple[FailureLine, ...]
    waits: tuple[WaitLine, ...]
    duplicates: tuple[Duplicate, ...]
    after_warm_up: tuple[GraphLine, ...]
    misses: tuple[tuple[str, str], ...]
    """(graph, why it was a miss), where a cache was at hand to compare with."""
    timeline: Timeline
    training: tuple[Interval, ...]
    """From the first to the last step that was printed, less the time in which somebody compiled or waited."""
    concurrency: tuple[Step, ...]
    critical_path: tuple[Segment, ...]
    precompile: tuple[Precompile, ...]
    memory: tuple[MemoryLine, ...]
    host_memory: tuple[Step, ...]
    exhausted: tuple[ExhaustedLine, ...]
    series: tuple[Series, ...]
    environment: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    summary: Summary


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine costs."""

    per_hour: float
    currency: str = "$"


def report(
    run: Run,
    now: float,
    *,
    memory: Memory | None = None,
    prices: Prices | None = None,
    misses: Sequence[tuple[str, str]] = (),
    limits: Limits | None = None,
) -> Report:
    """The report of a run as it stands; one that goes on is taken up to `now`."""
    closing = summary(run, now, limits)
    end = run.job.finished if run.job.finished is not None else (run.last_time if run.last_time is not None else now)
    spans = closed(run.compiles.spans(), end)
    busy = merged((span.start, span.end or span.start) for span in spans)
    lines = graph_lines(run, memory or {})
    training = _training(run, busy)
    path = critical_path(spans)
    simulated = precompiled([line.seconds for line in lines if line.attempts and line.seconds])
    twice = duplicates(lines, run)
    figures = _figures(run, closing, spans, lines, training, twice, prices, end)
    return Report(
        title=run.job.name or run.job.run or ", ".join(path.rpartition("/")[2] for path in run.job.sources),
        state=closing.state,
        start=run.started,
        end=end if run.started is not None else None,
        headline=report_words.headline(closing, figures, lines),
        recommendations=report_words.recommendations(closing, lines, twice, simulated, figures),
        figures=figures,
        graphs=lines,
        failures=failure_lines(run),
        waits=wait_lines(run),
        duplicates=twice,
        after_warm_up=tuple(line for line in lines if line.after_warm_up),
        misses=tuple(misses),
        timeline=timeline(run, end),
        training=training,
        concurrency=concurrency([span for span in spans if span.kind == "compile"]),
        critical_path=path,
        precompile=simulated,
        memory=tuple(_memory_line(run, core) for core in _cores(run)),
        host_memory=tuple(Step(point.time, point.peak) for point in run.cores.host_memory.points(most=_POINTS)),
        exhausted=_exhausted(run),
        series=_series(run),
        environment=_environment(run),
        notes=report_words.notes(run, spans),
        summary=closing,
    )


def _figures(run: Run, closing: Summary, spans: Sequence[Span], lines: Sequence[GraphLine],
             training: Sequence[Interval], twice: Sequence[Duplicate], prices: Prices | None, end: float
             ) -> tuple[Figure, ...]:  # fmt: skip
    whole = run.job.finished is not None and run.job.started is not None
    wall = max(0.0, end - run.started) if run.started is not None else None
    dated = [line for line in lines if line.attempts]
    undated = sum(1 for line in dated if line.seconds is None)
    exact = all(span.exact for span in spans)
    spent = closing.compile_seconds if closing.compile_seconds or not dated else None
    basis = _basis(exact=exact, complete=not undated and (whole or not run.compiles.compiling))
    share = spent / wall if spent is not None and wall else None
    saved = [line.saved_seconds for line in lines if line.saved_seconds is not None]
    only_hit = sum(1 for line in lines if line.hits and not line.attempts)
    late = [line for line in lines if line.after_warm_up]
    trained = sum(end - start for start, end in training) if training else None
    compile_sum = closing.compile_sum_seconds if spans else None
    alone = run.compiles.seconds_spent(end, ("compile",))
    found = [
        figure("wall", "wall time", wall, "seconds", Basis.MEASURED if whole else Basis.AT_LEAST,
               "from the start to the end of the command" if whole else "from the first to the last time in the log"),
        figure("compile_wall", "compiling, on the wall clock", spent, "seconds", basis,
               "while at least one worker compiled or waited for a compile; overlaps counted once"
               + (f"; {undated} compile(s) have no known time" if undated else "")),
        figure("compile_share", "share of wall time spent compiling", share, "share", basis, "the two above, divided"),
        figure("compile_sum", "compiles added up", compile_sum, "seconds", basis,
               "what they would take one after the other"),
        figure("parallelism", "compiles side by side, on average",
               compile_sum / alone if compile_sum and alone else None, "",
               Basis.COMPUTED, "compiles added up, divided by the time in which any ran"),
        figure("waiting", "waiting for others' compiles", closing.lock_wait_seconds if spans else None, "seconds",
               Basis.COMPUTED, "while at least one worker waited"),
        figure("training", "training", trained, "seconds", Basis.COMPUTED,
               "from the first to the last step printed, less compiling and waiting"),
        figure("graphs", "graphs", closing.graphs, "count", Basis.COUNTED, "distinct graphs met"),
        figure("graphs_hit", "graphs from the cache", closing.graphs_hit, "count", Basis.COUNTED),
        figure("graphs_missed", "graphs compiled", closing.graphs_missed, "count", Basis.COUNTED),
        figure("hit_rate", "hit rate", closing.hit_rate, "share", Basis.COUNTED,
               "graphs from the cache ÷ graphs asked for"),
        figure("hits", "look-ups that hit", closing.hits, "count", Basis.COUNTED, "every rank counts"),
        figure("misses", "compiles begun", closing.misses, "count", Basis.COUNTED, "every occurrence counts"),
        figure("failures", "compiles failed", closing.failures, "count", Basis.COUNTED),
        figure("cached_failures", "stored failures met", closing.cached_failures, "count", Basis.COUNTED),
        figure("fallbacks", "graphs that ran without a compiler", closing.fallbacks, "count", Basis.COUNTED),
        figure("lock_waits", "lock waits", closing.lock_waits, "count", Basis.COUNTED),
        figure("late", "graphs compiled after warm-up", len(late) if run.training.warm_time is not None else None,
               "count", Basis.COUNTED, "new after the third step that was reported"),
        figure("late_seconds", "their compile time", _sum(line.seconds for line in late), "seconds", Basis.AT_MOST),
        figure("duplicate_seconds", "work done twice", _sum(one.seconds for one in twice), "seconds", Basis.COMPUTED,
               "all compiles of a graph but its longest"),
        figure("saved", "time that hits saved", sum(saved) if saved else None, "seconds", Basis.ESTIMATED,
               f"compile times of {len(saved)} of {only_hit} cached graphs, from the cache or earlier runs"),
        figure("step_seconds", "step time", run.training.step_seconds, "seconds", Basis.MEASURED,
               "median of the last reports"),
        figure("throughput", "throughput", run.training.throughput, run.training.throughput_unit or "/s",
               Basis.MEASURED, "median of the last reports, as printed"),
        figure("loss", "last loss", run.training.loss, "", Basis.MEASURED, "as printed"),
    ]  # fmt: skip
    if prices is not None:
        for name, label, seconds in (("cost", "cost of the run", wall), ("compile_cost", "cost of compiling", spent)):
            found.append(figure(name, f"{label}, {prices.currency}", _priced(seconds, prices), "money", Basis.COMPUTED,
                                f"at {prices.currency}{prices.per_hour:g} an hour"))  # fmt: skip
    return tuple(found)


def _basis(*, exact: bool, complete: bool) -> Basis:
    """Bounds make a sum too large, missing parts make it too small; with both it is an estimate."""
    if complete:
        return Basis.MEASURED if exact else Basis.AT_MOST
    return Basis.AT_LEAST if exact else Basis.ESTIMATED


def _priced(seconds: float | None, prices: Prices) -> float | None:
    return seconds / 3600.0 * prices.per_hour if seconds is not None else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _training(run: Run, busy: Sequence[Interval]) -> tuple[Interval, ...]:
    first, last = run.training.first_time, run.training.last_time
    if first is None or last is None or last <= first:
        return ()
    return tuple(without([(first, last)], busy))


def _cores(run: Run) -> list[Core]:
    return sorted(run.cores.cores.values(), key=lambda core: (core.node, core.kind, core.index))


def _memory_line(run: Run, core: Core) -> MemoryLine:
    rank = core.sample.rank if core.sample.rank is not None else run.job.rank_of(core.sample.pid, core.node)
    return MemoryLine(
        core=core.index,
        kind=core.kind,
        node=core.node,
        rank=rank,
        peak=core.peak,
        capacity=core.sample.capacity,
        kinds=dict(core.kind_peaks),
        series=tuple(Step(point.time, point.peak) for point in core.memory.points(most=_POINTS)),
    )


def _exhausted(run: Run) -> tuple[ExhaustedLine, ...]:
    return tuple(
        ExhaustedLine(
            time=event.time,
            device=event.device,
            core=event.core,
            requested=event.requested,
            kinds=dict(event.rows[0].kinds) if event.rows else {},
        )
        for event in run.cores.exhausted
    )


def _series(run: Run) -> tuple[Series, ...]:
    training = run.training
    by_step = list(training.loss_by_step)
    every = -(-len(by_step) // _POINTS) if by_step else 1
    loss = tuple(Step(float(step), value) for step, value in by_step[::every])
    pace = tuple(Step(point.time, point.mean) for point in training.throughputs.points(most=_POINTS))
    found = (
        Series(name="loss by step", unit="", points=loss),
        Series(name="throughput", unit=training.throughput_unit, points=pace),
    )
    return tuple(one for one in found if one.points)


def _environment(run: Run) -> tuple[tuple[str, str], ...]:
    job, found = run.job, []
    for name, value in (
        ("run", job.run),
        ("command", " ".join(job.command)),
        ("directory", job.directory),
        ("host", job.node),
        ("git revision", job.git_revision),
        ("world size", str(job.world_size) if job.world_size is not None else ""),
        ("instance", run.cores.instance_type),
        ("compiler", ", ".join(run.compiles.compiler_versions)),
        ("compiler folders", ", ".join(_compilers(run))),
        ("cache", ", ".join(run.compiles.cache_paths)),
        ("logs", _sources(run)),
    ):
        if value:
            found.append((name, value))
    found += sorted(job.versions.items())
    found += sorted(job.environment.items())
    found += sorted((name, value) for name, value in run.training.facts.items())
    return tuple(found)


def _compilers(run: Run) -> list[str]:
    return sorted({graph.compiler for graph in run.compiles.graphs.values() if graph.compiler})


def _sources(run: Run) -> str:
    return ", ".join(run.job.sources)
