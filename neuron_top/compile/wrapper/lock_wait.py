"""Waits for the process that compiles a graph already: logs that once a minute, and never waits for a dead process.

The pauses grow from milliseconds to half a second, so a short compile costs its waiters little and a long one costs the
machine nothing. The owner of the lock is looked at once a second; one that is gone loses the lock.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable
from pathlib import Path

from neuron_top.compile.wrapper.log_lines import SAY_EVERY_SECONDS, WrapperLog
from neuron_top.compile.wrapper.persistent_cache import EntryLock, WritableEntry

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_OWNER_CHECK_SECONDS = 1.0


def wait_for_lock(
    entry: WritableEntry,
    log: WrapperLog,
    *,
    interrupted: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Wait until the entry's lock is gone, is no lock, or its owner is found dead; returns the seconds waited.

    Raises KeyboardInterrupt once `interrupted` says so.
    """
    start = said = clock()
    checked = start - _OWNER_CHECK_SECONDS
    pause = _FIRST_PAUSE
    while _is_lock(entry.lock):
        if interrupted():
            raise KeyboardInterrupt
        now = clock()
        if now - checked >= _OWNER_CHECK_SECONDS:
            checked = now
            owner = EntryLock(entry).break_if_dead()
            if owner is not None:
                log.remark(f"Lock of {entry.graph} was left by process {owner.pid}, which is gone: taken over")
                break
        if now - said >= SAY_EVERY_SECONDS:
            said = now
            log.lock_wait(entry.graph, (now - start) / 60)
        sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return clock() - start


def _is_lock(path: Path) -> bool:
    """Whether a file is there, which somebody may give back; whoever takes the lock says what else it is."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
