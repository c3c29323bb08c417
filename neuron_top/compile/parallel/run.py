"""Compile many collected graphs side by side, bounded by workers and by memory, wherever the executor runs them.

Interrupted, everything that was submitted is ended, locks are given back and graphs stay collected: the next call goes
on there.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from neuron_top.compile.parallel.collect import Counts
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Queue, QueueProgress
from neuron_top.compile.parallel.executor import EntryTask, Executor
from neuron_top.compile.parallel.lines import ParallelLog

TICK_SECONDS = 0.2


class _Ended(NamedTuple):
    worker: int
    future: Future[CompileResult]


class ParallelCompile:
    """One parallel compile of a set of graphs."""

    def __init__(
        self,
        executor: Executor,
        *,
        workers: int,
        retries: int,
        log: ParallelLog,
        show: Callable[[QueueProgress], None],
    ) -> None:
        self._executor, self._workers, self._retries = executor, workers, retries
        self._log, self._show = log, show
        self._ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._tasks: dict[int, int] = {}
        self.ended: dict[CollectedGraph, CompileResult] = {}
        """How each graph ended so far; also after an interrupt."""

    def run(
        self, graphs: Sequence[CollectedGraph], counts: Counts, observed_peak: int | None
    ) -> dict[CollectedGraph, CompileResult]:
        """Compile them all; gives how each ended. Raises KeyboardInterrupt after everything has been ended."""
        line = Queue(graphs, min(self._workers, len(graphs)), time.monotonic(), observed_peak)
        self.ended = line.outcomes
        try:
            while not line.finished:
                self._start_what_fits(line, len(graphs))
                self._show(line.progress(time.monotonic()))
                with contextlib.suppress(queue.Empty):
                    worker, future = self._ended.get(timeout=TICK_SECONDS)
                    line.finish(worker, future.result())
                    self._count(line, counts)
        except BaseException:
            self._executor.cancel()
            raise
        self._show(line.progress(time.monotonic()))
        for worker, tasks in sorted(self._tasks.items()):
            self._log.worker_finished(worker, tasks)
        return line.outcomes

    def _start_what_fits(self, line: Queue, total: int) -> None:
        while (given := line.start_next(time.monotonic(), *self._executor.memory())) is not None:
            worker, graph = given
            if worker not in self._tasks:
                self._log.worker_started(worker, total)
            self._tasks[worker] = self._tasks.get(worker, 0) + 1
            task = EntryTask(graph=graph, retries=self._retries, memory=line.expected_peak(graph))
            self._executor.submit(task).add_done_callback(functools.partial(self._note, worker))
        self._executor.flush()

    def _note(self, worker: int, future: Future[CompileResult]) -> None:
        self._ended.put(_Ended(worker, future))

    def _count(self, line: Queue, counts: Counts) -> None:
        now = line.progress(time.monotonic())
        left, locked = now.left or 0, counts.locked + now.running_count
        failed, done = counts.failed + now.failed, counts.done + now.done
        total = left + locked + failed + done
        self._log.counters(remaining=left, locked=locked, failed=failed, done=done, total=total)
