"""Events from inside a training process, for whoever records the run.

Each process appends events as JSON lines to `$NEURONTOP_EVENTS_DIR/<pid>.jsonl`; one `write` of a whole line to a file
opened for appending, so threads and forks never tear a line. Emitting is never allowed to disturb the job: every
failure is swallowed here, once and for all. Nor may it write to another file: what lies under the file's name must be a
plain file of this user's with that one name, for a link could lead to any file and a pipe without a reader would stop
the job.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from neuron_top.events import Event, encode
from neuron_top.plain_files import open_plain

DIRECTORY = "NEURONTOP_EVENTS_DIR"
OPERATORS_EMITTED = 64
"""Kinds of operators that an event carries: enough to tell one graph from another."""

_torn: set[Path] = set()
"""Files whose disk took the last line only in part: the next line begins on a line of its own."""

Emit = Callable[[Event], None]
"""Something that takes events; `emit` is the real one."""


def emit(event: Event, environ: Mapping[str, str] = os.environ) -> None:
    """Append `event`, stamped with the present time, or do nothing where nobody listens."""
    directory = environ.get(DIRECTORY)
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
    """The rank this process was started as, None outside a distributed job."""
    text = environ.get("RANK", "")
    return int(text) if text.isdecimal() else None


def op_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The commonest operators of a graph, as events carry them."""
    return dict(Counter(counts).most_common(OPERATORS_EMITTED))
