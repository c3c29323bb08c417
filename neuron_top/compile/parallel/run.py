"""Compile many collected graphs side by side, each in a process of its own, bounded by workers and by memory.

A worker is a thread that waits for a compile process; one compile server forks them all, so PyTorch is imported once.
Interrupted, every compile process is ended, its lock is given back and its graph stays collected: the next call goes
on there.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from neuron_top.cache.model.record import Stats
from neuron_top.compile import side_channel
from neuron_top.compile.parallel.collect import Counts
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Queue, QueueProgress
from neuron_top.compile.parallel.lines import ParallelLog
from neuron_top.compile.parallel.memory import available_bytes, resident_bytes
from neuron_top.errors import NeuronTopError
from neuron_top.events import CompileBegan, CompileEnded, Event

TICK_SECONDS = 0.2
_JOIN_SECONDS = 15.0


class CompiledEntry(Protocol):
    """What compiling one entry gives: `wrapper.CompiledEntry`."""

    @property
    def entry(self) -> Entry:
        """The finished entry."""
        ...


class Entry(Protocol):
    """Of it, only the statistics matter here."""

    def stats(self) -> Stats | None:
        """Cost of the compile."""
        ...


class EntryCompiler(Protocol):
    """Compiles the graph in an entry directory: `wrapper.Wrapper`."""

    def compile_entry(self, path: Path) -> CompiledEntry:
        """Compile it. Raises CompileError and its kin, and KeyboardInterrupt after `interrupt`."""
        ...

    def interrupt(self) -> None:
        """From another thread: end the compiles under way; their callers get KeyboardInterrupt."""
        ...


class _Ended(NamedTuple):
    worker: int
    outcome: CompileResult


class CompilePids:
    """The compile processes at work now, as the wrapper emits them; passes every event on to the side channel."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}

    def emit(self, event: Event) -> None:
        """Takes the wrapper's events."""
        if isinstance(event, CompileBegan) and event.compiler_pid is not None:
            self._pids[event.module] = event.compiler_pid
        elif isinstance(event, CompileEnded):
            self._pids.pop(event.module, None)
        side_channel.emit(event)

    def resident(self) -> int:
        """Bytes that they hold."""
        return resident_bytes(list(self._pids.values()))


class ParallelCompile:
    """One parallel compile of a set of graphs. `wrappers` maps a graph file's name to what compiles such graphs."""

    def __init__(
        self,
        wrappers: Mapping[str, EntryCompiler],
        *,
        workers: int,
        retries: int,
        log: ParallelLog,
        show: Callable[[QueueProgress], None],
        pids: CompilePids,
    ) -> None:
        self._wrappers, self._workers, self._retries = wrappers, workers, retries
        self._log, self._show, self._pids = log, show, pids
        self._ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._tasks: dict[int, int] = {}
        self._stopped = False
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
                    ended = self._ended.get(timeout=TICK_SECONDS)
                    line.finish(*ended)
                    self._count(line, counts)
        except BaseException:
            self._stop()
            raise
        self._show(line.progress(time.monotonic()))
        for worker, tasks in sorted(self._tasks.items()):
            self._log.worker_finished(worker, tasks)
        return line.outcomes

    def _start_what_fits(self, line: Queue, total: int) -> None:
        while (given := line.start_next(time.monotonic(), available_bytes(), self._pids.resident())) is not None:
            worker, graph = given
            if worker not in self._tasks:
                self._log.worker_started(worker, total)
            self._tasks[worker] = self._tasks.get(worker, 0) + 1
            thread = threading.Thread(target=self._work, args=(worker, graph), name=f"compile-{worker}", daemon=True)
            self._threads = [other for other in self._threads if other.is_alive()] + [thread]
            thread.start()

    def _work(self, worker: int, graph: CollectedGraph) -> None:
        began, retries = time.monotonic(), 0
        try:
            stats, message = self._attempt(graph)
            while message and retries < self._retries:
                retries += 1
                stats, message = self._attempt(graph)
        except KeyboardInterrupt:
            return
        if message:
            self._log.gave_up(graph.path, retries)
        peak = stats.peak_rss_bytes if stats else None
        seconds = time.monotonic() - began
        outcome = CompileResult(ok=not message, seconds=seconds, retries=retries, peak_rss_bytes=peak, message=message)
        self._ended.put(_Ended(worker, outcome))

    def _attempt(self, graph: CollectedGraph) -> tuple[Stats | None, str]:
        """Statistics of a good compile, or why it failed."""
        try:
            return self._wrappers[graph.path.name].compile_entry(graph.path.parent).entry.stats(), ""
        except Exception as problem:  # noqa: BLE001 (whatever goes wrong with one graph, the others go on)
            if self._stopped:
                raise KeyboardInterrupt from None
            if not isinstance(problem, NeuronTopError):
                self._log.remark("".join(traceback.format_exception(problem)), level="ERROR")
            return None, str(problem) or type(problem).__name__

    def _count(self, line: Queue, counts: Counts) -> None:
        now = line.progress(time.monotonic())
        left, locked = now.left or 0, counts.locked + now.running_count
        failed, done = counts.failed + now.failed, counts.done + now.done
        total = left + locked + failed + done
        self._log.counters(remaining=left, locked=locked, failed=failed, done=done, total=total)

    def _stop(self) -> None:
        """End every compile; a second interrupt must not leave a lock behind, so it waits, too."""
        self._stopped = True
        deadline = time.monotonic() + _JOIN_SECONDS
        while self._threads and time.monotonic() < deadline:
            with contextlib.suppress(KeyboardInterrupt):
                for wrapper in set(self._wrappers.values()):
                    wrapper.interrupt()  # again and again: a compile that is just beginning escapes the first call
                self._threads[0].join(TICK_SECONDS)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
