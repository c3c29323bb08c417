"""How a cache grew: what was written lately and is still there. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.views.entries import EntryRow

DAY = 86400.0
SPANS = (("24 hours", DAY), ("7 days", 7 * DAY), ("30 days", 30 * DAY))


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """Entries whose newest file is no older than a span."""

    span: str
    entries: int
    bytes: int


def growth(rows: Sequence[EntryRow], now: float) -> list[Growth]:
    """A row per span; empty where no entry says when it was written. What was removed meanwhile is not in it."""
    dated = [(now - row.changed, row.bytes) for row in rows if row.changed is not None]
    if not dated:
        return []
    found = []
    for span, seconds in SPANS:
        sizes = [size for age, size in dated if age <= seconds]
        found.append(Growth(span=span, entries=len(sizes), bytes=sum(sizes)))
    return found
