"""Decides what follows a failed task: another node, more memory, or no further attempt. Pure."""

from __future__ import annotations

import msgspec

from neuron_top.compile.parallel.compile_queue import CompileResult, Fault
from neuron_top.compile.parallel.executor import EntryTask

MOST_ATTEMPTS = 5
"""Attempts of one graph over all nodes: a fault that occurs everywhere is the graph's own."""
MORE_MEMORY = 2
FIRST_MEMORY = 2 * 1024**3
"""Bytes to request after a kill if nothing is known about the graph's needs."""


def next_attempt(task: EntryTask, result: CompileResult) -> EntryTask | None:
    """The task to submit after one that ended with this result; None if another attempt would end the same."""
    if result.ok or task.attempt >= MOST_ATTEMPTS:
        return None
    again = msgspec.structs.replace(task, attempt=task.attempt + 1)
    match result.fault:
        case Fault.LOST:
            return again
        case Fault.NODE if result.node:
            return msgspec.structs.replace(again, avoid=task.avoid | {result.node})
        case Fault.MEMORY:
            seen = max(task.memory or 0, result.peak_rss_bytes or 0)
            return msgspec.structs.replace(again, memory=MORE_MEMORY * seen if seen else FIRST_MEMORY)
        case _:
            return None


def reason(task: EntryTask, result: CompileResult) -> str:
    """Why `task` is submitted again, for a person."""
    where = f" on {result.node}" if result.node else ""
    return f"{task.graph.module}{where}: {result.message}; submitted again (attempt {task.attempt + 1})"
