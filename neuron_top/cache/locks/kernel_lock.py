"""Locks that the kernel ends with their holder (`flock`), given up by a holder that goes on.

Closing the file is not enough: a child that was forked meanwhile has it open, and with it the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os


def unlock(handle: int) -> None:
    """Give up the lock; its file stays open."""
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_UN)


def give_back(handle: int) -> None:
    """Give up the lock and close its file."""
    unlock(handle)
    os.close(handle)
