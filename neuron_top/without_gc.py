"""Blocks in which Python collects garbage rarely or not at all: for work that makes many objects and keeps them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (20_000, 10, 1_000)
"""Thresholds of the three generations (Python's: 700, 10, 10): the oldest is not looked through at all."""


@contextmanager
def without_gc(*, for_good: bool = False) -> Iterator[None]:
    """Within the block the garbage collector is off, in all threads; where it was off already, it stays so.

    `for_good`: the objects live as long as the process. They go straight to the oldest generation, so that collections
    of younger ones do not walk through them. Where a process has frozen objects, counting those takes milliseconds.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if for_good and collecting and not gc.get_freeze_count():  # who has frozen objects wants them to stay so
            gc.freeze()
            gc.unfreeze()
        if collecting:
            gc.enable()


@contextmanager
def seldom_gc() -> Iterator[None]:
    """Within the block only young objects are looked through, and less often: for work that leaves garbage, too.

    Not for two threads at once: each would restore what it found.
    """
    found = gc.get_threshold()
    if not found[0]:  # somebody has switched it off
        yield
        return
    gc.set_threshold(*map(max, found, _SELDOM))
    try:
        yield
    finally:
        gc.set_threshold(*found)
