"""How much memory could still be had, for this machine or the container we are in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes(cgroup: Path = _CGROUP) -> int:
    """What the kernel says new programs can get, within the limit of our container if it has one."""
    machine = int(psutil.virtual_memory().available)
    limit, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if limit is None or used is None:
        return machine
    return min(machine, max(0, limit - used))


def resident_bytes(pids: Iterable[int]) -> int:
    """Resident memory of these processes and their descendants; those that are gone count nothing."""
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


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
