"""Ctrl-Z: the program stops with its process group, as any other does in a shell, until `fg`."""

from __future__ import annotations

import os

from neuron_top.services.record import stop_until_continued


def stop_until_in_front(terminal: int) -> bool:
    """Stop this process and those that were started with it; True once they have the terminal again.

    False, at once, where nobody could continue them. After `bg` they stop again: a screen has nothing to draw on there.
    """
    while stop_until_continued(whole_group=True):
        if _is_in_front(terminal):
            return True
    return False


def _is_in_front(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # the terminal is gone; what notices that ends the program
        return True
