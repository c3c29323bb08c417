"""Changes caches: makes plans and executes them; folders and buckets alike.

Every method looks at disks or asks a service, so screens call it in a thread.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import msgspec

from neuron_top.actions import registry
from neuron_top.actions.backends import CacheBackend
from neuron_top.actions.backends.base import GRACE_SECONDS, BackendKind, ExecuteOptions, ignore
from neuron_top.actions.dated_ahead import first_seen
from neuron_top.actions.execution import copy as copying
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.plan_context import ContextFacts
from neuron_top.actions.planners.copy import CopyDestination, plan_copy
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.reasons import GoalCode, ReasonCode, Refusal, RefusalCode
from neuron_top.actions.registry import ACTIONS, ActionExecutor, CacheAction, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.use import CacheUse
from neuron_top.errors import NeuronTopError, NothingToShow, RefusedForSafety, UsageError
from neuron_top.events.levels import LogLevel
from neuron_top.services.cache_look import CacheLook
from neuron_top.services.cache_reader import CacheReader
from neuron_top.services.pins import PinService
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.services.trash import TrashService
from neuron_top.settings import Settings

if TYPE_CHECKING:
    from neuron_top.compile.parallel.compile_queue import QueueProgress as CompileProgress

__all__ = [
    "ACTIONS",
    "CacheAction",
    "CacheService",
    "Disk",
    "EvictCriteria",
    "ActionExecutor",
    "Outcome",
    "Plan",
    "Progress",
    "Verb",
    "action_of",
]


class Disk(NamedTuple):
    """The disk of a cache, in bytes."""

    total: int
    free: int


class CacheService(CacheReader):
    """The caches that one user may look at and change. The setting `read_only` refuses every change, here and where it
    is made."""

    def __init__(
        self,
        settings: Settings,
        *,
        assume_exclusive: bool = False,
        trash: Path | None = None,
        grace_seconds: float = GRACE_SECONDS,
        in_use: Callable[[str], CacheUse | None] | None = None,
    ) -> None:
        """`assume_exclusive`: the operator states that no other host uses what is shared. `trash`: not the default.
        `grace_seconds`: how long readers of a bucket get between the marks of an eviction and the rest. `in_use`: a
        replacement for asking this machine who uses the cache at a root."""
        super().__init__(settings, trash)
        self.read_only, self.assume_exclusive = settings.read_only, assume_exclusive
        self._in_use, self._grace_seconds = in_use, grace_seconds
        self.pins = PinService(settings)
        self.trash = TrashService(self)

    # Planning

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        """The cache as it is now, with its planning context; `causes`: also read the cause of every failure."""
        backend = self.backend(root)
        snapshot = backend.snapshot()
        if causes:
            snapshot = backend.with_failures(snapshot)
        past = self.usage_history(backend.root)
        facts = ContextFacts(
            pins=self.pins.patterns(),
            used=past.used,
            compiled=past.compiled,
            first_seen=first_seen(self.settings.state_path, snapshot.root, snapshot.entries, time.time()),
            shared_confirmed=self.assume_exclusive or assume_exclusive,
            read_only=self.read_only,
        )
        return CacheLook(backend, snapshot, backend.context(snapshot, facts))

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
            plans.append(look.plan_entries(verb, entries, watch))
        return plans

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
            plan = look._replace(context=context).plan_eviction(criteria)
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

        Raises UsageError if both are the same cache or one is inside the other, where a file stands in the place of the
        destination, and for a bad compiler.
        """
        origin, destination = self.backend(source), self.backend(target)
        if Path(destination.root).is_file():
            raise UsageError(f"no cache can be made at {destination.root}: it is a file")
        if origin.root == destination.root:
            raise UsageError("source and destination are the same cache")
        if f"{destination.root}/".startswith(f"{origin.root}/") or f"{origin.root}/".startswith(f"{destination.root}/"):
            raise UsageError("one of source and destination lies inside the other, where jobs look for entries")
        refusal = self._refusal(destination)
        try:
            return plan_copy(
                origin.snapshot() if notify is None else self._indexed(origin, modules, notify),
                CopyDestination(destination.root, destination.copy_target().modules(), destination.free()),
                now=time.time(),
                modules=modules,
                compiler=compiler,
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
        return indexed_snapshot(self.settings, backend.root, names if len(names) == len(modules) else (), notify)

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

    # Carrying out

    def execute(
        self,
        plan: Plan,
        watch: Callable[[Progress], bool] = lambda progress: True,
        notify: Callable[[str], None] = lambda text: None,
        *,
        streams: int = 1,
    ) -> Outcome:
        """Execute a plan; it stops before the next step once `watch` returns False. `streams`: copies at a time.

        `notify` is told what went wrong in the trash besides, in words. Raises RefusedForSafety.
        """
        executor = action_of(plan.verb).executor
        if plan.verb is Verb.UNKNOWN:
            raise RefusedForSafety("nothing was done: this version does not know what the plan is to do")
        if executor is ActionExecutor.COMPILERS:
            from neuron_top.actions.execution.compile_child import compile_apart

            return compile_apart(plan, jobs=compiles_at_once(plan), read_only=self.read_only, watch=watch)
        if executor is ActionExecutor.COPY:
            source, target = self.backend(plan.root), self.backend(plan.target)
            return copying.copy(
                plan,
                source.copy_target(),
                target.copy_target(),
                target.journal(),
                watch,
                read_only=self.read_only,
                streams=streams,
            )
        options = ExecuteOptions(
            read_only=self.read_only,
            watch=watch,
            grace_seconds=self._grace_seconds,
            in_use=self._in_use,
            pins=self.pins.patterns(),
        )
        backend = self.backend(plan.root)
        outcome = backend.execute(plan, options)
        for remark in backend.journal().remarks:
            notify(remark)
        return outcome

    def waits_for_readers(self, plan: Plan) -> bool:
        """Whether executing the plan waits until downloads of its files have ended (see `grace_seconds`)."""
        return self.backend(plan.root).waits_for_readers(plan)

    def compile_here(self, plan: Plan, *, jobs: int, log: TextIO, watch: Callable[[CompileProgress], bool]) -> Outcome:
        """Execute a plan of compiles in this process, `jobs` at a time; errors of compilers go to `log`."""
        from neuron_top.actions.execution.compile_now import compile_now  # imported here, as it loads compilers
        from neuron_top.actions.execution.compilers import compilers_for
        from neuron_top.compile.parallel.log_lines import ParallelLog
        from neuron_top.compile.wrapper import log_lines

        compilers, _ = compilers_for(plan.root, (step.path for step in plan.steps), soon=True)
        parallel = ParallelLog(form=log_lines.log_format(), level=LogLevel.ERROR, stream=log)
        trash = self.backend(plan.root).trash()
        return compile_now(plan, trash, compilers, jobs=jobs, log=parallel, watch=watch, read_only=self.read_only)

    def run(self, execution: PlanExecution, moved: Callable[[], None] = lambda: None) -> None:
        """Carry out a confirmed execution to its end; `moved` is called whenever it has advanced. Raises
        RefusedForSafety if nobody confirmed it; other errors become its state and message."""
        execution.begin()

        def watch(progress: Progress) -> bool:
            execution.progress = progress
            moved()
            return not execution.stopping

        try:
            if execution.stopping:
                stopped = Outcome(plan=execution.plan.identity, done=0, refused=(), moved_bytes=0, interrupted=True)
                execution.finish(stopped)
            else:
                execution.finish(self.execute(execution.plan, watch))
        except (NeuronTopError, OSError) as problem:
            execution.fail(str(problem))
        moved()


def compiles_at_once(plan: Plan) -> int:
    """How many compiles to run at once: one per core, half of that if memory was the cause of a failure."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // 2) if for_memory(plan) else cores


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
