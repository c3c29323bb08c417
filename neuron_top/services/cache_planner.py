"""Makes plans for the caches of one user: what an action would do, without doing it. Folders and buckets alike.

Every method looks at disks or asks a service, so screens call it in a thread.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from neuron_top.actions import registry
from neuron_top.actions.backends import CacheBackend
from neuron_top.actions.backends.base import BackendKind, ignore
from neuron_top.actions.dated_ahead import first_seen
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import ContextFacts, PlanContext
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.copy import plan_copy
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.reasons import Caveat, CaveatCode, GoalCode, ReasonCode, Refusal, RefusalCode
from neuron_top.actions.registry import PlannerInput, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.cache_reader import CacheReader
from neuron_top.settings import Settings

if TYPE_CHECKING:
    from neuron_top.cache.scan.verify import EntryFinding


class CacheLook(NamedTuple):
    """The state of a cache at one moment, shared by plans that are made together."""

    backend: CacheBackend
    snapshot: Snapshot
    context: PlanContext


class Disk(NamedTuple):
    """The disk of a cache, in bytes."""

    total: int
    free: int


class CachePlanner(CacheReader):
    """The caches that one user may look at, and plans for them; the setting `read_only` refuses every plan."""

    def __init__(
        self,
        settings: Settings,
        *,
        assume_exclusive: bool = False,
        trash: Path | None = None,
    ) -> None:
        """`assume_exclusive`: the operator states that no other host uses what is shared. `trash`: not the default."""
        super().__init__(settings, trash)
        self.read_only, self.assume_exclusive = settings.read_only, assume_exclusive

    # What plans rest on

    def context(self, backend: CacheBackend, snapshot: Snapshot, *, assume_exclusive: bool = False) -> PlanContext:
        """The planning context besides the newest snapshot of `backend`."""
        past = self.usage_history(backend.root)
        facts = ContextFacts(
            pins=self.pinned(),
            used=past.used,
            compiled=past.compiled,
            first_seen=first_seen(self._settings.state_path, snapshot.root, snapshot.entries, time.time()),
            shared_confirmed=self.assume_exclusive or assume_exclusive,
            read_only=self.read_only,
        )
        return backend.context(snapshot, facts)

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        """The cache as it is now, with its planning context; `causes`: also read the cause of every failure."""
        backend = self.backend(root)
        snapshot = backend.snapshot()
        if causes:
            snapshot = backend.with_failures(snapshot)
        return CacheLook(backend, snapshot, self.context(backend, snapshot, assume_exclusive=assume_exclusive))

    @property
    def pins(self) -> Pins:
        """The pins that a person set."""
        return Pins(self._settings.state_path)

    def pinned(self) -> tuple[str, ...]:
        """All patterns that protect modules."""
        return (*self.pins.patterns(), *self.pinned_by_settings())

    def pinned_by_settings(self) -> tuple[str, ...]:
        """The patterns that the settings protect."""
        return _names(self._settings.cache_pins)

    # Plans

    def plan(
        self,
        verb: Verb,
        root: str,
        paths: Collection[str],
        watch: Callable[[int, int], None] = ignore,
        *,
        assume_exclusive: bool = False,
    ) -> Plan:
        """The plan for the entries at `paths` (`compiler/module`) of `root`; nothing is changed.

        `watch` gets how many bytes a verification has read. Raises NothingToShow for a root that is gone,
        UsageError for what this storage cannot do.
        """
        return self.plan_together(verb, root, [paths], watch, assume_exclusive=assume_exclusive)[0]

    def plan_together(
        self,
        verb: Verb,
        root: str,
        groups: Iterable[Collection[str]],
        watch: Callable[[int, int], None] = ignore,
        *,
        assume_exclusive: bool = False,
    ) -> list[Plan]:
        """As `plan`, with a plan for each group of paths; all use one snapshot."""
        look = self.look(root, causes=verb in _NEED_CAUSES, assume_exclusive=assume_exclusive)
        plans = []
        for paths in groups:
            wanted = frozenset(paths)
            entries = [entry for entry in look.snapshot.entries if entry.path in wanted]
            plans.append(self.plan_entries(verb, look, entries, watch))
        return plans

    @staticmethod
    def plan_entries(
        verb: Verb, look: CacheLook, entries: Sequence[Entry], watch: Callable[[int, int], None] = ignore
    ) -> Plan:
        """The plan for these entries of `look`. Raises UsageError for what this storage cannot do."""
        row = action_of(verb)
        if row.planner is None:
            raise UsageError(f"no such action on entries: {verb}")
        if not registry.is_possible(verb, look.backend.kind):
            raise UsageError(f"{row.title} is not possible in a {look.backend.kind}: it needs a folder of this machine")
        return row.planner(
            PlannerInput(
                backend=look.backend, snapshot=look.snapshot, context=look.context, entries=entries, watch=watch
            )
        )

    @staticmethod
    def plan_compile(
        look: CacheLook, entries: Sequence[Entry], *, deterministic: bool = False, fewer: bool = False
    ) -> tuple[Plan, list[Caveat]]:
        """The plan to compile the failures among `entries` now, and why some cannot be compiled here. `fewer`: the
        person asked for fewer compiles at a time already."""
        if not registry.is_possible(Verb.COMPILE, look.backend.kind):
            raise UsageError(f"compiling is not possible in a {look.backend.kind}: it needs a folder of this machine")
        plan, missing = registry.plan_compile(look.snapshot.root, entries, look.context, deterministic=deterministic)
        offer = () if fewer or not for_memory(plan) else (Caveat(CaveatCode.OFFER_FEWER_COMPILES),)
        return msgspec.structs.replace(plan, notes=(*plan.notes, *offer)), missing

    @staticmethod
    def plan_eviction(look: CacheLook, criteria: EvictCriteria) -> Plan:
        """The plan for these criteria. Raises UsageError for a compiler that cannot be parsed."""
        snapshot = look.snapshot
        if criteria.keep_graph and not look.backend.keeps_graphs:
            raise UsageError(f"{snapshot.root} holds no graphs that could be kept: evict without --keep-graph")
        try:
            return plan_with_reads(snapshot, snapshot.entries, snapshot.root, criteria, look.context)
        except ValueError as problem:
            raise UsageError(f"--compiler: {problem}") from None

    def plan_room(self, roots: Sequence[str], free_bytes: int, assume_exclusive: bool = False) -> list[Plan]:
        """Plans that free this much on each disk; further caches of a disk make up only what the first cannot free.

        What lies in the trashes of a disk's caches counts as free for all of them. Raises UsageError for an amount
        below one byte.
        """
        if free_bytes <= 0:
            raise UsageError("specify how much space is to be free, for example 50GB")
        criteria = EvictCriteria(free_bytes=free_bytes)
        disks = {root: disk for root in roots if (disk := _device(root)) is not None}
        looks = {root: self.look(root, assume_exclusive=assume_exclusive) for root in disks}
        coming: Counter[int] = Counter()
        for root, look in looks.items():
            coming[disks[root]] += look.context.trash_bytes
        plans: list[Plan] = []
        reached: set[int] = set()
        for root, look in looks.items():
            disk = disks[root]
            if disk in reached:
                continue
            context = msgspec.structs.replace(look.context, trash_bytes=coming[disk])
            plan = self.plan_eviction(look._replace(context=context), criteria)
            plans.append(plan)
            if plan.is_refused:
                continue
            coming[disk] += plan.frees
            if plan.goal is None or plan.goal.code is GoalCode.MET:
                reached.add(disk)
        if not plans:
            raise UsageError("none of these caches lies on a disk of this machine")
        return plans

    @staticmethod
    def disks(roots: Iterable[str]) -> dict[str, Disk]:
        """The disk of each cache that is a folder."""
        found = {}
        for root in roots:
            try:
                usage = shutil.disk_usage(root)
            except OSError:
                continue
            found[root] = Disk(usage.total, usage.free)
        return found

    @staticmethod
    def plan_work_dirs(look: CacheLook) -> list[Plan]:
        """Plans to remove what dead compiles left in their work folders, one for each parent folder."""
        return sweep.plan_sweeps(sweep.find_work_folders(), look.context, os.getuid())

    @staticmethod
    def plan_quarantine(look: CacheLook, findings: Iterable[EntryFinding]) -> Plan:
        """The plan to move aside the entries that these findings call broken."""
        return registry.plan_broken(look.snapshot, look.context, look.snapshot.entries, findings)

    def plan_copy(
        self,
        source: str,
        target: str,
        *,
        modules: tuple[str, ...] = (),
        compiler: str | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Plan:
        """The plan to copy hits that `target` lacks; with `notify` a bucket is read through its shared index.

        Raises UsageError if both are the same cache or one is inside the other, and for a bad compiler.
        """
        origin, destination = self.backend(source), self.backend(target)
        if origin.root == destination.root:
            raise UsageError("source and destination are the same cache")
        if f"{destination.root}/".startswith(f"{origin.root}/") or f"{origin.root}/".startswith(f"{destination.root}/"):
            raise UsageError("one of source and destination lies inside the other, where jobs look for entries")
        refusal = self._refusal(destination)
        try:
            return plan_copy(
                origin.snapshot() if notify is None else self._indexed(origin, modules, notify),
                destination.root,
                destination.copy_target().modules(),
                modules=modules,
                compiler=compiler,
                now=time.time(),
                free=destination.free(),
                refusal=refusal,
            )
        except ValueError as problem:
            raise UsageError(f"--compiler: {problem}") from None

    def _indexed(self, backend: CacheBackend, modules: Collection[str], notify: Callable[[str], None]) -> Snapshot:
        """The entries of a bucket from its shared index; other caches are scanned."""
        if backend.kind is not BackendKind.BUCKET:
            return backend.snapshot()
        from neuron_top.services.bucket_index import indexed_snapshot  # the database's client: only where one is named

        names = [name for name in modules if not any(mark in name for mark in "*?[")]
        return indexed_snapshot(self._settings, backend.root, names if len(names) == len(modules) else (), notify)

    @staticmethod
    def already_there(plan: Plan) -> int:
        """How many entries of a copy's source the destination has already."""
        return sum(each.cause.code is ReasonCode.USABLE_THERE for each in plan.exclusions)

    def absent(self, plan: Plan, modules: Iterable[str]) -> list[str]:
        """Those of `modules` that neither the source of a copy can give nor its destination has."""
        given = {step.path for step in plan.steps}
        if lacking := _without(modules, given):
            lacking = _without(lacking, self.backend(plan.target).copy_target().modules())
        return lacking

    def _refusal(self, backend: CacheBackend) -> Refusal | None:
        """Why no change of this cache is allowed now; None if changes are allowed."""
        if self.read_only:
            return Refusal(RefusalCode.READ_ONLY)
        why = None if self.assume_exclusive else backend.why_shared()
        return Refusal(RefusalCode.SHARED, why) if why else None

    def interrupted(self, root: str, identity: str) -> Plan:
        """The interrupted plan with this name (or prefix), as it was confirmed, to continue it. Raises NothingToShow,
        RefusedForSafety for one that is about another cache."""
        backend = self.backend(root)
        journal = backend.journal()
        history = journal.history_of(identity)
        if history.is_over:
            raise NothingToShow(f"plan {history.begun.plan} was {history.state}: make a new one")
        plan = journal.plan(history.begun.plan)
        place = self.backend(plan.target or plan.root).root
        if place != backend.root:
            raise RefusedForSafety(f"nothing was done: the plan in the trash of {backend.root} belongs to {place}")
        return plan

    def revalidate(self, plan: Plan) -> Plan:
        """A plan that was made earlier, with its refusal decided again."""
        refusal = self._refusal(self.backend(plan.target or plan.root))
        return msgspec.structs.replace(plan, refusal=refusal, refused="")

    def alternatives(
        self,
        verb: Verb,
        root: str,
        paths: Collection[str],
        watch: Callable[[int, int], None] = ignore,
        *,
        assume_exclusive: bool = False,
    ) -> list[Plan]:
        """Plans for every alternative of `verb` that this storage allows: compile now or on the next run; if none of
        them has anything to do, the one that goes further (each of its steps carries a warning)."""
        row, kind = action_of(verb), self.backend(root).kind
        ways = [way for way in row.alternatives or (verb,) if registry.is_possible(way, kind)]
        plans = [self.plan(way, root, paths, watch, assume_exclusive=assume_exclusive) for way in ways]
        if row.fallback is not None and not any(plan.steps for plan in plans):
            plans.append(self.plan(row.fallback, root, paths, watch, assume_exclusive=assume_exclusive))
        return plans


_NEED_CAUSES = frozenset({Verb.RETRY, Verb.RETRY_DETERMINISTIC, Verb.COMPILE})


def _device(root: str) -> int | None:
    try:
        return Path(root).stat().st_dev
    except OSError:
        return None


def _without(modules: Iterable[str], paths: Collection[str]) -> list[str]:
    """Those of `modules` that no entry at `paths` belongs to."""
    found = {path.rpartition("/")[2] for path in paths}
    return [module for module in modules if module not in found]


def _names(text: str) -> tuple[str, ...]:
    """`a, b` → (a, b)."""
    return tuple(word for part in text.split(",") if (word := part.strip()))
