"""Plans an eviction with fresh access times: the disk is asked for those of every entry that would go.

The catalog reads an entry again when its folder changed, and a client that loads an artifact changes no folder. So
what it says of the last use may be old: an entry can only have been used later. Asking again for the entries of a plan,
and planning anew until none of them was read since, gives what a full scan would, for a fraction of its price.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from neuron_top.actions.plan import Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache.filesystem import AccessTimes
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot

ROUNDS = 8
"""Plans made at most; what is read even after that is refused when its step is carried out."""


def plan_with_reads(
    snapshot: Snapshot, entries: Sequence[Entry], root: str, policy: EvictCriteria, context: PlanContext
) -> Plan:
    """`plan_eviction` for `entries` of `snapshot`, none of whose steps was read later than the step says.

    A bucket, and a mount that keeps no access times, say nothing. Raises ValueError as the planner does.
    """
    has_access_times = snapshot.filesystem.access_times is not AccessTimes.NOATIME
    plan = plan_eviction(entries, root, policy, context)
    for _ in range(ROUNDS if has_access_times else 0):
        reads = _read_later(root, plan.steps)
        if not reads:
            break
        entries = [
            msgspec.structs.replace(entry, read_at=reads[entry.path]) if entry.path in reads else entry
            for entry in entries
        ]
        plan = plan_eviction(entries, root, policy, context)
    return plan


def _read_later(root: str, steps: Iterable[Step]) -> dict[str, float]:
    """Path → access time of the artifacts that were read after what the step takes for the last use."""
    found = {}
    for step in steps:
        for name in filenames.ARTIFACT_NAMES:
            try:
                facts = os.lstat(f"{root}/{step.path}/{name}")
            except OSError:
                continue
            if facts.st_atime > facts.st_mtime and facts.st_atime > (step.last_used or 0.0):
                found[step.path] = facts.st_atime
    return found
