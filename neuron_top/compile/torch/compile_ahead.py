"""Compiles graphs that a trial run collected before the job asks for them, while cores are idle.

A trial run (`NEURON_EXTRACT_GRAPHS_ONLY=1`) stores graphs in the order in which the job will meet them. A job that
misses one of them will most likely ask for those that were stored after it: a thread compiles them, each with its
entry's lock, its claim and its lines in the log, and a process that asks meanwhile waits for the lock as usual. This
uses cores that would idle while ranks wait for the first graph.

What keeps it from doing harm:

- Nothing happens where no graphs were collected, or where the job asks for others.
- A compile begins when at least one core was idle for a while, and where memory is left for it.
- As many compiles are ahead of the job as there are cores: a trial run of another job costs no more than that.
- One process of a machine does it at a time (a lock in Inductor's folder), in forks of the compile server that it has.

`NEURONTOP_COMPILE_AHEAD=0` turns it off.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from neuron_top.cache.locks.kernel_lock import give_back
from neuron_top.cache.model.keys import ModuleKey, parse_key
from neuron_top.cache.model.states import Lookup
from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.parallel.compile_queue import FIRST_GUESS
from neuron_top.compile.torch import machine_locks
from neuron_top.compile.wrapper.flags import is_switched_off
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.errors import NeuronTopError
from neuron_top.events.levels import LogLevel

AHEAD_VARIABLE = "NEURONTOP_COMPILE_AHEAD"
_LOCK = "ahead.lock"
LOOK_SECONDS, _END_SECONDS, _AGAIN_SECONDS = 0.5, 5.0, 0.2


class TrialGraph(NamedTuple):
    """A graph in the cache. `stored`: when a trial run stored it, by its file's last change, in nanoseconds."""

    stored: int
    path: Path
    key: ModuleKey


def asked_for(wrapper: Wrapper, key: ModuleKey) -> None:
    """Note that the job asks for `key`: begin to compile what was collected after it, or go on."""
    if is_switched_off(AHEAD_VARIABLE) or not wrapper.keeps_compiles:
        return
    with contextlib.suppress(OSError, NeuronTopError):  # the lookup fails in the same way, and reports it
        entry = wrapper.entry(key)
        stored = entry.graph.stat().st_mtime_ns
        _of(wrapper).asked_for(TrialGraph(stored, entry.path, key), missing=entry.state() is Lookup.MISS)


class CompileAhead:
    """The thread of one wrapper that compiles graphs ahead of the job, and how far the job has come."""

    def __init__(self, wrapper: Wrapper, *, cores: int, is_room: Callable[[int], bool]) -> None:
        """`cores`: how many compiles may be ahead of the job. `is_room`: whether one more may begin beside these."""
        self._wrapper, self._cores, self._is_room = wrapper, cores, is_room
        self._changed = threading.Condition()
        self._asked = 0
        """When the graph was stored that the job asked for last, see `TrialGraph`."""
        self._stored: dict[ModuleKey, int] = {}
        """The same of the graphs that were found waiting: a compile may write a graph's file anew."""
        self._thread: threading.Thread | None = None
        self._compiles: list[tuple[TrialGraph, threading.Thread]] = []
        self._ended = False

    @property
    def is_at_work(self) -> bool:
        """Whether graphs are being compiled, or wait for the job to come closer."""
        return self._thread is not None and self._thread.is_alive()

    def asked_for(self, graph: TrialGraph, *, missing: bool) -> None:
        """Note that the job asks for `graph`, which has to be compiled if it is `missing`."""
        with self._changed:
            self._asked = max(self._asked, self._stored.get(graph.key, graph.stored))
            self._changed.notify_all()
            if not missing or self._ended or self.is_at_work:
                return
            self._thread = threading.Thread(target=self._work, args=(graph,), name="neurontop-ahead", daemon=True)
            with contextlib.suppress(RuntimeError):  # this user may start no more threads: the job compiles them itself
                self._thread.start()

    def end(self) -> None:
        """End running compiles; nothing of them is stored, and their locks are given back."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        deadline = time.monotonic() + _END_SECONDS
        try:
            while self._thread is not None and self.is_at_work and time.monotonic() < deadline:
                self._wrapper.interrupt()  # again and again: a compile that is just beginning escapes the first call
                self._thread.join(_AGAIN_SECONDS)
        finally:
            self._wrapper.go_on()

    def _work(self, asked: TrialGraph) -> None:
        """The body of the thread."""
        handle = machine_locks.open_lock(_LOCK)
        if handle is None:
            return
        try:
            if machine_locks.try_lock(handle):
                # The cache cannot be read, which the job will report; or this user may have no more threads.
                with contextlib.suppress(OSError, NeuronTopError, RuntimeError):
                    self._compile_all(self._collected_after(asked))
                for _graph, compile_ in self._compiles:
                    compile_.join()
                self._compiles.clear()
        finally:
            give_back(handle)

    def _collected_after(self, asked: TrialGraph) -> list[TrialGraph]:
        """What waits in the same folder under the same flags, in the order in which it was stored."""
        found = []
        for path in asked.path.parent.iterdir():
            key = parse_key(path.name)
            if key is None or key.flags != asked.key.flags:
                continue
            with contextlib.suppress(OSError):
                graph = TrialGraph((path / self._wrapper.compiler.graph_name).stat().st_mtime_ns, path, key)
                if graph.stored > asked.stored and not self._wrapper.is_begun(key):
                    found.append(graph)
        with self._changed:
            self._stored = {graph.key: graph.stored for graph in found}
        return sorted(found)

    def _compile_all(self, graphs: list[TrialGraph]) -> None:
        if graphs:
            self._wrapper.log.remark(
                f"Collected graphs that come after this one are compiled ahead on idle cores: {len(graphs)}",
                level=LogLevel.INFO,
            )
        for graph in graphs:
            if not self._wait_for_room(graph):
                return
            if graph.stored > self._asked and not self._wrapper.is_begun(graph.key):
                thread = threading.Thread(target=self._compile, args=(graph,), name=graph.path.name, daemon=True)
                thread.start()
                self._compiles.append((graph, thread))

    def _wait_for_room(self, graph: TrialGraph) -> bool:
        """Wait until `graph` may begin, or the job asks for it itself; False once the job ends."""
        with self._changed:
            while not self._ended and graph.stored > self._asked:
                ahead = sum(begun.stored > self._asked for begun, _thread in self._compiles)
                running = sum(thread.is_alive() for _begun, thread in self._compiles)
                has_turn = ahead < self._cores
                if has_turn and self._is_room(running):
                    return True
                self._changed.wait(LOOK_SECONDS if has_turn else None)
            return not self._ended

    def _compile(self, graph: TrialGraph) -> None:
        # Failures are in the log and in the entry, where whoever asks for the graph finds them.
        with contextlib.suppress(NeuronTopError, NotSerializable, OSError, KeyboardInterrupt):
            self._wrapper.compile_entry(graph.path)


@functools.cache
def _of(wrapper: Wrapper) -> CompileAhead:
    """That of this wrapper, which is of this process; its end comes before that of the compile server."""
    from neuron_top.compile.spare_resources import IdleCores, available_bytes  # only where there is something to do

    idle, bytes_each = IdleCores(), FIRST_GUESS[wrapper.compiler.graph_name]

    def is_room(running: int) -> bool:
        return idle.lately() >= 1.0 and available_bytes() >= (running + 1) * bytes_each

    ahead, process = CompileAhead(wrapper, cores=idle.cores, is_room=is_room), os.getpid()
    atexit.register(lambda: ahead.end() if os.getpid() == process else None)
    return ahead
