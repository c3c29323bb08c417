"""Compiles on this machine: a task is a thread that waits for a compile process.

One compile server forks the processes, so PyTorch is imported once.
"""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol

from neuron_top.cache.model.record import Stats
from neuron_top.compile import side_channel
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult
from neuron_top.compile.parallel.executor import EntryTask, Memory, Placement
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.compile.spare_resources import available_bytes, resident_bytes
from neuron_top.errors import NeuronTopError
from neuron_top.events import CompileBegan, CompileEnded, Event
from neuron_top.events.levels import LogLevel

_JOIN_SECONDS = 15.0
_AGAIN_SECONDS = 0.2


class FinishedCompile(Protocol):
    """The result of compiling one entry: `wrapper.compiling.CompiledEntry`."""

    @property
    def entry(self) -> FinishedEntry:
        """The finished entry."""
        ...


class FinishedEntry(Protocol):
    """A finished entry, of which only the statistics matter here."""

    def stats(self) -> Stats | None:
        """Cost of the compile."""
        ...


class EntryCompiler(Protocol):
    """Compiles the graph in an entry directory: `wrapper.get_or_compile.Wrapper`."""

    def compile_entry(self, path: Path) -> FinishedCompile:
        """Compile the entry. Raises CompileError and its subclasses, and KeyboardInterrupt after `interrupt`."""
        ...

    def interrupt(self) -> None:
        """From another thread: end the compiles under way; their callers get KeyboardInterrupt."""
        ...


class CompilePids:
    """Keeps the pids of running compile processes by the wrapper's events, and passes these to the side channel."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}

    def emit(self, event: Event) -> None:
        """Take an event of the wrapper."""
        if isinstance(event, CompileBegan) and event.compiler_pid is not None:
            self._pids[event.module] = event.compiler_pid
        elif isinstance(event, CompileEnded):
            self._pids.pop(event.module, None)
        side_channel.emit(event)

    def resident(self) -> int:
        """Bytes of memory that the compile processes hold."""
        return resident_bytes(list(self._pids.values()))


class LocalExecutor:
    """See Executor. `wrappers` maps a graph file's name to what compiles such graphs."""

    def __init__(self, wrappers: Mapping[str, EntryCompiler], *, log: ParallelLog, pids: CompilePids) -> None:
        self._wrappers, self._log, self._pids = wrappers, log, pids
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        """See Executor: the task starts at once."""
        future: Future[CompileResult] = Future()
        thread = threading.Thread(target=self._work, args=(task, future), name=task.graph.module, daemon=True)
        thread.start()  # may fail: one that never ran could not be waited for
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        return future

    def flush(self) -> None:
        """See Executor: nothing is gathered."""

    def memory(self) -> Memory:
        """See Executor."""
        return Memory(available_bytes(), self._pids.resident())

    def placement(self, task: EntryTask) -> Placement:
        """See Executor: here."""
        return Placement()

    def leave_out(self, node: str) -> None:
        """See Executor: there is one node."""

    def logs(self) -> Path | None:
        """See Executor: compilers write to our own streams."""
        return None

    def cancel(self) -> None:
        """See Executor; a second interrupt must not leave a lock behind, so it waits, too."""
        self._stopped = True
        deadline = time.monotonic() + _JOIN_SECONDS
        while self._threads and time.monotonic() < deadline:
            with contextlib.suppress(KeyboardInterrupt):
                for wrapper in set(self._wrappers.values()):
                    wrapper.interrupt()  # again and again: a compile that is just beginning escapes the first call
                self._threads[0].join(_AGAIN_SECONDS)
            self._threads = [thread for thread in self._threads if thread.is_alive()]

    def close(self) -> None:
        """See Executor: there is nothing to disconnect from."""

    def _work(self, task: EntryTask, future: Future[CompileResult]) -> None:
        began, retries = time.monotonic(), 0
        try:
            stats, message = self._attempt(task.graph)
            while message and retries < task.retries:
                retries += 1
                stats, message = self._attempt(task.graph)
        except KeyboardInterrupt:
            future.cancel()
            return
        if message:
            self._log.gave_up(task.graph.path, retries)
        peak = stats.peak_rss_bytes if stats else None
        seconds = time.monotonic() - began
        future.set_result(
            CompileResult(ok=not message, seconds=seconds, retries=retries, peak_rss_bytes=peak, message=message)
        )

    def _attempt(self, graph: CollectedGraph) -> tuple[Stats | None, str]:
        """Statistics of a successful compile, or why it failed."""
        try:
            return self._wrappers[graph.path.name].compile_entry(graph.path.parent).entry.stats(), ""
        except Exception as problem:  # noqa: BLE001 (whatever goes wrong with one graph, the others go on)
            if self._stopped:
                raise KeyboardInterrupt from None
            if not isinstance(problem, NeuronTopError):
                self._log.remark("".join(traceback.format_exception(problem)), level=LogLevel.ERROR)
            return None, str(problem) or type(problem).__name__
