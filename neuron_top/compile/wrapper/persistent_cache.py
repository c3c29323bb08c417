"""The writer's view of a compile cache on disk: store a graph, lock, publish, record a failure, set an entry aside.

Safe against a kill at any instant: every file is written under a temporary name in its entry and renamed when it is
complete, and `model.done` comes last. Anything else that a killed process leaves is recognized as unfinished by the
next one, which does the work again. Only the process that holds the entry's lock works on it
(`cache/locks/protocol.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from neuron_top.cache import trust
from neuron_top.cache.locks import lock_owner, protocol
from neuron_top.cache.locks.protocol import EntryFolder
from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.keys import ModuleKey, flags_data
from neuron_top.cache.model.record import Stats
from neuron_top.cache.signing import Keys
from neuron_top.cache.stored_entry import StoredEntry, facts_of
from neuron_top.compile.wrapper.cache_root import unusable
from neuron_top.errors import CacheUnusable
from neuron_top.plain_files import kind_text, open_plain

_OTHERS_WRITE = 0o022


class WritableEntry(StoredEntry):
    """An entry that is written to."""

    def make(self) -> None:
        """Make the entry's folder, and make sure that it is ours. Raises CacheUnusable, RefusedForSafety."""
        with self.reaching():
            if self.private:
                trust.make_folders(str(self.path))
            else:
                self._make_checked()
            with self.opened():
                pass

    def _make_checked(self) -> None:
        """Make the folder and missing parents, but not in a folder that others can change."""
        try:
            with trust.open_folder(str(self.path), make=True):
                pass
        except trust.Untrusted as reason:
            raise trust.refusal(reason) from None

    def store_graph(self, body: bytes, graph: str, flags: Sequence[str], description: bytes | None = None) -> str:
        """Write the graph, its flags and its description; files that have the same content already stay as they are.
        Existing files are compared, never trusted.

        Returns the digest of the graph's file. Raises CacheUnusable, RefusedForSafety.
        """
        self.make()
        data = graph_header.wrap(body, module=self.module, graph=graph, keys=self.keys) if self.is_local else body
        with self.reaching():
            self._write(self.path / filenames.FLAGS_NAMES[0], flags_data(flags))
            if description is not None:
                self._write(self.path / filenames.DESCRIPTION, description)
            self._write(self.graph, data)
        return hashlib.sha256(data).hexdigest()

    def temporary(self, name: str) -> Path:
        """A fresh name beside `name`, on the same file system."""
        return self.path / f"{name}.{uuid.uuid4().hex}{filenames.TEMPORARY_SUFFIX}"

    def publish(self, outputs: Mapping[str, Path], stats: Stats) -> None:
        """Publish a finished compile; `outputs`: file name → complete temporary file. Raises CacheUnusable."""
        with self.reaching():
            for step in self.publishing(outputs, stats):
                step()

    def publishing(self, outputs: Mapping[str, Path], stats: Stats) -> list[Callable[[], object]]:
        """The steps of `publish`."""
        files = {name: facts_of(path) for name, path in outputs.items()}
        complete = msgspec.structs.replace(stats, module=self.module, files=files).sealed(self.keys)
        record = msgspec.json.encode(complete)
        return self._arrival(outputs, lambda: self._replace(self.path / filenames.STATS, record))

    def adopt(self, files: Mapping[str, Path]) -> None:
        """Publish verified files that came from elsewhere, a record only if it is among them: name → complete temporary
        file. The lock must be held. Raises CacheUnusable."""
        with self.reaching():
            for step in self._arrival(files):
                step()

    def _arrival(self, files: Mapping[str, Path], *further: Callable[[], object]) -> list[Callable[[], object]]:
        """The steps that make these files the entry's, in an order that leaves no false hit wherever they stop."""
        return [
            lambda: self.done.unlink(missing_ok=True),
            *(lambda path=path: _finish(path) for path in files.values()),
            *(lambda path=path, name=name: path.rename(self.path / name) for name, path in files.items()),
            *further,
            lambda: self.failure.unlink(missing_ok=True),
            lambda: _flush(self.path),
            lambda: self._replace(self.done, b""),
            lambda: _flush(self.path),
        ]

    def record_failure(self, text: str, stats: Stats) -> None:
        """Store a failed compile; later lookups find it instead of compiling again. Raises CacheUnusable."""
        with self.reaching():
            self.done.unlink(missing_ok=True)
            self._replace(self.path / filenames.STATS, msgspec.json.encode(stats))
            self._replace(self.failure, text.encode())

    def set_aside(self) -> Path:
        """Quarantine a broken entry: the mark goes first, then each file gets a name that no lookup reads.

        The graph, its flags and its record go too, so that the next compile uses nothing that was here. Returns the new
        path of the main file. Raises CacheUnusable.
        """
        stamp = time.strftime("%Y%m%dT%H%M%S") + "-" + uuid.uuid4().hex[:6]
        names = (filenames.STATS, filenames.DESCRIPTION, *filenames.FLAGS_NAMES, filenames.FAILURE_LOG)
        paths = (*self.artifacts, self.graph, *(self.path / name for name in names))
        aside = {path: path.with_name(f"{path.name}.{stamp}{filenames.QUARANTINE_SUFFIX}") for path in paths}
        with self.reaching():
            self.done.unlink(missing_ok=True)
            for path, target in aside.items():
                with contextlib.suppress(FileNotFoundError):
                    path.rename(target)
        return aside[self.artifact]

    def sweep(self) -> None:
        """Remove temporary files of killed processes, PyTorch's own too (`.<pid>.<thread>.tmp`). Only with the lock."""
        with contextlib.suppress(OSError):
            for path in self.path.glob(f"*{filenames.TEMPORARY_SUFFIX}"):
                if not path.name.startswith(("model.", ".", *filenames.FLAGS_NAMES)):
                    continue
                owner = lock_owner.read_record(path)
                if owner is None or lock_owner.is_dead(owner):  # a living waiter's record will become its lock
                    path.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        """Write without holding the lock; tried twice, as the lock's holder may sweep the temporary file away."""
        if not _holds(path, data):
            try:
                self._replace(path, data)
            except FileNotFoundError:
                self._replace(path, data)

    def _replace(self, path: Path, data: bytes) -> None:
        temporary = self.temporary(path.name)
        try:
            with new_file(temporary) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def reaching(self) -> Iterator[None]:
        """Raise CacheUnusable within the block if the entry cannot be accessed: no permission, or its disk is gone."""
        try:
            yield
        except OSError as problem:
            raise unusable(self.path, problem) from problem


