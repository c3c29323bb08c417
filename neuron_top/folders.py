"""Folder trees of any depth, looked at and removed with a bounded number of open folders and without long paths.

A tree is walked by descriptor, one name at a time: no path grows beyond what the kernel takes, no link is followed,
nothing recurses. Folders far above the present one are closed and opened again through `..` on the way back.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import NamedTuple

OPEN_FOLDERS = 32
"""Folders that one descent holds open; entries of a cache are two deep, so theirs are all open."""
BATCH = 10_000
"""Sub-folders of one folder that are named at a time while it is removed: the memory a folder of a million takes."""
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Opener = Callable[[str, int], int]
"""(name, descriptor of the folder it lies in) → a descriptor; raises OSError, for a link too."""


def open_folder(name: str, above: int) -> int:
    """A descriptor of the folder `name` in the open folder `above`; a link is refused (OSError)."""
    return os.open(name, FOLDER_FLAGS, dir_fd=above)


class Descent:
    """The open folder `handle` somewhere below an open folder `top` (not closed here), and the way back up."""

    def __init__(self, top: int, opened: Opener = open_folder) -> None:
        self._opened = opened
        self._open = [top]  # the top, and the innermost folders of the way
        self._closed: list[tuple[int, int]] = []  # (device, inode) of those between

    @property
    def handle(self) -> int:
        """A descriptor of the present folder."""
        return self._open[-1]

    def enter(self, name: str) -> None:
        """Go down into the folder `name`. Raises OSError, and stays where it was."""
        self._open.append(self._opened(name, self._open[-1]))
        if len(self._open) > OPEN_FOLDERS:
            outermost = self._open.pop(1)
            self._closed.append(_identity(outermost))
            os.close(outermost)

    def leave(self) -> None:
        """Go up one folder. Raises OSError when a folder far up is no longer where it was; then it can go nowhere."""
        left = self._open.pop()
        try:
            if len(self._open) == 1 and self._closed:
                self._open.append(self._above(left))
        finally:
            os.close(left)

    def close(self) -> None:
        """Close all that was opened here."""
        while len(self._open) > 1:
            os.close(self._open.pop())

    def _above(self, left: int) -> int:
        handle = self._opened("..", left)
        if _identity(handle) != self._closed.pop():
            os.close(handle)
            raise OSError(errno.ESTALE, "a folder was moved while its tree was walked")
        return handle


def _identity(handle: int) -> tuple[int, int]:
    facts = os.fstat(handle)
    return facts.st_dev, facts.st_ino


class Removed(NamedTuple):
    """What was deleted: allocated bytes that became free, and names of files."""

    freed: int = 0
    files: int = 0

    def plus(self, other: Removed) -> Removed:
        """Both together."""
        return Removed(self.freed + other.freed, self.files + other.files)


def remove_folders(above: int, names: Iterable[str]) -> Removed:
    """Delete these folders of the open folder `above`, and all below them. Raises OSError where something can't go."""
    freed = files = 0
    for name in names:
        handle = open_folder(name, above)
        try:
            removed, folders = remove_files(handle)
            if folders:  # most hold files only
                removed = removed.plus(_below(handle, folders))
        finally:
            os.close(handle)
        os.rmdir(name, dir_fd=above)
        freed += removed.freed
        files += removed.files
    return Removed(freed, files)


def _below(handle: int, folders: list[str]) -> Removed:
    """Delete these folders of an open one, and those that are named after them."""
    removed = Removed()
    while folders:
        with closing(Descent(handle)) as place:
            for name in folders:
                removed = removed.plus(_remove(place, name))
        more, folders = remove_files(handle)
        removed = removed.plus(more)
    return removed


def _remove(place: Descent, name: str) -> Removed:
    """Delete the folder `name` of the present one, whatever its depth."""
    freed = files = 0
    levels: list[tuple[list[str], bool]] = [([name], True)]
    """Of each folder on the way down: sub-folders that still have to go, and whether the last look found anything."""
    while True:
        names, fruitful = levels[-1]
        if names:
            place.enter(names[-1])
            loose, folders = remove_files(place.handle)
            freed += loose.freed
            files += loose.files
            levels.append((folders[::-1], bool(loose.files or folders)))
            continue
        levels.pop()
        place.leave()
        if _is_gone(levels[-1][0][-1], place.handle, fruitful=fruitful):
            levels[-1][0].pop()
            if len(levels) == 1:
                return Removed(freed, files)


def _is_gone(name: str, above: int, *, fruitful: bool) -> bool:
    """Remove an emptied folder; False when there is more in it (it is named in batches, and somebody may add)."""
    try:
        os.rmdir(name, dir_fd=above)
    except OSError as problem:
        if fruitful and problem.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def remove_files(handle: int) -> tuple[Removed, list[str]]:
    """(what went of an open folder's own files, BATCH of its sub-folders at most, as they lie on a disk)."""
    freed = files = 0
    folders: list[tuple[int, str]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.inode(), entry.name))
                if len(folders) >= BATCH:
                    break
                continue
            facts = entry.stat(follow_symlinks=False)
            if facts.st_nlink == 1:
                os.unlink(entry.name, dir_fd=handle)
                freed += facts.st_blocks * 512
            else:
                freed += _one_name_of_several(handle, entry.name)
            files += 1
    return Removed(freed, files), [name for _, name in sorted(folders)]


def freed_by(facts: os.stat_result) -> int:
    """Bytes that become free with this name of a file: none while it has another."""
    return facts.st_blocks * 512 if facts.st_nlink == 1 else 0


def _one_name_of_several(handle: int, name: str) -> int:
    """Bytes that became free: an inode's, with its last name. One name at a time, so that exactly one is the last."""
    with _several_names:
        facts = os.stat(name, dir_fd=handle, follow_symlinks=False)
        os.unlink(name, dir_fd=handle)
    return freed_by(facts)


_several_names = threading.Lock()
