"""Deletes for ever what lies in a folder of the trash, and measures what became free. Nothing can undo it.

Folders are opened relative to their parents and links are removed, never followed, so nothing outside can be reached.
An entry costs `rm -rf` an unlink per file and little else; what we add is one look at each file for its blocks. Two
threads share the entries, because a disk lets whoever deletes wait for its own journal.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

WORKERS = 2
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_several_names = threading.Lock()


class Gone(NamedTuple):
    """What was deleted: allocated bytes that became free, and names of files."""

    freed: int
    files: int


def empty(place: Path) -> Gone:
    """Delete all that lies below `place`; the folder itself stays. Raises OSError where something can't go."""
    handle = os.open(place, _FOLDER)
    try:
        loose, folders = _loose(handle)
        return _sum([loose, *(_shared_out(handle, name) for name in folders)])
    finally:
        os.close(handle)


def _shared_out(above: int, name: str) -> Gone:
    """One folder (of a compiler, in a plan that evicted), its sub-folders dealt out to the threads."""
    handle = os.open(name, _FOLDER, dir_fd=above)
    try:
        loose, folders = _loose(handle)
        with ThreadPoolExecutor(WORKERS) as workers:
            shares = [folders[first::WORKERS] for first in range(WORKERS)]
            gone = _sum([loose, *workers.map(_folders, itertools.repeat(handle), filter(None, shares))])
    finally:
        os.close(handle)
    os.rmdir(name, dir_fd=above)
    return gone


def _folders(above: int, names: Iterable[str]) -> Gone:
    """These folders and all below them."""
    freed = files = 0
    for name in names:
        handle = os.open(name, _FOLDER, dir_fd=above)
        try:
            loose, deeper = _loose(handle)
            below = _folders(handle, deeper) if deeper else _NOTHING
        finally:
            os.close(handle)
        os.rmdir(name, dir_fd=above)
        freed += loose.freed + below.freed
        files += loose.files + below.files
    return Gone(freed, files)


def _loose(handle: int) -> tuple[Gone, list[str]]:
    """(what went of the folder's own files, its sub-folders in the order of their inodes, as they lie on a disk)."""
    freed = files = 0
    folders: list[tuple[int, str]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.inode(), entry.name))
                continue
            facts = entry.stat(follow_symlinks=False)
            if facts.st_nlink == 1:
                os.unlink(entry.name, dir_fd=handle)
                freed += facts.st_blocks * 512
            else:
                freed += _one_name_of_several(handle, entry.name)
            files += 1
    return Gone(freed, files), [name for _, name in sorted(folders)]


def _one_name_of_several(handle: int, name: str) -> int:
    """Bytes that became free: an inode's, with its last name. One name at a time, so that exactly one is the last."""
    with _several_names:
        facts = os.stat(name, dir_fd=handle, follow_symlinks=False)
        os.unlink(name, dir_fd=handle)
    return facts.st_blocks * 512 if facts.st_nlink == 1 else 0


_NOTHING = Gone(0, 0)


def _sum(parts: Iterable[Gone]) -> Gone:
    freed, files = map(sum, zip(_NOTHING, *parts, strict=True))
    return Gone(freed, files)
