"""How long a compile took, where the lines allow an exact answer (to the millisecond of their stamps).

| generation | from | to |
| G0 | `Cache dir for the neff` | the next `Exiting with …` |
| G2 under parallel compile | start line | next counter line of the same process |
| G3 worker of parallel compile | previous line of the same process | completion line |
| our own back end, which adds a start line to G3 | start line | completion line of the same graph |

Anything else is an upper bound, taken between two lines of the same process: it may have done other things in between.
A process that is seen to compile several graphs at once, in threads, gives no bound for those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neuron_top.events import (
    AnyEvent,
    CompileCompleted,
    CompileFailed,
    CompilerPassed,
    CompileStarted,
    LogGeneration,
    QueueCounted,
    WorkerStarted,
)

_MOST = 100_000
_MOST_AT_ONCE = 1000
"""Compiles of one process that are remembered as begun."""


class Durations:
    """Fed with headers and events in the order of the stream."""

    def __init__(self) -> None:
        self.exact: dict[str, float] = {}
        """Seconds by module, measured."""
        self.at_most: dict[str, float] = {}
        """Seconds by module, at most: the time between two lines of the same process."""
        self._starts: dict[int | None, dict[str, float]] = {}
        """When each graph's compile began, of those that have not ended, by process."""
        self._ended = 0
        """How many compiles have ended, of all processes."""
        self._ended_at_start: dict[int | None, int] = {}
        """The same when a process last began a compile."""
        self._workers: set[int | None] = set()
        self._heard: dict[int | None, float] = {}
        """When each process printed its last header."""
        self._heard_before: dict[int | None, float] = {}
        """When it printed the one before that."""

    @property
    def in_order(self) -> bool:
        """Whether each line of a process must be read in order, since an exact time may depend on it.

        So it is with the workers of parallel compile.
        """
        return bool(self._workers)

    def add_header(self, pid: int, at: float) -> None:
        """Take a wrapper's header: any line of a process bounds the time of what it compiles."""
        before = self._heard.get(pid)
        if before is not None:
            self._heard_before[pid] = before
        elif len(self._heard) >= _MOST:
            return
        self._heard[pid] = at
        starts = self._starts.get(pid)
        if starts and len(starts) == 1:
            ((module, begin),) = starts.items()
            if at >= begin:
                self.at_most.setdefault(module, round(at - begin, 3))

    def add(self, event: AnyEvent) -> None:
        """Take an event of the stream."""
        if (adder := _ADDERS.get(type(event))) is not None:
            adder(self, event)

    def _started(self, event: CompileStarted) -> None:
        if event.module is None or event.at is None or len(self._starts) >= _MOST:
            return
        begun = self._starts.setdefault(event.pid, {})
        if len(begun) == 1 and self._ended_at_start[event.pid] == self._ended:
            (other,) = begun
            self.at_most.pop(other, None)  # this line bounded it, but its compile goes on
        self._ended_at_start[event.pid] = self._ended
        if len(begun) < _MOST_AT_ONCE:
            begun[event.module] = event.at

    def _failed(self, event: CompileFailed) -> None:
        self._ended += 1
        begun = self._starts.get(event.pid, {})
        if event.module in begun and len(begun) > 1:
            del begun[event.module]
        else:
            self._starts.pop(event.pid, None)

    def _passed(self, _event: CompilerPassed) -> None:
        self._ended += 1

    def _completed(self, event: CompileCompleted) -> None:
        self._ended += 1
        if event.at is None:
            return
        begun = self._starts.get(event.pid, {})
        if event.generation is LogGeneration.G0:
            self._end(event.pid, event.at)
        elif event.module in begun:
            self.at_most.pop(event.module, None)
            self._give(event.module, begun.pop(event.module), event.at)
        elif event.module is not None:
            begin = self._heard_before.get(event.pid)
            if begin is not None and event.at >= begin:
                kept = self.exact if event.pid in self._workers else self.at_most
                if len(kept) < _MOST:
                    kept[event.module] = round(event.at - begin, 3)

    def _counted(self, event: QueueCounted) -> None:
        if event.at is not None:
            self._end(event.pid, event.at)

    def _worker(self, event: WorkerStarted) -> None:
        if len(self._workers) < _MOST:
            self._workers.add(event.pid)

    def _end(self, pid: int | None, at: float) -> None:
        """Note the end of a compile. Its time is exact only if one graph had begun: with two, either may have ended."""
        starts = self._starts.pop(pid, {})
        if len(starts) == 1:
            ((module, begin),) = starts.items()
            self._give(module, begin, at)

    def _give(self, module: str, begin: float, end: float) -> None:
        if end >= begin and len(self.exact) < _MOST:
            self.exact[module] = round(end - begin, 3)


_ADDERS: dict[type, Callable[[Durations, Any], None]] = {
    CompileStarted: Durations._started,
    CompilerPassed: Durations._passed,
    CompileCompleted: Durations._completed,
    CompileFailed: Durations._failed,
    QueueCounted: Durations._counted,
    WorkerStarted: Durations._worker,
}
TIMED = frozenset(_ADDERS)
"""The events that `Durations.add` uses."""
