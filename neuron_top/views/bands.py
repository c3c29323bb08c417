"""Many cores over time as three lines: the lowest, the median and the highest of all cores at each moment. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.run.history import Point, median

MANY = 8
"""More cores than this are drawn as bands instead of one line each."""
MOST_TIMES = 240


class Bands(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of equal length, oldest first."""

    cores: int
    times: tuple[float, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]


def bands_of(series: Sequence[Sequence[Point]]) -> Bands:
    """The lowest, median and highest core of each interval; a core counts with its highest value in the interval, or
    not at all if it reported none."""
    reporting = [points for points in series if points]
    times = [point.time for points in reporting for point in points]
    if not times:
        return Bands(cores=0, times=(), low=(), middle=(), high=())
    start, span = min(times), max(times) - min(times)
    count = max(1, min(MOST_TIMES, max(len(points) for points in reporting)))
    step = span / count or 1.0
    buckets: dict[int, list[float]] = {}
    for points in reporting:
        own: dict[int, float] = {}
        for point in points:
            place = min(count, int((point.time - start) / step))
            own[place] = max(point.peak, own.get(place, point.peak))
        for place, value in own.items():
            buckets.setdefault(place, []).append(value)
    places = sorted(buckets)
    return Bands(
        cores=len(reporting),
        times=tuple(start + place * step for place in places),
        low=tuple(min(buckets[place]) for place in places),
        middle=tuple(median(buckets[place]) for place in places),
        high=tuple(max(buckets[place]) for place in places),
    )
