"""The closing summary of a run: what `neurontop run` prints at its end, and what the list of recordings shows."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.run.graph import Graph, Precision
from neuron_top.run.model import Run
from neuron_top.run.spans import SpanKind
from neuron_top.run.state import JobState
from neuron_top.views.alerts import Alert, Limits, alerts
from neuron_top.views.memory_place import gpu_text
from neuron_top.views.states import run_name, run_text
from neuron_top.views.torch_trace import TorchSummary, torch_summary

SLOWEST_SHOWN = 5


class CorePeak(msgspec.Struct, frozen=True, kw_only=True):
    """The highest memory of one core, bytes, against its capacity; None where it was never measured."""

    core: int
    kind: str
    rank: int | None
    peak: int | None
    capacity: int | None
    node: str
    gpu: str
    """The GPU whose memory it is; "" where it is none's."""


class SlowGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One of the longest compiles."""

    key: str
    seconds: float
    precision: Precision
    """`bracketed` seconds are an upper bound."""
    peak_rss_bytes: int | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run as numbers: seconds, bytes, shares 0…1; None is unknown."""

    run: str
    name: str
    """Empty where nobody gave one; `called` is what is shown."""
    command: tuple[str, ...]
    state: JobState
    state_text: str
    """In words, as in the overview's header: `completed`, `failed (exit status 3)`, `killed (signal 9)`, …"""
    exit_code: int | None
    started: float | None
    finished: float | None
    wall_seconds: float | None
    compile_seconds: float | None
    """Wall seconds in which at least one worker compiled (PyTorch's own back ends too) or waited for a compile; None
    where something was compiled, and no line says when."""
    compile_share: float | None
    compile_sum_seconds: float | None
    """The compiles alone, added up, as far as their lengths are known, also where their place in time is not: above
    `compile_seconds` when several ran side by side."""
    graphs: int
    """Distinct graphs met."""
    graphs_hit: int
    graphs_missed: int
    graphs_asked: int = 0
    """What the hit rate is a share of, as in `CacheCard`; 0 in a summary that an older version stored."""
    graphs_failed: int
    hit_rate: float | None
    """Distinct graphs from the cache / distinct graphs asked for, 0…1."""
    hits: int
    """Lookups answered from the cache; every rank's counts."""
    misses: int
    """Compiles that were begun, by occurrence."""
    failures: int
    """Compiles that failed in this run, by occurrence."""
    cached_failures: int
    """Stored failures that the cache answered with, by occurrence."""
    fallbacks: int
    lock_waits: int
    """Waits for another process's compile, by occurrence."""
    lock_wait_seconds: float
    """Wall seconds in which at least one worker waited."""
    longest_wait_seconds: float | None
    slowest: tuple[SlowGraph, ...]
    steps: int | None
    """The last training step that was printed."""
    total_steps: int | None
    loss: float | None
    throughput: float | None
    throughput_unit: str
    simulated: bool
    """Graphs were only extracted: the script's own numbers mean nothing."""
    cores: tuple[CorePeak, ...]
    errors: int
    warnings: int
    malformed: int
    alerts: tuple[Alert, ...]
    cut_off: bool = False
    """Its recorder died: how the command ended is not known, and all metrics are up to the last event."""
    ranks: tuple[int, ...] = ()
    """Ranks of the job whose process was seen."""
    torch: TorchSummary | None = None
    """torch.compile of plain PyTorch processes; None where none wrote a trace."""
    diagnosis: Diagnosis | None = None
    """What went wrong; None where no log was read for it."""

    @property
    def called(self) -> str:
        """Its name, else its program, else its id; "" for a log."""
        return run_name(self.name, self.command, self.run)


