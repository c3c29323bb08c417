"""How long each step of each rank took, the newest ones: what a picture of ranks and steps is made of."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import inf

import msgspec

from neuron_top.events import EventsFolded, StepReported, StepTime

STEPS_KEPT = 256
"""Of each rank."""
MOST_STEP = 1 << 53
"""A larger number is no step."""
MOST_RANKS = 8192
"""Ranks beyond these are counted, and not kept."""


class RankSteps(msgspec.Struct, kw_only=True):
    """The newest steps of a rank, in the order in which they were printed."""

    node: str
    rank: int | None
    """None: its lines name no rank."""
    steps: array[int] = msgspec.field(default_factory=lambda: array("q"))
    seconds: array[float] = msgspec.field(default_factory=lambda: array("d"))
    """Of each of `steps`: as printed, else from the distance of the clocks of two reports."""
    last: tuple[int, float] | None = None

    def newest(self, count: int = STEPS_KEPT) -> Iterator[tuple[int, float]]:
        """(step, seconds), oldest first."""
        return zip(self.steps[-count:], self.seconds[-count:], strict=True)

    def add(self, step: int, time: float | None, printed: float | None) -> None:
        """Take a report."""
        before = self.last
        if before is not None and step == before[0]:
            return  # the same step again, in another line or another log
        self.last = (step, time) if time is not None else None
        seconds = printed
        if seconds is None and before is not None and time is not None and step > before[0]:
            seconds = (time - before[1]) / (step - before[0])
        if seconds is None or not 0 < seconds < inf:
            return
        if self.steps and step <= self.steps[-1]:  # counted anew: another epoch, or the job began again
            del self.steps[:], self.seconds[:]
        self.steps.append(step)
        self.seconds.append(seconds)
        if len(self.steps) > 2 * STEPS_KEPT:
            del self.steps[:-STEPS_KEPT], self.seconds[:-STEPS_KEPT]


class StepTimeTracker:
    """Steps by node and rank."""

    def __init__(self) -> None:
        self.ranks: dict[tuple[str, int | None], RankSteps] = {}
        self.left_out: dict[tuple[str, int | None], None] = {}
        """Ranks for which there was no room."""

    def apply(self, event: StepReported, rank: int | None) -> None:
        """A step was printed; `rank`: whose it is, as far as anybody knows."""
        if event.step is not None and 0 <= event.step <= MOST_STEP:
            self._add(event.node, StepTime(rank, event.step, event.time, event.step_seconds))

    def apply_folded(self, event: EventsFolded) -> None:
        """Several steps were printed, reported at once."""
        for step in event.steps:
            if 0 <= step.step <= MOST_STEP:
                self._add(event.node, step)

    def _add(self, node: str, step: StepTime) -> None:
        key = (node, step.rank)
        rank = self.ranks.get(key)
        if rank is None:
            if len(self.ranks) >= MOST_RANKS:
                if len(self.left_out) < MOST_RANKS:
                    self.left_out[key] = None
                return
            rank = self.ranks[key] = RankSteps(node=node, rank=step.rank)
        rank.add(step.step, step.time, step.seconds)
