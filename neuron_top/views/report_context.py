"""What surrounded the compiles of a run: memory of cores and compilers, curves, errors in the output, environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from neuron_top.events import CoreKind
from neuron_top.events.levels import LineLevel
from neuron_top.run.cores import Core
from neuron_top.run.model import Run
from neuron_top.run.spans import Span, SpanKind
from neuron_top.views.exhausted import exhausted_memory
from neuron_top.views.memory_place import MemoryPlace, gpu_text, memory_place
from neuron_top.views.report_time import ReportStep, thinned

POINTS = 600
"""Points of a curve at most."""
ERRORS_TOLD = 50
_OF_THE_RECORDER = frozenset(("NEURONTOP_RUN", "NEURONTOP_EVENTS_DIR", "NEURONTOP_STATE_DIR"))
"""Variables that a recording sets itself, and that say nothing about the job."""


class MemoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """Peak memory of one core, bytes; kinds need not have peaked at one moment."""

    core: int
    kind: CoreKind
    place: MemoryPlace
    gpu: str
    """The GPU whose memory it is; "" where it is none's."""
    node: str
    rank: int | None
    peak: int | None
    capacity: int | None
    kinds: dict[str, int]
    series: tuple[ReportStep, ...]


class ExhaustedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A core that ran out of memory, as often as `count` says. Bytes; the kinds are those of its bank."""

    time: float | None
    device: int | None
    core: int | None
    count: int
    requested: int | None
    kinds: dict[str, int]


class ErrorLine(msgspec.Struct, frozen=True, kw_only=True):
    """Something that went wrong and names no graph. Equal ones are one line."""

    kind: str
    """`exception`, `process died`, `error line`, `compile worker`."""
    text: str
    count: int
    ranks: tuple[int, ...]
    time: float | None
    """Of the first."""


class ReportSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Values over time, or over steps."""

    name: str
    unit: str
    points: tuple[ReportStep, ...]
    by_step: bool = False
    """`time` of a point is a training step."""


