"""Measures a folder tree of any depth: counts an inode's blocks once, follows no links, changes no access times."""

from __future__ import annotations

import os
import stat
from collections import Counter
from contextlib import closing

import msgspec

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.folders import Descent

FILES_LIMIT = 1_000_000
"""Most files and folders of one walk, which is then marked as incomplete: it may have met somebody's home folder."""


class TreeSize(msgspec.Struct, frozen=True, array_like=True):
    """What a tree holds. Bytes; `newest` is the latest mtime of a file in it, in seconds since the epoch."""

    allocated: int = 0
    apparent: int = 0
    files: int = 0
    newest: float | None = None
    complete: bool = True
    """False if the walk was cut short, or a folder could not be read."""


def measure(path: str, reader: NoAtimeReader | None = None, limit: int = FILES_LIMIT) -> TreeSize:
    """Walk `path` (not through links, not into other file systems). A missing folder measures as incomplete."""
    walk = _Walk(reader or NoAtimeReader(), limit)
    walk.run(path)
    return TreeSize(walk.allocated, walk.apparent, walk.files, walk.newest, walk.complete)


def linked_inodes(path: str) -> Counter[int]:
    """Inode → number of its names below `path`, for files that have more than one name anywhere."""
    walk = _Walk(NoAtimeReader(), FILES_LIMIT)
    walk.run(path)
    return walk.linked


class _Walk:
    def __init__(self, reader: NoAtimeReader, limit: int) -> None:
        self.reader, self.limit = reader, limit
        self.allocated = self.apparent = self.files = self.folders = 0
        self.newest: float | None = None
        self.complete = True
        self.device: int | None = None
        self.linked: Counter[int] = Counter()

    def run(self, path: str) -> None:
        try:
            top = self.reader.open_folder(path)
        except OSError:
            self.complete = False
            return
        try:
            with closing(Descent(top, self.reader.open_folder)) as place:
                self._below(place)
        except OSError:
            self.complete = False  # somebody moved a folder during the walk
        finally:
            os.close(top)

    def _below(self, place: Descent) -> None:
        waiting = [self._folder(place)]
        """For each folder on the way down: its sub-folders that were not measured yet."""
        while waiting:
            if self.files + self.folders >= self.limit:
                self.complete = False
                return
            if not waiting[-1]:
                waiting.pop()
                if waiting:
                    place.leave()
                continue
            try:
                place.enter(waiting[-1].pop())
            except OSError:
                self.complete = False
                continue
            waiting.append(self._folder(place))

    def _folder(self, place: Descent) -> list[str]:
        """Measure the files of the current folder; returns the names of its sub-folders."""
        folders: list[str] = []
        try:
            device = os.fstat(place.handle).st_dev
            if self.device is None:
                self.device = device
            if device != self.device:
                return folders
            with os.scandir(place.handle) as entries:
                for entry in entries:
                    self._member(entry, folders)
                    if self.files + self.folders >= self.limit:
                        break
        except OSError:
            self.complete = False
        return folders

    def _member(self, entry: os.DirEntry[str], folders: list[str]) -> None:
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISDIR(info.st_mode):
            folders.append(entry.name)
            self.folders += 1
            return
        self.files += 1
        if self.newest is None or info.st_mtime > self.newest:
            self.newest = info.st_mtime
        if info.st_nlink > 1:
            self.linked[info.st_ino] += 1
            if self.linked[info.st_ino] > 1:
                return
        self.allocated += info.st_blocks * 512
        self.apparent += info.st_size
