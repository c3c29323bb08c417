"""The size of a folder tree: blocks once per inode, links not followed, bounded, access times kept."""

from __future__ import annotations

import os
import stat

import msgspec

from neuron_top.cache.quiet import QuietReader

FILES_LIMIT = 1_000_000
"""Where a walk stops and says that it is incomplete: nobody's home folder is walked for ever."""


class TreeSize(msgspec.Struct, frozen=True, array_like=True):
    """What a tree holds. `newest` is the latest mtime of a file in it, seconds since the epoch."""

    allocated: int = 0
    apparent: int = 0
    files: int = 0
    newest: float | None = None
    complete: bool = True
    """False when the walk was cut short or a folder could not be read."""


def measure(path: str, reader: QuietReader | None = None, limit: int = FILES_LIMIT) -> TreeSize:
    """Walk `path` (not through links, not into other file systems). A missing folder measures as incomplete."""
    walk = _Walk(reader or QuietReader(), limit)
    walk.run(path)
    return TreeSize(walk.allocated, walk.apparent, walk.files, walk.newest, walk.complete)


class _Walk:
    def __init__(self, reader: QuietReader, limit: int) -> None:
        self.reader, self.limit = reader, limit
        self.allocated = self.apparent = self.files = 0
        self.newest: float | None = None
        self.complete = True
        self.device: int | None = None
        self.linked: set[int] = set()
        self.waiting: list[str] = []

    def run(self, path: str) -> None:
        self.waiting.append(path)
        while self.waiting:
            try:
                self._folder(self.waiting.pop())
            except OSError:
                self.complete = False
            if self.files >= self.limit:
                self.complete = False
                return

    def _folder(self, path: str) -> None:
        descriptor = self.reader.open_folder(path)
        try:
            device = os.fstat(descriptor).st_dev
            if self.device is None:
                self.device = device
            if device != self.device:
                return
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    self._member(path, entry)
        finally:
            os.close(descriptor)

    def _member(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISDIR(info.st_mode):
            self.waiting.append(f"{path}/{entry.name}")
            return
        self.files += 1
        if self.newest is None or info.st_mtime > self.newest:
            self.newest = info.st_mtime
        if info.st_nlink > 1:
            if info.st_ino in self.linked:
                return
            self.linked.add(info.st_ino)
        self.allocated += info.st_blocks * 512
        self.apparent += info.st_size
