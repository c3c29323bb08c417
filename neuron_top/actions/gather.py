"""Looks at the machine once for planners: who uses the root, what is pinned, what recordings know of it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path

from neuron_top.actions.journal import Trash
from neuron_top.actions.plan import Totals
from neuron_top.actions.surroundings import DAY, PlanContext
from neuron_top.cache import locks
from neuron_top.cache.entry import Entry, Part
from neuron_top.cache.snapshot import Snapshot


def surroundings(
    snapshot: Snapshot,
    *,
    pins: tuple[str, ...] = (),
    used: Mapping[str, float] | None = None,
    compiled: Mapping[str, float] | None = None,
    shared_confirmed: bool = False,
    read_only: bool = False,
    protect_seconds: float = DAY,
    now: float | None = None,
    trash: Trash | None = None,
) -> PlanContext:
    """What planners need for `snapshot`. `used` and `compiled` come from the recordings (seconds).

    What we changed ourselves, as the journal in `trash` says, is no sign that somebody uses the cache.
    """
    ours = trash.touched() if trash is not None else {}
    changes = (entry.changed_at for entry in snapshot.entries if entry.changed_at > ours.get(entry.path, 0.0))
    newest = max(changes, default=None)
    evidence = locks.gather(snapshot.root, [], newest_change=newest)
    disk = snapshot.filesystem
    return PlanContext(
        now=time.time() if now is None else now,
        before=Totals(
            entries=len(snapshot.entries),
            files=sum(map(_files, snapshot.entries)) + sum(other.files for other in snapshot.others),
            size=snapshot.totals().all.bytes + sum(other.allocated for other in snapshot.others),
            free=disk.free,
            free_inodes=disk.free_inodes,
        ),
        waiting=trash.waiting() if trash is not None else 0,
        in_use=evidence.in_use,
        shared=evidence.why_shared,
        shared_confirmed=shared_confirmed,
        read_only=read_only,
        caveats=tuple(_caveats(snapshot, evidence.unseen)),
        pins=pins,
        used=dict(used or {}),
        compiled=dict(compiled or {}),
        protect_seconds=protect_seconds,
        compiling=frozenset(
            key for process in evidence.processes for word in process.command for key in _KEY.findall(word)
        ),
    )


def in_use(root: str) -> str | None:
    """Why somebody seems to use `root` at this moment, in words; None = nobody was seen."""
    return locks.gather(root, []).in_use


_KEY = re.compile(r"MODULE_[0-9a-f]{1,64}\+[0-9a-f]{8}")


def _files(entry: Entry) -> int:
    return (entry.parts & ~Part.OTHER).bit_count() + len(entry.others)


def _caveats(snapshot: Snapshot, unseen: int) -> list[str]:
    found = []
    if unseen:
        found.append(f"{unseen} processes of other users could be seen by their command only")
    if Path("/.dockerenv").exists() or _in_namespace():
        found.append("processes outside this container can't be seen")
    if snapshot.problems:
        found.append("parts of the cache could not be read")
    if snapshot.filesystem.access_times in (None, "noatime"):
        found.append("this file system keeps no access times: last use is known from recordings only")
    return found


def _in_namespace() -> bool:
    try:
        return str(Path("/proc/self/ns/pid").readlink()) != "pid:[4026531836]"
    except OSError:
        return True
