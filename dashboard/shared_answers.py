"""What many browsers ask at the same time is worked out once, in a thread, and given to all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

Answer = TypeVar("Answer")

_MOST_KEPT = 64
"""Different questions whose answers are kept."""


class _Asked(NamedTuple, Generic[Answer]):
    at: float
    task: asyncio.Task[Answer]
    before: tuple[float, asyncio.Task[Answer]] | None
    """When the answer before was asked for, and it."""


class SharedAnswers(Generic[Answer]):
    """Answers by question, worked out anew after `seconds`. For one event loop.

    Nobody waits for a new answer as long as the one before is not older than `stale` seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic, *, stale: float = 0.0) -> None:
        self._seconds, self._clock, self._stale = seconds, clock, stale
        self._asked: dict[Hashable, _Asked[Answer]] = {}

    async def get(self, question: Hashable, work_out: Callable[[], Answer]) -> Answer:
        """The answer that there is, or that is being worked out; else `work_out()`. What it raises, all get."""
        asked, now = self._asked.get(question), self._clock()
        if asked is None or (asked.task.done() and now - asked.at > self._seconds):
            before = (asked.at, asked.task) if asked is not None and _is_good(asked.task) else None
            self._asked.pop(question, None)  # the newest question stands last
            while len(self._asked) >= _MOST_KEPT:
                del self._asked[next(iter(self._asked))]
            task = asyncio.create_task(asyncio.to_thread(work_out))
            asked = self._asked[question] = _Asked(now, task, before)
        if not asked.task.done() and asked.before is not None and now - asked.before[0] <= self._stale:
            return asked.before[1].result()
        return await asyncio.shield(asked.task)  # one browser that goes away takes nothing from the others


def _is_good(task: asyncio.Task[Answer]) -> bool:
    return not task.cancelled() and task.exception() is None
