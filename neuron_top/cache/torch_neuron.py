"""TorchNeuron's cache (SDK 2.33): NEFFs in a tier that may be shared, locks in a tier of this machine. Reads only.

    <shared>/ab/cd/<32 hex digits>.neff      TORCH_NEURONX_NEFF_CACHE_DIR, else /tmp/neff_cache
    <shared>/ab/cd/.tmp.XXXXXX               being stored, or cut short; renamed when it is complete
    <local>/locks/<32 hex digits>.lock       TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR, else /tmp/local_cache

A lock is the kernel's (flock), so it ends with its process, but its file stays: a file that nobody holds means nothing.
After 20 minutes, a waiter breaks a lock by removing the file, whoever holds it. Two machines share no locks, so they
may compile the same key at the same time. An entry is one file, which is read whole before it is used.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import msgspec

from neuron_top.cache import filesystem
from neuron_top.cache.locks import lock_holders
from neuron_top.cache.model.entry import TORCH_NEURON, Artifact, Entry, Link, Lock, Part
from neuron_top.cache.model.snapshot import Folder, Other, Snapshot
from neuron_top.cache.model.states import Holder, State
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.tree import measure
from neuron_top.errors import NothingToShow
from neuron_top.escapes import name_text
from neuron_top.parsers.neff import CHEAP_BYTES, head_problem

SHARED, LOCAL = "TORCH_NEURONX_NEFF_CACHE_DIR", "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR"
DEFAULTS = {SHARED: "/tmp/neff_cache", LOCAL: "/tmp/local_cache"}  # noqa: S108 (TorchNeuron's)
LOCKS = "locks"
_SHARD = re.compile(r"[0-9a-f]{2}\Z")
_NEFF = re.compile(r"([0-9a-f]{32})\.neff\Z")
_LOCK = re.compile(r"([0-9a-f]{32})\.lock\Z")
_RANK = re.compile(r"r(0|[1-9][0-9]{0,4})\Z")
_LOOKED_INTO = 8
"""Most folders that are searched, on each of two levels, to find out what a root is."""


def tiers(environ: Mapping[str, str], cwd: str | None = None) -> tuple[str, str]:
    """(shared tier, local tier) that a job with this environment uses, as real paths."""
    above = cwd or os.curdir
    shared, local = (os.path.join(above, environ.get(name) or DEFAULTS[name]) for name in (SHARED, LOCAL))
    return os.path.realpath(shared), os.path.realpath(local)


def is_cache(root: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a folder is TorchNeuron's cache, by what lies in it; an empty one, if it is a tier by `environ`."""
    try:
        names = os.listdir(root)
    except OSError:
        return False
    if LOCKS in names and any(map(_LOCK.match, _names(f"{root}/{LOCKS}"))):
        return True
    shards = [name for name in names if _SHARD.match(name)]
    for shard in shards[:_LOOKED_INTO]:
        for below in [name for name in _names(f"{root}/{shard}") if _SHARD.match(name)][:_LOOKED_INTO]:
            if any(_is_of_shard(name, shard + below) for name in _names(f"{root}/{shard}/{below}")):
                return True
    return set(names) <= {LOCKS} and os.path.realpath(root) in tiers(environ)


def of_ranks(folder: str) -> list[str]:
    """The caches `r<rank>` in a folder, where each rank of a job has its own."""
    ranks = sorted(int(match[1]) for name in _names(folder) if (match := _RANK.match(name)))
    return [path for rank in ranks if os.path.isdir(path := f"{folder}/r{rank}")]


def lock_folders(root: str, environ: Mapping[str, str], processes: Iterable[CacheProcess]) -> list[str]:
    """Folders where the cache's locks lie, by `environ` and by processes whose environment names tiers; each once."""
    found = [f"{root}/{LOCKS}"]
    named: list[tuple[Mapping[str, str], str | None]] = [(environ, None)]
    named += [
        (process.environ, process.cwd)
        for process in processes
        if process.environ and (process.environ.get(SHARED) or process.environ.get(LOCAL))
    ]
    for variables, cwd in named:
        shared, local = tiers(variables, cwd)
        if root in (shared, local):
            found.append(f"{local}/{LOCKS}")
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]


def scan(
    root: str,
    environ: Mapping[str, str] = os.environ,
    processes: Iterable[CacheProcess] = (),
    now: float | None = None,
) -> Snapshot:
    """The entries of a cache with their locks of both tiers. Raises NothingToShow where it cannot be read."""
    started = time.perf_counter()
    look = _Look(os.path.realpath(root))
    look.run()
    look.add_locks(lock_folders(look.root, environ, processes))
    return Snapshot(
        root=look.root,
        taken_at=time.time() if now is None else now,
        seconds=time.perf_counter() - started,
        entries=tuple(sorted(look.entries.values(), key=lambda entry: entry.module)),
        folders=(Folder(TORCH_NEURON, 0, 0),),
        others=tuple(look.others),
        problems=tuple(look.problems),
        atime_fallbacks=look.reader.atime_fallbacks,
        filesystem=look.disk,
    )


