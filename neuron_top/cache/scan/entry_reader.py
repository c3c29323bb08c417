"""Reads one entry's folder: each file's status once, the artifact's header, the flags, the failure log.

A plain entry is read by `read_plain` when it is seen for the first time. This module reads all others, and every entry
that was seen before: locks, logs, links, folders inside an entry, unknown names, files of the local compiler.
"""

from __future__ import annotations

import errno
import os

import msgspec

from neuron_top.cache.model.entry import PARTS, Artifact, Entry, Lock, Part, classify, is_legacy
from neuron_top.cache.model.states import State
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.cache.scan.entry_builder import CompilerFolder, EntryBuilder
from neuron_top.cache.scan.fast_scan import FORMAT, REGULAR, FolderFacts, read_plain

_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_OUTPUT, _OTHER, _ARTIFACT = Part.OUTPUT, Part.OTHER, Part.ARTIFACT
_FLAGS = Part.FLAGS_JSON | Part.FLAGS_TXT
_GRAPH, _DONE = Part.GRAPH, Part.DONE
_READ_BY_BUILDER = Part.KERNELS | Part.LOG | Part.LOCK | Part.STATS | Part.OTHER


class EntryReader:
    """Reads the entries of one compiler folder, given as an open descriptor.

    `root` is the real path of the cache: links are followed only within it and into a hub's blob store.
    `access_times` is False if the mount does not keep them.
    """

    def __init__(
        self, root: str, compiler: str, descriptor: int, reader: NoAtimeReader, *, access_times: bool = True
    ) -> None:
        self.descriptor, self._reader = descriptor, reader
        self.shared = CompilerFolder(root, reader, FolderFacts(compiler, access_times=access_times))

    def read(self, module: str, before: Entry | None = None) -> Entry | None:
        """The entry as it is now; None if it is gone or is no folder. `before`: the entry as last seen, which saves
        reading the header of an artifact that has not changed."""
        try:
            folder = self._reader.open_folder(module, self.descriptor)
        except OSError as problem:
            return self._closed(module, problem)
        try:
            plain = self._plain(module, folder) if before is None else None
            return plain if plain is not None else self.read_any(module, folder, before)
        except OSError as problem:  # the folder was removed meanwhile, or the disk fails
            return self._closed(module, problem)
        finally:
            os.close(folder)

    def _plain(self, module: str, folder: int) -> Entry | None:
        try:
            return read_plain(self.shared.facts, module, folder)
        except OSError:
            return None

    def read_any(self, module: str, folder: int, before: Entry | None = None) -> Entry:
        """The entry whose folder is open as `folder`, whatever lies in it. Raises OSError as listing does."""
        own = os.fstat(folder)
        allocated = apparent = kept = parts = 0
        changed_at: float = own.st_mtime
        builder = EntryBuilder(self.shared, module, folder, before)
        lstat, part_of = os.lstat, PARTS.get
        for name in os.listdir(folder):
            part = part_of(name, _OTHER)
            try:
                if part & _ARTIFACT:
                    info = builder.artifact(name)
                elif part & _FLAGS:
                    info = builder.flags(name)
                else:
                    info = lstat(name, dir_fd=folder)
            except FileNotFoundError:
                continue
            size, blocks = info.st_size, info.st_blocks * 512
            if info.st_mode & FORMAT != REGULAR or info.st_nlink > 1:
                part, size, blocks = builder.add_special_file(name, part, info)
            allocated += blocks
            apparent += size
            if not part & _OUTPUT:
                kept += blocks
            if info.st_mtime > changed_at:
                changed_at = info.st_mtime
            parts |= part
            if part == _GRAPH:
                builder.graph_bytes, builder.graph_at = size, info.st_mtime
            elif part == _DONE:
                builder.done_at = info.st_mtime
            elif part & _READ_BY_BUILDER:
                builder.add_part(name, part, size, info.st_mtime)
        return builder.entry(own, parts, (allocated, apparent, kept), changed_at)

    def _closed(self, module: str, problem: OSError) -> Entry | None:
        """The entry if its folder cannot be opened or read: it is still shown. None if it is gone, and for a link or a
        file in its place."""
        if problem.errno in _NO_FOLDER:
            return None
        try:
            own = os.stat(module, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError:
            return None
        builder = EntryBuilder(self.shared, module, -1, None)
        builder.artifact_state = Artifact.UNREADABLE
        builder.problem(why_unreadable(problem))
        return builder.entry(own, 0, (0, 0, 0), own.st_mtime)


def with_verdict(entry: Entry, lock: Lock) -> Entry:
    """The same entry, with what is known of its lock's holder."""
    state = entry.state
    if entry.state is not State.TRACED:
        log_fails = entry.failure is not None
        state = classify(entry.artifact, entry.parts, is_legacy(entry.compiler), log_fails, lock.verdict)
    return msgspec.structs.replace(entry, lock=lock, state=state)
