"""How good the estimates of compile time are: leave one out over the recordings in this user's store.

    python -m tests.bench.bench_estimate

Each measured compile is estimated from all others; printed are how many had ground for an estimate, how many fell
into its range, and the median of |middle of the range − truth| ÷ truth, by ground: the same graph, or similar size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from neuron_top.run.estimate import Estimator, Past
from neuron_top.settings import load
from tests.bench.figures import Figure


class Error(msgspec.Struct, frozen=True):
    """The errors of one kind of ground."""

    ground: str
    estimated: int
    inside: int
    relative: float
    """Median of |middle − truth| ÷ truth."""


def leave_one_out(past: Sequence[Past]) -> tuple[Error, ...]:
    """Estimate each compile from all others."""
    found: dict[str, list[tuple[bool, float]]] = {}
    for index, one in enumerate(past):
        told = Estimator([*past[:index], *past[index + 1 :]]).total(one.module, one.graph_bytes)
        if told is None or one.seconds <= 0:
            continue
        ground = "similar size" if told.ground.endswith("similar size") else told.ground
        error = abs((told.low + told.high) / 2 - one.seconds) / one.seconds
        found.setdefault(ground, []).append((told.low <= one.seconds <= told.high, error))
    return tuple(
        Error(ground, len(rows), sum(inside for inside, _ in rows), median(error for _, error in rows))
        for ground, rows in sorted(found.items())
    )


def measure() -> Iterator[Figure]:
    """Prints its table; there is no peer that estimates compile times, so it gives no ratio."""
    from neuron_top.pipeline.afterwards import history

    past = history(load()[0])[:2000]
    print(f"estimates: {len(past)} measured compiles in the recordings")
    for one in leave_one_out(past):
        print(f"  {one.ground}: {one.estimated} estimated, {one.inside / one.estimated:.0%} inside the range, "
              f"median error {one.relative:.0%}")  # fmt: skip
    return
    yield


if __name__ == "__main__":
    list(measure())
