"""Changes caches: executes, undoes and purges plans, pins entries; folders and buckets alike.

Every method looks at disks or asks a service, so screens call it in a thread.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from neuron_top.actions.backends.base import GRACE_SECONDS, ExecuteOptions
from neuron_top.actions.execution import copy as copying
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.records import PlanPurged, PlanRestored
from neuron_top.actions.journal.trash import CannotPurge
from neuron_top.actions.pins import Pin, can_match
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.retry import for_memory
from neuron_top.actions.registry import ACTIONS, ActionExecutor, CacheAction, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache.use import CacheUse
from neuron_top.errors import NeuronTopError, NothingToShow, ReadOnlyMode, RefusedForSafety, UsageError
from neuron_top.events.levels import LogLevel
from neuron_top.services.cache_planner import CachePlanner, Disk
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.settings import Settings
from neuron_top.views.plan_sentences import restored_text

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
    "Pin",
    "Plan",
    "PlanHistory",
    "Progress",
    "Purge",
    "Verb",
    "action_of",
]


class Purge(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a purge: what was deleted for good, and what could not be, as (plan, reason)."""

    records: tuple[PlanPurged, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def freed(self) -> int:
        """Deleted bytes."""
        return sum(record.freed for record in self.records)

    @property
    def files(self) -> int:
        """Number of deleted files."""
        return sum(record.files for record in self.records)


class CacheService(CachePlanner):
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
        """`grace_seconds`: how long readers of a bucket get between the marks of an eviction and the rest. `in_use`: a
        replacement for asking this machine who uses the cache at a root. The others are the planner's."""
        super().__init__(settings, assume_exclusive=assume_exclusive, trash=trash)
        self._in_use, self._grace_seconds = in_use, grace_seconds
        self.remarks: tuple[str, ...] = ()
        """What went wrong in the trash besides what was last asked for, in words."""

    # Carrying out

    def execute(
        self, plan: Plan, watch: Callable[[Progress], bool] = lambda progress: True, *, streams: int = 1
    ) -> Outcome:
        """Execute a plan; it stops before the next step once `watch` returns False. `streams`: copies at a time.

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
            read_only=self.read_only,
            watch=watch,
            grace_seconds=self._grace_seconds,
            in_use=self._in_use,
            pins=self.pinned(),
        )
        backend = self.backend(plan.root)
        outcome = backend.execute(plan, options)
        self.remarks = tuple(backend.journal().remarks)
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

    # The past

    def history(self, root: str) -> list[PlanHistory]:
        """The history of a cache, plan by plan, oldest first."""
        return self.backend(root).journal().histories()

    def trash(self, roots: Iterable[str]) -> list[PlanHistory]:
        """The plans of these caches whose files can be restored; none of a cache whose journal cannot be read."""
        found: list[PlanHistory] = []
        for root in roots:
            with suppress(NeuronTopError, OSError):
                found += self._undoable(root)
        return found

    def _undoable(self, root: str) -> Iterator[PlanHistory]:
        """The plans whose files can be restored, the newest first."""
        journal = self.backend(root).journal()
        return (each for each in reversed(journal.histories()) if each.state in UNDOABLE and journal.holds(each))

    def last_undoable(self, root: str) -> PlanHistory:
        """The newest plan that can be undone. Raises NothingToShow."""
        newest = next(self._undoable(root), None)
        if newest is None:
            raise NothingToShow(f"nothing that was done to {root} can be undone")
        return newest

    def undo(self, root: str, identity: str) -> PlanRestored:
        """Restore the files of the plan with this id, or id prefix. Raises NothingToShow, RefusedForSafety."""
        backend = self.backend(root)
        record = backend.undo(identity, read_only=self.read_only)
        self.remarks = tuple(backend.journal().remarks)
        return record

    def undone_text(self, root: str, identity: str) -> str:
        """Undo a plan, and return a sentence about what was restored. Raises as `undo` does."""
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
        """Plans whose trash may be deleted: one by name, or all; of these, those that were carried out at least
        `older_than` seconds ago; 0: even those that a clock which was ahead has dated.

        Raises NothingToShow if there is no such cache, UsageError for a bucket.
        """
        backend = self.backend(root)
        trash = backend.trash()
        trash.check_there()
        before = time.time() - older_than if older_than else math.inf
        if plan is not None:
            history = trash.history_of(plan)
            return [history] if (history.ended or history.begun).at <= before else []
        return trash.expired(before)

    def purge(self, root: str, histories: Sequence[PlanHistory]) -> Purge:
        """Delete the files of these plans for good. Raises NothingToShow for a single plan that is gone."""
        if self.read_only:
            raise ReadOnlyMode()
        trash = self.backend(root).trash()
        records: list[PlanPurged] = []
        failed: list[tuple[str, str]] = []
        remarks: list[str] = []
        with trash.exclusively():
            remarks += trash.remarks
            for history in histories:
                try:
                    records.append(trash.purge(history))
                except NothingToShow as problem:  # somebody removed its folder meanwhile
                    if len(histories) == 1:
                        raise
                    remarks.append(str(problem))
                except CannotPurge as problem:
                    failed.append((history.begun.plan, str(problem)))
        return Purge(records=tuple(records), failed=tuple(failed), remarks=tuple(remarks))

    # Pins

    def modules_needed(self, text: str) -> tuple[str, ...]:
        """The modules that a file names in any form (a list, a job's log), or that a recorded run used.

        Never empty. Raises NothingToShow for neither, and for a run that used none; UsageError for a file that names
        none or cannot be read.
        """
        path = Path(text)
        if not path.is_file():
            return self.modules_of_run(text)
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                names = (name for line in lines for name in _MODULE_NAME.findall(line))
                found = dict.fromkeys(name.replace("%2B", "+") for name in names)
        except OSError as problem:
            raise UsageError(f"{text}: {problem.strerror}") from None
        if not found:
            raise UsageError(f"{text}: the file names no module (MODULE_…)")
        return tuple(found)

    def _recording(self, text: str) -> str:
        """The id of a recording that is given by id, prefix of an id, name, `last` or `last~`."""
        from neuron_top.ingest.recordings import find_labeled, nothing_recorded, store_path
        from neuron_top.store.location import StoreLocation
        from neuron_top.store.sqlite import SqliteStore

        if not store_path(self._settings).exists():
            raise nothing_recorded(StoreLocation(store_path(self._settings)), text)
        with SqliteStore(store_path(self._settings), read_only=True) as store:
            return find_labeled(store, text, self._settings.state_path).id

    def modules_of_run(self, run: str) -> tuple[str, ...]:
        """All modules that a recorded run (see `_recording`) used, compiled or extracted; never empty.

        Raises NothingToShow for no such run, and for one that used none: no module named would stand for all.
        """
        from neuron_top.actions import recorded_uses

        found = recorded_uses.modules_of(self._settings.state_path, self._recording(run))
        if not found:
            raise NothingToShow(f"recording {run} used no graph")
        return found

    def pin(self, modules: Collection[str]) -> str:
        """Pin these modules, or unpin them if all are pinned by name; returns a sentence about what was done."""
        if self.read_only:
            raise ReadOnlyMode()
        if set(modules) <= set(self.pins.patterns()):
            return f"{len(self.pins.remove(modules))} unpinned"
        return f"{len(self.pins.add(modules))} pinned"

    @staticmethod
    def can_pin(text: str) -> bool:
        """Whether this text can pin a module: it must be a whole name or a pattern."""
        return can_match(text)


_MODULE_NAME = re.compile(r"MODULE_[0-9a-f]{1,64}(?:(?:\+|%2B)[0-9a-f]{8})?(?![\w+%])", re.ASCII)
"""A module as logs, paths and URLs name it; no graph of an old client (`MODULE_0_SyncTensorsGraph.315_…`)."""


def compiles_at_once(plan: Plan) -> int:
    """How many compiles to run at once: one per core, half of that if memory was the cause of a failure."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // 2) if for_memory(plan) else cores
