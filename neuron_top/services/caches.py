"""Caches: listed, planned for, changed, undone, pinned, purged and copied; folders and buckets alike.

Every method looks at disks or asks a service, so screens call it in a thread.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import msgspec

from neuron_top.actions import registry
from neuron_top.actions.backends import CacheBackend
from neuron_top.actions.backends.base import GRACE_SECONDS, BackendKind, ContextFacts, ExecuteOptions, ignore
from neuron_top.actions.execution import copy as copying
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.records import PlanPurged, PlanRestored
from neuron_top.actions.journal.trash import CannotPurge
from neuron_top.actions.pins import Pin, Pins, can_match
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.copy import plan_copy
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.reasons import Caveat, CaveatCode, ReasonCode, Refusal, RefusalCode
from neuron_top.actions.registry import ACTIONS, ActionExecutor, CacheAction, PlannerInput, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.use import CacheUse
from neuron_top.errors import NeuronTopError, NothingToShow, ReadOnlyMode, RefusedForSafety, UsageError
from neuron_top.events.levels import LogLevel
from neuron_top.services.cache_reader import CacheReader
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.settings import Settings
from neuron_top.views.plan_sentences import restored_text

if TYPE_CHECKING:
    from neuron_top.cache.scan.verify import EntryFinding
    from neuron_top.compile.parallel.compile_queue import QueueProgress as CompileProgress

__all__ = [
    "ACTIONS",
    "CacheAction",
    "CacheService",
    "Disk",
    "EvictCriteria",
    "ActionExecutor",
    "Outcome",
    "Pin",
    "Plan",
    "PlanHistory",
    "Progress",
    "Purge",
    "Verb",
    "action_of",
]


class CacheLook(NamedTuple):
    """A cache as it was seen at one moment; plans that are made together rest on one look."""

    backend: CacheBackend
    snapshot: Snapshot
    context: PlanContext


class Disk(NamedTuple):
    """The disk that a cache lies on, bytes."""

    total: int
    free: int


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


class CacheService(CacheReader):
    """The caches that one user may look at and change. `read_only` refuses every change, here and where it is made."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        assume_exclusive: bool = False,
        trash: Path | None = None,
        grace_seconds: float = GRACE_SECONDS,
        in_use: Callable[[str], CacheUse | None] | None = None,
    ) -> None:
        """`assume_exclusive`: the operator states that no other host uses what is shared. `trash`: not the default.
        `grace_seconds`: how long readers of a bucket get between the marks of an eviction and the rest."""
        super().__init__(settings, trash)
        self.read_only, self.assume_exclusive = read_only, assume_exclusive
        self._in_use, self._grace_seconds = in_use, grace_seconds
        self.remarks: tuple[str, ...] = ()
        """What went wrong in the trash beside what was asked for last, in words."""

    def context(self, backend: CacheBackend, snapshot: Snapshot, *, assume_exclusive: bool = False) -> PlanContext:
        """What planners know besides the newest snapshot of `backend`."""
        past = self.usage_history(backend.root)
        facts = ContextFacts(
            pins=self.pinned(),
            used=past.used,
            compiled=past.compiled,
            shared_confirmed=self.assume_exclusive or assume_exclusive,
            read_only=self.read_only,
        )
        return backend.context(snapshot, facts)

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        """The cache as it is, and what planners know besides; `causes`: with the cause of every failure."""
        backend = self.backend(root)
        snapshot = backend.snapshot()
        if causes:
            snapshot = backend.with_failures(snapshot)
        return CacheLook(backend, snapshot, self.context(backend, snapshot, assume_exclusive=assume_exclusive))

    # Planning

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
        """As `plan`, a plan for each group of paths; all rest on one look."""
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
        """The plan for these entries of a look. Raises UsageError for what this storage cannot do."""
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
        """(the plan to compile the failures among `entries` now, why some cannot be compiled here). `fewer`: the person
        asked for fewer compiles at a time already."""
        if not registry.is_possible(Verb.COMPILE, look.backend.kind):
            raise UsageError(f"compiling is not possible in a {look.backend.kind}: it needs a folder of this machine")
        plan, missing = registry.plan_compile(look.snapshot.root, entries, look.context, deterministic=deterministic)
        offer = () if fewer or not for_memory(plan) else (Caveat(CaveatCode.OFFER_FEWER_COMPILES),)
        return msgspec.structs.replace(plan, notes=(*plan.notes, *offer)), missing

    @staticmethod
    def plan_eviction(look: CacheLook, criteria: EvictCriteria) -> Plan:
        """The plan that the criteria ask for. Raises UsageError for a compiler that cannot be read."""
        snapshot = look.snapshot
        if criteria.keep_graph and not look.backend.keeps_graphs:
            raise UsageError(f"{snapshot.root} holds no graphs that could be kept: evict without --keep-graph")
        try:
            return plan_with_reads(snapshot, snapshot.entries, snapshot.root, criteria, look.context)
        except ValueError as problem:
            raise UsageError(f"--compiler: {problem}") from None

    def plan_room(self, roots: Sequence[str], free_bytes: int, assume_exclusive: bool = False) -> list[Plan]:
        """Plans that make so much of each disk free; a disk's next cache gives only where its first has not enough.

        Raises UsageError for an amount below one byte.
        """
        if free_bytes <= 0:
            raise UsageError("specify how much space is to be free, for example 50GB")
        plans: list[Plan] = []
        reached: set[int] = set()
        for root in roots:
            look = self.look(root, assume_exclusive=assume_exclusive)
            disk = _device(root)
            if disk is None or disk in reached:
                continue
            plan = self.plan_eviction(look, EvictCriteria(free_bytes=free_bytes))
            plans.append(plan)
            if (plan.after.free or 0) >= free_bytes:
                reached.add(disk)
        if not plans:
            raise UsageError("none of these caches lies on a disk of this machine")
        return plans

    @staticmethod
    def disks(roots: Iterable[str]) -> dict[str, Disk]:
        """The disk of each cache that lies in a folder."""
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
        """What dead compiles left in their work folders, a plan for each parent folder."""
        return sweep.plan_sweeps(sweep.look(), look.context, os.getuid())

    @staticmethod
    def plan_quarantine(look: CacheLook, findings: Iterable[EntryFinding]) -> Plan:
        """Move aside what these findings call broken."""
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
        """Copy the hits of `source` that `target` lacks; with `notify` a bucket is listed through its shared index.

        Raises UsageError for one and the same, or a bad compiler.
        """
        origin, destination = self.backend(source), self.backend(target)
        if origin.root == destination.root:
            raise UsageError("source and destination are the same cache")
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
        """The entries of a bucket from the index that one node keeps for all; another cache is looked at itself."""
        if backend.kind is not BackendKind.BUCKET:
            return backend.snapshot()
        from neuron_top.services.bucket_index import indexed_snapshot  # the database's client: only where one is named

        names = [name for name in modules if not any(mark in name for mark in "*?[")]
        return indexed_snapshot(self._settings, backend.root, names if len(names) == len(modules) else (), notify)

    @staticmethod
    def absent(plan: Plan, modules: Iterable[str]) -> list[str]:
        """Of `modules` those that a copy's source cannot give and its destination does not have."""
        there = (each.path for each in plan.exclusions if each.cause.code is ReasonCode.USABLE_THERE)
        found = {path.rpartition("/")[2] for path in (*there, *(step.path for step in plan.steps))}
        return [module for module in modules if module not in found]

    def _refusal(self, backend: CacheBackend) -> Refusal | None:
        """What forbids every change there, here and now."""
        if self.read_only:
            return Refusal(RefusalCode.READ_ONLY)
        why = None if self.assume_exclusive else backend.why_shared()
        return Refusal(RefusalCode.SHARED, why) if why else None

    def interrupted(self, root: str, identity: str) -> Plan:
        """The plan of that name (or beginning), as it was confirmed, to go on with it. Raises NothingToShow,
        RefusedForSafety for one that is about another cache."""
        backend = self.backend(root)
        journal = backend.journal()
        plan = journal.plan(journal.history_of(identity).begun.plan)
        place = self.backend(plan.target or plan.root).root
        if place != backend.root:
            raise RefusedForSafety(f"nothing was done: the plan in the trash of {backend.root} belongs to {place}")
        return plan

    def revalidate(self, plan: Plan) -> Plan:
        """A plan that was made earlier, refused or not as it is here and now."""
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
        self, plan: Plan, watch: Callable[[Progress], bool] = lambda progress: True, *, streams: int = 1
    ) -> Outcome:
        """Execute a plan; a false `watch` stops it before its next step. `streams`: entries that are copied at a time.

        Raises RefusedForSafety.
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
            read_only=self.read_only, watch=watch, grace_seconds=self._grace_seconds, in_use=self._in_use
        )
        backend = self.backend(plan.root)
        journal = backend.journal()
        outcome = backend.execute(plan, options)
        self.remarks = tuple(journal.remarks)
        return outcome

    def waits_for_readers(self, plan: Plan) -> bool:
        """Whether executing it waits until downloads of what it takes have ended (see `grace_seconds`)."""
        return self.backend(plan.root).waits_for_readers(plan)

    def compile_here(self, plan: Plan, *, jobs: int, log: TextIO, watch: Callable[[CompileProgress], bool]) -> Outcome:
        """Execute a plan of compiles in this process, `jobs` at a time; errors of compilers go to `log`."""
        from neuron_top.actions.execution.compile_now import compile_now  # starts compilers: only where one compiles
        from neuron_top.actions.execution.compilers import compilers_for
        from neuron_top.compile.parallel.lines import ParallelLog
        from neuron_top.compile.wrapper import log_lines

        compilers, _ = compilers_for(plan.root, (step.path for step in plan.steps), soon=True)
        parallel = ParallelLog(form=log_lines.log_format(), level=LogLevel.ERROR, stream=log)
        journal = self.backend(plan.root).journal()
        return compile_now(plan, journal, compilers, jobs=jobs, log=parallel, watch=watch, read_only=self.read_only)

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

    def trash(self, roots: Iterable[str]) -> list[PlanHistory]:
        """The plans of these caches whose files can be brought back; none of a cache whose journal cannot be read."""
        found: list[PlanHistory] = []
        for root in roots:
            with suppress(NeuronTopError, OSError):
                found += [each for each in self.history(root) if each.state in UNDOABLE and each.moves]
        return found

    def last_undoable(self, root: str) -> PlanHistory:
        """The newest plan that can be undone. Raises NothingToShow."""
        undoable = [each for each in self.history(root) if each.state in UNDOABLE and each.moves]
        if not undoable:
            raise NothingToShow(f"nothing that was done to {root} can be undone")
        return undoable[-1]

    def undo(self, root: str, identity: str) -> PlanRestored:
        """Bring back what the plan that is or begins with `identity` took. Raises NothingToShow, RefusedForSafety."""
        backend = self.backend(root)
        record = backend.undo(identity, read_only=self.read_only)
        self.remarks = tuple(backend.journal().remarks)
        return record

    def undone_text(self, root: str, identity: str) -> str:
        """Undo a plan, and say in words what came back. Raises as `undo` does."""
        return restored_text(self.undo(root, identity), self.backend(root).kind)

    def undo_execution(self, execution: PlanExecution) -> None:
        """Undo a plan that was carried out here. Raises RefusedForSafety, NothingToShow."""
        execution.begin_undo()
        try:
            record = self.undo(execution.plan.root, execution.plan.identity)
        except (NeuronTopError, OSError) as problem:
            execution.fail_undo(str(problem))
            raise
        execution.end_undo(record, self.backend(execution.plan.root).kind)

    def purgeable(self, root: str, *, older_than: float = 0.0, plan: str | None = None) -> list[PlanHistory]:
        """Plans whose trash may be deleted: one by name, or all that were carried out so long ago (seconds)."""
        backend = self.backend(root)
        backend.check_purgeable()
        journal = backend.journal()
        return [journal.history_of(plan)] if plan is not None else journal.expired(time.time() - older_than)

    def purge(self, root: str, histories: Sequence[PlanHistory]) -> Purge:
        """Delete for ever what these plans took away. Raises NothingToShow for a single one that is gone."""
        if self.read_only:
            raise ReadOnlyMode()
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
        return (*self.pins.patterns(), *self.pinned_by_settings())

    def pinned_by_settings(self) -> tuple[str, ...]:
        """The patterns that the settings protect."""
        return split_csv(self._settings.cache_pins)

    def modules_needed(self, text: str) -> tuple[str, ...]:
        """The modules that a file names, in whatever form (a list, a job's log), or that a recorded run used.

        Raises NothingToShow for neither, UsageError for a file that names none or cannot be read.
        """
        path = Path(text)
        if not path.is_file():
            return self.modules_of_run(self._recording(text))
        try:
            found = dict.fromkeys(_MODULE_NAME.findall(path.read_text(encoding="utf-8", errors="replace")))
        except OSError as problem:
            raise UsageError(f"{text}: {problem.strerror}") from None
        if not found:
            raise UsageError(f"{text}: the file names no module (MODULE_…)")
        return tuple(found)

    def _recording(self, text: str) -> str:
        """The id of a recording that is named by its id, its beginning, its name or `last`."""
        from neuron_top.ingest.recordings import find_labeled, store_path
        from neuron_top.store.sqlite import SqliteStore

        if not store_path(self._settings).exists():
            raise NothingToShow(f"{text!r} is not a file, and nothing was recorded yet in {self._settings.state_path}")
        with SqliteStore(store_path(self._settings), read_only=True) as store:
            return find_labeled(store, text, self._settings.state_path).id

    def modules_of_run(self, run: str) -> tuple[str, ...]:
        """Every module that a recorded run used, compiled or collected. Raises NothingToShow."""
        from neuron_top.actions import recorded_uses

        return recorded_uses.modules_of(self._settings.state_path, run)

    def pin(self, modules: Collection[str]) -> str:
        """Pin these modules, or unpin them when all of them are pinned by name; says what was done."""
        if self.read_only:
            raise ReadOnlyMode()
        if set(modules) <= set(self.pins.patterns()):
            return f"{len(self.pins.remove(modules))} unpinned"
        return f"{len(self.pins.add(modules))} pinned"

    @staticmethod
    def can_pin(text: str) -> bool:
        """Whether a pin of that text can protect a module: it is a whole name or a pattern."""
        return can_match(text)

    @property
    def pins(self) -> Pins:
        """The pins that were set by hand."""
        return Pins(self._settings.state_path)


_MODULE_NAME = re.compile(r"MODULE_[0-9a-f]{1,64}(?:\+[0-9a-f]{8})?", re.ASCII)
_NEED_CAUSES = frozenset({Verb.RETRY, Verb.RETRY_DETERMINISTIC, Verb.COMPILE})


def compiles_at_once(plan: Plan) -> int:
    """As many as there are cores, half of that when memory was the cause of a failure."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // 2) if for_memory(plan) else cores


def split_csv(text: str) -> tuple[str, ...]:
    """`a, b` → (a, b)."""
    return tuple(word for part in text.split(",") if (word := part.strip()))


def _device(root: str) -> int | None:
    try:
        return Path(root).stat().st_dev
    except OSError:
        return None
