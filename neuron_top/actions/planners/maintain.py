"""The policy in the settings: its criteria in the order in which they apply, and the plans that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import BY_NAME_ONLY, EvictCriteria
from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import states_named
from neuron_top.errors import UsageError
from neuron_top.settings import Settings

NEVER = frozenset(BY_NAME_ONLY)
"""States of entries that somebody may need: a person can evict them by name, but a timer never does."""


def criteria_of(settings: Settings) -> list[EvictCriteria]:
    """Criteria by state, then by age, then by size and free space; empty if nothing is set.

    Raises UsageError for an unknown state.
    """
    criteria = []
    try:
        states = states_named(settings.cache_states) - NEVER
    except ValueError as problem:
        raise UsageError(f"cache_states: {problem}") from None
    if states:
        criteria.append(EvictCriteria(states=states))
    if settings.cache_older_than:
        criteria.append(EvictCriteria(older_than=parse_seconds(settings.cache_older_than)))
    if settings.cache_max_size or settings.cache_min_free:
        criteria.append(
            EvictCriteria(
                max_bytes=parse_bytes(settings.cache_max_size) if settings.cache_max_size else None,
                free_bytes=parse_bytes(settings.cache_min_free) if settings.cache_min_free else None,
            )
        )
    return criteria


def foreseen_plans(criteria: Iterable[EvictCriteria], snapshot: Snapshot, context: PlanContext) -> list[Plan]:
    """The plans that maintenance would make now of `snapshot`, each without what those before it take."""
    plans = []
    entries = list(snapshot.entries)
    for each in criteria:
        plan = plan_with_reads(snapshot, entries, snapshot.root, each, context)
        plans.append(plan)
        if not plan.is_refused:
            paths = {step.path for step in plan.steps}
            context = _after(plan, [entry for entry in entries if entry.path in paths], context)
            entries = [entry for entry in entries if entry.path not in paths]
    return plans


def _after(plan: Plan, gone: Iterable[Entry], context: PlanContext) -> PlanContext:
    """The context as it would be after `plan` took the entries `gone`: a smaller cache on a disk as full as before,
    because the trash is not purged yet. Files with further names in the cache have some in the trash then."""
    before = msgspec.structs.replace(plan.after, free=plan.before.free, free_inodes=plan.before.free_inodes)
    trashed = Counter(context.trashed)
    for entry in gone:
        for link in entry.links:
            trashed[link.inode] += link.here
    trash_bytes = context.trash_bytes + plan.frees
    return msgspec.structs.replace(context, before=before, trash_bytes=trash_bytes, trashed=trashed)
