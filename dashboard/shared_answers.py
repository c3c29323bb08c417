"""Computes each answer once, in a thread, however many browsers ask for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

Answer = TypeVar("Answer")

_MOST_KEPT = 64
"""The most different questions whose answers are kept."""


class _Asked(NamedTuple, Generic[Answer]):
    at: float
    task: asyncio.Task[Answer]
    before: tuple[float, asyncio.Task[Answer]] | None
    """The previous answer and when it was requested."""
    version: int
    """Version of the subject of the question; a later one is greater."""


class SharedAnswers(Generic[Answer]):
    """Answers by question, each computed anew after `seconds`. For one event loop.

    With `stale`, nobody waits for a new answer while the previous one is at most that many seconds old, and an answer
    that somebody asked for that recently is computed again in the background, so that the next request finds it ready.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic, *, stale: float = 0.0) -> None:
        self._seconds, self._clock, self._stale = seconds, clock, stale
        self._asked: dict[Hashable, _Asked[Answer]] = {}
        self._wanted: dict[Hashable, float] = {}
        """When a question was asked last."""

    async def get(self, question: Hashable, work_out: Callable[[], Answer], version: int = 0) -> Answer:
        """The answer that there is, or that is being worked out; else `work_out()`. What it raises, all get.

        An answer about an earlier `version` is none.
        """
        asked = self._asked.get(question)
        while asked is not None and asked.version < version and not asked.task.done():  # one at a time per question
            await asyncio.wait([asked.task])
            asked = self._asked.get(question)
        self._wanted[question] = now = self._clock()
        if asked is None or asked.version < version or (asked.task.done() and now - asked.at > self._seconds):
            asked = self._begin(question, work_out, version)
        if self._stale and not asked.task.done() and asked.before is not None and now - asked.before[0] <= self._stale:
            return asked.before[1].result()
        return await asyncio.shield(asked.task)  # a browser that goes away does not cancel it for the others

    def _begin(self, question: Hashable, work_out: Callable[[], Answer], version: int) -> _Asked[Answer]:
        asked = self._asked.pop(question, None)  # keep the newest question last
        before = (asked.at, asked.task) if asked is not None and asked.task.done() and _is_good(asked.task) else None
        while len(self._asked) >= _MOST_KEPT:
            oldest = next(iter(self._asked))
            del self._asked[oldest], self._wanted[oldest]
        task = asyncio.create_task(asyncio.to_thread(work_out))
        if self._stale:
            task.add_done_callback(lambda done: self._later(question, work_out, done))
        made = self._asked[question] = _Asked(self._clock(), task, before, version)
        return made

    def _later(self, question: Hashable, work_out: Callable[[], Answer], done: asyncio.Task[Answer]) -> None:
        """Work a question out again, unless it was worked out meanwhile or nobody asks any more."""
        if not _is_good(done) or not self._stands(question, done):  # whoever asks next is told what is wrong
            return
        asyncio.get_running_loop().call_later(self._seconds, self._again, question, work_out, done)

    def _stands(self, question: Hashable, task: asyncio.Task[Answer]) -> bool:
        """Whether this is still the newest answer to the question."""
        asked = self._asked.get(question)
        return asked is not None and asked.task is task

    def _again(self, question: Hashable, work_out: Callable[[], Answer], done: asyncio.Task[Answer]) -> None:
        if self._stands(question, done) and self._clock() - self._wanted[question] <= self._stale:
            self._begin(question, work_out, self._asked[question].version)


def _is_good(task: asyncio.Task[Answer]) -> bool:
    return not task.cancelled() and task.exception() is None
