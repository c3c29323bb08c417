"""Locks between the processes of a machine that share Inductor's folder, as the ranks of a node do.

A lock dies with its holder. It only saves work: where there are no locks, every process goes ahead.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from torch._inductor.runtime.cache_dir_utils import cache_dir

from neuron_top.cache.locks.kernel_lock import give_back, unlock

_COMPILE_SERVER = "server.lock"
_HEAD_START_SECONDS, _POLL_SECONDS = 5.0, 0.05
"""The head start is about the time it takes to start another compile server."""
_held: dict[str, int] = {}


def folder() -> Path:
    """Where locks and marks lie."""
    return Path(cache_dir(), "neurontop")


def open_lock(name: str) -> int | None:
    """A descriptor of the lock's file, which is made if missing; None where that fails."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        return os.open(folder() / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def try_lock(handle: int) -> bool:
    """Take the lock without waiting; False where another process has it."""
    return _take(handle, fcntl.LOCK_EX)


def is_locked(handle: int) -> bool:
    """Whether another process has the lock, without keeping it. Others that ask do not take us for its holder."""
    if not _take(handle, fcntl.LOCK_SH):
        return True
    unlock(handle)
    return False


def _take(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True


def claim_server_start() -> bool:
    """Claim the start of a compile server ahead of the first graph; False where another process has claimed it.

    Ranks share most graphs: all other servers would import PyTorch for nothing, beside the ranks that need the cores.
    The claim holds until `first_compile` ends.
    """
    if _COMPILE_SERVER in _held:
        return True
    handle = open_lock(_COMPILE_SERVER)
    if handle is None:
        return True
    if not try_lock(handle):
        os.close(handle)
        return False
    _held[_COMPILE_SERVER] = handle
    return True


def let_the_server_go_first(is_begun: Callable[[], bool]) -> None:
    """Give the process that has started a server time to take a graph, as only it can compile at once.

    `is_begun`: whether somebody compiles it. If that process has other graphs, or none yet, we wait five seconds, once.
    """
    if _COMPILE_SERVER in _held or (handle := open_lock(_COMPILE_SERVER)) is None:
        return
    try:
        while not is_begun() and not try_lock(handle) and time.monotonic() < _head_start_ends():
            time.sleep(_POLL_SECONDS)
    finally:
        give_back(handle)


@functools.cache
def _head_start_ends() -> float:
    """When the head start ends; fixed at the first call, so that not every graph of this process waits."""
    return time.monotonic() + _HEAD_START_SECONDS


@contextlib.contextmanager
def first_compile() -> Iterator[None]:
    """After the block, give up the claim: other processes now find the first graph in the cache, or start a server."""
    try:
        yield
    finally:
        handle = _held.pop(_COMPILE_SERVER, None)
        if handle is not None:
            give_back(handle)


def _forget() -> None:
    """Forget the locks in a forked child: the parent gives them back."""
    while _held:
        os.close(_held.popitem()[1])


os.register_at_fork(after_in_child=_forget)
