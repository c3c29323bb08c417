"""Measures what this machine can spare for one more compile: memory and idle cores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.2, 2.0
"""Seconds between two readings: the kernel counts in hundredths of a second, and old readings say nothing about now."""


def available_bytes(cgroup: Path = _CGROUP) -> int:
    """Memory that new programs can get, according to the kernel and within the limit of our container if it has one."""
    machine = int(psutil.virtual_memory().available)
    limit, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if limit is None or used is None:
        return machine
    return min(machine, max(0, limit - used))


def resident_bytes(pids: Iterable[int]) -> int:
    """Resident memory of these processes and their descendants; those that are gone count as 0."""
    total = 0
    for pid in pids:
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
        except psutil.Error:
            continue
        for member in family:
            try:
                total += int(member.memory_info().rss)
            except psutil.Error:
                continue
    return total


class IdleCores:
    """Counts the idle cores among those that this process may use, whichever processes keep the others busy."""

    def __init__(self) -> None:
        self._cores = frozenset(os.sched_getaffinity(0))
        self._looked, self._idle = time.monotonic(), self._idle_seconds()

    @property
    def cores(self) -> int:
        """How many cores this process may use."""
        return len(self._cores)

    def lately(self) -> float:
        """The mean number of idle cores since the last reading; 0 if that is too recent or too old to tell."""
        now, idle = time.monotonic(), self._idle_seconds()
        passed, unused = now - self._looked, idle - self._idle
        if passed < _SHORTEST_SECONDS:
            return 0.0
        self._looked, self._idle = now, idle
        return max(0.0, min(unused / passed, float(self.cores))) if passed < _LONGEST_SECONDS else 0.0

    def _idle_seconds(self) -> float:
        times = psutil.cpu_times(percpu=True)
        return float(sum(times[core].idle + times[core].iowait for core in self._cores if core < len(times)))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
