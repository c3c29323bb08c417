"""What a total was made of over time, in bounded memory, so that no chart shows a total that never existed.

A bucket keeps one whole sample: the one with the highest total. Parts that peaked at different moments are never
combined. When the buckets are used up, two neighbors become one, as in `history.Series`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import msgspec

_UNKNOWN = float("nan")


class Sample(msgspec.Struct, frozen=True):
    """One moment (seconds since the epoch) and the parts that were reported for it."""

    time: float
    parts: dict[str, float]


class BreakdownHistory:
    """Samples of parts by name. A sample that is older than the newest joins the newest bucket."""

    __slots__ = ("_capacity", "_kinds", "_parts", "_start", "_step", "_times", "_totals")

    def __init__(self, capacity: int = 600, kinds: int = 16) -> None:
        """`capacity`: buckets kept, an even number; `kinds`: names kept."""
        self._capacity = max(2, capacity + capacity % 2)
        self._step = 1.0
        """Seconds that a bucket lasts."""
        self._start: float | None = None
        self._times: array[float] = array("d")
        self._totals: array[float] = array("f")
        self._parts: dict[str, array[float]] = {}
        self._kinds = kinds

    def add(self, time: float, sizes: Mapping[str, float]) -> None:
        """Take one sample; parts beyond the number of names that is kept are left out of it."""
        if self._start is None:
            self._start = time
        index = max(int((time - self._start) / self._step), len(self._times) - 1)
        while index >= self._capacity:
            self._halve()
            index = max(int((time - self._start) / self._step), len(self._times) - 1)
        gap = index + 1 - len(self._times)
        for column in (self._times, self._totals, *self._parts.values()):
            column.extend([_UNKNOWN] * gap)
        total = sum(sizes.values())
        if not gap and self._totals[index] >= total:
            return
        self._times[index], self._totals[index] = time, total
        for name in sizes:
            if name not in self._parts and len(self._parts) < self._kinds:
                self._parts[name] = array("f", [_UNKNOWN] * len(self._times))
        for name, column in self._parts.items():
            column[index] = sizes.get(name, _UNKNOWN)

    def set_back(self, seconds: float) -> None:
        """Date all samples earlier, as the clock they were dated by was set back by so many seconds."""
        if self._start is not None:
            self._start -= seconds
            self._times = array("d", (time - seconds for time in self._times))

    def _halve(self) -> None:
        if len(self._times) % 2:
            for column in (self._times, self._totals, *self._parts.values()):
                column.append(_UNKNOWN)
        kept = self._highest(2)
        self._times = array("d", (self._times[i] for i in kept))
        self._totals = array("f", (self._totals[i] for i in kept))
        self._parts = {name: array("f", (column[i] for i in kept)) for name, column in self._parts.items()}
        self._step *= 2

    def _highest(self, every: int) -> list[int]:
        """Of each `every` buckets, the one with the highest total; one with an unknown total only if all are so."""
        totals = [-1.0 if total != total else total for total in self._totals]
        groups = (range(i, min(i + every, len(totals))) for i in range(0, len(totals), every))
        return [max(group, key=totals.__getitem__) for group in groups]

    def samples(self, most: int | None = None) -> tuple[Sample, ...]:
        """The samples kept, oldest first; if there are more than `most`, the highest of each group of neighbors."""
        every = 1 if most is None or most < 1 else max(1, -(-len(self._times) // most))
        kept = [i for i in self._highest(every) if self._times[i] == self._times[i]]
        return tuple(
            Sample(self._times[i], {name: column[i] for name, column in self._parts.items() if column[i] == column[i]})
            for i in kept
        )
