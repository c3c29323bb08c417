"""Releases locks of the kernel (`flock`) before their holder ends.

Closing the file is not enough: a child that was forked meanwhile still has it open, and so keeps the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os


def unlock(handle: int) -> None:
    """Release the lock; its file stays open."""
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_UN)


def give_back(handle: int) -> None:
    """Release the lock and close its file."""
    unlock(handle)
    os.close(handle)
