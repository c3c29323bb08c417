"""A cache as it is at one moment, and plans for its entries: what an action would do, without doing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from neuron_top.actions import registry
from neuron_top.actions.backends import CacheBackend
from neuron_top.actions.backends.base import ignore
from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.reasons import Caveat, CaveatCode
from neuron_top.actions.registry import PlannerInput, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.errors import UsageError

if TYPE_CHECKING:
    from neuron_top.cache.scan.verify import EntryFinding


class CacheLook(NamedTuple):
    """The state of a cache at one moment, shared by plans that are made together."""

    backend: CacheBackend
    snapshot: Snapshot
    context: PlanContext

    def plan_entries(self, verb: Verb, entries: Sequence[Entry], watch: Callable[[int, int], None] = ignore) -> Plan:
        """The plan for these of its entries. Raises UsageError for what this storage cannot do."""
        row = action_of(verb)
        if row.planner is None:
            raise UsageError(f"no such action on entries: {verb}")
        if not registry.is_possible(verb, self.backend.kind):
            raise UsageError(f"{row.title} is not possible in a {self.backend.kind}: it needs a folder of this machine")
        return row.planner(
            PlannerInput(
                backend=self.backend, snapshot=self.snapshot, context=self.context, entries=entries, watch=watch
            )
        )

    def plan_compile(
        self, entries: Sequence[Entry], *, deterministic: bool = False, fewer: bool = False
    ) -> tuple[Plan, list[Caveat]]:
        """The plan to compile the failures among `entries` now, and why some cannot be compiled here. `fewer`: the
        person asked for fewer compiles at a time already."""
        if not registry.is_possible(Verb.COMPILE, self.backend.kind):
            raise UsageError(f"compiling is not possible in a {self.backend.kind}: it needs a folder of this machine")
        plan, missing = registry.plan_compile(self.snapshot.root, entries, self.context, deterministic=deterministic)
        offer = () if fewer or not for_memory(plan) else (Caveat(CaveatCode.OFFER_FEWER_COMPILES),)
        return msgspec.structs.replace(plan, notes=(*plan.notes, *offer)), missing

    def plan_eviction(self, criteria: EvictCriteria) -> Plan:
        """The plan for these criteria. Raises UsageError for a compiler that cannot be parsed."""
        snapshot = self.snapshot
        if criteria.keep_graph and not self.backend.keeps_graphs:
            raise UsageError(f"{snapshot.root} holds no graphs that could be kept: evict without --keep-graph")
        try:
            return plan_with_reads(snapshot, snapshot.entries, snapshot.root, criteria, self.context)
        except ValueError as problem:
            raise UsageError(f"--compiler: {problem}") from None

    def plan_work_dirs(self) -> list[Plan]:
        """Plans to remove what dead compiles left in their work folders, one for each parent folder."""
        return sweep.plan_sweeps(sweep.find_work_folders(), self.context, os.getuid())

    def plan_quarantine(self, findings: Iterable[EntryFinding]) -> Plan:
        """The plan to move aside the entries that these findings call broken."""
        return registry.plan_broken(self.snapshot, self.context, self.snapshot.entries, findings)
