"""Who holds one of our entry locks, and whether that process is still alive.

A process is identified by its pid *and* its start time (pids are reused), on one boot of one machine, in one pid
namespace. From anywhere else it cannot be known whether it lives, and the answer is None, never a guess. Two machines
can have the same host name, as pods of two clusters do, so a record names the machine too, if that has an id that
outlives a boot. Locks of the SDK are empty files without an owner: `read_record` returns None for them.
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
from neuron_top.process_stat import stat_of

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
    """Where its process claimed the key too; then that claim decides, and not whether the process lives. "" if it
    claimed nothing."""
    machine: str = ""
    """The id that its machine keeps across boots; "" if it has none, and in records of earlier versions."""


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
    """True or False if that can be proved from here, None if it cannot (another host, another namespace)."""
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
    """True if an owner is known and proved dead."""
    return owner is not None and is_alive(owner) is False


def process_start(pid: int) -> int | None:
    """Start of a process in clock ticks since boot; None if it is gone, a zombie, or unreadable."""
    found = stat_of(pid)
    return None if found is None or found.is_dead else found.start_ticks


def read_record(path: str | Path, dir_fd: int | None = None) -> LockOwner | None:
    """The owner named in this one file; None for an empty, foreign or missing file, a link or a pipe.

    An empty file is not opened: it is a lock of the SDK's, and other programs check who has it open.
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
    """For a process without a readable start time: False if there is none, or only its zombie; None if /proc is not
    readable."""
    if not Path("/proc/self/stat").exists():
        return None
    if not Path(f"/proc/{pid}").exists():
        return False
    found = stat_of(pid)
    return found is None or not found.is_dead


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
