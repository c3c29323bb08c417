"""The lock of an open entry: who holds it, holding it ourselves, and taking away what the dead left.

Our lock is a hard link to a token that names us, so there is no instant at which it has no owner. Takers-over of dead
locks, here and in the compile component, exclude each other by a `flock` on the entry's folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType

from neuron_top.actions.opened import OpenEntry, StaleEntryError
from neuron_top.actions.plan import Action
from neuron_top.cache.locks import lock_holders, lock_owner
from neuron_top.cache.model import filenames

NAMES = tuple(name + filenames.LOCK_SUFFIX for name in filenames.GRAPH_NAMES)
_OWNERS = tuple(name + filenames.OWNER_SUFFIX for name in filenames.GRAPH_NAMES)
_ANY = frozenset(NAMES)


def owner(entry: OpenEntry) -> lock_owner.LockOwner | None:
    """Who held it at the first look; None when it was free or the lock names nobody."""
    return _owner_among(entry, entry.first_names())


def is_left_by_dead(entry: OpenEntry) -> bool:
    """True when the process that the lock names is proved dead."""
    return is_dead(owner(entry))


def is_dead(holder: lock_owner.LockOwner | None) -> bool:
    """True when the process is known, and proved dead."""
    return holder is not None and lock_owner.is_alive(holder) is False


class EntryLockGuard:
    """Holds the lock of an entry by a link to `token`. Entering raises StaleEntryError when another holds it.

    `as_planned`: the folder has not changed since a plan saw it without a lock. Then a list of its names would tell
    nothing new, and costs as much as the link: one look at the graph gives the lock's name, the link the rest.
    """

    def __init__(self, entry: OpenEntry, token: str | Path, *, as_planned: bool = False) -> None:
        self._entry, self._token, self._as_planned, self._name = entry, token, as_planned, ""

    def __enter__(self) -> None:
        self._name = NAMES[0] if self._as_planned and self._entry.has(filenames.GRAPH_NAMES[0]) else self._free_name()
        try:
            os.link(self._token, self._name, dst_dir_fd=self._entry.handle)
        except FileExistsError:
            raise StaleEntryError("it is locked") from None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        os.unlink(self._name, dir_fd=self._entry.handle)

    def _free_name(self) -> str:
        """The name of the lock, which is not there, or no longer."""
        present: Collection[str] = self._entry.first_names()
        if not _ANY.isdisjoint(present):
            break_dead(self._entry)
            present = self._entry.names()
            if not _ANY.isdisjoint(present):
                raise StaleEntryError("it is locked")
        return _name_for(present)


def free(entry: OpenEntry, inode: int) -> None:
    """Remove the lock that is this very file, which a process of ours left that is proved dead."""
    with _taking_over(entry):
        for name in NAMES:
            with contextlib.suppress(FileNotFoundError):
                if entry.facts(name).st_ino == inode:
                    os.unlink(name, dir_fd=entry.handle)


def take_away(entry: OpenEntry, target: int) -> None:
    """Rename the lock and its owner's record into the open folder `target`.

    Raises StaleEntryError when it is gone, or comes anew.
    """
    with _taking_over(entry):
        if not any(map(entry.has, NAMES)):
            raise StaleEntryError("the lock is gone")
        with _unheld(entry):
            entry.move_files(Action.UNLOCK, target)
        if any(map(entry.has, NAMES)):
            raise StaleEntryError("a new lock appeared")


def _name_for(present: Collection[str]) -> str:
    for graph, lock in zip(filenames.GRAPH_NAMES, NAMES, strict=True):
        if graph in present:
            return lock
    return NAMES[0]


def _owner_among(entry: OpenEntry, names: Collection[str]) -> lock_owner.LockOwner | None:
    return next((lock_owner.read(entry.path / name) for name in NAMES if name in names), None)


def break_dead(entry: OpenEntry) -> None:
    """Remove the lock of a process that is proved dead, as the compile component's waiters do."""
    holder = owner(entry)
    if not is_dead(holder):
        return
    with _taking_over(entry):
        # Somebody may have broken it by now, and hold the entry: what is there is read again, and compared.
        if _owner_among(entry, entry.names()) == holder:
            with contextlib.suppress(StaleEntryError), _unheld(entry):
                for name in (*_OWNERS, *NAMES):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(name, dir_fd=entry.handle)


@contextlib.contextmanager
def _unheld(entry: OpenEntry) -> Iterator[None]:
    """Flock each lock file while the block runs. Raises StaleEntryError when a living process holds one."""
    with contextlib.ExitStack() as stack:
        for name in NAMES:
            try:
                handle = os.open(name, _LOOKED_AT, dir_fd=entry.handle)
            except OSError:
                continue  # not there, a link, or not ours to open
            stack.callback(os.close, handle)
            why = lock_holders.of_open_file(handle) if stat.S_ISREG(os.fstat(handle).st_mode) else None
            if why:
                raise StaleEntryError(why)
        yield


_LOOKED_AT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def _taking_over(entry: OpenEntry) -> Iterator[None]:
    fcntl.flock(entry.handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(entry.handle, fcntl.LOCK_UN)
