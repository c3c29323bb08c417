"""Spares a service that does not answer: a job must not wait for it anew with every graph."""

from __future__ import annotations

import time
from collections.abc import Callable

_TIMES = 10
"""It is asked again after this many times as long as it took to fail: waiting stays below a tenth of the time."""


class Unanswered:
    """When a service that failed may be asked again. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._again = float("-inf")

    def is_spared(self) -> bool:
        """Whether it is not to be asked now."""
        return self._clock() < self._again

    def failed(self, asked: float) -> None:
        """Note that a request that began at `asked`, by the same clock, has failed."""
        now = self._clock()
        self._again = now + _TIMES * (now - asked)

    def now(self) -> float:
        """The time by its clock."""
        return self._clock()
