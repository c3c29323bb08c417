"""How long a compile took, where the lines allow an exact answer (to the millisecond of their stamps).

| generation | from | to |
| G0 | `Cache dir for the neff` | the next `Exiting with …` |
| G2 under parallel compile | start line | next counter line of the same process |
| G3 worker of parallel compile | previous line of the same process | completion line |

Anything else is a bound and is not given here: a process may compile several graphs at once in threads.
"""

from __future__ import annotations

from neuron_top.events import (
    AnyEvent,
    CompileCompleted,
    CompileFailed,
    CompileStarted,
    QueueCounted,
    WorkerStarted,
)
from neuron_top.parsers.base import Record

_MOST = 100_000
Start = tuple[str, float]


class Durations:
    """Fed with headers and events in the order of the stream; `exact` is seconds by module."""

    def __init__(self) -> None:
        self.exact: dict[str, float] = {}
        self._starts: dict[int | None, list[Start]] = {}
        self._workers: dict[int | None, float] = {}
        """G3 workers: when each was last heard of, which is when its next compile began."""
        self._previous: dict[int | None, float] = {}

    def meet(self, record: Record) -> None:
        """A wrapper header: any line of a worker moves the begin of its next compile."""
        if record.at is None or record.pid not in self._workers:
            return
        self._previous[record.pid] = self._workers[record.pid]
        self._workers[record.pid] = record.at

    def add(self, event: AnyEvent) -> None:
        """An event of the stream."""
        if isinstance(event, CompileStarted):
            self._started(event)
        elif isinstance(event, CompileCompleted):
            self._completed(event)
        elif isinstance(event, QueueCounted):
            self._counted(event)
        elif isinstance(event, CompileFailed):
            self._starts.pop(event.pid, None)
        elif isinstance(event, WorkerStarted) and event.at is not None and len(self._workers) < _MOST:
            self._workers[event.pid] = event.at

    def _started(self, event: CompileStarted) -> None:
        if event.module is not None and event.at is not None and len(self._starts) < _MOST:
            self._starts.setdefault(event.pid, [])[2:] = []
            self._starts[event.pid].append((event.module, event.at))

    def _completed(self, event: CompileCompleted) -> None:
        if event.at is None:
            return
        if event.generation == "G0":
            self._end(event.pid, event.at)
        elif event.module is not None and event.pid in self._workers:
            begin = self._previous.get(event.pid)
            if begin is not None:
                self._give(event.module, begin, event.at)

    def _counted(self, event: QueueCounted) -> None:
        if event.at is not None:
            self._end(event.pid, event.at)

    def _end(self, pid: int | None, at: float) -> None:
        """Exact only if the process compiled one graph: with two begun, either may have ended."""
        starts = self._starts.pop(pid, [])
        if len(starts) == 1:
            self._give(*starts[0], at)

    def _give(self, module: str, begin: float, end: float) -> None:
        if end >= begin and len(self.exact) < _MOST:
            self.exact[module] = round(end - begin, 3)
