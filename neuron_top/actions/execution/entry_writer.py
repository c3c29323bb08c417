"""Fills an entry of another root with a copy: locked for one writer, each file complete or absent."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import msgspec

from neuron_top.actions.entry_lock import EntryLockGuard
from neuron_top.actions.open_entries import CopiedElsewhereError, OpenEntry, StaleEntryError
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.cache.model.filenames import LOCK_NAMES


class LocalEntryWriter:
    """The open entry of a root on a file system; see `copy_targets.EntryWriter`."""

    def __init__(self, entry: OpenEntry) -> None:
        self._entry = entry

    def names(self) -> set[str]:
        """See EntryWriter."""
        return self._entry.names()

    def write(self, name: str, chunks: Iterable[bytes], mtime_ns: int) -> int:
        """See EntryWriter: under a temporary name, flushed, then renamed. Raises OSError."""
        folder = self._entry.handle
        temporary = f"{name}.{uuid.uuid4().hex}{_UNFINISHED}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o644, dir_fd=folder)
        try:
            with open(handle, "wb") as file:
                size = _write(file, chunks)
                os.fsync(file.fileno())
                os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            self.remove(temporary)
            raise
        return size

    def read(self, name: str, limit: int) -> bytes:
        """See EntryWriter; a link is refused."""
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._entry.handle)
        try:
            return os.read(handle, limit)
        finally:
            os.close(handle)

    def remove(self, name: str) -> None:
        """See EntryWriter."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._entry.handle)


def _write(file: BinaryIO, chunks: Iterable[bytes]) -> int:
    """Write the chunks in order; returns their total length. Large ones are written in threads while the next is
    read."""
    size = 0
    under_way: deque[Future[None]] = deque()
    with contextlib.ExitStack() as stack:
        pool: ThreadPoolExecutor | None = None
        for chunk in chunks:
            if len(chunk) < _LARGE:
                _put(file.fileno(), chunk, size)
            else:
                if pool is None:
                    pool = stack.enter_context(ThreadPoolExecutor(_WRITERS, "write"))
                under_way.append(pool.submit(_put, file.fileno(), chunk, size))
                if len(under_way) > _WRITERS:
                    under_way.popleft().result()
            size += len(chunk)
        for each in under_way:
            each.result()
    return size


def _put(file: int, chunk: bytes, at: int) -> None:
    """Write a chunk at offset `at`. The kernel is asked to flush a large one, so that the fsync finds little to do."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.pwrite(file, rest, at + len(chunk) - len(rest)) :]
    if len(chunk) >= _LARGE:
        with contextlib.suppress(OSError):  # a file system that takes no advice
            # This starts the flush. It also drops pages that are on disk already, so none of those just written.
            os.posix_fadvise(file, at, len(chunk), os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def held(entry: OpenEntry) -> Iterator[LocalEntryWriter]:
    """Hold the entry's lock, and clear away what killed copies left. Raises StaleEntryError if somebody else holds it,
    CopiedElsewhereError if that is another copy."""
    token = _token(entry)
    try:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(EntryLockGuard(entry, token))
            except StaleEntryError:
                if _is_copied(entry):
                    raise CopiedElsewhereError(NotDoneCode.COPIED_NOW) from None
                raise
            filled = LocalEntryWriter(entry)
            _clear(entry, filled, token.name)
            yield filled
    finally:
        token.unlink(missing_ok=True)


def _token(entry: OpenEntry) -> Path:
    """Make the record that names this process as owner, in the entry itself; a rename makes it appear complete."""
    who = lock_owner.current()
    unfinished = entry.path / f"model.{who.token}{_UNFINISHED}"
    unfinished.write_bytes(msgspec.json.encode(who))
    try:
        return unfinished.rename(entry.path / f"model.{who.token}{_TOKEN_SUFFIX}")
    except FileNotFoundError:
        raise CopiedElsewhereError(NotDoneCode.COPIED_NOW) from None  # the lock's holder cleared it away


def _is_copied(entry: OpenEntry) -> bool:
    """Whether the lock is that of a copy: a link to its record here. A lock that is gone by now counts as one."""
    names = entry.names()
    try:
        copies = {entry.facts(name).st_ino for name in names if name.endswith(_TOKEN_SUFFIX)}
        return copies.issuperset(entry.facts(name).st_ino for name in names & set(LOCK_NAMES))
    except FileNotFoundError:
        return True


def _clear(entry: OpenEntry, filled: LocalEntryWriter, ours: str) -> None:
    """Remove unfinished files, and tokens of dead processes. Called under the lock, whose holder alone writes files."""
    for name in entry.names() - {ours}:
        dead_token = name.endswith(_TOKEN_SUFFIX) and lock_owner.is_dead(lock_owner.read_record(entry.path / name))
        if dead_token or name.endswith(_UNFINISHED):
            filled.remove(name)


_LARGE = 4 << 20
"""Bytes from which on another thread writes a chunk: hashing the next one takes as long as writing it."""
_WRITERS = 2
_UNFINISHED = f".copy{filenames.TEMPORARY_SUFFIX}"
_TOKEN_SUFFIX = f".copier{filenames.TEMPORARY_SUFFIX}"
