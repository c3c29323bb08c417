"""The training program's numbers over time, for charts: loss, throughput, and the host's load."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import StrEnum
from heapq import nlargest
from itertools import islice
from typing import NamedTuple

import msgspec

from neuron_top.run.graph import AttemptOutcome
from neuron_top.run.history import Point
from neuron_top.run.model import Run
from neuron_top.run.spans import SpanKind
from neuron_top.run.training import Report

POINTS = 1200
"""Points of a series at most; peaks are kept in each."""


VALUES = 4000
"""Values of a chart by step, at most: the newest."""
MARKS = 60


class StepValue(NamedTuple):
    """One printed value; what was not printed with it is None."""

    step: int | None
    time: float | None
    value: float


class MarkKind(StrEnum):
    """What happened while a job trained; the values are states that `views/colors.py` knows."""

    COMPILING = "compiling"
    CHECKPOINT = "checkpoint"
    FAILED = "failed"


class TrainingMark(NamedTuple):
    """Something that happened while the job trained: a compile that began, a checkpoint, a failure."""

    state: MarkKind
    time: float | None
    step: int | None


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """Series by time, oldest first; a point carries mean and peak of its bucket."""

    now: float
    loss_values: tuple[StepValue, ...]
    """As they were printed, the newest VALUES."""
    throughput_values: tuple[StepValue, ...]
    throughput_unit: str
    marks: tuple[TrainingMark, ...]
    host_cpu: tuple[Point, ...]
    """0…1."""
    host_memory: tuple[Point, ...]
    """Bytes."""


def trends(run: Run, now: float) -> Trends:
    """The series of the run."""
    return Trends(
        now=now,
        loss_values=_values(run.training.loss_by_step),
        throughput_values=_values(run.training.throughput_by_step),
        marks=marks(run),
        throughput_unit=run.training.throughput_unit,
        host_cpu=run.cores.host_cpu.points(most=POINTS),
        host_memory=run.cores.host_memory.points(most=POINTS),
    )


def _values(reported: deque[Report]) -> tuple[StepValue, ...]:
    return tuple(StepValue(*one) for one in islice(reported, max(0, len(reported) - VALUES), None))


def marks(run: Run) -> tuple[TrainingMark, ...]:
    """The newest compiles, checkpoints and failures, by time."""
    training = run.training
    compiles = (span for span in run.compiles.totals.spans() if span.kind is SpanKind.COMPILE)
    found = [
        TrainingMark(
            MarkKind.FAILED if span.outcome == AttemptOutcome.FAILED else MarkKind.COMPILING,
            span.start,
            training.step_at(span.start),
        )
        for span in nlargest(MARKS, compiles, key=lambda span: span.start)
    ]
    found += [TrainingMark(MarkKind.CHECKPOINT, saved.time, saved.step) for saved in training.checkpoints]
    found += [TrainingMark(MarkKind.FAILED, death.time, training.step_at(death.time)) for death in training.deaths]
    found += [TrainingMark(MarkKind.FAILED, error.time, training.step_at(error.time)) for error in training.errors]
    exhausted = run.cores.exhausted.first
    found += [TrainingMark(MarkKind.FAILED, exhausted, training.step_at(exhausted))] if exhausted is not None else []
    found.sort(key=lambda mark: mark.time or 0.0)
    return tuple(_once_a_step(found)[-MARKS:])


def _once_a_step(found: Iterable[TrainingMark]) -> list[TrainingMark]:
    """One failure per step: if a worker raises an error and dies, and its launcher with it, that counts once."""
    kept: dict[object, TrainingMark] = {}
    for number, mark in enumerate(found):
        kept.setdefault(mark.step if mark.state is MarkKind.FAILED and mark.step is not None else (number,), mark)
    return list(kept.values())
