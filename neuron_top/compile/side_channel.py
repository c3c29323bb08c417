"""Emits events from inside a training process, for a program that records the run.

Each process appends events as JSON lines to `$NEURONTOP_EVENTS_DIR/<pid>.jsonl`; one `write` of a whole line to a file
opened for appending, so threads and forks never tear a line. Emitting must never disturb the job, so every failure is
swallowed here. Nor may it write to another file: the path must be a plain file of this user with only this name, since
a link could lead to any file and a pipe without a reader would block the job.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypedDict

import msgspec

from neuron_top.events import Event, WaitBegan, encode
from neuron_top.plain_files import open_plain

EVENTS_VARIABLE = "NEURONTOP_EVENTS_DIR"
OPERATORS_EMITTED = 64
"""How many kinds of operators an event carries: enough to tell graphs apart."""

_torn: set[Path] = set()
"""Files whose last line was written only in part, for want of room; the next event must begin on a new line."""

Emit = Callable[[Event], None]
"""A function that takes events, such as `emit`."""


def emit(event: Event, environ: Mapping[str, str] = os.environ) -> None:
    """Append `event`, stamped with the present time, or do nothing if nobody records."""
    directory = environ.get(EVENTS_VARIABLE)
    if not directory:
        return
    with contextlib.suppress(OSError, ValueError, TypeError, msgspec.MsgspecError):
        if event.at is None:
            event = msgspec.structs.replace(event, at=time.time())
        path = Path(directory, f"{os.getpid()}.jsonl")
        handle = open_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, check=_check_ours)
        try:
            line = (b"\n" if path in _torn else b"") + encode(event) + b"\n"
            whole = os.write(handle, line) == len(line)
            _torn.discard(path) if whole else _torn.add(path)
        finally:
            os.close(handle)


def _check_ours(_: int, facts: os.stat_result) -> None:
    if facts.st_uid != os.geteuid() or facts.st_nlink != 1:
        raise PermissionError("the file of this process's events is not its own")


def rank(environ: Mapping[str, str] = os.environ) -> int | None:
    """The rank of this process; None outside a distributed job."""
    text = environ.get("RANK", "")
    return int(text) if text.isdecimal() else None


class Reporter(TypedDict):
    """Who reports an event, as the fields of events name it."""

    pid: int
    rank: int | None
    source: str


def reporter() -> Reporter:
    """This process."""
    return {"pid": os.getpid(), "rank": rank(), "source": f"worker:{os.getpid()}"}


def wait_began(module: str) -> WaitBegan:
    """The event that this process waits for the graph. Lines report only waits of a minute and more."""
    return WaitBegan(module=module, **reporter())


def op_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The commonest operators of a graph with their counts, as events carry them."""
    return dict(Counter(counts).most_common(OPERATORS_EMITTED))
