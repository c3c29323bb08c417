"""Opening plain files that somebody else may have prepared: no link, no pipe, and what the caller wants to be true."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

Check = Callable[[int, os.stat_result], None]
"""(descriptor, its facts): raises whatever it likes where the file must not be used."""


class NotAPlainFile(OSError):
    """A link, a folder, a pipe or a device lies where a file is expected."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "not a plain file", str(path))


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
