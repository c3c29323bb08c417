"""Adds gaps to charts where samples are missing, instead of a line from the last one to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from neuron_top.run.history import median

LEAST_GAP_SECONDS = 5.0
_INTERVALS = 9
_TIMES_AS_LONG = 4.0


def with_gaps(samples: Iterable[tuple[float, float]]) -> tuple[tuple[float, float | None], ...]:
    """(time, value) in order of time, with an unknown value in the middle of each gap.

    A gap lasts at least five seconds, and four times as long as samples lay apart before it. Only what came before
    counts, so that later samples leave a chart as it is.
    """
    shown: list[tuple[float, float | None]] = []
    before, intervals = None, deque[float](maxlen=_INTERVALS)
    for time, value in samples:
        if before is not None:
            interval = time - before
            is_long = interval > LEAST_GAP_SECONDS  # checked first, as most are not, and each chart has hundreds
            if is_long and intervals and interval > _TIMES_AS_LONG * median(intervals):
                shown.append((before + interval / 2, None))
            intervals.append(interval)
        shown.append((time, value))
        before = time
    return tuple(shown)
