"""Loss and throughput of several runs over one axis: by step, and by seconds since each run's first value."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.run.model import Run
from neuron_top.views.trends import StepValue, trends

MOST_RUNS = 8
"""More lines than this are not distinguished."""
LETTERS = "ABCDEFGH"
"""How they are distinguished besides by color."""
POINTS = 1000
"""Values of a curve at most; of more, evenly chosen ones with the last."""


class OverlaidRun(msgspec.Struct, frozen=True, kw_only=True):
    """The curves of one run. `time` of a value counts from the first one of the run, of either curve."""

    id: str
    title: str
    loss: tuple[StepValue, ...]
    throughput: tuple[StepValue, ...]
    throughput_unit: str


def overlaid_run(identity: str, title: str, run: Run) -> OverlaidRun:
    """The curves of a run, to be laid over those of others."""
    series = trends(run, 0.0)
    times = [value.time for value in (*series.loss_values, *series.throughput_values) if value.time is not None]
    start = min(times, default=0.0)
    return OverlaidRun(
        id=identity,
        title=title,
        loss=_from_start(series.loss_values, start),
        throughput=_from_start(series.throughput_values, start),
        throughput_unit=series.throughput_unit,
    )


def _from_start(values: Sequence[StepValue], start: float) -> tuple[StepValue, ...]:
    stride = max(1, -(-len(values) // POINTS))
    shown = [*values[:-1:stride], *values[-1:]]
    return tuple(value._replace(time=None if value.time is None else value.time - start) for value in shown)
