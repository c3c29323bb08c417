"""Ctrl-Z: the program stops with its process group, as any other does in a shell, until `fg`."""

from __future__ import annotations

import os
import signal
import time

_GRACE_SECONDS = 0.05
"""After being carried on: another thread may be the one that takes the signal."""


def stop_until_in_front(terminal: int) -> bool:
    """Stop this process and those that were started with it; True once they have the terminal again.

    False, at once, where nobody could carry them on (no shell with job control started us): the kernel drops the signal
    then. After `bg` they stop again: a screen has nothing to draw on there.
    """
    carried_on = False

    def note(_number: int, _frame: object) -> None:
        nonlocal carried_on
        carried_on = True

    handlers = {
        signal.SIGCONT: signal.signal(signal.SIGCONT, note),
        signal.SIGTSTP: signal.signal(signal.SIGTSTP, signal.SIG_DFL),
    }
    try:
        while True:
            carried_on = False
            os.killpg(0, signal.SIGTSTP)
            if not carried_on:
                time.sleep(_GRACE_SECONDS)
            if not carried_on or _is_in_front(terminal):
                return carried_on
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _is_in_front(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # the terminal is gone; what notices that ends the program
        return True
