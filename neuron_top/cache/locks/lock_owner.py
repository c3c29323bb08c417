"""Who holds one of our entry locks, and whether that process still lives.

A process is its pid *and* its start time (pids are reused), on one boot of one machine, in one pid namespace:
from anywhere else its life cannot be judged, and the answer is None, never a guess. Two machines can have one host
name, as pods of two clusters do, so a record names the machine too, where that has an id that outlives a boot. Locks of
the SDK are empty files without an owner: `read_record` gives None for them.
"""

from __future__ import annotations

import os
import socket
import stat
import uuid
from pathlib import Path

import msgspec

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.decoders import MALFORMED
from neuron_top.identity import lasting_machine_id

_LARGEST_RECORD = 4096


class LockOwner(msgspec.Struct, frozen=True, kw_only=True):
    """The process that holds a lock. `started` is its start in clock ticks since boot, as `/proc/<pid>/stat` says."""

    host: str
    boot_id: str
    pid: int
    started: int | None = None
    pid_namespace: str = ""
    token: str = ""
    """Differs for each acquisition, so that a process removes only the lock it took itself."""
    claim: str = ""
    """Where its process claimed the key too, so that the claim, not its life, decides; "" where it claimed nothing."""
    machine: str = ""
    """The id that its machine keeps through boots; "" where it has none, and in records of before."""


_record = msgspec.json.Decoder(LockOwner)  # made once, in one thread: see `cache/scan/index.py`


def current(claim: str = "") -> LockOwner:
    """The record of this process, with a new token."""
    return LockOwner(
        host=socket.gethostname(),
        boot_id=_boot_id(),
        pid=os.getpid(),
        started=process_start(os.getpid()),
        pid_namespace=_pid_namespace(),
        token=uuid.uuid4().hex,
        claim=claim,
        machine=lasting_machine_id(),
    )


def is_alive(owner: LockOwner) -> bool | None:
    """True or False where it can be proved from here, None where it cannot (another host, another namespace)."""
    if owner.host != socket.gethostname() or not owner.boot_id:
        return None
    if owner.machine and (here := lasting_machine_id()) and owner.machine != here:
        return None
    if owner.boot_id != _boot_id():
        return False if _boot_id() else None
    if owner.pid_namespace != _pid_namespace():
        return None
    started = process_start(owner.pid)
    if started is None:
        return _exists(owner.pid)
    return owner.started is None or started == owner.started


def is_dead(owner: LockOwner | None) -> bool:
    """True when an owner is known, and proved dead."""
    return owner is not None and is_alive(owner) is False


def process_start(pid: int) -> int | None:
    """Start of a process in clock ticks since boot; None when it is gone, a zombie, or unreadable."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if len(fields) < 20 or fields[0] in "ZX" else int(fields[19])


def read_record(path: str | Path, dir_fd: int | None = None) -> LockOwner | None:
    """The owner named in this one file, None for an empty, foreign or missing file, for a link and for a pipe.

    An empty one is not opened: a lock of the SDK's, of which others ask who has it open.
    """
    try:
        if not os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_size:
            return None
        with open(NoAtimeReader().open_file(os.fspath(path), dir_fd), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return _record.decode(file.read(_LARGEST_RECORD))
    except (OSError, *MALFORMED):
        return None


def _exists(pid: int) -> bool | None:
    """Without a readable start time: False only when there is no such process (or just its zombie)."""
    if not Path("/proc/self/stat").exists():
        return None
    return Path(f"/proc/{pid}").exists() and not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return False


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
