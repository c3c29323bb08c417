"""What the training program's numbers did over time, for charts: loss, throughput, and the host around them."""

from __future__ import annotations

import msgspec

from neuron_top.run.history import Point
from neuron_top.run.model import Run

POINTS = 1200
"""Points of a series at most; peaks are kept in each."""


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """Series by time, oldest first; a point carries mean and peak of its bucket."""

    now: float
    loss: tuple[Point, ...]
    throughput: tuple[Point, ...]
    throughput_unit: str
    host_cpu: tuple[Point, ...]
    """0…1."""
    host_memory: tuple[Point, ...]
    """Bytes."""


def trends(run: Run, now: float) -> Trends:
    """The series of the run."""
    return Trends(
        now=now,
        loss=run.training.losses.points(most=POINTS),
        throughput=run.training.throughputs.points(most=POINTS),
        throughput_unit=run.training.throughput_unit,
        host_cpu=run.cores.host_cpu.points(most=POINTS),
        host_memory=run.cores.host_memory.points(most=POINTS),
    )
