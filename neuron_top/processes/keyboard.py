"""The keyboard of a program whose standard input is a log: `torchrun train.py 2>&1 | neurontop watch -`."""

from __future__ import annotations

import os

_TERMINAL = "/dev/tty"
_STANDARD_INPUT = 0


def pipe_aside() -> int | None:
    """Put our terminal in the place of standard input; a descriptor of what stood there. None: we have no terminal."""
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR)
    except OSError:
        return None
    piped = os.dup(_STANDARD_INPUT)
    os.dup2(terminal, _STANDARD_INPUT)
    os.close(terminal)
    return piped
