"""How a cache grew: what was written lately and is still there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import ceil

import msgspec

from neuron_top.cache.use import is_ahead
from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.views.entries import EntryRow

DAY = 86400.0
MOST_POINTS = 400
SPANS = (("24 hours", DAY), ("7 days", 7 * DAY), ("30 days", 30 * DAY))


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """Entries whose newest file is no older than a span."""

    span: str
    entries: int
    bytes: int


def growth(rows: Sequence[EntryRow], now: float) -> list[Growth]:
    """A row per span; empty where no entry says when it was written. What was removed meanwhile is not in it."""
    dated = [(now - changed, size) for changed, size in _dated(rows, now)]
    if not dated:
        return []
    found = []
    for span, seconds in SPANS:
        sizes = [size for age, size in dated if age <= seconds]
        found.append(Growth(span=span, entries=len(sizes), bytes=sum(sizes)))
    return found


def growth_curve(rows: Iterable[EntryRow], now: float) -> list[tuple[float, int]]:
    """(time, bytes written until then and still there), rising; thinned to some hundred points, the last one kept."""
    written = sorted(_dated(rows, now))
    points = list(zip((time for time, _ in written), accumulate(size for _, size in written), strict=True))
    step = max(1, ceil(len(points) / MOST_POINTS))
    return points[::-step][::-1]


def _dated(rows: Iterable[EntryRow], now: float) -> list[tuple[float, int]]:
    """(when it was written, its bytes) of each entry that says when; a time that no calendar has says nothing, nor one
    far ahead of the clock."""
    dated = ((row.changed, row.bytes) for row in rows if row.changed is not None and is_in_calendar(row.changed))
    return [(changed, size) for changed, size in dated if not is_ahead(changed, now)]
