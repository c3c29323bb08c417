"""Collects the metadata of one entry while its files are read: artifact, flags, links, logs; then makes the `Entry`.

`EntryReader` walks the folder and calls this module, which knows what each kind of file says, and what is a problem.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

from neuron_top.cache.location import is_hub_blob
from neuron_top.cache.model import failures
from neuron_top.cache.model.entry import MARKER_BYTES, Artifact, Entry, Link, Lock, Part
from neuron_top.cache.model.failures import Failure
from neuron_top.cache.model.filenames import INDUCTOR_ARTIFACT, INDUCTOR_KERNELS, NEFF
from neuron_top.cache.model.record import stats_decoder
from neuron_top.cache.noatime_reader import FILE_FLAGS, NO_ATIME, NoAtimeReader, why_unreadable
from neuron_top.cache.scan.fast_scan import FLAGS_LIMIT, FORMAT, REGULAR, FolderFacts
from neuron_top.cache.tree import measure
from neuron_top.decoders import MALFORMED
from neuron_top.escapes import name_text
from neuron_top.parsers.neff import CHEAP_BYTES, head_problem
from neuron_top.plain_files import kind_text
from neuron_top.units import counted


class _Linked(NamedTuple):
    """The target of a link that may be followed."""

    info: os.stat_result
    path: str
    is_blob: bool
    """Whether it lies in a hub's blob store, and not elsewhere in the cache."""


class CompilerFolder(NamedTuple):
    """What the entries of one compiler folder share. `root` is the real path of the cache."""

    root: str
    reader: NoAtimeReader
    facts: FolderFacts

    def path(self, module: str, name: str) -> str:
        """The path of a file of an entry."""
        return f"{self.root}/{self.facts.compiler}/{module}/{name}"


