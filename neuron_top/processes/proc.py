"""Reads from /proc just what we need about a process.

Fields: proc_pid_environ(5), proc_pid_smaps(5). All functions return None for a process that is gone or belongs to
somebody else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def process_ids() -> list[int]:
    """The ids of all processes."""
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def environment_of(pid: int, *, with_any: Sequence[str] = ()) -> dict[str, str] | None:
    """The environment a process was started with. `with_any`: empty unless one of these names is in it.

    Most processes do not have these names, and their environment need not be parsed then.
    """
    text = _read(pid, "environ")
    if text is None:
        return None
    if with_any and not any(name.encode() + b"=" in text for name in with_any):
        return {}
    pairs = (item.partition(b"=") for item in text.split(b"\0") if b"=" in item)
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}


def command_of(pid: int) -> str | None:
    """The command line, blanks between the words; empty for a kernel thread or a zombie."""
    text = _read(pid, "cmdline")
    return None if text is None else text.rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")


def directory_of(pid: int) -> str | None:
    """The working folder of a process."""
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def unique_bytes(pid: int) -> int | None:
    """Unique set size: what the system would get back if the process ended. The kernel walks all its pages for it."""
    text = _read(pid, "smaps_rollup")
    if not text:
        return None
    rows = (line.split() for line in text.splitlines())
    return sum(int(row[1]) for row in rows if row[0] in (b"Private_Clean:", b"Private_Dirty:")) * 1024


def boot_time() -> float:
    """When the machine started, seconds since the epoch: what `ProcessStat.started` counts from."""
    with open("/proc/stat", "rb") as file:
        return float(next(line.split()[1] for line in file if line.startswith(b"btime")))


def _read(pid: int, name: str) -> bytes | None:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return None
