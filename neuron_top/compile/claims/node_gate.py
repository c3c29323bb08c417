"""Lets one process of a node at a time ask for a key; the others wait, by a lock that the kernel ends with its owner.

So 128 ranks that miss at once cause one request. The lock is in memory of this node, never on a shared file system.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import time
from pathlib import Path

from neuron_top.cache.locks.kernel_lock import give_back

_PLACES = ("/dev/shm", "/tmp", "/var/tmp")  # noqa: S108 (a folder of our own there, mode 700)


class NodeGate:
    """The gate of a key, as a context. Threads of one process wait for each other, too."""

    def __init__(self, node: str, key: str) -> None:
        """`node`: the name of the node; nodes that share this machine do not wait for each other."""
        self._handle: int | None = None
        self._passed = False
        folder = _folder()
        if folder is not None:
            how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with contextlib.suppress(OSError):  # no room, too many open files: as where there is no folder
                self._handle = os.open(folder / _name(node, key), how, 0o600)

    def __enter__(self) -> NodeGate:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            give_back(self._handle)

    def passed(self) -> bool:
        """Whether this is the process of its node that may ask; once True it stays so. Never blocks."""
        if self._handle is None or self._passed:
            return True
        with contextlib.suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._passed = True
        return self._passed


class NodeNote:
    """A note of one process for the others of its node: that a source does not have a key."""

    def __init__(self, node: str, key: str) -> None:
        folder = _folder()
        self._path = folder / f"{_name(node, key)}.absent" if folder is not None else None

    def is_younger(self, seconds: float) -> bool:
        """Whether it was written within the last `seconds`."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                return 0.0 <= time.time() - self._path.lstat().st_mtime < seconds
        return False

    def write(self) -> None:
        """Write the note again; where there is no place for it, every process finds out by itself."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
                os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _name(node: str, key: str) -> str:
    return hashlib.sha256(os.fsencode(f"{node}\0{key}")).hexdigest()[:40]


def _folder() -> Path | None:
    """A folder that only this user may write to; None where there is none, and then every process asks."""
    for place in _PLACES:
        folder = Path(place, f"neurontop-claims-{os.getuid()}")
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            facts = folder.lstat()
            if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022:
                return folder
    return None
