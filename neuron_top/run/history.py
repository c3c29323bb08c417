"""Series of numbers that never outgrow their memory and never lose a peak.

A series has at most `capacity` buckets. When they are used up, two neighbors become one, and later buckets last twice
as long: the whole past stays visible, but coarser, with mean and maximum of each bucket. The buckets are flat arrays of
4-byte floats, so that eight hours of 128 cores at 1 Hz take far less than 100 MiB.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import msgspec

_UNKNOWN = float("nan")


class Point(msgspec.Struct, frozen=True):
    """A bucket of a series: its start (seconds since the epoch), mean and maximum of its samples."""

    time: float
    mean: float
    peak: float


class Series:
    """Samples in time, downsampled as they age. A sample that is older than the newest joins the newest bucket."""

    __slots__ = ("_capacity", "_count", "_mean", "_peak", "_start", "_step")

    def __init__(self, step: float = 1.0, capacity: int = 3600) -> None:
        """`step`: seconds a bucket lasts at first; `capacity`: buckets kept, an even number of at least 2."""
        self._capacity = max(2, capacity + capacity % 2)
        self._step = step
        self._start: float | None = None
        self._mean: array[float] = array("f")
        self._peak: array[float] = array("f")
        self._count = 0

    def __len__(self) -> int:
        return len(self._mean)

    @property
    def step(self) -> float:
        """Seconds that a bucket lasts now."""
        return self._step

    @property
    def bytes(self) -> int:
        """What the samples take in memory."""
        return (len(self._mean) + len(self._peak)) * self._mean.itemsize

    def add(self, time: float, value: float) -> None:
        """Take one sample."""
        if self._start is None:
            self._start = time
        index = max(int((time - self._start) / self._step), len(self._mean) - 1)
        while index >= self._capacity:
            self._halve()
            index = max(int((time - self._start) / self._step), len(self._mean) - 1)
        if index == len(self._mean) - 1:
            self._count += 1
            self._mean[index] += (value - self._mean[index]) / self._count
            self._peak[index] = max(self._peak[index], value)
            return
        gap = index - len(self._mean)
        self._mean.extend([_UNKNOWN] * gap + [value])
        self._peak.extend([_UNKNOWN] * gap + [value])
        self._count = 1

    def set_back(self, seconds: float) -> None:
        """Date all samples earlier, as the clock they were dated by was set back by so many seconds."""
        if self._start is not None:
            self._start -= seconds

    def _halve(self) -> None:
        mean, peak = self._mean, self._peak
        if len(mean) % 2:
            mean.append(_UNKNOWN)
            peak.append(_UNKNOWN)
        pairs = range(0, len(mean), 2)
        self._mean = array("f", (_middle(mean[i], mean[i + 1]) for i in pairs))
        self._peak = array("f", (_larger(peak[i], peak[i + 1]) for i in pairs))
        self._step *= 2
        self._count = max(1, self._count)

    def points(self, since: float | None = None, most: int | None = None) -> tuple[Point, ...]:
        """Buckets with samples from `since` on, oldest first; neighbors are joined until there are at most `most`."""
        if self._start is None:
            return ()
        first = 0 if since is None else max(0, int((since - self._start) / self._step))
        every = 1 if most is None or most < 1 else max(1, -(-(len(self._mean) - first) // most))
        if every == 1:
            start, step = self._start, self._step
            pairs = enumerate(zip(self._mean[first:], self._peak[first:], strict=True), first)
            return tuple(Point(start + i * step, mean, peak) for i, (mean, peak) in pairs if mean == mean)
        made = (self._joined(i, min(i + every, len(self._mean))) for i in range(first, len(self._mean), every))
        return tuple(point for point in made if point is not None)

    def _joined(self, first: int, end: int) -> Point | None:
        means = [value for value in self._mean[first:end] if value == value]
        if not means or self._start is None:
            return None
        peak = max(value for value in self._peak[first:end] if value == value)
        return Point(self._start + first * self._step, sum(means) / len(means), peak)


def _middle(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return (a + b) / 2


def _larger(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return max(a, b)


class Recent:
    """The last samples as they came, in a ring of fixed size: what sparklines and smoothing read."""

    __slots__ = ("_capacity", "_next", "_times", "_values")

    def __init__(self, capacity: int = 600) -> None:
        """`capacity`: samples kept."""
        self._capacity = capacity
        self._next = 0
        self._times: array[float] = array("d")
        self._values: array[float] = array("f")

    def __len__(self) -> int:
        return len(self._values)

    @property
    def bytes(self) -> int:
        """What the samples take in memory."""
        return len(self._values) * (self._times.itemsize + self._values.itemsize)

    def add(self, time: float, value: float) -> None:
        """Take one sample; the oldest goes when the ring is full."""
        if len(self._values) < self._capacity:
            self._times.append(time)
            self._values.append(value)
            return
        self._times[self._next], self._values[self._next] = time, value
        self._next = (self._next + 1) % self._capacity

    def samples(self, most: int | None = None) -> list[tuple[float, float]]:
        """(time, value), oldest first; the newest `most` of them."""
        return list(zip(self._ordered(self._times, most), self._ordered(self._values, most), strict=True))

    def values(self, most: int | None = None) -> tuple[float, ...]:
        """The newest `most` values, oldest first."""
        return tuple(self._ordered(self._values, most))

    def _ordered(self, ring: array[float], most: int | None) -> array[float]:
        whole = ring[self._next :] + ring[: self._next]
        return whole if most is None else whole[max(0, len(whole) - most) :]

    def mean_since(self, since: float) -> float | None:
        """Mean of the newest samples back to `since`; None when there is none."""
        total, count, size = 0.0, 0, len(self._values)
        for back in range(1, size + 1):
            index = (self._next - back) % size
            if self._times[index] < since:
                break
            total, count = total + self._values[index], count + 1
        return total / count if count else None


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two in the middle. Raises ValueError for none.

    Not from `statistics`: that imports fractions and decimals, 20 ms before a first frame.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no value has no median")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
