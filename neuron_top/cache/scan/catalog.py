"""The catalog of a root: read from the stored index, if there is one, and brought up to date."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import EntryTotals, Snapshot, total
from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.scan import index
from neuron_top.cache.scan.discovery import discover
from neuron_top.escapes import name_text

TRUSTED_SECONDS = 600.0
"""How long sums of settled entries are taken from the index without checking each entry's folder."""


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """The totals of a root, and how old they are."""

    root: str
    totals: EntryTotals
    as_of: float
    """When the settled entries were last checked, in seconds since the epoch; the others are newer."""
    other_bytes: int
    other_files: int


def open_root(root: str, state: Path, *, full: bool = False) -> Snapshot:
    """The snapshot of `root` now; `full` reads every file again. What is no entry is measured again too, except on
    shared file systems, where that takes long. Raises NothingToShow if there is no such folder."""
    real = os.path.realpath(root)
    before = None if full else index.load(real, state)
    from neuron_top.cache.scan import scanner  # sums of a settled cache, which scripts ask for, need none of it

    snapshot = scanner.scan(real) if before is None else scanner.refresh(before)
    if before is not None and not snapshot.filesystem.shared:
        snapshot = msgspec.structs.replace(snapshot, others=scanner.others_now(snapshot))
    if before is None or _differs(before, snapshot):
        index.save(snapshot, state)
    return snapshot


def sums(root: str, state: Path, *, trusted_seconds: float = TRUSTED_SECONDS) -> Sums:
    """The totals of `root`: settled entries from the index while it is fresh, the others read now.

    It is fresh if it was written within `trusted_seconds`, no compiler folder or other member of the root has come
    since, and no compiler folder has gained or lost an entry. An index that is dated ahead of the clock is not fresh.
    Raises NothingToShow.
    """
    real = os.path.realpath(root)
    head = index.load_head(real, state)
    if head is not None and 0 <= time.time() - head.taken_at < trusted_seconds and _same_folders(head):
        now = _look_at(real, head.open)
        # A file that a settled entry shares with an open one would be counted twice. That is rare: refresh everything.
        if not any(entry.links for entry in now):
            return _summed(head, head.settled + total(now))
    return sums_of(open_root(real, state))


def sums_of(snapshot: Snapshot, totals: EntryTotals | None = None) -> Sums:
    """The sums of a snapshot; `totals`: to use instead of the snapshot's own."""
    return _summed(snapshot, snapshot.totals() if totals is None else totals)


def _look_at(root: str, entries: tuple[Entry, ...]) -> list[Entry]:
    if not entries:
        return []
    from neuron_top.cache.scan import scanner

    return scanner.look_at(root, entries)


def _summed(seen: index.IndexHead | Snapshot, totals: EntryTotals) -> Sums:
    return Sums(
        root=seen.root,
        totals=totals,
        as_of=seen.taken_at,
        other_bytes=sum(other.allocated for other in seen.others),
        other_files=sum(other.files for other in seen.others),
    )


def _differs(before: Snapshot, after: Snapshot) -> bool:
    """Whether the index must be written again: something changed, or its date lies ahead, or will soon be too old."""
    if not 0 <= after.taken_at - before.taken_at <= TRUSTED_SECONDS / 4:
        return True
    if set(before.others) != set(after.others):
        return True
    return before.folders != after.folders or set(map(id, before.entries)) != set(map(id, after.entries))


def _same_folders(head: index.IndexHead) -> bool:
    found = discover(head.root, NoAtimeReader())
    if not {folder.name for folder in head.folders}.issuperset(found.compilers):
        return False
    if not {other.path for other in head.others}.issuperset(map(name_text, found.others)):
        return False
    for folder in head.folders:
        try:
            own = os.stat(os.path.join(head.root, folder.name), follow_symlinks=False)
        except OSError:
            return False
        if own.st_mtime_ns != folder.mtime_ns or own.st_ino != folder.inode:
            return False
    return True
