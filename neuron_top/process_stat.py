"""Reads `/proc/<pid>/stat`: the state, the start and the use of a process (proc_pid_stat(5)).

A process id is valid only together with its start time, as ids are reused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ProcessStat(NamedTuple):
    """The fields that we need."""

    pid: int
    parent: int
    state: str
    cpu_seconds: float
    start_ticks: int
    """Clock ticks since boot."""
    resident: int
    """Bytes in memory, shared pages included."""

    @property
    def started(self) -> float:
        """Seconds since boot."""
        return self.start_ticks / _TICKS

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, and only its parent has not noticed: a zombie."""
        return self.state in ("Z", "X")


def stat_of(pid: int, proc: str | Path = "/proc") -> ProcessStat | None:
    """The fields of a process; None if it is gone, belongs to somebody else, or its file is not as Linux writes it."""
    try:
        with open(f"{proc}/{pid}/stat", "rb") as file:
            # The name in parentheses may hold blanks and parentheses itself: fields count from the last one.
            fields = file.read().rpartition(b")")[2].split()
        return ProcessStat(
            pid=pid,
            parent=int(fields[1]),
            state=fields[0].decode(),
            cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS,
            start_ticks=int(fields[19]),
            resident=int(fields[21]) * _PAGE_BYTES,
        )
    except (OSError, ValueError, IndexError):
        return None
