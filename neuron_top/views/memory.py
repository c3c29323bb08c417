"""Memory of every core over time, with its peaks: bytes. The cores that used most, where there are many."""

from __future__ import annotations

import msgspec

from neuron_top.run.history import Point
from neuron_top.run.model import Run
from neuron_top.views.bands import MANY, Bands, bands_of
from neuron_top.views.core_rows import CoreRow, core_row, core_rows
from neuron_top.views.exhausted import ExhaustedMemory, exhausted_memory

CORES_SHOWN = 64
POINTS = 600
"""Of one line, at most."""
POINTS_SHARED = 12_000
"""Of all lines together: what a browser draws in a moment. Joined buckets keep their peaks; a zoom brings the rest."""


class MemorySeries(msgspec.Struct, frozen=True, kw_only=True):
    """One core: its row, and memory by bucket (start, mean, peak)."""

    row: CoreRow
    points: tuple[Point, ...]


class MemoryKinds(msgspec.Struct, frozen=True, kw_only=True):
    """What one core's memory was made of over time: bytes by kind, the largest kind first.

    `times`: of each stretch of time the moment when all kinds together were most, so that a stack of them is a total
    that there was. None where a kind was not reported at that moment. `memory`: the whole, as it was measured.
    `over`: the job has ended, so the newest stretch is whole.
    """

    row: CoreRow
    times: tuple[float, ...]
    kinds: dict[str, tuple[int | None, ...]]
    memory: tuple[Point, ...]
    over: bool


class MemoryTable(msgspec.Struct, frozen=True, kw_only=True):
    """The memory page. `hidden`: cores that are left out of `series`, all with lower peaks."""

    now: float
    rows: tuple[CoreRow, ...]
    series: tuple[MemorySeries, ...]
    hidden: int
    memory: Bands | None
    """Of all cores where they are too many for a line each; bytes."""
    utilization: Bands | None
    exhausted: ExhaustedMemory | None
    over: bool = False
    """The job has ended."""


def memory_table(run: Run, now: float, since: float | None = None, until: float | None = None) -> MemoryTable:
    """Memory over time; between `since` and `until` with as many points as otherwise for the whole time."""
    rows = core_rows(run, now, trend=1)
    most = sorted(rows, key=lambda row: -(row.peak or 0))[:CORES_SHOWN]
    chosen = {row.key for row in most}
    points = min(POINTS, POINTS_SHARED // max(1, len(chosen)))
    many = len(rows) > MANY
    shared = max(20, POINTS_SHARED // max(1, len(rows)))
    return MemoryTable(
        now=now,
        rows=rows,
        series=tuple(
            MemorySeries(row=row, points=() if many else _points(run, row.key, points, since, until))
            for row in rows
            if row.key in chosen
        ),
        hidden=len(rows) - len(most),
        memory=bands_of([_points(run, row.key, shared, since, until) for row in rows]) if many else None,
        utilization=bands_of([run.cores.cores[row.key].utilization.points(since, shared) for row in rows])
        if many
        else None,
        exhausted=exhausted_memory(run.cores.exhausted),
        over=run.over(now),
    )


def memory_kinds(run: Run, now: float, key: str = "") -> MemoryKinds | None:
    """The breakdown of a core over time; of the core with the highest peak where `key` is none of this run's."""
    core = run.cores.cores.get(key) or max(run.cores.cores.values(), key=lambda one: one.peak or 0, default=None)
    if core is None:
        return None
    samples = core.kind_history.samples(most=POINTS)
    reported = {kind for sample in samples for kind in sample.parts}
    return MemoryKinds(
        row=core_row(run, core, now),
        times=tuple(sample.time for sample in samples),
        kinds={
            kind: tuple(int(sample.parts[kind]) if kind in sample.parts else None for sample in samples)
            for kind in sorted(reported, key=lambda kind: (-core.kind_peaks.get(kind, 0), kind))
        },
        memory=core.memory.points(most=POINTS),
        over=run.job.finished is not None,
    )


def _points(run: Run, key: str, most: int, since: float | None, until: float | None) -> tuple[Point, ...]:
    if until is None:
        return run.cores.cores[key].memory.points(since, most)
    return tuple(point for point in run.cores.cores[key].memory.points(since) if point.time <= until)
