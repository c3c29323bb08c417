"""Executes a plan step by step in a folder; each step is checked against the disk again and can be undone.

A step opens the entry through directory descriptors that refuse symbolic links, so that nothing outside the root can be
reached; compares it with the plan's fingerprint; takes the entry's lock, so that no client works on it meanwhile; and
then renames it, or files of it, into the trash. `model.done` always goes first: from then on a client sees a miss,
never a broken hit. A step whose entry changed since the plan was made is refused, and reported.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence

import msgspec

from neuron_top.actions import entry_lock, plan_context
from neuron_top.actions import plan as plans
from neuron_top.actions.backends.base import DEFAULT_OPTIONS, ExecuteOptions
from neuron_top.actions.entry_lock import EntryLockGuard
from neuron_top.actions.execution.preconditions import check_preconditions, pin_check
from neuron_top.actions.journal import plan_history
from neuron_top.actions.journal.journal import way_out
from neuron_top.actions.journal.records import Move, MovesIntended, PlanBegun, PlanEnded, StepsRefused
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.journal.trash_contents import PLAN_FILE
from neuron_top.actions.open_entries import OpenEntry, OpenRoot, StaleEntryError, not_done
from neuron_top.actions.plan import Action, Outcome, Plan, Progress, Step, Undo
from neuron_top.actions.planners import sweep
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache import filesystem
from neuron_top.cache.locks import lock_holders, lock_owner
from neuron_top.cache.model.filenames import LOCK_NAMES
from neuron_top.cache.use import CacheUse
from neuron_top.errors import RefusedForSafety
from neuron_top.folders import freed_by

BATCH = 4096
"""Steps whose moves are journaled together, with a single flush to the disk, which takes some milliseconds."""

QUIET_SECONDS = 1.0
"""How long a look at the machine's processes counts as current during an execution."""
OWN = frozenset(Action) - {Action.COMPILE, Action.COPY}
"""Actions that are executed here."""
NEEDS_QUIET = frozenset({Action.EVICT, Action.SLIM})
"""Actions that take what a client may be reading; the others take what no client can use."""


def execute(plan: Plan, trash: Trash, options: ExecuteOptions = DEFAULT_OPTIONS) -> Outcome:
    """Execute `plan`. Before a step that could harm a job, but at most once a second, it is asked who uses the root.

    Raises RefusedForSafety if the plan, read-only mode or the trash forbids it. A plan that was interrupted may be
    executed again: steps that are done already are skipped.
    """
    check_preconditions(plan, os.path.realpath(plan.root), str(trash.root), OWN, read_only=options.read_only)
    with trash.exclusively(resuming=plan.identity), Execution(plan, trash, options) as execution:
        execution.run()
        return execution.outcome()


