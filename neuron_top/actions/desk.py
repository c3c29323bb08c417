"""What a screen needs to act: plans for the entries that were marked, carrying them out, and the last undo.

The same planners and the same hand as the commands; every method looks at the disk and is called in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from neuron_top.actions import plan_context
from neuron_top.actions import usage_history as history
from neuron_top.actions.execution.compile_child import compile_apart
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import for_memory, plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cache.model.entry import FAILURES, Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import catalog, verify
from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.settings import Settings

EVICT, SLIM, RETRY, COMPILE, UNLOCK = "evict", "slim", "retry", "compile", "unlock"
VERIFY, QUARANTINE = "verify", "quarantine"
"""To move aside what is broken: after each artifact was read whole, or by what the catalog saw already."""
INSIST, FORCE = "insist", "force"
"""To retry what is bound to fail again, and to unlock without proof: each step carries a warning."""


class CacheService:
    """Acts on the caches of this machine for one user. `read_only` refuses here, and `execute` refuses once more."""

    def __init__(self, settings: Settings, *, read_only: bool = False) -> None:
        self._settings, self.read_only = settings, read_only

    def plan(
        self, verb: str, root: str, paths: Collection[str], watch: Callable[[int, int], None] = lambda done, total: None
    ) -> Plan:
        """The plan for the entries at `paths` (`compiler/module`) of `root`; nothing is changed.

        `watch` is told how many entries a verification has read. Raises NothingToShow for a root that is gone.
        """
        snapshot = catalog.open_root(os.path.realpath(root), self._settings.state_path)
        return self.plan_in(snapshot, self.context(snapshot), verb, paths, watch)

    def plan_in(
        self, snapshot: Snapshot, context: PlanContext, verb: str, paths: Collection[str],
        watch: Callable[[int, int], None] = lambda done, total: None,
    ) -> Plan:  # fmt: skip
        """As `plan`, in a snapshot and surroundings that were taken already: several plans rest on one look."""
        root, wanted = snapshot.root, frozenset(paths)
        entries = [entry for entry in snapshot.entries if entry.path in wanted]
        if verb in (EVICT, SLIM):
            # A person marked them: each is named, in whatever state it is. The planner is given everything, because
            # shared inodes are freed with their last name only.
            states = frozenset(entry.state for entry in entries)
            policy = EvictCriteria(paths=wanted, states=states, slim=verb == SLIM)
            return plan_with_reads(snapshot, snapshot.entries, root, policy, context)
        if verb in (RETRY, INSIST):
            return plan_retry(entries, root, context, deterministic=verb == INSIST)
        if verb == COMPILE:
            return self._compile_plan(entries, root, context)
        if verb in (UNLOCK, FORCE):
            return plan_unlock(entries, root, context, force=verb == FORCE)
        return plan_quarantine(entries, root, context, _broken(root, entries, watch) if verb == VERIFY else {})

    def context(self, snapshot: Snapshot) -> PlanContext:
        """What planners must know besides the snapshot; looks at the machine."""
        past = history.known(self._settings.state_path)
        return plan_context.collect_context(
            snapshot, pins=self.pinned(), used=past.used, compiled=past.compiled, read_only=self.read_only,
            trash=Trash(snapshot.root),
        )  # fmt: skip

    @staticmethod
    def _compile_plan(entries: list[Entry], root: str, context: PlanContext) -> Plan:
        from neuron_top.actions.execution.compilers import compilers_for

        found, missing = compilers_for(root, [entry.path for entry in entries if entry.state in FAILURES])
        plan = plan_retry(entries, root, context, compilers={one.directory() for one in found.values()})
        remarks = [f"a compiler was killed for memory: {_jobs(plan)} at a time"] if for_memory(plan) else []
        return msgspec.structs.replace(plan, caveats=(*plan.caveats, *missing, *remarks))

    def carry_out(self, plan: Plan, watch: Callable[[Progress], bool]) -> Outcome:
        """Execute a plan, compiles in a process of their own. Raises RefusedForSafety."""
        if plan.verb == COMPILE:
            return compile_apart(plan, jobs=_jobs(plan), read_only=self.read_only, watch=watch)
        return execute(plan, Trash(plan.root), read_only=self.read_only, watch=watch)

    def last_done(self, root: str) -> PlanHistory:
        """The newest plan that can be undone. Raises NothingToShow."""
        histories = [each for each in Trash(root).entries() if each.state in UNDOABLE and each.moves]
        if not histories:
            raise NothingToShow(f"nothing that was done to {root} can be undone")
        return histories[-1]

    def undo(self, root: str, identity: str) -> str:
        """Bring a plan's loot back; says what became of it. Raises RefusedForSafety."""
        record = restore(identity, Trash(root), read_only=self.read_only)
        kept = f", {len(record.kept)} stay in the trash: {record.kept[0][1]}" if record.kept else ""
        return f"plan {record.plan} undone: {record.restored} brought back{kept}"

    def pinned(self) -> tuple[str, ...]:
        """All patterns that protect modules."""
        extra = tuple(word.strip() for word in self._settings.cache_pins.split(",") if word.strip())
        return (*self._pins.patterns(), *extra)

    def pin(self, modules: Collection[str]) -> str:
        """Pin these modules, or unpin them when all of them are pinned by name; says what was done."""
        if self.read_only:
            raise RefusedForSafety("read-only mode: nothing is changed")
        if set(modules) <= set(self._pins.patterns()):
            return f"{len(self._pins.remove(modules))} unpinned"
        return f"{len(self._pins.add(modules))} pinned"

    @property
    def _pins(self) -> Pins:
        return Pins(Path(self._settings.state_path))


def _jobs(plan: Plan) -> int:
    """Compiles at a time: as many as there are cores, half of that when memory was the cause."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // 2) if for_memory(plan) else cores


def _broken(root: str, entries: list[Entry], watch: Callable[[int, int], None]) -> dict[str, str]:
    """Entry → what a full verification found."""
    found = {one.entry.path: one.what for one in verify.cheap(entries) if one.level == verify.BROKEN_LEVEL}
    for number, entry in enumerate(entries, 1):
        for one in verify.deep(root, entry):
            if one.level == verify.BROKEN_LEVEL:
                found.setdefault(entry.path, one.what)
        watch(number, len(entries))
    return found
