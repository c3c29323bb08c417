"""Follows the SDK's own `neuron_parallel_compile` for our screen: its progress is read from its lines.

Its counters describe a whole cache folder and its list has a graph once per rank, so finished and failed graphs are
counted from the compiles themselves, and only the number left comes from the counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neuron_top.compile.parallel.compile_queue import QueueProgress
from neuron_top.events import (
    AnyEvent,
    CompileCompleted,
    CompileFailed,
    CompilerPassed,
    CompileStarted,
    QueueCounted,
    SummaryReported,
    WorkerFinished,
    WorkerStarted,
)

TOOL = "neuron_parallel_compile"


def sdk_command(tool: str, command: Sequence[str], *, step: str = "", jobs: int | None = None) -> list[str]:
    """The tool's command line; `step` is `collect`, `compile` or "" for both."""
    options = ["--command", step] if step else []
    if jobs is not None:
        options += ["--num_parallel", str(jobs)]
    return [tool, *options, *command]


class SdkProgress:
    """Adds up the events in the tool's output."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._started = self._passed = self._completed = self._failed = 0
        self._left: int | None = None
        self._workers: set[str] = set()
        self._summary: SummaryReported | None = None

    @property
    def compiling(self) -> bool:
        """True from the first sign of a compile on: before, the tool runs the script."""
        return bool(self._workers or self._left is not None or self._started or self._summary)

    def apply(self, events: Iterable[AnyEvent]) -> None:
        """Take events into account."""
        for event in events:
            match event:
                case CompileStarted():
                    self._started += 1
                case CompilerPassed():
                    self._passed += 1
                case CompileCompleted():
                    self._completed += 1
                case CompileFailed():
                    self._failed += 1
                case QueueCounted():
                    self._left = event.remaining
                case WorkerStarted():
                    self._workers.add(event.worker)
                case WorkerFinished():
                    self._workers.discard(event.worker)
                case SummaryReported():
                    self._summary = event
                case _:
                    pass

    def progress(self, now: float) -> QueueProgress:
        """The tool's progress, as far as its lines show it; `now` is of the same clock as `began`."""
        elapsed = now - self._began
        if self._summary is not None:
            total, failed = self._summary.total, self._summary.failed or 0
            return QueueProgress(total=total, done=total - failed, failed=failed, left=0, elapsed=elapsed)
        done = max(self._completed, self._passed)  # the newer format prints both, the older one only passes
        running = self._running(done)
        left = self._left
        return QueueProgress(
            total=None if left is None else done + self._failed + running + left,
            done=done,
            failed=self._failed,
            left=left,
            running_count=running,
            elapsed=elapsed,
        )

    def _running(self, done: int) -> int:
        """The running compiles: exact if starts are announced, else the workers that still have something to do."""
        if self._started:
            return max(0, self._started - done - self._failed)
        return len(self._workers) if self._left else 0
