"""What planners know besides the snapshot: the clock, who uses the cache, pins, what recordings report."""

from __future__ import annotations

import operator
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import DAY, Totals
from neuron_top.actions.reasons import Caveat, CaveatCode, RebuildSource, Refusal, RefusalCode, UseSource
from neuron_top.cache.location import is_hub_commit
from neuron_top.cache.locks import verdicts
from neuron_top.cache.locks.verdicts import LockEvidence
from neuron_top.cache.model.entry import Artifact, Entry, Part, written_at
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.processes import sees_all_processes
from neuron_top.cache.scan import scanner
from neuron_top.cache.use import AHEAD_SECONDS, CacheUse, is_ahead

COMPILE_SECONDS = (5.0, 12 * 3600.0)
"""The shortest and the longest time from a graph's file to its artifact's that counts as the time of a compile."""
MARK_SECONDS = 60.0
"""The longest time, in seconds, from an artifact to its mark if both come from one compile."""
_VALID = Artifact.VALID
_RECORD, _ACCESS, _COMPILE = UseSource.RECORD, UseSource.ACCESS, UseSource.COMPILE
_UNKNOWN, _STATISTICS = RebuildSource.UNKNOWN, RebuildSource.STATISTICS
_RECORDING, _FILE_TIMES = RebuildSource.RECORDING, RebuildSource.FILE_TIMES
"""Looked up once: getting a member from an enum class costs as much as the rest of a comparison."""


class ContextFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known besides what the storage reports: pins, recordings, and what the operator states."""

    pins: tuple[str, ...] = ()
    """Patterns of module names that are never evicted."""
    used: Mapping[str, float] = {}
    """Module → last use that a recording saw, seconds since the epoch."""
    compiled: Mapping[str, float] = {}
    """Module → compile seconds that a recording measured."""
    first_seen: Mapping[str, float] = {}
    """Path → when an entry that is dated far ahead of the clock was first seen as it is now (see `dated_ahead`)."""
    shared_confirmed: bool = False
    """The operator states that no other host uses the cache (`--assume-exclusive`)."""
    read_only: bool = False


NOTHING_KNOWN = ContextFacts()


class PlanContext(ContextFacts, frozen=True, kw_only=True):
    """Gathered once by `collect_context`; planners read nothing else. Times are seconds since the epoch."""

    now: float
    before: Totals
    trash_bytes: int = 0
    """Bytes in the trash. A goal of free space counts them as free; otherwise each run would evict as much again."""
    trashed: dict[int, int] = {}
    """Inode → names in the trash, for files with several names; empty if no entry has such files."""
    in_use: CacheUse | None = None
    """Who uses this root; None = nobody was seen."""
    has_access_times: bool = True
    """The storage keeps access times."""
    is_hub_commit: bool = False
    """The root lies in a hub repository's local copy, which only the hub's own tool changes."""
    shared: str | None = None
    """Why other hosts may write here; None = a local file system."""
    notes: tuple[Caveat, ...] = ()
    compiling: frozenset[str] = frozenset()
    """Modules that the command of a live process names."""
    protect_seconds: float = DAY
    """Anything used or changed within this time is skipped."""

    def refusal(self) -> Refusal | None:
        """Why nothing may be executed here at all; None when it may."""
        if self.read_only:
            return Refusal(RefusalCode.READ_ONLY)
        if self.shared and not self.shared_confirmed:
            return Refusal(RefusalCode.SHARED, self.shared)
        return None

    def last_use(self, entry: Entry) -> tuple[float, UseSource]:
        """(time, source) of an entry's last use: the later of a recorded use and the access time, else the compile
        time. If that lies far ahead of the clock, it means nothing, and `_seen` has the answer."""
        accessed = entry.read_at
        recorded = self.used.get(entry.module) if self.used else None
        if recorded is not None and (accessed is None or recorded >= accessed):
            last = recorded, _RECORD
        elif accessed is not None:
            last = accessed, _ACCESS
        else:
            last = written_at(entry), _COMPILE
        return last if last[0] <= self.now + AHEAD_SECONDS else self._seen(entry)

    def _seen(self, entry: Entry) -> tuple[float, UseSource]:
        """(time, source), as `last_use`, of an entry that is dated ahead: when it was first seen so, or a later use."""
        accessed, seen = entry.read_at, self.first_seen.get(entry.path, self.now)
        is_read_ahead = accessed is not None and is_ahead(accessed, self.now)
        uses = [(seen, UseSource.SEEN_ONLY if is_read_ahead else UseSource.SEEN)]
        uses += [
            (at, known)
            for at, known in ((accessed, _ACCESS), (self.used.get(entry.module), _RECORD))
            if at is not None and not is_ahead(at, self.now)
        ]
        return max(uses, key=operator.itemgetter(0))

    def last_change(self, entry: Entry) -> float:
        """When one of its files changed last; if that lies far ahead of the clock, when it was first seen so."""
        at = entry.changed_at
        return self.first_seen.get(entry.path, self.now) if is_ahead(at, self.now) else at

    def is_used_now(self, entry: Entry) -> bool:
        """Whether a process may need the entry now."""
        if self.in_use is None:
            return False
        last, known_from = self.last_use(entry)
        has_artifact = entry.artifact is _VALID
        known = known_from.shows_reads(has_access_times=self.has_access_times, has_artifact=has_artifact)
        return self.in_use.concerns(entry.path, entry.module, max(last, self.last_change(entry)) if known else None)

    def rebuild(self, entry: Entry) -> tuple[float | None, RebuildSource]:
        """(compile seconds that would have to be spent again, how they are known); 0 where nothing was compiled."""
        if entry.artifact is not _VALID:
            return 0.0, _UNKNOWN
        if entry.compile_seconds is not None:
            return entry.compile_seconds, _STATISTICS
        recorded = self.compiled.get(entry.module)
        if recorded is not None:
            return recorded, _RECORDING
        between = _between_files(entry)
        return (None, _UNKNOWN) if between is None else (between, _FILE_TIMES)


def _between_files(entry: Entry) -> float | None:
    """Seconds from the graph's file to the artifact's, if both seem to come from one compile; else None.

    A client writes the graph, compiles, then writes artifact and mark. But an extracted graph was there long before,
    and a copied entry may have the times of the copy. So if that time is too short or too long, or the mark came late,
    it is not the compile's.
    """
    if entry.graph_at is None or entry.compiled_at is None or entry.links:
        return None
    written = entry.artifact_mtime_ns / 1e9
    seconds = written - entry.graph_at
    plausible = COMPILE_SECONDS[0] <= seconds <= COMPILE_SECONDS[1]
    return seconds if plausible and 0.0 <= entry.compiled_at - written <= MARK_SECONDS else None


def collect_context(snapshot: Snapshot, facts: ContextFacts = NOTHING_KNOWN, trash: Trash | None = None) -> PlanContext:
    """What planners need for `snapshot`.

    Changes that neurontop itself made, by the journal in `trash`, are no sign that somebody uses the cache.
    """
    ours = trash.touched() if trash is not None else {}
    changes = (entry.changed_at for entry in snapshot.entries if entry.changed_at > ours.get(entry.path, 0.0))
    evidence = verdicts.evidence_on(snapshot.root, [], changes=changes)
    disk = snapshot.filesystem
    others = scanner.others_now(snapshot) if disk.shared else snapshot.others
    return PlanContext(
        now=time.time(),
        before=Totals(
            entries=len(snapshot.entries),
            files=sum(map(_files, snapshot.entries)) + sum(other.files for other in others),
            size=snapshot.totals().all.bytes + sum(other.allocated for other in others),
            free=disk.free,
            free_inodes=disk.free_inodes,
        ),
        trash_bytes=trash.trash_bytes() if trash is not None else 0,
        trashed=trash.linked() if trash is not None and any(entry.links for entry in snapshot.entries) else {},
        in_use=evidence.use,
        has_access_times=disk.keeps_access_times,
        is_hub_commit=is_hub_commit(snapshot.root),
        shared=evidence.why_shared,
        shared_confirmed=facts.shared_confirmed,
        read_only=facts.read_only,
        notes=(*_caveats(snapshot, evidence), *dated_ahead_caveat(facts.first_seen)),
        pins=facts.pins,
        used=facts.used,
        compiled=facts.compiled,
        first_seen=facts.first_seen,
        compiling=frozenset().union(*(process.modules for process in evidence.processes)),
    )


def in_use(root: str) -> CacheUse | None:
    """The processes that use `root` at this moment; None = nobody was seen."""
    return verdicts.evidence_on(root, []).use


def _files(entry: Entry) -> int:
    return (entry.parts & ~Part.OTHER).bit_count() + len(entry.others)


def _caveats(snapshot: Snapshot, evidence: LockEvidence) -> list[Caveat]:
    caveats = []
    if evidence.use is not None:
        code = CaveatCode.IN_USE if evidence.use.certain else CaveatCode.MAYBE_IN_USE
        caveats.append(Caveat(code, detail=evidence.use.why))
    if evidence.unseen:
        caveats.append(Caveat(CaveatCode.PROCESSES_UNSEEN, evidence.unseen))
    if Path("/.dockerenv").exists() or not sees_all_processes():
        caveats.append(Caveat(CaveatCode.IN_CONTAINER))
    if snapshot.problems:
        caveats.append(Caveat(CaveatCode.PARTLY_READ))
    if not snapshot.filesystem.keeps_access_times:
        caveats.append(Caveat(CaveatCode.NO_ACCESS_TIMES))
    return caveats


def dated_ahead_caveat(first_seen: Mapping[str, float]) -> tuple[Caveat, ...]:
    """The caveat about entries that are dated ahead of the clock; nothing if there are none."""
    return (Caveat(CaveatCode.DATED_AHEAD, len(first_seen)),) if first_seen else ()
