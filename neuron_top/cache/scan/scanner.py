"""Reads a cache folder into a snapshot. It writes nothing, follows no link out of the cache, and keeps access times.

It uses one thread, because more made a warm walk slower in every measurement, and several where a network file system
makes it wait (`slow_storage`). A first scan opens each entry's folder once, asks for each file's status once, and reads
the artifact's header and the flags. A refresh asks only for the status of entry folders, and reads those entries again
whose folder's time differs. Because rewriting a file in place does not change that time, it also reads entries that
were written to lately, or whose state does not last.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from neuron_top.cache import filesystem
from neuron_top.cache.model.entry import MODULE, TRACED, Entry, Lock, is_module_name
from neuron_top.cache.model.snapshot import Folder, Other, Snapshot, to_look_at
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.cache.scan import discovery
from neuron_top.cache.scan.entry_reader import EntryReader, with_verdict
from neuron_top.cache.scan.legacy import read_old
from neuron_top.cache.scan.slow_storage import Looks
from neuron_top.cache.tree import measure
from neuron_top.escapes import name_text
from neuron_top.without_gc import without_gc

OTHERS_LIMIT = 200_000
"""Most files that are counted in the registry or in an unknown folder before the walk gives up and says so."""

LockVerdicts = Callable[[str, Sequence[Entry], Iterable[float]], dict[str, Lock]]
"""(root, locked entries, times of changes below the root) → entry path → lock with its verdict."""


def current_verdicts(root: str, locked: Sequence[Entry], changes: Iterable[float]) -> dict[str, Lock]:
    """The verdict on each lock, from what runs on this machine now."""
    from neuron_top.cache.locks import verdicts  # not needed by most scans, which find no lock, and must start fast

    return verdicts.verdicts_of(root, locked, changes)


def scan(root: str, *, lock_verdicts: LockVerdicts = current_verdicts, now: float | None = None) -> Snapshot:
    """Read everything below `root`. Raises NothingToShow if there is no such folder."""
    return _Scan(root, None, lock_verdicts, now).run()


def refresh(before: Snapshot, *, lock_verdicts: LockVerdicts = current_verdicts, now: float | None = None) -> Snapshot:
    """Read again what may have changed since `before`; entries that did not change are the same objects.

    A folder that is no entry is measured again only if its own time differs: see `others_now`. Raises NothingToShow if
    the root is gone.
    """
    return _Scan(before.root, before, lock_verdicts, now).run()


def others_now(snapshot: Snapshot) -> tuple[Other, ...]:
    """What is no entry, with each folder measured again: a change deep in it does not show in its own time."""
    reader = NoAtimeReader()
    return tuple(_measured(snapshot.root, other, reader) for other in snapshot.others)


def _measured(root: str, other: Other, reader: NoAtimeReader) -> Other:
    place = f"{root}/{other.path}"
    if os.path.islink(place) or not os.path.isdir(place):
        return other
    size = measure(place, reader, OTHERS_LIMIT)
    return Other(other.path, size.allocated, size.files, other.mtime_ns)


def refresh_entries(before: Snapshot, paths: Iterable[str]) -> Snapshot:
    """Read again only the entries at these `paths` (`compiler/module`), which a notification named."""
    return _Scan(before.root, before, current_verdicts, None).run_only(set(paths))


def look_at(root: str, entries: Sequence[Entry]) -> list[Entry]:
    """These entries as they are now, without the rest of the root; entries that are gone are left out."""
    partial = Snapshot(root=root, taken_at=0.0, seconds=0.0, entries=tuple(entries), folders=())
    return list(refresh_entries(partial, [entry.path for entry in entries]).entries)


class _Scan:
    def __init__(self, root: str, before: Snapshot | None, lock_verdicts: LockVerdicts, now: float | None) -> None:
        self.root = os.path.realpath(root)
        self.before = before
        self.lock_verdicts = lock_verdicts
        self.now = time.time() if now is None else now
        self.disk = filesystem.describe(self.root)
        self.reader = NoAtimeReader()
        self.looks = Looks(over_network=self.disk.shared)
        self.problems: list[str] = []
        self.entries: list[Entry] = []
        self.folders: list[Folder] = []
        self.others: list[Other] = []
        self.before_by_compiler: dict[str, dict[str, Entry]] = {}
        for entry in before.entries if before else ():
            self.before_by_compiler.setdefault(entry.compiler, {})[entry.module] = entry
        self.suspects = (
            to_look_at(before.entries, before.taken_at, self.now, shared=self.disk.shared) if before else set()
        )
        self.known_others = {other.path: other for other in before.others} if before else {}

    def run(self) -> Snapshot:
        started = time.perf_counter()
        with without_gc():
            found = discovery.discover(self.root, self.reader)
            self.problems += found.problems
            for compiler in found.compilers:
                self._compiler(compiler)
            for path in found.others:
                self._other(path)
        return self._snapshot(started)

    def run_only(self, paths: set[str]) -> Snapshot:
        started = time.perf_counter()
        before = self.before
        if before is None:
            raise ValueError("only a snapshot can be refreshed")
        self.entries = [entry for entry in before.entries if entry.path not in paths]
        self.folders, self.others = list(before.folders), list(before.others)
        by_compiler: dict[str, list[str]] = {}
        for path in paths:
            compiler, _, name = path.rpartition("/")
            if is_module_name(name):  # what else was named is counted already
                by_compiler.setdefault(compiler, []).append(name)
        for compiler, names in by_compiler.items():
            with self._opened(compiler) as descriptor:
                if descriptor is not None:
                    self._entries(compiler, descriptor, names, again=True)
        return self._snapshot(started)

    def _snapshot(self, started: float) -> Snapshot:
        self._add_verdicts()
        return Snapshot(
            root=self.root,
            taken_at=self.now,
            seconds=time.perf_counter() - started,
            entries=tuple(self.entries),
            folders=tuple(self.folders),
            others=tuple(self.others),
            problems=tuple(self.problems),
            atime_fallbacks=self.reader.atime_fallbacks,
            filesystem=self.disk,
        )

    @contextmanager
    def _opened(self, compiler: str) -> Iterator[int | None]:
        """A descriptor of a compiler folder; None if it cannot be opened, which is noted as a problem unless it is
        gone."""
        try:
            descriptor = self.reader.open_folder(f"{self.root}/{compiler}")
        except OSError as problem:
            if problem.errno is not None and not isinstance(problem, FileNotFoundError):
                self.problems.append(f"{compiler}: {why_unreadable(problem)}")
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _compiler(self, compiler: str) -> None:
        with self._opened(compiler) as descriptor:
            if descriptor is None:
                return
            try:
                # List after taking the time, so that the next refresh sees what appears in between.
                own, names = os.fstat(descriptor), os.listdir(descriptor)
            except OSError as problem:  # a disk that fails, a file server that is gone
                self.problems.append(f"{compiler}: {why_unreadable(problem)}")
                return
            self.folders.append(Folder(compiler, own.st_ino, own.st_mtime_ns))
            if not compiler:  # the root has other members too, which discovery has found
                names = [name for name in names if is_module_name(name)]
            self._entries(compiler, descriptor, names, again=False)

    def _entries(self, compiler: str, descriptor: int, names: Sequence[str], *, again: bool) -> None:
        keeps_times = self.disk.may_keep_access_times
        entry_reader = EntryReader(self.root, compiler, descriptor, self.reader, access_times=keeps_times)
        known, match = self.before_by_compiler.get(compiler, {}), MODULE.match

        def look(name: str) -> Entry | None:
            before = known.get(name)
            if before is not None and not again and self._unchanged(before, descriptor):
                return before
            if match(name):
                return entry_reader.read(name, before)
            return read_old(self.root, compiler, name, self.reader, access_times=keeps_times)

        of_entries, others = list[str](), list[str]()
        for name in names:
            is_entry = name in known or match(name) or TRACED.match(name)
            (of_entries if is_entry else others).append(name)
        self.entries += [entry for entry in self.looks.in_order(look, of_entries) if entry is not None]
        for name in others:
            self._other(f"{compiler}/{name}")

    def _unchanged(self, before: Entry, descriptor: int) -> bool:
        if before.path in self.suspects:
            return False
        try:
            own = os.stat(before.module, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return False
        return own.st_mtime_ns == before.folder_mtime_ns and own.st_ino == before.folder_inode

    def _other(self, path: str) -> None:
        """Count what is no entry: the registry, a lock, an unknown name. Counted again only if its mtime differs."""
        place = f"{self.root}/{path}"
        try:
            own = os.lstat(place)
        except OSError:
            return
        name = name_text(path)
        known = self.known_others.get(name)
        if known is not None and known.mtime_ns == own.st_mtime_ns:
            self.others.append(known)
            return
        if not stat.S_ISDIR(own.st_mode):
            self.others.append(Other(name, own.st_blocks * 512, 1, own.st_mtime_ns))
            return
        size = measure(place, self.reader, OTHERS_LIMIT)
        if not size.complete:
            self.problems.append(f"{name}: not all of it could be read")
        self.others.append(Other(name, size.allocated, size.files, own.st_mtime_ns))

    def _add_verdicts(self) -> None:
        locked = [entry for entry in self.entries if entry.lock is not None]
        if not locked:
            return
        changes = (entry.changed_at for entry in self.entries if entry.lock is None)
        verdicts = self.lock_verdicts(self.root, locked, changes)
        self.entries = [
            with_verdict(entry, verdicts[entry.path]) if entry.lock is not None and entry.path in verdicts else entry
            for entry in self.entries
        ]
