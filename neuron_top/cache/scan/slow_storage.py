"""Looks at many entries: one after the other, or several at a time where a network file system is slow to answer.

On a local disk more threads make a walk slower, since they take the interpreter from each other. On a network file
system (EFS, FSx, NFS) each call waits up to a millisecond for the server, so most of a walk is waiting; there several
threads wait at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

THREADS = 16
"""Calls that wait at the same time; no more than one client with a few jobs asks of a file server."""
CHUNK = 128
"""Entries between two looks at the clocks."""
SLOW_SECONDS = 0.0005
"""Seconds of waiting per entry from which on threads are worth it: an entry takes 0.03 to 0.1 ms of work."""

_Found = TypeVar("_Found")


class Looks:
    """The looks of one walk; once it has found the storage slow, it stays with threads.

    `over_network` is False for a local disk: there, what looks like waiting is other threads at work.
    """

    def __init__(self, *, over_network: bool) -> None:
        self._over_network = over_network
        self.slow = False

    def in_order(self, look: Callable[[str], _Found], names: Sequence[str]) -> Iterator[_Found]:
        """`look(name)` for each name, in their order. `look` must be safe to call from several threads."""
        done = 0
        while done < len(names) and not self.slow:
            chunk = names[done : done + CHUNK]
            began, worked = time.perf_counter(), time.thread_time()
            found = [look(name) for name in chunk]
            waited = (time.perf_counter() - began) - (time.thread_time() - worked)
            self.slow = self._over_network and waited > SLOW_SECONDS * len(chunk)
            yield from found
            done += len(chunk)
        if done < len(names):
            yield from _several_at_a_time(look, names[done:])


def _several_at_a_time(look: Callable[[str], _Found], names: Sequence[str]) -> Iterator[_Found]:
    from concurrent.futures import ThreadPoolExecutor  # only where it is needed: most walks are of a local disk

    with ThreadPoolExecutor(THREADS, thread_name_prefix="look") as pool:
        for start in range(0, len(names), CHUNK * THREADS):
            yield from pool.map(look, names[start : start + CHUNK * THREADS])