def summary(run: Run, now: float, limits: Limits | None = None) -> Summary:
    """The closing summary; of a run that goes on, up to `now`."""
    compiles, training, job, state = run.compiles, run.training, run.job, run.state(now)
    end = job.finished if job.finished is not None else run.effective_now(now)
    waits = [
        seconds
        for span in compiles.totals.spans()
        if span.kind == SpanKind.WAIT
        # less than nothing where the clock was set back meanwhile
        and (seconds := (span.end if span.end is not None else max(end, span.start)) - span.start) >= 0.0
    ]
    return Summary(
        run=job.run,
        name=job.name,
        command=job.command,
        state=state,
        state_text=run_text(run, now),
        exit_code=job.exit_code,
        started=run.started,
        finished=None if job.cut_off else job.finished,
        cut_off=job.cut_off,
        wall_seconds=run.seconds_since_start(end),
        compile_seconds=run.compiling_seconds(end),
        compile_share=run.compiling_share(end),
        compile_sum_seconds=_compile_sum(run),
        graphs=len(compiles.graphs),
        graphs_hit=compiles.totals.graphs_hit,
        graphs_missed=compiles.totals.graphs_missed,
        graphs_asked=compiles.totals.graphs_asked,
        graphs_failed=sum(graph.failures > 0 for graph in compiles.graphs.values()),
        hit_rate=compiles.totals.hit_rate,
        hits=compiles.totals.hits,
        misses=compiles.totals.misses,
        failures=compiles.totals.failures,
        cached_failures=compiles.totals.failures_met,
        fallbacks=sum(compiles.counts.fallbacks.values()),
        lock_waits=compiles.totals.lock_waits,
        lock_wait_seconds=compiles.totals.seconds_spent(end, (SpanKind.WAIT,)),
        longest_wait_seconds=max(waits, default=None),
        slowest=slowest(compiles.graphs.values()),
        steps=training.step,
        total_steps=training.total_steps,
        loss=training.loss,
        throughput=training.throughput,
        throughput_unit=training.throughput_unit,
        simulated=training.simulated_reports > 0 and training.reports == 0,
        cores=core_peaks(run),
        errors=_errors(run),
        warnings=job.warnings,
        malformed=job.malformed,
        alerts=alerts(run, now if job.finished is None else end, limits),
        ranks=tuple(sorted({process.rank for process in job.processes.values() if process.rank is not None})),
        torch=torch_summary(run, end),
        diagnosis=job.diagnosis,
    )


def _compile_sum(run: Run) -> float | None:
    lengths = [attempt.duration.seconds for graph in run.compiles.graphs.values() for attempt in graph.attempts]
    known = [seconds for seconds in lengths if seconds is not None]
    return sum(known) if known or not lengths else None


def _errors(run: Run) -> int:
    """Lines that report an error; at least what the diagnosis counted, where the job failed."""
    reported = run.job.errors + run.training.errors_raised + run.compiles.totals.failures + run.cores.exhausted.count
    diagnosis = run.job.diagnosis
    causes = diagnosis.causes if diagnosis is not None and diagnosis.failed else ()
    return max(reported, sum(cause.count for cause in causes))


def slowest(graphs: Iterable[Graph]) -> tuple[SlowGraph, ...]:
    """The longest compiles, longest first; those of unknown duration are left out."""
    known = [(graph.duration.seconds, graph) for graph in graphs if graph.duration.seconds is not None]
    known.sort(key=lambda pair: -pair[0])
    return tuple(
        SlowGraph(
            key=graph.key, seconds=seconds, precision=graph.duration.precision, peak_rss_bytes=graph.peak_rss_bytes
        )
        for seconds, graph in known[:SLOWEST_SHOWN]
    )


def core_peaks(run: Run) -> tuple[CorePeak, ...]:
    """Peak memory per core, in the order of the overview."""
    return tuple(
        CorePeak(
            core=core.index,
            kind=core.kind,
            rank=run.rank_of_core(core),
            peak=core.peak,
            capacity=core.sample.capacity,
            node=core.node,
            gpu=gpu_text(core),
        )
        for core in run.cores.in_order()
    )
