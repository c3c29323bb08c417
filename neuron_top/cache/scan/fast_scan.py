"""Reads plain entries fast: graph, flags, NEFF and mark, each an ordinary file with one name. Most entries are plain.

A first scan reads 50,000 of them, so one function reads a whole entry, without an object per file. Whatever is not
plain (a lock, a log, a link, an unknown name, a file that may not be opened) is left to `EntryReader`, which makes the
same `Entry` of a plain one: a test compares the two.
"""

from __future__ import annotations

import os

from neuron_top.cache.model.entry import PARTS, Artifact, Entry, Part, classify, is_legacy
from neuron_top.cache.model.keys import flags_hash
from neuron_top.cache.model.states import State
from neuron_top.cache.noatime_reader import FILE_FLAGS
from neuron_top.parsers.neff import CHEAP_BYTES, head_problem

FLAGS_LIMIT = 1 << 20
"""Most bytes that are read of a flags file."""
FORMAT, REGULAR = 0o170000, 0o100000
_QUIET_FILE = FILE_FLAGS | getattr(os, "O_NOATIME", 0)
_GRAPH, _DONE, _NEFF, _OUTPUT = Part.GRAPH, Part.DONE, Part.NEFF, Part.OUTPUT
_SIZED = Part.GRAPH | Part.DONE | Part.WRAPPED
_FLAGS = Part.FLAGS_JSON | Part.FLAGS_TXT
_READ = Part.NEFF | _FLAGS


class FolderFacts:
    """What the entries of one compiler folder share, computed once for all of them.

    `access_times` is False if the mount does not keep them.
    """

    def __init__(self, compiler: str, *, access_times: bool = True) -> None:
        self.compiler, self.access_times = compiler, access_times
        self._legacy = is_legacy(compiler)
        self._states: dict[int, State] = {}
        self._flags: dict[bytes, tuple[str, str]] = {}

    def state_of(self, artifact: Artifact, parts: int, failed: bool) -> State:
        """`classify`, with a cache whose keys are numbers: the hash of an enum's member is slow Python code."""
        key = (parts << 4) | (artifact << 1) | failed
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = classify(artifact, parts, self._legacy, failed)
        return state

    def flags_of(self, data: bytes) -> tuple[str, str]:
        """(text, hash) of a flags file: thousands of entries share a few texts."""
        known = self._flags.get(data)
        if known is None:
            known = self._flags[data] = (data.decode("utf-8", "backslashreplace"), flags_hash(data))
        return known


def read_plain(facts: FolderFacts, module: str, folder: int) -> Entry | None:  # noqa: C901 (see below)
    """The entry whose folder is open as `folder`; None if it is not plain. Raises OSError.

    It is longer than a function should be, because it runs once per entry, and every call shows in a first scan.
    """
    own = os.fstat(folder)
    allocated = apparent = kept = parts = inode = mtime_ns = 0
    changed_at: float = own.st_mtime
    artifact, artifact_bytes, written_at, read_at = Artifact.NONE, None, None, None
    graph_bytes = graph_at = flags = flags_ok = done_at = None
    part_of, lstat = PARTS.get, os.lstat
    for name in os.listdir(folder):
        part = part_of(name, 0)
        if part & _SIZED:
            info, data = lstat(name, dir_fd=folder), b""
        elif part & _READ:
            info, data = _start_of(name, folder, CHEAP_BYTES if part == _NEFF else FLAGS_LIMIT)
        else:
            return None
        if info.st_mode & FORMAT != REGULAR or info.st_nlink != 1:
            return None
        size, blocks, changed = info.st_size, info.st_blocks * 512, info.st_mtime
        if part == _GRAPH:
            graph_bytes, graph_at = size, changed
        elif part == _DONE:
            done_at = changed
        elif part == _NEFF:
            if head_problem(data, size) is not None:
                return None
            artifact, artifact_bytes, inode, mtime_ns = Artifact.VALID, size, info.st_ino, info.st_mtime_ns
            written_at = changed
            if facts.access_times and info.st_atime > changed:
                read_at = info.st_atime
        elif part & _FLAGS:
            flags, expected = facts.flags_of(data)
            flags_ok = module[-8:] == expected
        allocated += blocks
        apparent += size
        if not part & _OUTPUT:
            kept += blocks
        if changed > changed_at:
            changed_at = changed
        parts |= part
    return Entry(
        facts.compiler,
        module,
        facts.state_of(artifact, parts, False),
        parts,
        allocated,
        apparent,
        kept,
        artifact_bytes,
        graph_bytes,
        artifact,
        inode,
        mtime_ns,
        flags,
        flags_ok,
        (done_at or written_at) if written_at is not None else None,
        changed_at,
        read_at,
        None,
        None,
        None,
        own.st_ino,
        own.st_mtime_ns,
        graph_at=graph_at,
    )


def _start_of(name: str, folder: int, limit: int) -> tuple[os.stat_result, bytes]:
    """Status and first bytes of a file; no bytes of anything else, since reading a pipe might block."""
    file = os.open(name, _QUIET_FILE, dir_fd=folder)
    try:
        info = os.fstat(file)
        return info, os.read(file, min(info.st_size, limit)) if info.st_mode & FORMAT == REGULAR else b""
    finally:
        os.close(file)
