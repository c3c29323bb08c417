"""Plans an eviction with what the catalog may not know: access times and hard links of every entry that would go.

The catalog reads an entry again when its folder changed. A client that loads an artifact changes no folder, and a new
hard link to a file changes only the folder that the link lies in. So an entry may have been used later than the catalog
says, and its files may have other names by now. Looking again at the entries of a plan, and planning anew until none of
them differs, gives what a full scan would give, at a fraction of its cost.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from neuron_top.actions.plan import Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import PARTS, Entry, Part
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import scanner
from neuron_top.cache.use import last_read

ROUNDS = 8
"""How many times a plan is made anew at most. An entry that is read after that is refused when its step is executed."""


def plan_with_reads(
    snapshot: Snapshot, entries: Sequence[Entry], root: str, policy: EvictCriteria, context: PlanContext
) -> Plan:
    """`plan_eviction` for `entries` of `snapshot`, with the reads and hard links that the disk shows now.

    Buckets, and mounts that keep no access times, do not show reads. Raises ValueError as the planner does.
    """
    has_access_times = snapshot.filesystem.may_keep_access_times
    plan = plan_eviction(entries, root, policy, context)
    for _ in range(ROUNDS):
        newer = _differing(root, entries, plan.steps, context, has_access_times=has_access_times)
        if not newer:
            break
        entries = [newer.get(entry.path, entry) for entry in entries]
        plan = plan_eviction(entries, root, policy, context)
    return plan


def _differing(
    root: str, entries: Sequence[Entry], steps: Iterable[Step], context: PlanContext, *, has_access_times: bool
) -> dict[str, Entry]:
    """Path → entry as it is now, for the entries of these steps that were read or linked since."""
    going = {step.path: step for step in steps}
    newer: dict[str, Entry] = {}
    linked: list[Entry] = []
    for entry in entries:
        step = going.get(entry.path)
        if step is None or entry.is_file:  # a cache of single files is scanned whole for each plan
            continue
        facts = _artifact_facts(f"{root}/{entry.path}", entry)
        if facts is None:
            continue
        own, artifact = facts
        if own.st_nlink != next((link.names for link in entry.links if link.inode == own.st_ino), 1):
            linked.append(entry)
        read = last_read(artifact, context.now) if has_access_times and entry.parts & Part.ARTIFACT else None
        if read is not None and read > (step.last_used or 0.0):
            newer[entry.path] = msgspec.structs.replace(entry, read_at=read)
    for entry in scanner.look_at(root, linked) if linked else ():
        read_at = newer[entry.path].read_at if entry.path in newer else entry.read_at
        newer[entry.path] = msgspec.structs.replace(entry, read_at=read_at)
    return newer


def _artifact_facts(place: str, entry: Entry) -> tuple[os.stat_result, os.stat_result] | None:
    """The status of an entry's artifact, or of its graph if it has none, and, if that is a link, of the file that
    clients read through it: a link's own access time is that of our last look. None if neither is there."""
    artifacts = [name for name in filenames.ARTIFACT_NAMES if PARTS[name] & entry.parts]
    for name in artifacts or filenames.GRAPH_NAMES:
        try:
            own = os.lstat(f"{place}/{name}")
            return own, Path(place, name).stat() if stat.S_ISLNK(own.st_mode) else own
        except OSError:
            continue
    return None