class Execution:
    """One execution of a plan in a folder, under the maintainers' lock. Entering and leaving it write the journal's
    first and last record of it."""

    def __init__(self, plan: Plan, trash: Trash, options: ExecuteOptions) -> None:
        self.plan, self.trash, self.watch = plan, trash, options.watch
        self.in_use = options.in_use or plan_context.in_use
        self.check_unpinned = pin_check(plan, options.pins)
        self.since = min(plan.made_at, time.time())
        """From when on a use counts as one since the plan; its own time means nothing if the clock was ahead then."""
        self.use: CacheUse | None = None
        self.asked = float("-inf")
        self.place = trash.folder / plan.identity
        self.owner = lock_owner.current()
        self.token_name = f"lock.{self.owner.token}"
        self.token = str(self.place / self.token_name)
        disk = filesystem.describe(str(trash.root))
        self.has_access_times, self.surely_has_access_times = disk.may_keep_access_times, disk.keeps_access_times
        self.earlier = frozenset(
            record.owner.token
            for record in trash.records()
            if isinstance(record, PlanBegun) and record.plan == plan.identity
        )
        self.done = self.moved = 0
        self.done_before = self.moved_before = 0
        """By earlier attempts at the same plan."""
        self.refused: list[tuple[int, NotDone]] = []
        self.interrupted = False
        self.holders: dict[str, lock_holders.Held] = {}

    def __enter__(self) -> Execution:
        self.trash.keep(self.plan)
        with contextlib.ExitStack() as undo:
            undo.callback(self._give_up)
            try:
                self.trashed_files = undo.enter_context(contextlib.closing(self.trash.opened(self.plan.identity)))
                self.root = undo.enter_context(contextlib.closing(OpenRoot(self.trash.root)))
                # Written once, then hard-linked into each entry, so that no lock ever exists without an owner.
                self.trashed_files.write(self.token_name, msgspec.json.encode(self.owner))
                self.trash.write(plan_history.begun(self.plan, self.owner))
            except OSError as problem:
                raise RefusedForSafety(
                    f"nothing was done: the trash {self.place} cannot be written ({problem.strerror}): "
                    f"{way_out(problem)}"
                ) from None
            undo.pop_all()
        return self

    def _give_up(self) -> None:
        """Remove what was prepared: the execution failed before its first step."""
        with (
            contextlib.suppress(OSError, RefusedForSafety),
            contextlib.closing(self.trash.opened(self.plan.identity)) as place,
        ):
            place.remove(self.token_name)
            if not self.earlier and place.names() == {PLAN_FILE}:
                place.remove(PLAN_FILE)
                self.place.rmdir()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with contextlib.suppress(OSError):  # the disk may be read-only by now; the next maintainer removes the token
            self.trashed_files.remove(self.token_name)
        self.root.close()
        self.trashed_files.close()
        self.interrupted = self.interrupted or kind is not None
        # If the disk has no room even for this record, the plan counts as interrupted: it can be resumed or undone.
        with contextlib.suppress(RefusedForSafety):
            self.trash.write(
                PlanEnded(
                    plan=self.plan.identity,
                    at=time.time(),
                    done=self.done_before + self.done,
                    refused=len(self.refused),
                    moved_bytes=self.moved_before + self.moved,
                    interrupted=self.interrupted,
                )
            )

    def run(self) -> None:
        """Carry out all steps, batch by batch."""
        for start in range(0, len(self.plan.steps), BATCH):
            batch = self.plan.steps[start : start + BATCH]
            if self.interrupted or not self._batch(start, batch):
                return

    def _batch(self, start: int, batch: Sequence[Step]) -> bool:
        before = len(self.refused)
        intents = [move for number, step in enumerate(batch, start) for move in self._intents(number, step)]
        self.trash.write(MovesIntended(plan=self.plan.identity, at=time.time(), moves=tuple(intents)))
        locks = [f"{step.path}/{name}" for step in batch if step.action is Action.UNLOCK for name in LOCK_NAMES]
        self.holders = lock_holders.find(str(self.trash.root), locks)
        for number, step in enumerate(batch, start):
            self._step(number, step)
            done, moved = self.done_before + self.done, self.moved_before + self.moved
            if not self.watch(Progress(done, len(self.refused), len(self.plan.steps), moved, step.path)):
                self.interrupted = True
                break
        if self.refused[before:]:
            self.trash.write(StepsRefused(plan=self.plan.identity, at=time.time(), steps=tuple(self.refused[before:])))
        return not self.interrupted

    def _intents(self, number: int, step: Step) -> Iterator[Move]:
        """The moves that the journal must know to undo the step: of the entry itself, or of each file taken from it."""
        mtime = step.fingerprint.folder_mtime_ns
        if step.action in plans.WHOLE_ENTRY:
            yield Move(number, step.action, step.path, step.fingerprint.folder_inode, mtime, step.frees)
            return
        with contextlib.suppress(StaleEntryError, OSError), self.root.entry(step.path) as entry:
            for name, facts in entry.files(step.action):
                yield Move(number, step.action, f"{step.path}/{name}", facts.st_ino, mtime, freed_by(facts))

    def _step(self, number: int, step: Step) -> None:
        try:
            acted = self._carry_out(step, resumed=bool(self.earlier))
        except (StaleEntryError, OSError) as problem:
            self.refused.append((number, not_done(problem)))
            return
        if acted:
            self.done += 1
            self.moved += step.frees
        else:
            self.done_before += 1
            self.moved_before += step.frees

    def _carry_out(self, step: Step, *, resumed: bool) -> bool:
        """Carry a step out; False if an earlier attempt already did. Raises StaleEntryError, OSError."""
        if resumed and self._is_done(step):
            return False
        with self.root.entry(step.path) as entry:
            if resumed and self._is_emptied(entry, step):
                return False
            touched = resumed and self._is_touched(entry, step)
            if not touched:  # else half of it is gone, and its lock is ours
                self.check_unpinned(step)
            entry.check(step.fingerprint, touched=touched)
            self._check_quiet(step)
            self._act(entry, step, fresh=not touched)
        return True

    def _beside(self, path: str) -> OpenEntry:
        """The folder in the trash for files of an entry that itself stays, for use in a `with`."""
        self.trashed_files.make(path)
        return self.trashed_files.entry(path)

    def _check_quiet(self, step: Step) -> None:
        """Raises StaleEntryError if a job that is running by now may need what the step takes."""
        if step.action not in NEEDS_QUIET:
            return
        if time.monotonic() - self.asked > QUIET_SECONDS:
            self.use = self.in_use(self.plan.root)
            self.asked = time.monotonic()
        if self.use is not None:
            has_artifact = step.rebuild_seconds != 0.0
            known = step.last_used_from.shows_reads(
                has_access_times=self.surely_has_access_times, has_artifact=has_artifact
            )
            module = step.path.rpartition("/")[2]
            if self.use.concerns(step.path, module, step.last_used if known else None):
                raise StaleEntryError(NotDoneCode.IN_USE, self.use.why)

    def _check_unheld(self, entry: OpenEntry, step: Step) -> None:
        """Raises StaleEntryError if a living process holds the lock by now."""
        for name in LOCK_NAMES:
            held = self.holders.get(f"{step.path}/{name}")
            if held is not None and (held.locked or not entry_lock.is_left_by_dead(entry)):
                raise StaleEntryError(NotDoneCode.HOLDER_ALIVE, held.proof)

    def _is_emptied(self, entry: OpenEntry, step: Step) -> bool:
        """Whether the resumed plan took the files of this entry, and released its lock, before it was interrupted."""
        if step.action in plans.WHOLE_ENTRY or not (self.place / step.path).exists():
            return False
        return not entry.files(step.action) and entry_lock.owner(entry) is None

    def _is_touched(self, entry: OpenEntry, step: Step) -> bool:
        """Whether the resumed plan was interrupted within this step: its own lock is still there, or, for an unlock, it
        had moved only one of the lock's two names."""
        if step.action is Action.UNLOCK:
            taken = {path.lstat().st_ino for path in (self.place / step.path).glob("*")}
            return any(facts.st_ino in taken for _, facts in entry.files(step.action))
        owner = entry_lock.owner(entry)
        return owner is not None and owner.token in self.earlier

    def _is_done(self, step: Step) -> bool:
        """Whether the resumed plan did this step before it was interrupted."""
        return (self.place / step.path).exists() and not os.path.lexists(self.trash.root / step.path)

    def _act(self, entry: OpenEntry, step: Step, *, fresh: bool) -> None:
        if step.action is Action.SWEEP:
            busy = sweep.why_busy(os.path.join(self.plan.root, step.path), self.since)  # noqa: PTH118 (text as planned)
            if busy:
                raise StaleEntryError(NotDoneCode.AT_WORK, busy)
            entry.rename_into(self.trashed_files.above(step.path))
        elif step.action is Action.UNLOCK:
            self._check_unheld(entry, step)
            with self._beside(step.path) as beside:
                entry_lock.take_away(entry, beside.handle)
        elif step.action is Action.EVICT:
            folder = self.trashed_files.above(step.path)
            with EntryLockGuard(entry, self.token, as_planned=fresh):
                entry.check_unused(step.fingerprint, self.since, step.last_used if self.has_access_times else None)
                entry.rename_into(folder)
        else:
            used = step.last_used if self.has_access_times and step.action in NEEDS_QUIET else None
            with self._beside(step.path) as beside, EntryLockGuard(entry, self.token, as_planned=fresh):
                if fresh:  # else an earlier attempt may have taken the artifact
                    entry.check_unused(step.fingerprint, self.since, used)
                entry.move_files(step.action, beside.handle)

    def outcome(self) -> Outcome:
        """What to report."""
        return Outcome(
            plan=self.plan.identity,
            done=self.done,
            refused=tuple((self.plan.steps[number].path, reason) for number, reason in self.refused),
            moved_bytes=self.moved,
            interrupted=self.interrupted,
            trash=str(self.place),
            undo=Undo(str(self.trash.root), trash=str(self.trash.named or "")),
        )
