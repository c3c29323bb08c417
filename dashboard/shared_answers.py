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


class SharedAnswers(Generic[Answer]):
    """Answers by question, each as old as `seconds` at most. For one event loop."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._asked: dict[Hashable, _Asked[Answer]] = {}

    async def get(self, question: Hashable, work_out: Callable[[], Answer]) -> Answer:
        """The answer that there is, or that is being worked out; else `work_out()`. What it raises, all get."""
        asked = self._asked.get(question)
        if asked is None or (asked.task.done() and self._clock() - asked.at > self._seconds):
            self._asked.pop(question, None)  # the newest question stands last
            while len(self._asked) >= _MOST_KEPT:
                del self._asked[next(iter(self._asked))]
            asked = self._asked[question] = _Asked(self._clock(), asyncio.create_task(asyncio.to_thread(work_out)))
        return await asyncio.shield(asked.task)  # one browser that goes away takes nothing from the others
