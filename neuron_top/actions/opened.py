"""An entry held open through directory descriptors, so that a link swapped in cannot lead anywhere else."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import uuid
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top.actions.plan import TAKES, Action, Fingerprint
from neuron_top.cache import layout, lock_owner
from neuron_top.cache.entry import PARTS, Part

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCKS = tuple(name + layout.LOCK_SUFFIX for name in layout.GRAPH_NAMES)
_LOCK_NAMES = frozenset(_LOCKS)
_OWNERS = tuple(name + layout.OWNER_SUFFIX for name in layout.GRAPH_NAMES)


class Changed(Exception):
    """The disk is not as the plan says; the text is the reason shown."""


class OpenRoot:
    """A cache root; entries are reached from it and from nowhere else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, _FOLDER)
        self._folders: dict[str, int] = {}

    def close(self) -> None:
        """Give the descriptors back."""
        for handle in (*self._folders.values(), self._handle):
            os.close(handle)
        self._folders.clear()

    def folder(self, path: str) -> int:
        """A descriptor of a folder below the root, no link in any part. Raises Changed or OSError."""
        if path not in self._folders:
            parent, _, name = path.rpartition("/")
            if name in ("", ".", ".."):
                raise Changed(f"{path!r} leads out of the cache")
            above = self.folder(parent) if parent else self._handle
            self._folders[path] = _opened(name, above)
        return self._folders[path]

    def entry(self, path: str) -> OpenEntry:
        """The entry at `<compiler>/<module>` below the root, to be closed by a `with`. Raises Changed or OSError."""
        parent, _, name = path.rpartition("/")
        above = self.folder(parent) if parent else self._handle
        if name in ("", ".", ".."):
            raise Changed(f"{path!r} leads out of the cache")
        return OpenEntry(name, above, _opened(name, above))

    def make(self, path: str) -> None:
        """Make the folders down to an entry; what is there already stays."""
        so_far = ""
        for name in path.split("/"):
            above = self.folder(so_far) if so_far else self._handle
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=above)
            so_far = f"{so_far}/{name}" if so_far else name

    def take_back(self, source: Path, path: str, mtime_ns: int) -> None:
        """Give a whole entry in the trash the time of change it had, and rename it to its place.

        Raises Changed when something is there.
        """
        parent, _, name = path.rpartition("/")
        try:
            above = self.folder(parent) if parent else self._handle
        except FileNotFoundError:
            os.mkdir(parent, dir_fd=self._handle)
            above = self.folder(parent)
        with contextlib.suppress(FileNotFoundError):
            # An empty folder too: a client has just made it, and a rename would take its place.
            os.stat(name, dir_fd=above, follow_symlinks=False)
            raise Changed("it exists again")
        # The time first: a rename does not change it, and between the two there is an instant to be killed at.
        os.utime(source, ns=(source.lstat().st_atime_ns, mtime_ns), follow_symlinks=False)
        os.rename(source, name, dst_dir_fd=above)


