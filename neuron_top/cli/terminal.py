"""Our own terminal: its keyboard when a log is on standard input, and its loss (its window closed, SSH ended).

The hang-up signal does not always report a loss: it may be ignored (`trap '' HUP`, a service), or be only a message.
The descriptor itself decides.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Sequence

_TERMINAL = "/dev/tty"
_STANDARD_INPUT, _STANDARD_OUTPUT = 0, 1


def has_keyboard() -> bool:
    """Whether standard input is a terminal whose keys reach us."""
    return os.isatty(_STANDARD_INPUT) and not _in_background(_STANDARD_INPUT)


def can_draw() -> bool:
    """Whether standard output is a terminal that can do more than print, and ours to draw on."""
    drawable = os.isatty(_STANDARD_OUTPUT) and os.environ.get("TERM") != "dumb"
    return drawable and not _in_background(_STANDARD_OUTPUT)


def has_screen() -> bool:
    """Whether a program can be shown."""
    return has_keyboard() and can_draw()


def _in_background(terminal: int) -> bool:
    """Whether a shell has another job in the foreground of that terminal. One without a shell is ours to use."""
    try:
        front = os.tcgetpgrp(terminal)
    except OSError:
        return False
    return front not in (0, os.getpgrp())


def move_pipe_aside() -> int | None:
    """Replace standard input by our terminal; returns a descriptor of what it was, None if we have no terminal."""
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR)
    except OSError:
        return None
    piped = os.dup(_STANDARD_INPUT)
    os.dup2(terminal, _STANDARD_INPUT)
    os.close(terminal)
    return piped


def standard_terminals() -> list[int]:
    """Those of the three standard streams that are a terminal."""
    return [number for number in range(3) if os.isatty(number)]


def release_lost(terminals: Sequence[int]) -> None:
    """Replace descriptors whose terminal is gone by /dev/null, so that writing to them does not fail for ever."""
    lost = [number for number in terminals if not os.isatty(number)]
    if lost:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in lost:
            os.dup2(nothing, number)
        os.close(nothing)


def watched_terminal() -> threading.Event:
    """Release our terminal once its other side is closed, and set the event then; never if we have no terminal."""
    terminals, lost = standard_terminals(), threading.Event()
    waiting = select.poll()
    for number in terminals:
        waiting.register(number, 0)  # a hang-up is reported without being asked for

    def wait() -> None:
        waiting.poll()
        release_lost(terminals)
        lost.set()

    if terminals:
        threading.Thread(target=wait, name="lost terminal", daemon=True).start()
    return lost
