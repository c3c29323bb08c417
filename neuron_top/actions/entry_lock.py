"""Takes, breaks and removes the lock of an open entry while a plan is executed, by the protocol of `cache.locks`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType

from neuron_top.actions.open_entries import OpenEntry, StaleEntryError
from neuron_top.actions.plan import Action
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.cache.locks import lock_owner, protocol
from neuron_top.cache.locks.protocol import EntryFolder, LockHeld
from neuron_top.cache.model.filenames import GRAPH_NAMES, LOCK_NAMES

_ANY = frozenset(LOCK_NAMES)


def owner(entry: OpenEntry) -> lock_owner.LockOwner | None:
    """The lock's owner when the entry was first listed; None if it was free, or the lock names nobody."""
    present, folder = entry.first_names(), _folder(entry)
    return next((protocol.owner_of(folder, name) for name in LOCK_NAMES if name in present), None)


def is_left_by_dead(entry: OpenEntry) -> bool:
    """True when the process that the lock names is proved dead."""
    return lock_owner.is_dead(owner(entry))


class EntryLockGuard:
    """Holds the lock of an entry, as a hard link to `token`. Entering raises StaleEntryError if another process has it.

    `as_planned`: the folder has not changed since the plan saw it without a lock. Listing it would show nothing new and
    cost as much as the link, so only the graph is looked up, whose name gives the lock's. If somebody has taken the
    lock since, the link fails.
    """

    def __init__(self, entry: OpenEntry, token: str | Path, *, as_planned: bool = False) -> None:
        self._entry, self._token, self._as_planned, self._name, self._inode = entry, token, as_planned, "", 0

    def __enter__(self) -> None:
        self._name = LOCK_NAMES[0] if self._as_planned and self._entry.has(GRAPH_NAMES[0]) else self._free_name()
        if not protocol.take(_folder(self._entry), self._name, self._token):
            raise StaleEntryError(NotDoneCode.LOCKED)
        self._inode = self._entry.facts(self._name).st_ino

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        # If somebody cleared all locks, what was done under ours is done; another's that came after it stays.
        with contextlib.suppress(FileNotFoundError):
            if self._entry.facts(self._name).st_ino == self._inode:
                os.unlink(self._name, dir_fd=self._entry.handle)

    def _free_name(self) -> str:
        """The name for our lock. Removes locks of dead processes first; raises StaleEntryError if one remains."""
        present: Collection[str] = self._entry.first_names()
        if not _ANY.isdisjoint(present):
            break_dead(self._entry)
            present = self._entry.names()
            if not _ANY.isdisjoint(present):
                raise StaleEntryError(NotDoneCode.LOCKED)
        locks = (lock for graph, lock in zip(GRAPH_NAMES, LOCK_NAMES, strict=True) if graph in present)
        return next(locks, LOCK_NAMES[0])


def break_dead(entry: OpenEntry) -> None:
    """Remove the locks of processes that are proved dead."""
    present = entry.first_names()
    for name in LOCK_NAMES:
        if name in present:
            protocol.break_dead(_folder(entry), name)


def free(entry: OpenEntry, inode: int) -> None:
    """Remove the lock whose file has this `inode`: a neurontop process that is proved dead left it."""
    with protocol.taking_over(_folder(entry)):
        for name in LOCK_NAMES:
            with contextlib.suppress(FileNotFoundError):
                if entry.facts(name).st_ino == inode:
                    os.unlink(name, dir_fd=entry.handle)


def take_away(entry: OpenEntry, target: int) -> None:
    """Rename the lock and its owner's record into the open folder `target`.

    Raises StaleEntryError if the lock is gone or held, or if a new one appears meanwhile.
    """
    with protocol.taking_over(_folder(entry)):
        if _ANY.isdisjoint(entry.names()):
            raise StaleEntryError(NotDoneCode.LOCK_GONE)
        with _unheld(entry):
            entry.move_files(Action.UNLOCK, target)
        if not _ANY.isdisjoint(entry.names()):
            raise StaleEntryError(NotDoneCode.LOCK_NEW)


@contextlib.contextmanager
def _unheld(entry: OpenEntry) -> Iterator[None]:
    try:
        with protocol.unheld(_folder(entry), LOCK_NAMES):
            yield
    except LockHeld as reason:
        raise StaleEntryError(NotDoneCode.HOLDER_ALIVE, str(reason)) from None


def _folder(entry: OpenEntry) -> EntryFolder:
    return EntryFolder(handle=entry.handle)
