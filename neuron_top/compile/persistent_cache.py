"""One compile cache on disk: look up, lock, publish, record a failure, set a broken artefact aside.

Safe against a kill at any instant: every file is written under a temporary name in its entry and renamed when it is
complete, `model.done` comes last, and an artefact counts only with its mark *and* the digest that its statistics
hold. Whatever else a killed process leaves is recognised as unfinished by the next one, which does the work again.

Only one process works on an entry: the one that holds `<graph>.lock`. The lock is a hard link to the record of its
owner, so it never exists without one; a waiter that finds the owner dead takes over under a `flock` on the entry's
directory, which dies with its holder and makes the check and the removal one step.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from neuron_top.cache import layout, lock_owner
from neuron_top.cache.keys import ModuleKey, flags_data
from neuron_top.compile.cache_root import check_artefact_owner, unusable

_DIRECTORY_MODE = 0o755


class State(enum.Enum):
    """What a look-up found."""

    HIT = "hit"
    FAILED = "failed"
    MISS = "miss"


class FileFacts(msgspec.Struct, frozen=True):
    """One file of an artefact as it was published."""

    sha256: str
    bytes: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """`model.stats.json`. Seconds; `started` and `finished` since the epoch; peak memory of the compile process."""

    module: str
    compiler: str = ""
    compile_seconds: float | None = None
    peak_rss_bytes: int | None = None
    started: float | None = None
    finished: float | None = None
    attempts: int = 1
    files: dict[str, FileFacts] = {}
    guards: str = ""
    """What the compiler assumed about symbolic sizes, as a Python expression over them; empty when nothing."""


_stats = msgspec.json.Decoder(Stats)  # made once, in one thread: see `cache/index.py`


class Entry:
    """One `MODULE_<graph>+<flags>` directory. The names of its files are the compiler's."""

    def __init__(self, path: Path, root: Path, *, graph_name: str, artefact_names: Sequence[str]) -> None:
        self.path, self.root = path, root
        self.graph = path / graph_name
        self.artefact = path / artefact_names[0]
        self.artefacts = tuple(path / name for name in artefact_names)
        self.done, self.failure = path / layout.DONE, path / layout.FAILURE_LOG
        self.lock = self.graph.with_name(self.graph.name + layout.LOCK_SUFFIX)

    @property
    def module(self) -> str:
        """The key, `MODULE_…`."""
        return self.path.name

    def state(self) -> State:
        """Mark first, then failure, as the SDK's clients look. A mark without its files is a miss."""
        if self.done.exists() and all(path.exists() for path in self.artefacts):
            return State.HIT
        return State.FAILED if self.failure.exists() else State.MISS

    def stats(self) -> Stats | None:
        """What is known of the last compile, None where nothing (readable) is."""
        try:
            return _stats.decode((self.path / layout.STATS).read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None

    def failure_text(self) -> str:
        """The stored message of a failed compile, empty where there is none."""
        try:
            return self.failure.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def broken_reason(self) -> str:
        """Empty when every file of the artefact is as it was published, else what is wrong with which.

        Raises RefusedForSafety for files of a stranger in a root that others can write to.
        """
        stats = self.stats()
        if stats is None:
            return f"{layout.STATS} is missing or unreadable"
        if stats.module != self.module:
            return f"it belongs to {stats.module}"
        try:
            for path in self.artefacts:
                check_artefact_owner(path, self.root)
                facts = stats.files.get(path.name)
                if facts is None or facts != file_facts(path):
                    return f"{path.name} is not what was published"
        except FileNotFoundError as problem:  # evicted since it was looked up: a miss, not an accident
            return f"{Path(problem.filename).name} is gone"
        return ""

    def store_graph(self, data: bytes, flags: Sequence[str], description: bytes | None = None) -> None:
        """Write the graph, its flags and its description, each only where it is missing. Raises CacheUnusable."""
        with self._as_unusable():
            self.path.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            self._write_missing(self.path / layout.FLAGS_NAMES[0], flags_data(flags))
            if description is not None:
                self._write_missing(self.path / layout.DESCRIPTION, description)
            self._write_missing(self.graph, data)

    def temporary(self, name: str) -> Path:
        """A fresh name beside `name`, on the same file system."""
        return self.path / f"{name}.{uuid.uuid4().hex}{layout.TEMPORARY_SUFFIX}"

    def publish(self, made: Mapping[str, Path], stats: Stats) -> None:
        """Make a finished compile a hit. `made` maps file names to complete temporary files. Raises CacheUnusable."""
        with self._as_unusable():
            for step in self.publishing(made, stats):
                step()

    def publishing(self, made: Mapping[str, Path], stats: Stats) -> list[Callable[[], object]]:
        """The steps of `publish`, in the order that leaves no false hit wherever they stop."""
        files = {name: file_facts(path) for name, path in made.items()}
        complete = msgspec.structs.replace(stats, module=self.module, files=files)
        return [
            lambda: self.done.unlink(missing_ok=True),
            *(lambda path=path: _flush(path) for path in made.values()),
            *(lambda path=path, name=name: path.rename(self.path / name) for name, path in made.items()),
            lambda: self._replace(self.path / layout.STATS, msgspec.json.encode(complete)),
            lambda: self.failure.unlink(missing_ok=True),
            lambda: _flush(self.path),
            lambda: self._replace(self.done, b""),
            lambda: _flush(self.path),
        ]

    def record_failure(self, text: str, stats: Stats) -> None:
        """Store a failed compile; later look-ups find it instead of compiling again. Raises CacheUnusable."""
        with self._as_unusable():
            self.done.unlink(missing_ok=True)
            self._replace(self.path / layout.STATS, msgspec.json.encode(stats))
            self._replace(self.failure, text.encode())

    def set_aside(self) -> Path:
        """Quarantine a broken artefact: the mark goes first, then each file gets a name that no look-up reads.

        Returns the new path of the main file. Raises CacheUnusable.
        """
        stamp = time.strftime("%Y%m%dT%H%M%S") + "-" + uuid.uuid4().hex[:6]
        aside = {path: path.with_name(f"{path.name}.{stamp}{layout.QUARANTINE_SUFFIX}") for path in self.artefacts}
        with self._as_unusable():
            self.done.unlink(missing_ok=True)
            for path, target in aside.items():
                with contextlib.suppress(FileNotFoundError):
                    path.rename(target)
        return aside[self.artefact]

    def sweep(self) -> None:
        """Remove temporary files of killed processes. Only while holding the lock."""
        with contextlib.suppress(OSError):
            for path in self.path.glob(f"model.*{layout.TEMPORARY_SUFFIX}"):
                owner = lock_owner.read_record(path)
                if owner is None or _is_dead(owner):  # a living waiter's record is about to become its lock
                    path.unlink(missing_ok=True)

    def _write_missing(self, path: Path, data: bytes) -> None:
        if not path.exists():
            self._replace(path, data)

    def _replace(self, path: Path, data: bytes) -> None:
        temporary = self.temporary(path.name)
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def _as_unusable(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise unusable(self.path, problem) from problem


class EntryLock:
    """The right to work on one entry. `acquire` never blocks; `release` removes only what this object took."""

    def __init__(self, entry: Entry) -> None:
        self._entry, self._owner = entry, lock_owner.current()
        self._sidecar = entry.graph.with_name(entry.graph.name + layout.OWNER_SUFFIX)

    @property
    def token(self) -> str:
        """What tells this acquisition from every other; the compile server gets it to clean up after a killed job."""
        return self._owner.token

    def acquire(self) -> bool:
        """True when the lock is ours now. Raises CacheUnusable where it cannot be made at all."""
        record = self._entry.path / f"{self._entry.graph.name}.{self.token}{layout.TEMPORARY_SUFFIX}"
        try:
            self._entry.path.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            record.write_bytes(msgspec.json.encode(self._owner))
            try:
                return self._link(record)
            finally:
                record.unlink(missing_ok=True)
        except OSError as problem:
            raise unusable(self._entry.path, problem) from problem

    def release(self) -> None:
        """Give the lock back; harmless when it was never taken or somebody removed it."""
        release_lock(self._entry.lock, self.token)

    def break_if_dead(self) -> lock_owner.LockOwner | None:
        """Remove the present lock if its owner is provably dead; returns that owner, None when nothing was done."""
        if not _is_dead(lock_owner.read(self._entry.lock)):
            return None
        with _directory_lock(self._entry.path) as held:
            owner = lock_owner.read(self._entry.lock) if held else None
            if owner is None or not _is_dead(owner):
                return None
            release_lock(self._entry.lock, owner.token)
            return owner

    def _link(self, record: Path) -> bool:
        try:
            os.link(record, self._entry.lock)
        except FileExistsError:
            return False
        except FileNotFoundError:  # a holder swept the record before it was written whole, or evicted the entry
            return False
        except OSError as problem:
            if problem.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            return self._create(record)
        record.replace(self._sidecar)
        return True

    def _create(self, record: Path) -> bool:
        """Exclusive creation, for file systems without hard links (there a lock is without an owner for an instant)."""
        try:
            with open(self._entry.lock, "xb") as file:
                file.write(record.read_bytes())
        except FileExistsError:
            return False
        record.replace(self._sidecar)
        return True


def release_lock(lock: Path, token: str) -> None:
    """Remove `lock` and its sidecar if they carry `token`."""
    sidecar = lock.with_name(lock.name.removesuffix(layout.LOCK_SUFFIX) + layout.OWNER_SUFFIX)
    for path in (sidecar, lock):
        owner = lock_owner.read_record(path)
        if owner is not None and owner.token == token:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def file_facts(path: Path) -> FileFacts:
    """Digest and size of a file."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileFacts(digest.hexdigest(), file.tell())


class PersistentCache:
    """A cache root as one compiler uses it: `<root>/<compiler>-<version>/`."""

    def __init__(self, root: Path, compiler_directory: str) -> None:
        self.root, self.directory = root, root / compiler_directory

    def entry(self, key: ModuleKey, *, graph_name: str, artefact_names: Sequence[str]) -> Entry:
        """The entry of `key`, which need not exist."""
        return Entry(self.directory / key.name, self.root, graph_name=graph_name, artefact_names=artefact_names)


def discard(paths: Iterable[Path]) -> None:
    """Remove temporary files of our own; what is gone already is fine."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _is_dead(owner: lock_owner.LockOwner | None) -> bool:
    return owner is not None and lock_owner.is_alive(owner) is False


@contextlib.contextmanager
def _directory_lock(directory: Path) -> Iterator[bool]:
    """An advisory lock on a directory, gone with the process; False where the file system has none."""
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        yield _flocked(handle)
    finally:
        os.close(handle)


def _flocked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _flush(path: Path) -> None:
    """Make a file (or the names in a directory) durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
