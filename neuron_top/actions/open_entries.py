"""Cache roots and entries, held open by directory descriptors so that no link swapped in can lead outside."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from pathlib import Path
from typing import Self

from neuron_top.actions.plan import DAY, FILES_REMOVED, LEADING_OUT, Action, Fingerprint
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache import trust
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import NEFF_FILE, PARTS, Part
from neuron_top.cache.use import is_ahead, last_read
from neuron_top.folders import FOLDER_FLAGS, open_folder
from neuron_top.plain_files import NotAPlainFile, open_plain

OPEN_FOLDERS = 32
"""Folders below a root that are held open: more than a path has parts, fewer than a process may have open."""
_NEW = ".new"
_LOCK_PARTS = Part.LOCK | Part.OWNER
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class StaleEntryError(Exception):
    """The disk is not as the plan says."""

    def __init__(self, code: NotDoneCode, detail: str = "") -> None:
        super().__init__(code, detail)
        self.reason = NotDone(code, detail)


class CopiedElsewhereError(StaleEntryError):
    """Another copy is filling the entry: the caller can wait for it."""


def not_done(problem: Exception) -> NotDone:
    """Why a step failed with this exception; of an OSError only the message, as names of our files help nobody."""
    if isinstance(problem, StaleEntryError):
        return problem.reason
    if isinstance(problem, OSError) and problem.errno == errno.EXDEV:
        return NotDone(NotDoneCode.OTHER_LAYER)  # a layered file system moves no folder of a layer
    words = problem.strerror if isinstance(problem, OSError) else None
    return NotDone(NotDoneCode.STORAGE, words or str(problem))


class OpenRoot:
    """A cache root, or a plan's folder in the trash, held open; all that lies in it is reached from its descriptor."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, FOLDER_FLAGS)
        self._folders: dict[str, int] = {}

    def close(self) -> None:
        """Close the descriptors."""
        for handle in (*self._folders.values(), self._handle):
            os.close(handle)
        self._folders.clear()

    def folder(self, path: str) -> int:
        """A descriptor of the folder `path` below the root, reached through no link; of the root itself for "". Raises
        StaleEntryError or OSError."""
        if not path:
            return self._handle
        handle = self._folders.get(path)
        if handle is None:
            above, name = self._place(path)
            handle = self._folders[path] = _opened(name, above)
            if len(self._folders) > OPEN_FOLDERS:
                os.close(self._folders.pop(next(iter(self._folders))))
        return handle

    def write(self, name: str, data: bytes) -> None:
        """Write the file `name` of the root itself, completely or not at all. Raises OSError."""
        try:
            with open(os.open(name + _NEW, _WRITE_FLAGS, 0o600, dir_fd=self._handle), "wb") as file:
                file.write(data)
            os.rename(name + _NEW, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except OSError:
            with contextlib.suppress(OSError):
                self.remove(name + _NEW)
            raise

    def names(self) -> set[str]:
        """Names of what lies in the root itself."""
        return set(os.listdir(self._handle))  # noqa: PTH208 (a descriptor, not a path)

    def read(self, name: str, limit: int) -> bytes:
        """The beginning of a file of the root itself; a link or a pipe is refused. Raises OSError."""
        with open(open_plain(name, dir_fd=self._handle), "rb") as file:
            return file.read(limit)

    def facts(self, name: str) -> os.stat_result:
        """Status of a file of the root itself; a link is not followed. Raises OSError."""
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Remove the file `name` of the root itself, if it is there. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._handle)

    def entry(self, path: str) -> OpenEntry:
        """Open the entry at `<compiler>/<module>`, for use in a `with`. Raises StaleEntryError or OSError."""
        try:
            above, name = self._place(path)
            return OpenEntry(name, above, _opened(name, above))
        except FileNotFoundError:
            raise StaleEntryError(NotDoneCode.GONE) from None

    def file(self, path: str) -> OpenFile:
        """Open an entry that is a single file, for use in a `with`. Raises StaleEntryError or OSError."""
        above, name = self._place(path)
        try:
            return OpenFile(name, above, open_plain(name, os.O_RDONLY | getattr(os, "O_NOATIME", 0), dir_fd=above))
        except NotAPlainFile:
            raise StaleEntryError(NotDoneCode.NOT_A_FILE, name) from None
        except PermissionError:
            return OpenFile(name, above, open_plain(name, dir_fd=above))

    def _place(self, path: str) -> tuple[int, str]:
        """(descriptor of the folder above `path`, name in it). Raises StaleEntryError for no name, or OSError."""
        parent, _, name = path.rpartition("/")
        if name in LEADING_OUT:
            raise StaleEntryError(NotDoneCode.OUTSIDE, repr(path))
        return self.folder(parent), name

    def above(self, path: str) -> int:
        """A descriptor of the folder above `path`, which is made if missing. Raises StaleEntryError or OSError."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self._folders:
            self.make(parent)
        return self.folder(parent)

    def make(self, path: str) -> None:
        """Make the folder `path` and those above it; what exists stays. Raises StaleEntryError or OSError."""
        so_far = ""
        for name in path.split("/"):
            above = self.folder(so_far)
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, trust.FOLDER_MODE, dir_fd=above)
            so_far = f"{so_far}/{name}" if so_far else name

    def remove_empty(self, path: str) -> None:
        """Remove the folder `path` and those above it, as far as they are empty. Raises StaleEntryError or OSError."""
        while path:
            parent, _, name = path.rpartition("/")
            os.rmdir(name, dir_fd=self.folder(parent))
            path = parent

    def take_back(self, trashed_files: OpenRoot, path: str, mtime_ns: int) -> None:
        """Move a whole entry from the trash back to its place, with the modification time that it had.

        Raises StaleEntryError if something exists there, or if what lies in the trash is no entry; OSError.
        """
        parent, _, name = path.rpartition("/")
        above = self.above(path)
        with contextlib.suppress(FileNotFoundError):
            # This must fail for an empty folder too, which a client has just made: a rename would replace it.
            os.stat(name, dir_fd=above, follow_symlinks=False)
            raise StaleEntryError(NotDoneCode.EXISTS_AGAIN)
        source = trashed_files.folder(parent)
        facts = os.stat(name, dir_fd=source, follow_symlinks=False)
        is_file = NEFF_FILE.match(path) is not None
        if not (stat.S_ISREG if is_file else stat.S_ISDIR)(facts.st_mode):
            raise StaleEntryError(NotDoneCode.TRASH_NOT_A_FILE if is_file else NotDoneCode.TRASH_NOT_A_FOLDER)
        # Set the time before the rename, which keeps it: we may be killed between the two.
        os.utime(name, ns=(facts.st_atime_ns, mtime_ns), dir_fd=source, follow_symlinks=False)
        os.rename(name, name, src_dir_fd=source, dst_dir_fd=above)


class _OpenItem:
    """Something that lies in a folder of a root, open. `handle` stays valid when it is renamed."""

    __slots__ = ("_above", "_facts", "handle", "name")

    replaced: NotDoneCode
    """Why nothing is done if something else has taken its name."""

    def __init__(self, name: str, above: int, handle: int) -> None:
        """It owns `handle`. Of the folder `above` it keeps a descriptor of its own, as the root may close that one."""
        try:
            self._above = os.dup(above)
        except OSError:
            os.close(handle)
            raise
        self.name, self.handle = name, handle
        self._facts = os.fstat(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)
        os.close(self._above)

    def rename_into(self, folder: int) -> None:
        """Rename it into the open `folder`. Raises StaleEntryError if something else has taken its name meanwhile."""
        present = os.stat(self.name, dir_fd=self._above, follow_symlinks=False)
        if present.st_ino != self._facts.st_ino:
            raise StaleEntryError(self.replaced)
        os.rename(self.name, self.name, src_dir_fd=self._above, dst_dir_fd=folder)


class OpenFile(_OpenItem):
    """One entry that is a single file, open."""

    __slots__ = ()

    replaced = NotDoneCode.FILE_REPLACED

    def check(self, planned: Fingerprint) -> None:
        """Raises StaleEntryError unless this is the file that was planned, and it was not written since."""
        if self._facts.st_ino != planned.folder_inode:
            raise StaleEntryError(self.replaced)
        if self._facts.st_mtime_ns != planned.folder_mtime_ns:
            raise StaleEntryError(NotDoneCode.WRITTEN_AGAIN)

    def check_unused(self, since: float, last_used: float | None = None) -> None:
        """As OpenEntry.check_unused: raises StaleEntryError if it was read since the plan was made."""
        _check_unread(os.fstat(self.handle), since, last_used)


class OpenEntry(_OpenItem):
    """One entry folder, open."""

    __slots__ = ("_listed",)

    replaced = NotDoneCode.FOLDER_REPLACED

    def __init__(self, name: str, above: int, handle: int) -> None:
        super().__init__(name, above, handle)
        self._listed: frozenset[str] | None = None

    @property
    def path(self) -> Path:
        """A path to the folder that stays valid when it is renamed."""
        return Path(f"/proc/self/fd/{self.handle}")

    def first_names(self) -> frozenset[str]:
        """Names in the folder when it was first listed. If a lock has appeared since, linking ours fails."""
        if self._listed is None:
            self._listed = frozenset(self.names())
        return self._listed

    def facts(self, name: str) -> os.stat_result:
        """Status of a file in the folder; a link is not followed. Raises OSError."""
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False)

    def has(self, name: str) -> bool:
        """True if something of that name lies in the folder and is not a folder itself."""
        try:
            return not stat.S_ISDIR(self.facts(name).st_mode)
        except FileNotFoundError:
            return False

    def check(self, planned: Fingerprint, *, touched: bool = False) -> None:
        """Raises StaleEntryError unless this is the folder that was planned, unchanged since.

        `touched`: an earlier attempt at the same plan changed it, so only its identity is compared.
        """
        if self._facts.st_ino != planned.folder_inode:
            raise StaleEntryError(self.replaced)
        if self._facts.st_mtime_ns != planned.folder_mtime_ns and not touched:
            raise StaleEntryError(NotDoneCode.FILES_CHANGED)

    def check_unused(self, planned: Fingerprint, since: float, last_used: float | None = None) -> None:
        """Raises StaleEntryError if the artifact was written or read since the plan was made. Call with the lock held.

        `since`: when the plan was made. Of an entry without an artifact, no file may have been written since.
        `last_used`: the last use that the plan knew of; a read that is later is refused too, unless it was more than a
        day before the plan.
        """
        for name in filenames.ARTIFACT_NAMES:
            try:
                facts = self.facts(name)
                if stat.S_ISLNK(facts.st_mode) and facts.st_ino != planned.artifact_inode:
                    facts = os.stat(name, dir_fd=self.handle)  # planned was the file that clients read through it
            except FileNotFoundError:
                continue
            if (facts.st_ino, facts.st_mtime_ns) != (planned.artifact_inode, planned.artifact_mtime_ns):
                raise StaleEntryError(NotDoneCode.ARTIFACT_WRITTEN_AGAIN)
            _check_unread(facts, since, last_used)
            return
        if planned.artifact_inode:
            raise StaleEntryError(NotDoneCode.ARTIFACT_GONE)
        self._check_unwritten(since)

    def _check_unwritten(self, since: float) -> None:
        """Raises StaleEntryError if a file was written in place, which the folder's modification time does not show."""
        for name in self.names():
            is_lock = PARTS.get(name, Part.OTHER) & _LOCK_PARTS  # the lock that we hold is newer than the plan
            written = self.facts(name).st_mtime
            if not is_lock and written > since and not is_ahead(written, time.time()):
                raise StaleEntryError(NotDoneCode.WRITTEN_AGAIN)

    def files(self, action: Action) -> list[tuple[str, os.stat_result]]:
        """(name, status) of the files that `action` takes, in the order in which they go."""
        order = FILES_REMOVED[action]
        found: list[tuple[int, str]] = []
        for name in os.listdir(self.handle):  # noqa: PTH208 (a descriptor, not a path)
            part = PARTS.get(name, Part.OTHER)
            found.extend((rank, name) for rank, taken in enumerate(order) if part & taken)
        return [(name, os.stat(name, dir_fd=self.handle, follow_symlinks=False)) for _, name in sorted(found)]

    def move_files(self, action: Action, target: int) -> None:
        """Rename the files that `action` takes into the open folder `target`, in the same order."""
        for name, _ in self.files(action):
            os.rename(name, name, src_dir_fd=self.handle, dst_dir_fd=target)

    def names(self) -> set[str]:
        """Names of what lies in the folder now."""
        return set(os.listdir(self.handle))  # noqa: PTH208 (a descriptor, not a path)

    def take_back(self, source: int, name: str) -> None:
        """Rename one file from an open folder of the trash to its place. Raises StaleEntryError if one exists."""
        if self.has(name):
            raise StaleEntryError(NotDoneCode.EXISTS_AGAIN)
        os.rename(name, name, src_dir_fd=source, dst_dir_fd=self.handle)

    def put_time_back(self, mtime_ns: int) -> None:
        """Set the folder's modification time back: our lock was no change of its contents."""
        os.utime(self.handle, ns=(self._facts.st_atime_ns, mtime_ns))


def _check_unread(facts: os.stat_result, since: float, last_used: float | None) -> None:
    """Raises StaleEntryError if a file was read since a plan, or later than the plan knew and within a day before it.

    An access time far ahead of the clock is not that of a read since the plan: such a read would carry today's time.
    """
    now = time.time()
    if facts.st_atime > since and not is_ahead(facts.st_atime, now):
        raise StaleEntryError(NotDoneCode.USED)
    read = last_read(facts, now)
    if last_used is not None and read is not None and read > max(last_used, since - DAY):
        raise StaleEntryError(NotDoneCode.USED_LATER)


def _opened(name: str, above: int) -> int:
    try:
        return open_folder(name, above)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENOTDIR):
            raise StaleEntryError(NotDoneCode.NOT_A_FOLDER, name) from None
        raise
