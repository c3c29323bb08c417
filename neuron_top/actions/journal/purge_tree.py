"""Deletes for ever what lies in a folder of the trash, and measures what became free. Nothing can undo it.

Folders are opened relative to their parents, and links are removed, never followed, so nothing outside can be reached;
a tree of any depth takes few open folders (`neuron_top.folders`). We do what `rm -rf` does, an unlink per file, and
also ask for each file's blocks. Two threads share the entries, because each often waits for the file system's journal.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from neuron_top.folders import FOLDER_FLAGS, Removed, open_folder, remove_files, remove_folders

WORKERS = 2


def empty(place: Path) -> Removed:
    """Delete all that lies below `place`; the folder itself stays. Raises OSError if something cannot be deleted."""
    handle = os.open(place, FOLDER_FLAGS)
    try:
        removed, folders = remove_files(handle)
        while folders:
            for name in folders:
                removed = removed.plus(_shared_out(handle, name))
            more, folders = remove_files(handle)
            removed = removed.plus(more)
        return removed
    finally:
        os.close(handle)


def _shared_out(above: int, name: str) -> Removed:
    """Delete one folder (a compiler's, after an eviction); the threads share its sub-folders."""
    handle = open_folder(name, above)
    try:
        removed, folders = remove_files(handle)
        with ThreadPoolExecutor(WORKERS) as workers:
            while folders:
                shares = [share for first in range(WORKERS) if (share := folders[first::WORKERS])]
                for part in workers.map(remove_folders, itertools.repeat(handle), shares):
                    removed = removed.plus(part)
                more, folders = remove_files(handle)
                removed = removed.plus(more)
    finally:
        os.close(handle)
    os.rmdir(name, dir_fd=above)
    return removed
