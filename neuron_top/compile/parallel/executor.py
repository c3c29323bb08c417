"""Where compiles run: an executor takes a task and gives a future, on this machine or through a site's scheduler.

What is compiled next and how many at a time is `compile_queue`'s, not an executor's.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult


class EntryTask(msgspec.Struct, frozen=True, kw_only=True):
    """One collected graph to be compiled in its entry, and what that may take."""

    graph: CollectedGraph
    retries: int = 0
    """Further attempts where the graph itself fails."""
    memory: int | None = None
    """Bytes to ask a scheduler for; None leaves it to the site's default."""
    cores: int = 1
    attempt: int = 1
    avoid: frozenset[str] = frozenset()
    """Nodes that cannot compile it."""


class Memory(NamedTuple):
    """Memory of the place where compiles run, bytes. `available` is None where a scheduler sees to memory itself."""

    available: int | None
    in_use: int = 0
    """What the running compiles hold already."""


class Placement(NamedTuple):
    """Where a submitted task is: on a node ("" is this machine), or waiting in the scheduler's queue."""

    node: str = ""
    queued: bool = False
    since: float | None = None
    """When it was first seen there, by the monotonic clock; None: when it was submitted."""


class Executor(Protocol):
    """Runs tasks. Every method but `submit` may be called at any time, also after `cancel`."""

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        """Take a task; whatever becomes of it, the future gives how it ended, and is canceled only by `cancel`."""
        ...

    def flush(self) -> None:
        """Submit the tasks that were gathered to be submitted together: no more come for now."""
        ...

    def memory(self) -> Memory:
        """What memory bounds the next task."""
        ...

    def placement(self, task: EntryTask) -> Placement:
        """Where a task is that was submitted."""
        ...

    def leave_out(self, node: str) -> None:
        """A node cannot compile: keep tasks that have not begun away from it."""
        ...

    def logs(self) -> Path | None:
        """Where the output of tasks lies; None where it is this process's own."""
        ...

    def cancel(self) -> None:
        """End every task that was submitted, and wait until nothing of them holds a lock."""
        ...

    def close(self) -> None:
        """Disconnect from the scheduler, once every task has ended."""
        ...
