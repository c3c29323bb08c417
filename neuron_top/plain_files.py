"""Opens plain files that somebody else may have prepared: no link, no pipe, and whatever else the caller checks.

`is_file` and `is_folder` are for paths on disks that fail for a while: `Path.is_file` and `Path.is_dir` raise then
(until Python 3.13), which would end a thread that looks again and again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from neuron_top.calendar_bounds import is_in_calendar

Check = Callable[[int, os.stat_result], None]
"""(descriptor, its facts): raises whatever it likes where the file must not be used."""


class NotAPlainFile(OSError):
    """A link, a folder, a pipe or a device lies where a file is expected."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "not a plain file", str(path))


def is_file(path: str | Path) -> bool:
    """Whether this is a file, or a link to one; False also where it cannot be looked at."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Whether this is a folder, or a link to one; False also where it cannot be looked at."""
    return stat.S_ISDIR(_mode(path))


def is_plain_file(path: str | Path) -> bool:
    """Whether this is a file itself, and no link to one; False also where it cannot be looked at."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def last_change(path: str | Path) -> float | None:
    """When a file was last written to, in seconds since the epoch; None where it is not there, or where no calendar has
    that time, which anybody may have set."""
    try:
        changed = os.stat(path).st_mtime  # noqa: PTH116 (strings are asked for too)
    except (OSError, ValueError):
        return None
    return changed if is_in_calendar(changed) else None


def size_of(path: str | Path) -> int:
    """Bytes of a file; 0 where it is not there."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 (strings are asked for too)
    except OSError:
        return 0


def nearest_folder(path: Path) -> Path:
    """The folder, or the lowest one above it that is there: it is on the disk that `path` will be made on."""
    return next((folder for folder in (path, *path.parents) if is_folder(folder)), Path("/"))


def kind_text(mode: int) -> str:
    """What lies where a plain file is expected, in words: `a folder`."""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a symbolic link"), (stat.S_ISFIFO, "a named pipe"))
    return next((words for is_kind, words in kinds if is_kind(mode)), "a device or a socket")


def _mode(path: str | Path) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 (strings are asked for too)
    except (OSError, ValueError):
        return 0


def read_plain(path: str | Path, limit: int = -1) -> bytes:
    """What a plain file holds, or the one that a link leads to; its first `limit` bytes, if that is given. Raises
    NotAPlainFile or another OSError."""
    with open(open_plain(path, follow=True), "rb") as file:
        return file.read(limit)


def open_plain(
    path: str | Path,
    flags: int = os.O_RDONLY,
    *,
    dir_fd: int | None = None,
    mode: int = 0o600,
    follow: bool = False,
    check: Check | None = None,
) -> int:
    """A descriptor of a plain file that `check` has nothing against; `mode` is for a file that is made.

    Raises NotAPlainFile, another OSError, or what `check` raises.
    """
    # Non-blocking: a pipe in the file's place must not stop us.
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags, mode, dir_fd=dir_fd)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):  # a link, a pipe without a reader, a folder
            raise NotAPlainFile(path) from None
        raise
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise NotAPlainFile(path)
        if check is not None:
            check(handle, facts)
    except BaseException:
        os.close(handle)
        raise
    return handle
