"""The protocol of executors, which run compiles on this machine or through a site's scheduler: a task gives a future.

What is compiled next, and how many at a time, is decided by `compile_queue`, not by an executor.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult


class EntryTask(msgspec.Struct, frozen=True, kw_only=True):
    """One collected graph to be compiled in its entry, and the resources for it."""

    graph: CollectedGraph
    retries: int = 0
    """How many more attempts to make if the graph itself fails."""
    memory: int | None = None
    """Bytes to ask a scheduler for; None leaves it to the site's default."""
    cores: int = 1
    attempt: int = 1
    avoid: frozenset[str] = frozenset()
    """Nodes that are known to be unable to compile it."""


class Memory(NamedTuple):
    """Memory of the place where compiles run, bytes. `available` is None where a scheduler manages memory itself."""

    available: int | None
    in_use: int = 0
    """Memory that the running compiles hold already."""


class Placement(NamedTuple):
    """Where a submitted task is: on a node ("" is this machine), or waiting in the scheduler's queue."""

    node: str = ""
    queued: bool = False
    since: float | None = None
    """When it was first seen on the node, by the monotonic clock; None: use the time when it was submitted."""


class Executor(Protocol):
    """Runs tasks. Every method except `submit` may be called at any time, also after `cancel`."""

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        """Take a task; the future says how it ended, whatever happens, and is canceled only by `cancel`."""
        ...

    def flush(self) -> None:
        """Submit the tasks gathered so far: no more come for now."""
        ...

    def memory(self) -> Memory:
        """The memory that is available to the next task."""
        ...

    def placement(self, task: EntryTask) -> Placement:
        """Where a submitted task is."""
        ...

    def leave_out(self, node: str) -> None:
        """Keep tasks that have not begun away from a node that cannot compile."""
        ...

    def logs(self) -> Path | None:
        """The folder with the output of tasks; None if it goes to this process's own streams."""
        ...

    def cancel(self) -> None:
        """End every submitted task, and wait until none of them holds a lock."""
        ...

    def close(self) -> None:
        """Disconnect from the scheduler; called once every task has ended."""
        ...
