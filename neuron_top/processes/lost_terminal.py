"""A terminal that goes away under us: its window closed, SSH ended.

The hang-up signal does not tell it always: it may be ignored (`trap '' HUP`, a service), or be only a message. What
tells is the descriptor itself.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Sequence


def standard_terminals() -> list[int]:
    """Those of the three standard streams that are a terminal."""
    return [number for number in range(3) if os.isatty(number)]


def let_go(terminals: Sequence[int]) -> None:
    """Put nothing in the place of those descriptors whose terminal is gone: what is written must not fail for ever."""
    gone = [number for number in terminals if not os.isatty(number)]
    if gone:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in gone:
            os.dup2(nothing, number)
        os.close(nothing)


def watched_terminal() -> threading.Event:
    """Let go of our terminal once its other side is closed; the event is set then, and never where we have none."""
    terminals, lost = standard_terminals(), threading.Event()
    waiting = select.poll()
    for number in terminals:
        waiting.register(number, 0)  # a hang-up is reported without being asked for

    def wait() -> None:
        waiting.poll()
        let_go(terminals)
        lost.set()

    if terminals:
        threading.Thread(target=wait, name="lost terminal", daemon=True).start()
    return lost
