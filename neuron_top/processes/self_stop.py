"""Stops this process as Ctrl-Z does, until somebody continues it."""

from __future__ import annotations

import os
import signal
import threading
import time

_GRACE_SECONDS = 0.05
"""After being continued: another thread may be the one that takes the signal."""


def stop_until_continued(*, whole_group: bool = False) -> bool:
    """Stop, as if the signal of Ctrl-Z had no handler; with `whole_group` also what was started with this process.

    Returns True once continued; False, at once, if nobody could do that: without a shell with job control the kernel
    drops the signal. Only for the main thread, which is the one that changes handlers.
    """
    is_continued = False

    def note(_number: int, _frame: object) -> None:
        nonlocal is_continued
        is_continued = True

    handlers = {
        signal.SIGCONT: signal.signal(signal.SIGCONT, note),
        signal.SIGTSTP: signal.signal(signal.SIGTSTP, signal.SIG_DFL),
    }
    try:
        if whole_group:
            os.killpg(0, signal.SIGTSTP)
        else:
            signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)  # to this thread, so that it stops here
        if not is_continued:
            time.sleep(_GRACE_SECONDS)
        return is_continued
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
