"""Compiles many collected graphs in parallel, bounded by workers and by memory, wherever the executor runs them.

If interrupted, it ends everything that was submitted and gives locks back; graphs stay collected, so the next call goes
on from there.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import msgspec

from neuron_top.compile.parallel.collect import Counts
from neuron_top.compile.parallel.compile_queue import (
    CollectedGraph,
    CompileResult,
    Fault,
    Queue,
    QueueProgress,
    Running,
)
from neuron_top.compile.parallel.executor import EntryTask, Executor
from neuron_top.compile.parallel.history import MemoryHistory
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.compile.parallel.reassign import next_attempt, reason

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
        cores: int = 1,
        needs: MemoryHistory | None = None,
    ) -> None:
        """`needs`: the memory to request from the executor's scheduler; `cores`: for each compile."""
        self._executor, self._workers, self._retries = executor, workers, retries
        self._log, self._show = log, show
        self._cores, self._needs = cores, needs or MemoryHistory()
        self._ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._counts: dict[int, int] = {}
        self._submitted: dict[int, EntryTask] = {}
        self._again: dict[CollectedGraph, EntryTask] = {}
        self._unfit: frozenset[str] = frozenset()
        self.ended: dict[CollectedGraph, CompileResult] = {}
        """How each graph ended so far; also after an interrupt."""

    def run(
        self, graphs: Sequence[CollectedGraph], counts: Counts, observed_peak: int | None
    ) -> dict[CollectedGraph, CompileResult]:
        """Compile all graphs; returns how each ended. Raises KeyboardInterrupt after everything has been ended."""
        line = Queue(graphs, min(self._workers, len(graphs)), time.monotonic(), observed_peak)
        self.ended = line.outcomes
        try:
            while not line.finished:
                self._start_what_fits(line, len(graphs))
                self._show(self._placed(line.progress(time.monotonic())))
                with contextlib.suppress(queue.Empty):
                    self._take(line, counts, self._ended.get(timeout=TICK_SECONDS))
                    while True:  # all that ended: what follows them is then submitted together
                        self._take(line, counts, self._ended.get_nowait())
        except BaseException:
            self._executor.cancel()
            raise
        self._show(line.progress(time.monotonic()))
        for worker, tasks in sorted(self._counts.items()):
            self._log.worker_finished(worker, tasks)
        return line.outcomes

    def _start_what_fits(self, line: Queue, total: int) -> None:
        while (given := line.start_next(time.monotonic(), *self._executor.memory())) is not None:
            worker, graph = given
            if worker not in self._counts:
                self._log.worker_started(worker, total)
            self._counts[worker] = self._counts.get(worker, 0) + 1
            task = self._submitted[worker] = self._task(graph)
            self._executor.submit(task).add_done_callback(functools.partial(self._note, worker))
        self._executor.flush()

    def _task(self, graph: CollectedGraph) -> EntryTask:
        task = self._again.pop(graph, None) or EntryTask(
            graph=graph, retries=self._retries, memory=self._needs.request(graph.operators), cores=self._cores
        )
        return msgspec.structs.replace(task, avoid=task.avoid | self._unfit)

    def _note(self, worker: int, future: Future[CompileResult]) -> None:
        self._ended.put(_Ended(worker, future))

    def _take(self, line: Queue, counts: Counts, ended: _Ended) -> None:
        result, task = ended.future.result(), self._submitted.pop(ended.worker)
        if not result.ok and result.fault is Fault.NODE and result.node:
            self._leave_out(result)
        again = next_attempt(task, result)
        if again is not None:
            self._log.remark(reason(task, result))
            self._again[task.graph] = again
            line.put_back(ended.worker)
            return
        line.finish(ended.worker, result)
        self._count(line, counts)

    def _leave_out(self, result: CompileResult) -> None:
        """Keep further graphs away from a node that could not compile one: it would take them all, and fail."""
        if result.node not in self._unfit:
            self._log.remark(f"node {result.node} is given no more compiles: {result.message}")
            self._unfit |= {result.node}
            self._executor.leave_out(result.node)

    def _placed(self, progress: QueueProgress) -> QueueProgress:
        """The progress with the compiling nodes; tasks in a scheduler's queue count as left, not as running."""
        now = time.monotonic()
        running = []
        for one in progress.running:
            place = self._executor.placement(self._submitted[one.worker])
            seconds = one.seconds if place.since is None else now - place.since
            attempt = self._submitted[one.worker].attempt - 1
            running.append(Running(one.module, one.worker, seconds, attempt, place.node, place.queued))
        queued = sum(one.queued for one in running)
        return msgspec.structs.replace(
            progress,
            running=tuple(running),
            running_count=progress.running_count - queued,
            left=None if progress.left is None else progress.left + queued,
        )

    def _count(self, line: Queue, counts: Counts) -> None:
        now = line.progress(time.monotonic())
        left, locked = now.left or 0, counts.locked + now.running_count
        failed, done = counts.failed + now.failed, counts.done + now.done
        total = left + locked + failed + done
        self._log.counters(remaining=left, locked=locked, failed=failed, done=done, total=total)