class _Look:
    def __init__(self, root: str) -> None:
        self.root = root
        self.reader = NoAtimeReader()
        self.disk = filesystem.describe(root)
        self.entries: dict[str, Entry] = {}
        self.others: list[Other] = []
        self.problems: list[str] = []

    def run(self) -> None:
        try:
            os.close(self.reader.open_folder(self.root))
        except FileNotFoundError:
            raise NothingToShow(f"no cache at {name_text(self.root)}: the folder does not exist") from None
        except OSError as problem:
            why = why_unreadable(problem)
            raise NothingToShow(f"no cache at {name_text(self.root)} can be read: {why}") from None
        for shard, facts in self._members(""):
            if not (_SHARD.match(shard) and stat.S_ISDIR(facts.st_mode)):
                self._other(shard, facts)
                continue
            for below, inner in self._members(shard):
                if _SHARD.match(below) and stat.S_ISDIR(inner.st_mode):
                    self._shard(f"{shard}/{below}", shard + below)
                else:
                    self._other(f"{shard}/{below}", inner)

    def _shard(self, path: str, beginning: str) -> None:
        for name, facts in self._members(path):
            if _is_of_shard(name, beginning) and stat.S_ISREG(facts.st_mode):
                entry = self._entry(f"{path}/{name}", name[:32], facts)
                self.entries[entry.module] = entry
            else:
                self._other(f"{path}/{name}", facts)

    def _entry(self, path: str, key: str, facts: os.stat_result) -> Entry:
        artifact, problems = Artifact.VALID, tuple[str, ...]()
        try:
            problem = head_problem(self.reader.read(f"{self.root}/{path}", CHEAP_BYTES), facts.st_size)
            if problem is not None:
                artifact, problems = Artifact.BROKEN, (problem,)
        except OSError as refused:
            artifact, problems = Artifact.UNREADABLE, (why_unreadable(refused),)
        return _entry(key, _STATES[artifact], facts, artifact=artifact, problems=problems, disk=self.disk)

    def add_locks(self, folders: Iterable[str]) -> None:
        """Add to the entries what is known of their locks. A file that nobody holds is no lock in force; if processes
        that cannot be seen may hold it, that is unknown."""
        for folder in folders:
            names = {name: match[1] for name in _names(folder) if (match := _LOCK.match(name))}
            held = lock_holders.find(folder, names)
            shared = filesystem.describe(folder).shared
            for name, key in names.items():
                with suppress(OSError):
                    self._add_lock(key, os.lstat(f"{folder}/{name}"), held.get(name), shared=shared)

    def _add_lock(self, key: str, facts: os.stat_result, held: lock_holders.Held | None, *, shared: bool) -> None:
        entry = self.entries.get(key)
        if held is not None:
            holder = f"pid {held.pid}" if held.pid is not None else None
            lock = Lock(facts.st_mtime, Holder.ALIVE, held.proof, holder)
            if entry is None:
                entry = _entry(key, State.COMPILING, facts, artifact=Artifact.NONE, problems=(), disk=self.disk)
            self.entries[key] = msgspec.structs.replace(
                entry, state=State.COMPILING, lock=lock, parts=entry.parts | Part.LOCK
            )
        elif entry is not None and (entry.lock is None or entry.lock.verdict is not Holder.ALIVE):
            proof = None if shared else "no process holds the lock; its file stays behind, as TorchNeuron leaves it"
            verdict = Holder.UNKNOWN if shared else Holder.DEAD
            self.entries[key] = msgspec.structs.replace(entry, lock=Lock(facts.st_mtime, verdict, proof))

    def _other(self, path: str, facts: os.stat_result) -> None:
        name = name_text(path)
        if stat.S_ISDIR(facts.st_mode):
            size = measure(f"{self.root}/{path}", self.reader)
            self.others.append(Other(name, size.allocated, size.files, facts.st_mtime_ns))
        else:
            self.others.append(Other(name, facts.st_blocks * 512, 1, facts.st_mtime_ns))

    def _members(self, path: str) -> Iterator[tuple[str, os.stat_result]]:
        """(name, status) of what lies in a folder below the root, by name; no link is followed."""
        try:
            handle = self.reader.open_folder(f"{self.root}/{path}" if path else self.root)
        except OSError as problem:
            self.problems.append(f"{name_text(path)}: {why_unreadable(problem)}")
            return
        try:
            for name in sorted(os.listdir(handle)):
                with suppress(OSError):
                    yield name, os.stat(name, dir_fd=handle, follow_symlinks=False)
        finally:
            os.close(handle)


_STATES = {
    Artifact.VALID: State.HIT,
    Artifact.BROKEN: State.CORRUPT,
    Artifact.UNREADABLE: State.UNKNOWN,
}


def _entry(
    key: str,
    state: State,
    facts: os.stat_result,
    *,
    artifact: Artifact,
    problems: tuple[str, ...],
    disk: filesystem.Filesystem,
) -> Entry:
    there = artifact is not Artifact.NONE
    keeps_times = disk.may_keep_access_times
    return Entry(
        compiler=TORCH_NEURON,
        module=key,
        state=state,
        parts=Part.NEFF if there else 0,
        allocated=facts.st_blocks * 512 if there else 0,
        apparent=facts.st_size if there else 0,
        kept=0,
        artifact_bytes=facts.st_size if there else None,
        graph_bytes=None,
        artifact=artifact,
        artifact_inode=facts.st_ino if there else 0,
        artifact_mtime_ns=facts.st_mtime_ns if there else 0,
        flags=None,
        flags_hash_ok=None,
        compiled_at=facts.st_mtime if artifact is Artifact.VALID else None,
        changed_at=facts.st_mtime,
        read_at=facts.st_atime if there and keeps_times and facts.st_atime > facts.st_mtime else None,
        compile_seconds=None,
        lock=None,
        failure=None,
        folder_inode=facts.st_ino,
        folder_mtime_ns=facts.st_mtime_ns,
        links=(Link(facts.st_ino, facts.st_blocks * 512, facts.st_nlink, 1, kept=False),)
        if there and facts.st_nlink > 1
        else (),
        problems=problems,
        artifact_problems=problems if artifact is Artifact.BROKEN else (),
    )


def _is_of_shard(name: str, beginning: str) -> bool:
    return _NEFF.match(name) is not None and name.startswith(beginning)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
