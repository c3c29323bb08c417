"""How long each step of each rank took, the newest ones, for charts of ranks and steps."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import inf

import msgspec

from neuron_top.events import EventsFolded, StepReported, StepTime

STEPS_KEPT = 256
"""Most steps that are kept per rank."""
MOST_STEP = 1 << 53
"""A larger number is no step."""
MOST_RANKS = 8192
"""Ranks beyond this number are only counted."""

ARRIVAL_SECONDS = 0.1
"""Lines without a clock that were read within this time came together, so that when each was printed is unknown."""


class StepPace(msgspec.Struct):
    """Seconds per step, from the times between reports.

    Reports of one moment count as one: those with the same clock reading, and those without a clock that came together.
    """

    first: tuple[int, float] | None = None
    """Step and time of the first report of the newest moment."""
    newest: int | None = None

    def add(self, step: int, time: float | None, *, arrived: bool) -> float | None:
        """Take a report; if it begins a new moment, returns the seconds per step since the one before. `arrived`: its
        time is when it was read."""
        if step == self.newest:  # reported again, in another line or another log
            return None
        is_back = self.newest is not None and step < self.newest
        before, self.newest = self.first, step
        if before is None or time is None or is_back or time < before[1]:
            self.first = (step, time) if time is not None else None
            return None
        seconds = time - before[1]
        if seconds < ARRIVAL_SECONDS if arrived else seconds <= 0:
            return None
        self.first = step, time
        return seconds / (step - before[0])


class RankSteps(msgspec.Struct, kw_only=True):
    """The newest steps of a rank, in the order in which they were printed."""

    node: str
    rank: int | None
    """None: its lines name no rank."""
    steps: array[int] = msgspec.field(default_factory=lambda: array("q"))
    seconds: array[float] = msgspec.field(default_factory=lambda: array("d"))
    """For each of `steps`: as printed, else from the clocks of two reports."""
    pace: StepPace = msgspec.field(default_factory=StepPace)
    together: array[int] = msgspec.field(default_factory=lambda: array("q"))
    """Steps of the newest moment after its first one; their duration is known once the next moment begins."""

    def newest(self, count: int = STEPS_KEPT) -> Iterator[tuple[int, float]]:
        """(step, seconds), oldest first."""
        return zip(self.steps[-count:], self.seconds[-count:], strict=True)

    def add(self, step: int, time: float | None, printed: float | None, *, arrived: bool) -> None:
        """Take a report; `arrived`: its time is when it was read."""
        if step == self.pace.newest:
            return
        before = self.pace.first
        paced = self.pace.add(step, time, arrived=arrived)
        if printed is not None:
            self._keep(step, printed)
        elif paced is not None:
            for earlier in (*self.together, step):
                self._keep(earlier, paced)
        elif self.pace.first == before and before is not None:
            self.together.append(step)
            del self.together[:-STEPS_KEPT]
            return
        del self.together[:]

    def _keep(self, step: int, seconds: float) -> None:
        if not 0 < seconds < inf:
            return
        if self.steps and step <= self.steps[-1]:  # counting began anew: another epoch, or the job was restarted
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

    def apply(self, event: StepReported, rank: int | None, *, is_old: bool = False) -> None:
        """A step was printed. `rank`: whose it is, if known; `is_old`: when it was printed is unknown."""
        if event.step is not None and 0 <= event.step <= MOST_STEP:
            time = None if is_old else event.time
            self._add(event.node, StepTime(rank, event.step, time, event.step_seconds, event.at is None))

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
        rank.add(step.step, step.time, step.seconds, arrived=step.arrived)
