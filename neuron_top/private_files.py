"""Folders and files of this user alone: recordings hold commands, environments and what a job printed.

What is made is closed to others whatever the umask says. What is there already is used only when nobody else could have
put it there or can exchange it: a state folder below `/tmp`, say, may have been made by a stranger, with links in it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from pathlib import Path

from neuron_top.errors import RefusedForSafety
from neuron_top.plain_files import NotAPlainFile, open_plain

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folder(folder: Path) -> None:
    """Make `folder` and what is missing above it. Raises OSError, RefusedForSafety where others could change it."""
    if not folder.is_dir():
        if folder.parent != folder:
            _make_above(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=FOLDER_MODE)
    facts = folder.stat()
    if not stat.S_ISDIR(facts.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, f"it is a file; {_WAY_OUT}", str(folder))
    _check_owner(folder, facts)
    if facts.st_mode & stat.S_IWOTH and not facts.st_mode & stat.S_ISVTX:
        raise RefusedForSafety(f"everybody can write to {folder}: {_WAY_OUT}")


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a plain file, made where there is none; links are not followed.

    Raises OSError, RefusedForSafety when something else lies there or it belongs to another user.
    """
    try:
        return open_plain(path, flags | os.O_CREAT, mode=FILE_MODE, check=lambda _, facts: _check_owner(path, facts))
    except NotAPlainFile:
        raise _not_plain(path) from None


def make_file(path: Path) -> None:
    """Make an empty file where there is none. One that is there is checked as `open_file` does, but not opened:
    whoever closes a file loses all locks that this process has on it, as SQLite has while a connection is open.

    Raises OSError, RefusedForSafety when something else lies there or it belongs to another user.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with _making:
        try:
            os.close(os.open(path, flags, FILE_MODE))
        except FileExistsError:
            facts = path.lstat()
        else:
            return
    if not stat.S_ISREG(facts.st_mode):
        raise _not_plain(path)
    _check_owner(path, facts)
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def replace_file(path: Path, *parts: bytes, mode: int = FILE_MODE, locked: bool = False) -> None:
    """Write a file whole or not at all: whoever reads it meanwhile gets what was there before.

    `locked`: a lock of the caller's makes it the only writer, so what a killed one left unfinished is written over;
    else each writer has an unfinished file of its own. Raises OSError, and RefusedForSafety as `open_file` does.
    """
    beside = path.with_name(f".{path.name}.tmp" if locked else f".{path.name}.{os.urandom(8).hex()}.tmp")
    descriptor = open_file(beside, os.O_WRONLY | (os.O_TRUNC if locked else os.O_EXCL))
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.writelines(parts)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _make_above(folder: Path) -> None:
    """Folders that are missing on the way; those that are there are the user's choice."""
    if folder.is_dir():
        return
    _make_above(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=FOLDER_MODE)


def _not_plain(path: Path) -> RefusedForSafety:
    return RefusedForSafety(f"{path} is not a plain file: {_WAY_OUT}")


def _check_owner(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid not in (os.geteuid(), 0):
        raise RefusedForSafety(f"{path} belongs to user {facts.st_uid}: {_WAY_OUT}")


_WAY_OUT = "set state_dir (NEURONTOP_STATE_DIR) to a folder of your own"
_making = threading.Lock()
"""Held until a new file is closed, so that another thread takes no lock on it before that."""