class StageLine(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of the compiler: its seconds over all compiles whose logs report it."""

    name: str
    seconds: float


class SummaryLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one node's parallel compile said of itself at its end."""

    node: str
    total: int
    success: int | None
    failed: int | None
    seconds: float | None


def memory_lines(run: Run) -> tuple[MemoryLine, ...]:
    """One per core or local worker, in the order of the overview."""
    return tuple(_memory_line(run, core) for core in run.cores.in_order())


def _memory_line(run: Run, core: Core) -> MemoryLine:
    return MemoryLine(
        core=core.index,
        kind=core.kind,
        place=memory_place(core),
        gpu=gpu_text(core),
        node=core.node,
        rank=run.rank_of_core(core),
        peak=core.peak,
        capacity=core.sample.capacity,
        kinds=dict(core.kind_peaks),
        series=tuple(ReportStep(point.time, point.peak) for point in core.memory.points(most=POINTS)),
    )


def host_memory(run: Run) -> tuple[ReportStep, ...]:
    """Memory in use on the host."""
    return tuple(ReportStep(point.time, point.peak) for point in run.cores.host_memory.points(most=POINTS))


def compile_memory(run: Run, spans: Sequence[Span]) -> tuple[ReportStep, ...]:
    """Peaks of the compiles that ran, added up: what they can have taken together at most."""
    changes: dict[float, int] = {}
    for span in spans:
        graph = run.compiles.graphs.get(span.graph)
        peak = graph.peak_rss_bytes if graph is not None else None
        if span.kind is SpanKind.COMPILE and peak is not None and span.end is not None and span.end > span.start:
            changes[span.start] = changes.get(span.start, 0) + peak
            changes[span.end] = changes.get(span.end, 0) - peak
    steps, held = [], 0
    for time in sorted(changes):
        held += changes[time]
        steps.append(ReportStep(time, float(held)))
    return thinned(steps)


def exhausted_lines(run: Run) -> tuple[ExhaustedLine, ...]:
    """Every core that ran out of memory."""
    found = exhausted_memory(run.cores.exhausted)
    return tuple(
        ExhaustedLine(
            time=core.first,
            device=core.device,
            core=core.core,
            count=core.count,
            requested=core.requested,
            kinds=core.kinds,
        )
        for core in (found.cores if found is not None else ())
    )


def exhausted_note(run: Run) -> str:
    """What filled the memory that ran out, and what follows from it; "" where none ran out."""
    found = exhausted_memory(run.cores.exhausted)
    return " ".join((found.summary, *(f"{text[:1].upper()}{text[1:]}." for text in found.advice))) if found else ""


def error_lines(run: Run) -> tuple[ErrorLine, ...]:
    """What went wrong besides compiles of named graphs, in the order it was reported, ERRORS_TOLD at most."""
    found: dict[tuple[str, str], ErrorLine] = {}
    for kind, text, rank, time in _errors(run):
        before = found.get((kind, text))
        ranks = {*(before.ranks if before is not None else ()), *([rank] if rank is not None else [])}
        found[kind, text] = ErrorLine(
            kind=kind,
            text=text,
            count=before.count + 1 if before is not None else 1,
            ranks=tuple(sorted(ranks)),
            time=before.time if before is not None else time,
        )
    return tuple(found.values())[:ERRORS_TOLD]


def error_count(run: Run) -> int:
    """How many errors there were, also those of which there are too many to keep or to list."""
    reported = run.training.errors_raised + len(run.training.deaths) + run.job.errors + run.cores.exhausted.count
    return max(reported, sum(1 for _ in _errors(run)))


def _errors(run: Run) -> Iterator[tuple[str, str, int | None, float | None]]:
    for death in run.training.deaths:
        status = f"exit status {death.exit_code}" if death.exit_code is not None else "unknown cause"
        how = f"signal {death.signal}" if death.signal else status
        yield "process died", how + (" (the first to die)" if death.first else ""), death.rank, death.time
    for error in run.training.errors:
        yield "exception", f"{error.exception}: {error.message}".strip(": "), error.rank, error.time
    for worker in run.queue.workers.values():
        if worker.message not in ("", "None"):
            yield "compile worker", f"worker {worker.name}: {worker.message}", None, worker.finished
    for mark in run.job.marks:
        if mark.level is LineLevel.ERROR and mark.text and not mark.is_known_otherwise:
            yield "error line", mark.text, mark.rank, mark.time


def series_of(run: Run) -> tuple[ReportSeries, ...]:
    """Loss and throughput."""
    training = run.training
    by_step = [(step, value) for step, _time, value in training.loss_by_step if step is not None]
    every = -(-len(by_step) // POINTS) if by_step else 1
    some = [*by_step[:-1:every], *by_step[-1:]]  # the last value stands in the text, too
    loss = tuple(ReportStep(float(step), value) for step, value in some)
    pace = tuple(ReportStep(point.time, point.mean) for point in training.throughputs.points(most=POINTS))
    found = (
        ReportSeries(name="loss by step", unit="", points=loss, by_step=True),
        ReportSeries(name="throughput", unit=training.throughput_unit, points=pace),
    )
    return tuple(one for one in found if one.points)


def stage_lines(run: Run) -> tuple[StageLine, ...]:
    """The compiler's stages that took measurable time, the longest first."""
    found = [StageLine(name=name, seconds=seconds) for name, seconds in run.compiles.counts.stage_seconds.items()]
    return tuple(sorted((one for one in found if one.seconds >= 0.001), key=lambda one: -one.seconds))


def summary_lines(run: Run) -> tuple[SummaryLine, ...]:
    """The totals that parallel compiles printed."""
    return tuple(
        SummaryLine(
            node=summary.node,
            total=summary.total,
            success=summary.success,
            failed=summary.failed,
            seconds=summary.seconds,
        )
        for summary in run.queue.summaries
    )


def environment(run: Run) -> tuple[tuple[str, str], ...]:
    """Everything that tells this run from another: command, versions, variables, facts the script printed."""
    job = run.job
    compilers = sorted({graph.compiler for graph in run.compiles.graphs.values() if graph.compiler})
    named = (
        ("run", job.run),
        ("command", " ".join(job.command)),
        ("directory", job.directory),
        ("host", job.node),
        ("git revision", job.git_revision),
        ("world size", str(job.world_size) if job.world_size is not None else ""),
        ("instance", run.cores.instance_type),
        ("compiler", ", ".join(run.compiles.counts.compiler_versions)),
        ("compiler folders", ", ".join(compilers)),
        ("cache", ", ".join(run.compiles.counts.cache_paths)),
        ("logs", ", ".join(job.sources)),
    )
    return (
        *((name, value) for name, value in named if value),
        *sorted(job.versions.items()),
        *sorted((name, value) for name, value in job.environment.items() if name not in _OF_THE_RECORDER),
        *sorted(run.training.facts.items()),
    )