class OpenEntry:
    """One entry folder, open. `handle` stays valid when the folder is renamed."""

    def __init__(self, name: str, above: int, handle: int) -> None:
        self.name, self._above, self._handle = name, above, handle
        self._facts = os.fstat(handle)
        self._listed: frozenset[str] | None = None

    def __enter__(self) -> OpenEntry:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @property
    def _path(self) -> Path:
        return Path(f"/proc/self/fd/{self._handle}")

    def _first_names(self) -> frozenset[str]:
        """What lay in the folder at the first look: a lock that appears later is met when ours is linked."""
        if self._listed is None:
            self._listed = frozenset(self.names())
        return self._listed

    def owner(self) -> lock_owner.LockOwner | None:
        """Who held its lock at the first look; None when it was free or the lock names nobody."""
        return self._owner_among(self._first_names())

    def _owner_among(self, names: Collection[str]) -> lock_owner.LockOwner | None:
        return next((lock_owner.read(self._path / name) for name in _LOCKS if name in names), None)

    def is_left_by_dead(self) -> bool:
        """True when the process that its lock names is proved dead."""
        owner = self.owner()
        return owner is not None and lock_owner.is_alive(owner) is False

    def facts(self, name: str) -> os.stat_result:
        """Of a file in the folder, no link followed."""
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False)

    def check(self, planned: Fingerprint, ours: frozenset[str] = frozenset(), *, touched: bool = False) -> None:
        """Raises Changed unless it is the folder that was planned, untouched since.

        `ours` are tokens of earlier attempts at the same plan: under such a lock only we can have touched it.
        `touched`: an earlier attempt changed it without leaving a trace of itself; only its identity is compared.
        """
        if self._facts.st_ino != planned.folder_inode:
            raise Changed("another folder has taken its place since the plan was made")
        if touched:
            return
        owner = self.owner()
        if self._facts.st_mtime_ns != planned.folder_mtime_ns and not (owner and owner.token in ours):
            raise Changed("files came or went since the plan was made")

    def check_unused(self, planned: Fingerprint, since: float) -> None:
        """Raises Changed when the artefact was rewritten or read since the plan was made. Called under the lock."""
        for name in layout.ARTEFACT_NAMES:
            try:
                facts = os.stat(name, dir_fd=self._handle, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if (facts.st_ino, facts.st_mtime_ns) != (planned.artefact_inode, planned.artefact_mtime_ns):
                raise Changed("its artefact was written again since the plan was made")
            if facts.st_atime > since:
                raise Changed("it was used since the plan was made")
            return
        if planned.artefact_inode:
            raise Changed("its artefact is gone")

    @contextlib.contextmanager
    def locked(self, token: Path) -> Iterator[None]:
        """Hold the entry's lock: a hard link to `token`, which names us."""
        present: Collection[str] = self._first_names()
        if not _LOCK_NAMES.isdisjoint(present):
            self._break_dead_lock()
            present = self.names()
            if not _LOCK_NAMES.isdisjoint(present):
                raise Changed("it is locked")
        name = next((lock for lock in _LOCKS if lock.removesuffix(layout.LOCK_SUFFIX) in present), _LOCKS[0])
        try:
            os.link(token, name, dst_dir_fd=self._handle)
        except FileExistsError:
            raise Changed("it is locked") from None
        try:
            yield
        finally:
            os.unlink(name, dir_fd=self._handle)

    def _break_dead_lock(self) -> None:
        """Remove the lock of a process that is proved dead, as the compile component's waiters do."""
        owner = self.owner()
        if owner is None or lock_owner.is_alive(owner) is not False:
            return
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            if self._owner_among(self.names()) == owner:
                for name in (*_OWNERS, *_LOCKS):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(name, dir_fd=self._handle)
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def free_lock(self, inode: int) -> None:
        """Remove the lock that is this very file, which a process of ours left that is proved dead."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        for name in _LOCKS:
            with contextlib.suppress(FileNotFoundError):
                if self.facts(name).st_ino == inode:
                    os.unlink(name, dir_fd=self._handle)

    def files(self, action: Action) -> list[tuple[str, os.stat_result]]:
        """The files that `action` takes, in its order."""
        order = TAKES[action]
        found: list[tuple[int, str]] = []
        for name in os.listdir(self._handle):  # noqa: PTH208 (a descriptor, not a path)
            part = PARTS.get(name, Part.OTHER)
            found.extend((rank, name) for rank, taken in enumerate(order) if part & taken)
        return [(name, os.stat(name, dir_fd=self._handle, follow_symlinks=False)) for _, name in sorted(found)]

    def move_files(self, action: Action, target: Path) -> None:
        """Rename what `action` takes into `target`, in its order."""
        for name, _ in self.files(action):
            os.rename(name, target / name, src_dir_fd=self._handle)

    def rename_to(self, target: str | Path) -> None:
        """Rename the whole folder. Raises Changed when it is no longer the one that was opened."""
        present = os.stat(self.name, dir_fd=self._above, follow_symlinks=False)
        if present.st_ino != self._facts.st_ino:
            raise Changed("another folder has taken its place")
        os.rename(self.name, target, src_dir_fd=self._above)

    def take_lock_away(self, target: Path) -> None:
        """Rename the lock and its owner's record, under the lock that takers-over of locks respect."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        before = [name for name in _LOCKS if _there(name, self._handle)]
        if not before:
            raise Changed("the lock is gone")
        self.move_files(Action.UNLOCK, target)
        if any(_there(name, self._handle) for name in _LOCKS):
            raise Changed("a new lock appeared")

    def write(self, name: str, chunks: Iterable[bytes], mtime_ns: int) -> int:
        """Write a file under a temporary name, flush it and rename it; gives its length. Raises OSError."""
        temporary = f"{name}.{uuid.uuid4().hex}{layout.TEMPORARY_SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o644, dir_fd=self._handle)
        try:
            size = 0
            with open(handle, "wb") as file:
                for chunk in chunks:
                    size += file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
                os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))
            os.rename(temporary, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self._handle)
            raise
        return size

    def read(self, name: str, limit: int) -> bytes:
        """The first `limit` bytes of a file that is no link."""
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._handle)
        try:
            return os.read(handle, limit)
        finally:
            os.close(handle)

    def size(self, name: str) -> int:
        """Length of a file."""
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False).st_size

    def names(self) -> set[str]:
        """What lies in the folder."""
        return set(os.listdir(self._handle))  # noqa: PTH208 (a descriptor, not a path)

    def remove(self, name: str) -> None:
        """Remove a file of our own making. Called under the lock."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._handle)

    @contextlib.contextmanager
    def locked_for_writing(self) -> Iterator[None]:
        """Hold the lock of an entry in another root: the record that names us is made in the entry itself."""
        token = self._path / f"model.{uuid.uuid4().hex}{layout.TEMPORARY_SUFFIX}"
        token.write_bytes(msgspec.json.encode(lock_owner.current()))
        try:
            with self.locked(token):
                yield
        finally:
            token.unlink(missing_ok=True)

    def take_back(self, source: Path, name: str) -> None:
        """Rename one file from the trash to its place. Raises Changed when something is there."""
        if _there(name, self._handle):
            raise Changed("it exists again")
        os.rename(source, name, dst_dir_fd=self._handle)

    def put_time_back(self, mtime_ns: int) -> None:
        """Give the folder the time of change it had: our lock was not a change of it."""
        os.utime(self._handle, ns=(self._facts.st_atime_ns, mtime_ns))


def _opened(name: str, above: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Changed(f"{name} is a link or no folder") from None
        raise


def _there(name: str, folder: int) -> bool:
    try:
        return not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
