"""The lock of an entry: how it is taken, released, and taken away from a dead owner.

Compilers and cache actions alike use this one protocol to work on an entry. A lock is a hard link to a record of its
owner (see `lock_owner`), so it never exists without one. A dead owner's lock is removed under a `flock` on the entry's
folder, which ends with the process that holds it, so that no two processes can both check and remove it. A lock file
that a living process has locked by other means (as the SDK's clients do) stays.

The SDK's own locks are empty files that name nobody. They are never broken here; `verdicts` says what is known of them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from neuron_top.cache import trust
from neuron_top.cache.locks import lock_holders, lock_owner
from neuron_top.cache.locks.kernel_lock import unlock
from neuron_top.cache.locks.lock_owner import LockOwner
from neuron_top.cache.model import filenames

_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class LockHeld(Exception):
    """A living process has locked the file itself, with flock or fcntl; the text says which."""


class EntryFolder(NamedTuple):
    """How the files of an entry are reached: below a path, or from an open descriptor, which stays valid after a rename
    of the folder."""

    prefix: str = ""
    handle: int | None = None

    @classmethod
    def at(cls, path: str | Path) -> EntryFolder:
        """The folder at this path, looked up at each use."""
        return cls(f"{path}/")

    def remove(self, name: str) -> None:
        """Remove a file of the entry, if it is there. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.prefix + name, dir_fd=self.handle)

    def owner_in(self, name: str) -> LockOwner | None:
        """The owner that one file of the entry names; None if it names nobody."""
        return lock_owner.read_record(self.prefix + name, self.handle)


def take(folder: EntryFolder, lock: str, record: str | Path) -> bool:
    """Make `lock` a link to `record`, the file that names its owner; False if somebody has it already.

    Raises FileNotFoundError if the record or the entry is gone, or another OSError.
    """
    try:
        os.link(record, folder.prefix + lock, dst_dir_fd=folder.handle)
    except FileExistsError:
        return _is_linked(folder, lock, record)
    except OSError as problem:
        if problem.errno not in _NO_HARD_LINKS:
            raise
        return _create(folder, lock, record)
    return True


def _is_linked(folder: EntryFolder, lock: str, record: str | Path) -> bool:
    """Whether the lock is our link after all: NFS says "exists" if its answer to a first, successful try was lost."""
    try:
        found = os.stat(folder.prefix + lock, dir_fd=folder.handle, follow_symlinks=False)
        return os.path.samestat(found, os.lstat(record))
    except OSError:
        return False


def owner_of(folder: EntryFolder, lock: str) -> LockOwner | None:
    """The owner that the lock names, in itself or in the record beside it; None for a lock of the SDK's, or no lock.

    The record beside is read in any case: a lock that cannot be read may still have an owner.
    """
    return folder.owner_in(lock) or folder.owner_in(filenames.owner_name(lock))


def release(folder: EntryFolder, lock: str, token: str) -> None:
    """Remove the lock and the record beside it if they carry `token`; another owner's stay."""
    for name in (filenames.owner_name(lock), lock):
        owner = folder.owner_in(name)
        if owner is not None and owner.token == token:
            with contextlib.suppress(OSError):
                folder.remove(name)


def break_dead(folder: EntryFolder, lock: str) -> LockOwner | None:
    """Remove the lock if its owner is proved dead; returns that owner, None if nothing was done."""
    if not lock_owner.is_dead(owner_of(folder, lock)):
        return None
    with contextlib.suppress(LockHeld, OSError), taking_over(folder), unheld(folder, (lock,)):
        owner = owner_of(folder, lock)  # again: another process may have broken the lock and taken its own by now
        if owner is not None and lock_owner.is_dead(owner):
            _remove_all_but_others(folder, lock, owner.token)
            return owner
    return None


def break_claimed(folder: EntryFolder, lock: str, claim: str) -> LockOwner | None:
    """Remove a lock that was taken under a claim in `claim`; returns its owner, None if nothing was done.

    For a process that holds that claim now: the lock's owner has lost it, so it is gone or will publish nothing.
    """
    with contextlib.suppress(LockHeld, OSError), taking_over(folder), unheld(folder, (lock,)):
        owner = owner_of(folder, lock)
        if owner is not None and owner.claim == claim:
            _remove_all_but_others(folder, lock, owner.token)
            return owner
    return None


@contextlib.contextmanager
def taking_over(folder: EntryFolder) -> Iterator[None]:
    """Keep all others from taking locks away while the block runs. Raises OSError if that is impossible."""
    handle = folder.handle
    if handle is None:
        handle = os.open(folder.prefix, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        unlock(handle)
        if folder.handle is None:
            os.close(handle)


@contextlib.contextmanager
def unheld(folder: EntryFolder, locks: Iterable[str]) -> Iterator[None]:
    """Hold the kernel's lock on each lock file while the block runs. Raises LockHeld if a living process has it."""
    with contextlib.ExitStack() as stack:
        for name in locks:
            try:
                handle = os.open(folder.prefix + name, _LOOK, dir_fd=folder.handle)
            except OSError:
                continue  # not there, a link, or not ours to open
            stack.callback(os.close, handle)
            if why := lock_holders.of_open_file(handle):
                raise LockHeld(why)
        yield


def _remove_all_but_others(folder: EntryFolder, lock: str, token: str) -> None:
    """Remove lock and record, except one that names another owner by now."""
    for name in (filenames.owner_name(lock), lock):
        owner = folder.owner_in(name)
        if owner is None or owner.token == token:
            folder.remove(name)


def _create(folder: EntryFolder, lock: str, record: str | Path) -> bool:
    """Create the lock exclusively, for file systems without hard links. For an instant it has no owner."""
    data = Path(record).read_bytes()
    try:
        handle = os.open(folder.prefix + lock, _CREATE, trust.FILE_MODE, dir_fd=folder.handle)
    except FileExistsError:
        return False
    try:
        with open(handle, "wb") as file:
            file.write(data)
    except BaseException:  # a full disk: an empty lock names nobody, so that nobody would ever remove it
        with contextlib.suppress(OSError):
            folder.remove(lock)
        raise
    return True