class EntryBuilder:
    """Collects the metadata of one entry."""

    # Defaults of the class, for speed: most of 50,000 entries set only a few of these.
    artifact_state: Artifact = Artifact.NONE
    artifact_bytes: int | None = None
    artifact_inode = artifact_mtime_ns = 0
    artifact_mtime = 0.0
    graph_bytes: int | None = None
    graph_at: float | None = None
    flags_text: str | None = None
    flags_ok: bool | None = None
    done_at: float | None = None
    read_at: float | None = None
    compile_seconds: float | None = None
    published: dict[str, int] | None = None
    record_problem = ""
    kernels_bytes: int | None = None
    lock_since: float | None = None
    failure: Failure | None = None
    links: dict[int, Link] | None = None
    """Inode → file with several names, or blob that a link leads to; None if the entry has neither such files nor
    links."""
    kept_by_name = 0
    """Bytes of files that a slim eviction takes under one name and keeps under another."""
    has_links = False
    others: list[str] | None = None
    problems: list[str] | None = None
    artifact_problems: list[str]
    """Set with `problems`."""

    def __init__(self, shared: CompilerFolder, module: str, folder: int, before: Entry | None) -> None:
        self.shared, self.module, self.folder, self.before = shared, module, folder, before

    def problem(self, text: str, *, of_artifact: bool = False) -> None:
        """Note what could not be read or is wrong; `of_artifact`: in a file of the artifact."""
        if self.problems is None:
            self.problems, self.artifact_problems = [], []
        self.problems.append(text)
        if of_artifact:
            self.artifact_problems.append(text)

    def artifact(self, name: str) -> os.stat_result:
        """Read the artifact; returns its status. The header is read only if it is not the file that was valid in
        `before`."""
        before = self.before
        if before is not None and before.artifact is Artifact.VALID:
            info = os.lstat(name, dir_fd=self.folder)
            if (
                info.st_mtime_ns == before.artifact_mtime_ns
                and info.st_ino == before.artifact_inode
                and info.st_size == before.artifact_bytes
            ):
                self._artifact_seen(info, before.artifact)
                return info
        try:
            descriptor = os.open(name, FILE_FLAGS | NO_ATIME, dir_fd=self.folder)
        except FileNotFoundError:
            raise
        except OSError as problem:
            return self._artifact_closed(name, problem)
        try:
            info = os.fstat(descriptor)
            self._artifact_seen(info, self._tested(name, info, descriptor))
        finally:
            os.close(descriptor)
        return info

    def _tested(self, name: str, info: os.stat_result, descriptor: int) -> Artifact:
        size = info.st_size
        if info.st_mode & FORMAT != REGULAR:
            return Artifact.UNREADABLE
        if name != NEFF:
            return Artifact.VALID if size else Artifact.STUB
        try:
            problem = head_problem(os.read(descriptor, CHEAP_BYTES), size)
        except OSError as failed:  # a failing disk: the other files, and the other entries, are still shown
            self.problem(f"{name}: {why_unreadable(failed)}", of_artifact=True)
            return Artifact.UNREADABLE
        if problem is None:
            return Artifact.VALID
        self.problem(f"{name}: {problem}", of_artifact=True)
        return Artifact.STUB if size <= MARKER_BYTES else Artifact.BROKEN

    def _artifact_closed(self, name: str, problem: OSError) -> os.stat_result:
        """Read an artifact that cannot simply be opened with O_NOATIME: another user's file, a link, or one that may
        not be read. Returns its status."""
        info = os.lstat(name, dir_fd=self.folder)
        linked = self._target(name) if stat.S_ISLNK(info.st_mode) else None
        try:
            if linked is not None:
                descriptor = self.shared.reader.open_file(linked.path)
            elif problem.errno == errno.EPERM:
                descriptor = self.shared.reader.open_file(name, self.folder)
            else:
                raise problem
        except OSError as refused:
            self._artifact_seen(info, Artifact.UNREADABLE)
            if stat.S_ISLNK(info.st_mode):  # `add_special_file` says where it leads; who read it was our last look
                self.read_at = None
            else:
                self.problem(f"{name}: {why_unreadable(refused)}", of_artifact=True)
            return info
        try:
            seen = os.fstat(descriptor)
            self._artifact_seen(seen, self._tested(name, seen, descriptor))
        finally:
            os.close(descriptor)
        return info

    def _artifact_seen(self, info: os.stat_result, state: Artifact) -> None:
        self.artifact_state, self.artifact_bytes = state, info.st_size
        self.artifact_inode, self.artifact_mtime_ns, self.artifact_mtime = (
            info.st_ino,
            info.st_mtime_ns,
            info.st_mtime,
        )
        if self.shared.facts.access_times and info.st_atime > info.st_mtime:
            self.read_at = info.st_atime

    def flags(self, name: str) -> os.stat_result:
        """Read the flags file's text, and whether its hash is that in the folder's name; returns its status."""
        try:
            descriptor = os.open(name, FILE_FLAGS | NO_ATIME, dir_fd=self.folder)
        except FileNotFoundError:
            raise
        except OSError:
            return self._flags_closed(name)
        try:
            info = os.fstat(descriptor)
            if info.st_mode & FORMAT == REGULAR:
                self._flags_read(os.read(descriptor, min(info.st_size, FLAGS_LIMIT)))
        finally:
            os.close(descriptor)
        return info

    def _flags_closed(self, name: str) -> os.stat_result:
        info = os.lstat(name, dir_fd=self.folder)
        linked = self._target(name) if stat.S_ISLNK(info.st_mode) else None
        try:
            if linked is not None:
                self._flags_read(self.shared.reader.read(linked.path, FLAGS_LIMIT))
            elif stat.S_ISREG(info.st_mode):
                self._flags_read(self.shared.reader.read(name, FLAGS_LIMIT, self.folder))
        except OSError as problem:
            self.problem(f"{name}: {why_unreadable(problem)}")
        return info

    def _flags_read(self, data: bytes) -> None:
        self.flags_text, expected = self.shared.facts.flags_of(data)
        self.flags_ok = self.module[-8:] == expected

    def add_special_file(self, name: str, part: int, info: os.stat_result) -> tuple[int, int, int]:
        """(part, length, allocated bytes) of what is no ordinary file with one name. Blocks are counted once, and no
        link is followed out of the cache."""
        of_artifact = bool(part & (Part.ARTIFACT | Part.KERNELS))
        if part == Part.LOCK and not stat.S_ISREG(info.st_mode):  # whatever it is, clients cannot take the lock
            self.problem(f"{name}: a lock that is {kind_text(info.st_mode)}")
            return part, 0, info.st_blocks * 512
        if stat.S_ISDIR(info.st_mode):
            size = measure(self.shared.path(self.module, name), self.shared.reader)
            return Part.OTHER, size.apparent, size.allocated
        if stat.S_ISLNK(info.st_mode):
            self.has_links = True
            linked = self._target(name)
            if linked is None:
                self.problem(
                    f"{name_text(name)}: a link that leads nowhere or out of the cache", of_artifact=of_artifact
                )
                return Part.OTHER, info.st_size, info.st_blocks * 512
            if not linked.is_blob:  # the target's blocks are counted where it lies
                self.links = self.links or {}
                return part, linked.info.st_size, info.st_blocks * 512
            return self._shared(part, linked.info, linked.info.st_nlink + 1)  # the link, and the blob's own names
        if not stat.S_ISREG(info.st_mode):
            self.problem(f"{name_text(name)}: neither file nor folder", of_artifact=of_artifact)
            return Part.OTHER, 0, 0
        return self._shared(part, info, info.st_nlink)

    def _shared(self, part: int, info: os.stat_result, names: int) -> tuple[int, int, int]:
        if self.links is None:
            self.links = {}
        before, kept, blocks = self.links.get(info.st_ino), not part & Part.OUTPUT, info.st_blocks * 512
        if before is not None and kept and not before.kept:
            self.kept_by_name += blocks
        here, kept = (before.here + 1, before.kept or kept) if before is not None else (1, kept)
        self.links[info.st_ino] = Link(info.st_ino, blocks, names, here, kept)
        return part, info.st_size, blocks if before is None else 0

    def _target(self, name: str) -> _Linked | None:
        path = os.path.realpath(self.shared.path(self.module, name))
        inside = path.startswith(self.shared.root + "/")
        blob = is_hub_blob(path)
        if not (inside or blob):
            return None
        try:
            info = os.stat(path, follow_symlinks=False)
        except OSError:
            return None
        return _Linked(info, path, blob) if stat.S_ISREG(info.st_mode) else None

    def add_part(self, name: str, part: int, size: int, changed_at: float) -> None:
        """Read what a lock, a log, a record or the kernels say; of any other file, keep the name."""
        if part == Part.LOCK:
            self.lock_since = changed_at
        elif part == Part.LOG:
            self._log(name)
        elif part == Part.STATS:
            self._stats(name)
        elif part == Part.KERNELS:
            self.kernels_bytes = size
        else:
            if self.others is None:
                self.others = []
            self.others.append(name_text(name))

    def _text(self, name: str, limit: int) -> str:
        try:
            linked = self._target(name) if self.links is not None else None
            data = self.shared.reader.read(linked.path if linked else name, limit, self.folder)
        except OSError as problem:
            self.problem(f"{name}: {why_unreadable(problem)}")
            return ""
        return data.decode("utf-8", "replace")

    def _log(self, name: str) -> None:
        self.failure = failures.read_failure(self._text(name, failures.READ_BYTES))

    def _stats(self, name: str) -> None:
        try:
            stats = stats_decoder.decode(self._text(name, FLAGS_LIMIT))
        except MALFORMED:
            return
        self.compile_seconds = stats.compile_seconds
        self.record_problem = stats.identity_problem(self.module) if stats.files else ""
        self.published = {name: file.bytes for name, file in stats.files.items()}

    def _compare_published(self) -> None:
        """A local artifact is valid only with a record of its own, and while its files have the lengths in it."""
        there = {INDUCTOR_ARTIFACT: self.artifact_bytes, INDUCTOR_KERNELS: self.kernels_bytes}
        if self.record_problem and self.artifact_state is Artifact.VALID:
            self.artifact_state = Artifact.BROKEN
            self.problem(self.record_problem)
        for name, size in (self.published or {}).items():
            if name in there and there[name] != size and self.artifact_state is Artifact.VALID:
                self.artifact_state = Artifact.BROKEN
                self.problem(f"{name}: {counted(there[name] or 0, 'byte')}, {size:,} were published", of_artifact=True)

    def entry(self, own: os.stat_result, parts: int, sums: tuple[int, int, int], changed_at: float) -> Entry:
        """The finished entry. The holders of locks are judged later, once for all locks."""
        if self.published is not None and parts & Part.INDUCTOR:
            self._compare_published()
        written = self.artifact_state is Artifact.VALID
        allocated, apparent, kept = sums
        return Entry(
            self.shared.facts.compiler,
            self.module,
            self.shared.facts.state_of(self.artifact_state, parts, self.failure is not None),
            parts,
            allocated,
            apparent,
            kept + self.kept_by_name,
            self.artifact_bytes,
            self.graph_bytes,
            self.artifact_state,
            self.artifact_inode,
            self.artifact_mtime_ns,
            self.flags_text,
            self.flags_ok,
            (self.done_at or self.artifact_mtime) if written else None,
            changed_at,
            self.read_at,
            self.compile_seconds,
            Lock(self.lock_since) if self.lock_since is not None else None,
            self.failure,
            own.st_ino,
            own.st_mtime_ns,
            tuple(self.links.values()) if self.links else (),
            tuple(self.others or ()),
            tuple(self.problems or ()),
            self.graph_at,
            tuple(self.artifact_problems) if self.problems else (),
            self.kernels_bytes,
            self.has_links,
        )
