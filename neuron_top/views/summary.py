"""The closing summary of a run: what one wants to know when the command has ended."""

from __future__ import annotations

import msgspec

from neuron_top.run.model import Run
from neuron_top.views.overview import state_words


class CorePeak(msgspec.Struct, frozen=True, kw_only=True):
    """The highest memory of one core, bytes; None where it was never measured."""

    core: int
    kind: str
    rank: int | None
    peak: int | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run as numbers: seconds, bytes, shares 0…1; None is unknown."""

    run: str
    name: str
    state: str
    exit_code: int | None
    wall_seconds: float | None
    compile_seconds: float
    """Wall seconds in which at least one worker compiled or waited for a compile."""
    compile_share: float | None
    graphs: int
    """Distinct graphs met."""
    hit_rate: float | None
    """Distinct graphs from the cache / distinct graphs asked for, 0…1."""
    hits: int
    """Look-ups answered from the cache; every rank's counts."""
    misses: int
    failures: int
    cached_failures: int
    fallbacks: int
    lock_waits: int
    lock_wait_seconds: float
    steps: int | None
    """The last training step that was printed."""
    loss: float | None
    throughput: float | None
    throughput_unit: str
    cores: tuple[CorePeak, ...]
    errors: int
    warnings: int
    malformed: int


def summary(run: Run, now: float) -> Summary:
    """The closing summary; of a run that goes on, up to `now`."""
    compiles, training = run.compiles, run.training
    end = run.job.finished if run.job.finished is not None else now
    wall = max(0.0, end - run.started) if run.started is not None else None
    spent = compiles.seconds_spent(end)
    return Summary(
        run=run.job.run,
        name=run.job.name,
        state=state_words(run),
        exit_code=run.job.exit_code,
        wall_seconds=wall,
        compile_seconds=spent,
        compile_share=min(1.0, spent / wall) if wall else None,
        graphs=len(compiles.graphs),
        hit_rate=compiles.hit_rate,
        hits=compiles.hits,
        misses=compiles.misses,
        failures=compiles.failures,
        cached_failures=compiles.failures_met,
        fallbacks=sum(compiles.fallbacks.values()),
        lock_waits=sum(len(met.waits) for graph in compiles.graphs.values() for met in graph.meetings.values()),
        lock_wait_seconds=compiles.seconds_spent(end, ("wait",)),
        steps=training.step,
        loss=training.loss,
        throughput=training.throughput,
        throughput_unit=training.throughput_unit,
        cores=_peaks(run),
        errors=run.job.errors,
        warnings=run.job.warnings,
        malformed=run.job.malformed,
    )


def _peaks(run: Run) -> tuple[CorePeak, ...]:
    cores = sorted(run.cores.cores.values(), key=lambda core: (core.node, core.kind, core.index))
    return tuple(
        CorePeak(core=core.index, kind=core.kind, rank=core.sample.rank, peak=core.peak) for core in cores
    )  # fmt: skip
