"""Compiles a graph while the job goes on: the forward graph while AOTAutograd makes the backward one.

The two compiles do not depend on each other, and each has a fork of the compile server. A thread looks up, locks, waits
and publishes. It never calls PyTorch: when it needs the graph as bytes, the job's own thread provides them while it
waits in `start` or `finish`. From then on the compile runs in a process of its own.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import msgspec

from neuron_top.compile.wrapper.compiling import CompiledEntry, GraphToCompile
from neuron_top.compile.wrapper.get_or_compile import Wrapper

T = TypeVar("T")


class _Question(NamedTuple):
    """Work that the thread wants done in the job's own thread."""

    work: Callable[[], Any]
    answer: Future[Any]


class CompileBeside:
    """One graph on its way through the wrapper. Its methods are for the thread that made it."""

    def __init__(self, wrapper: Wrapper, graph: GraphToCompile) -> None:
        self._wrapper, self._graph = wrapper, graph
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._outcome: Future[CompiledEntry] = Future()

    @property
    def is_under_way(self) -> bool:
        """Whether this process is compiling the graph; False for a hit, a failure, or somebody else's compile."""
        return not self._outcome.done()

    def start(self) -> None:
        """Look the graph up; returns when the lookup has ended, or its compile has begun in another process."""
        data = functools.cache(lambda: self._ask(self._graph.data))
        graph = msgspec.structs.replace(self._graph, data=data)
        thread = threading.Thread(target=self._obtain, args=(graph,), name="neurontop-compile-beside", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # this user may have no more threads: the job waits here then
            self._obtain(self._graph)
        while (question := self._questions.get()) is not None:
            if _answered(question):
                return

    def finish(self) -> CompiledEntry:
        """The entry, waited for. Raises what `Wrapper.get_or_compile` raises."""
        return self._outcome.result()

    def end(self) -> None:
        """End the compile; no failure is stored."""
        self._wrapper.interrupt()
        try:
            while self.is_under_way and (question := self._questions.get()) is not None:
                question.answer.set_exception(KeyboardInterrupt())
        finally:
            self._wrapper.go_on()  # interrupted once more, too: this process may compile again

    def _obtain(self, graph: GraphToCompile) -> None:
        """The body of the thread."""
        try:
            self._outcome.set_result(self._wrapper.get_or_compile(graph))
        except BaseException as problem:  # noqa: BLE001 (raised where it is waited for)
            self._outcome.set_exception(problem)
        self._questions.put(None)

    def _ask(self, work: Callable[[], T]) -> T:
        answer: Future[T] = Future()
        self._questions.put(_Question(work, answer))
        return answer.result()


def _answered(question: _Question) -> bool:
    """Do the thread's work here; returns whether it succeeded. The thread handles errors, except an interrupt."""
    try:
        question.answer.set_result(question.work())
    except BaseException as problem:
        question.answer.set_exception(problem)
        if not isinstance(problem, Exception):
            raise
        return False
    return True
