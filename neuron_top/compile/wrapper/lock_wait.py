"""Waits for the process that is compiling a graph: logs that once a minute, and never waits for a dead process.

The pauses grow from milliseconds to half a second, so a short compile costs its waiters little and a long one costs the
machine nothing. The owner of the lock is checked once a second; if it is gone, its lock is removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from neuron_top.compile.wrapper.log_lines import SAY_EVERY_SECONDS, WrapperLog
from neuron_top.compile.wrapper.persistent_cache import EntryLock, WritableEntry
from neuron_top.plain_files import is_plain_file

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_OWNER_CHECK_SECONDS = 1.0


def wait_for_lock(
    entry: WritableEntry,
    log: WrapperLog,
    *,
    began: Callable[[], None] = lambda: None,
    interrupted: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Wait until the entry's lock is gone or its owner is found dead; returns the seconds waited.

    `began` is called before the first pause. Raises KeyboardInterrupt once `interrupted` says so.
    """
    start = said = clock()
    checked = start - _OWNER_CHECK_SECONDS
    pause = _FIRST_PAUSE
    while is_plain_file(entry.lock):  # taking the lock reports anything else under its name
        if interrupted():
            raise KeyboardInterrupt
        now = clock()
        if now - checked >= _OWNER_CHECK_SECONDS:
            checked = now
            owner = EntryLock(entry).break_if_dead()
            if owner is not None:
                log.remark(f"Lock of {entry.graph} was left by process {owner.pid}, which is gone: taken over")
                break
        if pause == _FIRST_PAUSE:
            began()
        if now - said >= SAY_EVERY_SECONDS:
            said = now
            log.lock_wait(entry.graph, (now - start) / 60)
        sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return clock() - start
