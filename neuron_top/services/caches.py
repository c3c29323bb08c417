"""Caches: listed, planned for, changed, undone, pinned, purged and copied; folders and buckets alike.

Every method looks at disks or asks a service, so screens call it in a thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from neuron_top.actions import plan_context, registry, usage_history
from neuron_top.actions.backends import BackendOptions, CacheBackend, open_backend
from neuron_top.actions.backends.base import GRACE_SECONDS, ContextFacts, ExecuteOptions, ignore
from neuron_top.actions.execution import copy as copying
from neuron_top.actions.execution.compile_child import compile_apart
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.records import PlanPurged, PlanRestored
from neuron_top.actions.journal.trash import CannotPurge
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Outcome, Plan, Progress, Verb
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.registry import ACTIONS, CacheAction, Executor, PlannerInput, action_of
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.errors import NeuronTopError, NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.settings import Settings

__all__ = ["ACTIONS", "CacheAction", "CacheService", "Outcome", "Plan", "Progress", "Purge", "Verb", "action_of"]

READ_ONLY = "read-only mode: nothing is changed"


class Purge(msgspec.Struct, frozen=True, kw_only=True):
    """What was deleted for ever, and what could not be: (plan, why)."""

    records: tuple[PlanPurged, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def freed(self) -> int:
        """Bytes."""
        return sum(record.freed for record in self.records)

    @property
    def files(self) -> int:
        """How many."""
        return sum(record.files for record in self.records)


class CacheService:
    """The caches that one user may look at and change. `read_only` refuses every change, here and where it is made."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        assume_exclusive: bool = False,
        trash: Path | None = None,
        grace_seconds: float = GRACE_SECONDS,
        in_use: Callable[[str], str | None] = plan_context.in_use,
    ) -> None:
        """`assume_exclusive`: the operator states that no other host uses what is shared. `trash`: not the default.
        `grace_seconds`: how long readers of a bucket get between the marks of an eviction and the rest."""
        self._settings, self.read_only, self.assume_exclusive = settings, read_only, assume_exclusive
        self._options = BackendOptions(state=settings.state_path, trash=trash)
        self._in_use, self._grace_seconds = in_use, grace_seconds

    # Looking

    def backend(self, root: str) -> CacheBackend:
        """The storage of a cache. Raises UsageError for a name that is neither a folder's nor a bucket's."""
        return open_backend(root, self._options)

    def snapshot(self, root: str, *, rescan: bool = False) -> Snapshot:
        """The entries of a cache. Raises NothingToShow for one that is gone."""
        return self.backend(root).snapshot(rescan=rescan)

    def context(self, backend: CacheBackend, snapshot: Snapshot, *, assume_exclusive: bool = False) -> PlanContext:
        """What planners know besides the newest snapshot of `backend`."""
        past = usage_history.known(self._settings.state_path)
        facts = ContextFacts(
            pins=self.pinned(), used=past.used, compiled=past.compiled,
            shared_confirmed=self.assume_exclusive or assume_exclusive, read_only=self.read_only,
        )  # fmt: skip
        return backend.context(snapshot, facts)

    # Planning

    def plan(
        self, verb: Verb, root: str, paths: Collection[str], watch: Callable[[int, int], None] = ignore, *,
        assume_exclusive: bool = False,
    ) -> Plan:  # fmt: skip
        """The plan for the entries at `paths` (`compiler/module`) of `root`; nothing is changed.

        `watch` is told how many bytes a verification has read. Raises NothingToShow for a root that is gone,
        UsageError for what this storage cannot do.
        """
        return self.plan_together(verb, root, [paths], watch, assume_exclusive=assume_exclusive)[0]

    def plan_together(
        self, verb: Verb, root: str, groups: Iterable[Collection[str]], watch: Callable[[int, int], None] = ignore, *,
        assume_exclusive: bool = False,
    ) -> list[Plan]:  # fmt: skip
        """As `plan`, a plan for each group of paths; all rest on one look."""
        backend = self.backend(root)
        snapshot = backend.with_failures(backend.snapshot()) if verb in _NEED_CAUSES else backend.snapshot()
        context = self.context(backend, snapshot, assume_exclusive=assume_exclusive)
        return [self._plan_marked(verb, backend, snapshot, context, paths, watch) for paths in groups]

    @staticmethod
    def _plan_marked(
        verb: Verb, backend: CacheBackend, snapshot: Snapshot, context: PlanContext, paths: Collection[str],
        watch: Callable[[int, int], None],
    ) -> Plan:  # fmt: skip
        row = action_of(verb)
        if row.planner is None:
            raise UsageError(f"no such action on marked entries: {verb}")
        if not registry.is_possible(verb, backend.kind):
            raise UsageError(f"{row.title} is not possible in a {backend.kind}: it needs a folder of this machine")
        wanted = frozenset(paths)
        entries = [entry for entry in snapshot.entries if entry.path in wanted]
        return row.planner(
            PlannerInput(backend=backend, snapshot=snapshot, context=context, entries=entries, watch=watch)
        )

    def alternatives(
        self, verb: Verb, root: str, paths: Collection[str], watch: Callable[[int, int], None] = ignore, *,
        assume_exclusive: bool = False,
    ) -> list[Plan]:  # fmt: skip
        """Every way to the end that `verb` names, as this storage allows: compile now or on the next run; where none
        of them has anything to do, what asks for more (each of its steps carries a warning)."""
        row, kind = action_of(verb), self.backend(root).kind
        ways = [way for way in row.alternatives or (verb,) if registry.is_possible(way, kind)]
        plans = [self.plan(way, root, paths, watch, assume_exclusive=assume_exclusive) for way in ways]
        if row.fallback is not None and not any(plan.steps for plan in plans):
            plans.append(self.plan(row.fallback, root, paths, watch, assume_exclusive=assume_exclusive))
        return plans

    # Carrying out

    def execute(
        self, plan: Plan, watch: Callable[[Progress], bool] = lambda progress: True, *,
        grace_seconds: float | None = None,
    ) -> Outcome:  # fmt: skip
        """Carry a plan out; a false `watch` stops it before its next step. Raises RefusedForSafety."""
        executor = action_of(plan.verb).executor
        if executor is Executor.COMPILERS:
            return compile_apart(plan, jobs=compiles_at_once(plan), read_only=self.read_only, watch=watch)
        if executor is Executor.COPY:
            source, target = self.backend(plan.root), self.backend(plan.target)
            return copying.copy(
                plan, source.copy_target(), target.copy_target(), target.journal(), watch, read_only=self.read_only
            )
        grace_seconds = self._grace_seconds if grace_seconds is None else grace_seconds
        options = ExecuteOptions(
            read_only=self.read_only, watch=watch, grace_seconds=grace_seconds, in_use=self._in_use
        )
        return self.backend(plan.root).execute(plan, options)

    def run(self, execution: PlanExecution, moved: Callable[[], None] = lambda: None) -> None:
        """Carry out a confirmed execution to its end; `moved` is called whenever it has gone on. Raises
        RefusedForSafety when nobody confirmed it; whatever else goes wrong is its state and message."""
        execution.begin()

        def watch(progress: Progress) -> bool:
            execution.progress = progress
            moved()
            return not execution.stopping

        try:
            execution.finish(self.execute(execution.plan, watch))
        except (NeuronTopError, OSError) as problem:
            execution.fail(str(problem))
        moved()

    # The past

    def history(self, root: str) -> list[PlanHistory]:
        """What was done to a cache, plan by plan, oldest first."""
        return self.backend(root).journal().entries()

    def last_undoable(self, root: str) -> PlanHistory:
        """The newest plan that can be undone. Raises NothingToShow."""
        undoable = [each for each in self.history(root) if each.state in UNDOABLE and each.moves]
        if not undoable:
            raise NothingToShow(f"nothing that was done to {root} can be undone")
        return undoable[-1]

    def undo(self, root: str, identity: str) -> PlanRestored:
        """Bring back what the plan that is or begins with `identity` took. Raises NothingToShow, RefusedForSafety."""
        return self.backend(root).undo(identity, read_only=self.read_only)

    def undo_execution(self, execution: PlanExecution) -> None:
        """Undo a plan that was carried out here. Raises RefusedForSafety, NothingToShow."""
        execution.begin_undo()
        try:
            record = self.undo(execution.plan.root, execution.plan.identity)
        except (NeuronTopError, OSError) as problem:
            execution.fail_undo(str(problem))
            raise
        execution.end_undo(record)

    def purgeable(self, root: str, *, older_than: float = 0.0, plan: str | None = None) -> list[PlanHistory]:
        """Plans whose trash may be deleted: one by name, or all that were carried out so long ago (seconds)."""
        backend = self.backend(root)
        backend.check_purgeable()
        journal = backend.journal()
        return [journal.history_of(plan)] if plan is not None else journal.expired(time.time() - older_than)

    def purge(self, root: str, histories: Sequence[PlanHistory]) -> Purge:
        """Delete for ever what these plans took away. Raises NothingToShow for a single one that is gone."""
        if self.read_only:
            raise RefusedForSafety(READ_ONLY)
        journal = self.backend(root).journal()
        records: list[PlanPurged] = []
        failed: list[tuple[str, str]] = []
        remarks: list[str] = []
        with journal.exclusively():
            remarks += journal.remarks
            for history in histories:
                try:
                    records.append(journal.purge(history))
                except NothingToShow as problem:  # somebody removed its folder meanwhile
                    if len(histories) == 1:
                        raise
                    remarks.append(str(problem))
                except CannotPurge as problem:
                    failed.append((history.begun.plan, str(problem)))
        return Purge(records=tuple(records), failed=tuple(failed), remarks=tuple(remarks))

    # Pins

    def pinned(self) -> tuple[str, ...]:
        """All patterns that protect modules."""
        return (*self.pins.patterns(), *split_csv(self._settings.cache_pins))

    def pin(self, modules: Collection[str]) -> str:
        """Pin these modules, or unpin them when all of them are pinned by name; says what was done."""
        if self.read_only:
            raise RefusedForSafety(READ_ONLY)
        if set(modules) <= set(self.pins.patterns()):
            return f"{len(self.pins.remove(modules))} unpinned"
        return f"{len(self.pins.add(modules))} pinned"

    @property
    def pins(self) -> Pins:
        """The pins that were set by hand."""
        return Pins(self._settings.state_path)


_NEED_CAUSES = frozenset({Verb.RETRY, Verb.RETRY_DETERMINISTIC, Verb.COMPILE})


def compiles_at_once(plan: Plan) -> int:
    """As many as there are cores, half of that when memory was the cause of a failure."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // 2) if for_memory(plan) else cores


def split_csv(text: str) -> tuple[str, ...]:
    """`a, b` → (a, b)."""
    return tuple(word for part in text.split(",") if (word := part.strip()))