class EntryLock:
    """The right to work on one entry. `acquire` never blocks; `release` removes only what this object took."""

    def __init__(self, entry: WritableEntry, *, claim: str = "") -> None:
        """`claim`: the claim of the entry's key, if this process holds it; it then decides about the lock."""
        self._entry, self._owner, self._folder = entry, lock_owner.current(claim), EntryFolder.at(entry.path)

    @property
    def token(self) -> str:
        """Identifies this acquisition; the compile server gets it to clean up after a killed job."""
        return self._owner.token

    def acquire(self) -> bool:
        """True when the lock is ours now. Raises CacheUnusable where it cannot be made, RefusedForSafety."""
        record = self._entry.path / f"{self._entry.graph.name}.{self.token}{filenames.TEMPORARY_SUFFIX}"
        try:
            self._entry.make()
            try:
                with new_file(record) as file:
                    file.write(msgspec.json.encode(self._owner))
                taken = protocol.take(self._folder, self._entry.lock.name, record)
                if taken:
                    record.replace(self._entry.lock.with_name(filenames.owner_name(self._entry.lock.name)))
                else:
                    self._check_holdable()
                return taken
            except FileNotFoundError:  # a holder swept the record before it was complete, or evicted the entry
                return False
            finally:
                record.unlink(missing_ok=True)
        except OSError as problem:
            raise unusable(self._entry.path, problem) from problem

    def _check_holdable(self) -> None:
        """Raise CacheUnusable if the lock's name is not a file: nobody holds that, so nobody would give it back."""
        with contextlib.suppress(FileNotFoundError):
            mode = self._entry.lock.lstat().st_mode
            if not stat.S_ISREG(mode):
                raise CacheUnusable(
                    f"{self._entry.lock} is {kind_text(mode)} in the place of a lock, and keeps every job from the "
                    f"entry: remove it (neurontop cache unlock --force {self._entry.module})"
                )

    def acquire_claimed(self) -> bool:
        """As `acquire`, with the claim held: a lock left by a process that has lost that claim is removed first."""
        if self.acquire():
            return True
        claim = self._owner.claim
        return bool(claim and protocol.break_claimed(self._folder, self._entry.lock.name, claim)) and self.acquire()

    def release(self) -> None:
        """Give the lock back; harmless if it was never taken or somebody removed it."""
        protocol.release(self._folder, self._entry.lock.name, self.token)

    def break_if_dead(self) -> lock_owner.LockOwner | None:
        """Remove the present lock if its owner is provably dead; returns that owner, or None if nothing was done."""
        return protocol.break_dead(self._folder, self._entry.lock.name)


class PersistentCache:
    """A cache root as one compiler uses it: `<root>/<compiler>-<version>/`.

    `private`: a root that this process made for itself, see `trust.open_own`.
    """

    def __init__(self, root: Path, compiler_directory: str, *, keys: Keys | None = None, private: bool = False) -> None:
        self.root, self.directory = root, root / compiler_directory
        self._keys, self._private = keys, private

    def entry(self, key: ModuleKey, *, graph_name: str, artifact_names: Sequence[str]) -> WritableEntry:
        """The entry of `key`, which need not exist."""
        return WritableEntry(
            self.directory / key.name,
            self.root,
            graph_name=graph_name,
            artifact_names=artifact_names,
            keys=self._keys,
            private=self._private,
        )


def discard(paths: Iterable[Path]) -> None:
    """Remove temporary files of our own; missing ones are ignored."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def new_file(path: Path) -> BinaryIO:
    """Open a new file, to which nobody else may write, whatever the umask. Raises FileExistsError; a link is a file."""
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags | os.O_CLOEXEC, trust.FILE_MODE))


def _holds(path: Path, data: bytes) -> bool:
    """Whether `path` is a plain file with exactly these bytes."""
    try:
        with open(open_plain(path), "rb") as file:
            return os.fstat(file.fileno()).st_size == len(data) and file.read() == data
    except OSError:
        return False


def _finish(path: Path) -> None:
    """Finish a file that the compiler wrote: restrict its permissions and make it durable."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS_WRITE)
    _flush(path)


def _flush(path: Path) -> None:
    """Make a file (or the names in a directory) durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
