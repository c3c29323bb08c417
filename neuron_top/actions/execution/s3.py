"""Executes a plan in a bucket: marks first, then a wait, then the rest; a versioned bucket is the trash.

There is no lock that the SDK's clients would respect, so this is done only if the operator states that nobody uses the
bucket. Each entry is listed again before anything of it is deleted; one that changed is skipped. All that a step will
delete is journaled with its tags beforehand, so that an interrupted plan can be resumed. Deleting in a versioned bucket
writes delete markers, which `journal.s3_restore` removes; without versioning there is no undo, and the plan says so.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from neuron_top.actions import plan as plans
from neuron_top.actions.backends.base import DEFAULT_OPTIONS, ExecuteOptions
from neuron_top.actions.execution.preconditions import check_preconditions, pin_check
from neuron_top.actions.journal import plan_history
from neuron_top.actions.journal.records import Move, MovesIntended
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.open_entries import StaleEntryError, not_done
from neuron_top.actions.plan import Action, Outcome, Plan, Progress, Step, Undo
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache import s3
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model.entry import PARTS, Part

OWN = frozenset({Action.EVICT, Action.SLIM, Action.QUARANTINE, Action.RETRY, Action.UNLOCK})
"""Actions that are executed here."""
_MARKED = frozenset({Action.EVICT, Action.SLIM, Action.QUARANTINE})
_MOST_KEYS = 1000
_LOOK_SECONDS = 1.0
"""How often it is asked during the wait whether to stop."""


def takes_marks(plan: Plan) -> bool:
    """Whether clients must be given time between the marks and the rest."""
    return any(step.action in _MARKED for step in plan.steps)


def execute(
    plan: Plan,
    bucket: s3.Bucket,
    journal: BucketJournal,
    options: ExecuteOptions = DEFAULT_OPTIONS,
    *,
    sleep: Callable[[float], object] = time.sleep,
) -> Outcome:
    """Execute a plan on a bucket. Raises RefusedForSafety if the plan, read-only mode or the bucket forbids it.

    When `options.watch` returns False, nothing more is deleted. A plan that was interrupted may be executed again:
    what it took already is skipped.
    """
    check_preconditions(plan, plan.root, bucket.url, OWN, read_only=options.read_only)
    versioned = bucket.versioned()
    with journal.exclusively():
        run = _Execution(plan, bucket, journal, options.pins)
        journal.keep(plan)
        journal.write(plan_history.begun(plan, lock_owner.current()))
        try:
            run.take_marks(options.watch)
            if run.marks_taken:
                run.wait_for_readers(options.watch, options.grace_seconds, sleep)
            if not run.interrupted:
                run.delete_rest()
        finally:
            run.end()
    return Outcome(
        plan=plan.identity,
        done=len(run.done),
        refused=tuple((plan.steps[number].path, reason) for number, reason in run.refused),
        moved_bytes=run.bytes,
        freed_bytes=0 if versioned else run.bytes,
        interrupted=run.interrupted,
        trash=bucket.url if versioned else "",
        undo=Undo(bucket.url, possible=versioned),
    )


class _Execution:
    def __init__(self, plan: Plan, bucket: s3.Bucket, journal: BucketJournal, pins: Collection[str]) -> None:
        self.plan, self.bucket, self.journal = plan, bucket, journal
        self.check_unpinned = pin_check(plan, pins)
        self.earlier = {
            (move.path, move.inode)
            for history in journal.histories()
            if history.begun.plan == plan.identity
            for move in history.moves
        }
        self.taken: dict[int, list[s3.Object]] = {}
        self.done: set[int] = set()
        self.refused: list[tuple[int, NotDone]] = []
        self.bytes = 0
        self.marks_taken = self.interrupted = False

    def take_marks(self, watch: Callable[[Progress], bool]) -> None:
        """Check each entry again and delete its mark: from then on a client sees a miss."""
        for number, step in enumerate(self.plan.steps):
            try:
                self._mark(number, step)
            except StaleEntryError as problem:
                self.taken.pop(number, None)
                self.refused.append((number, not_done(problem)))
            steps = len(self.plan.steps)
            if not watch(Progress(len(self.taken), len(self.refused), steps, self.bytes, step.path)):
                self.interrupted = True
                return

    def wait_for_readers(
        self, watch: Callable[[Progress], bool], seconds: float, sleep: Callable[[float], object]
    ) -> None:
        """Wait between deleting the marks and deleting the rest, and report each second how much of it is left."""
        while seconds > 0 and not self.interrupted:
            progress = Progress(
                len(self.taken), len(self.refused), len(self.plan.steps), self.bytes, "", draining=seconds
            )
            self.interrupted = not watch(progress)
            if not self.interrupted:
                sleep(min(seconds, _LOOK_SECONDS))
                seconds -= _LOOK_SECONDS

    def _mark(self, number: int, step: Step) -> None:
        self.check_unpinned(step)
        objects = self._objects(step)
        goes = _in_order(step, objects)
        if not goes and not self.earlier:
            raise StaleEntryError(NotDoneCode.NOTHING_LEFT)
        self.taken[number] = objects
        moves = tuple(Move(number, step.action, each.key, tag_number(each.tag), 0, each.size) for each in goes)
        if moves:
            self.journal.write(MovesIntended(plan=self.plan.identity, at=time.time(), moves=moves))
        marks = [each for each in goes if _part(each) & Part.DONE]
        self._delete(marks)
        # An attempt that was interrupted while it waited took the marks, but gave readers less time than they need.
        self.marks_taken |= bool(marks) or (bool(goes) and bool(self.earlier) and step.action in _MARKED)

    def delete_rest(self) -> None:
        """Delete what else the steps take of the entries that `take_marks` checked, unless somebody has written there
        since."""
        for number, before in self.taken.items():
            step = self.plan.steps[number]
            _, now = s3.look_again(self.bucket, step.path)
            goes = [each for each in _in_order(step, before) if not _part(each) & Part.DONE]
            stays = {
                (each.key, each.tag) for each in before if not _part(each) & Part.DONE or step.action not in _MARKED
            }
            if {(each.key, each.tag) for each in now} != stays:
                self.refused.append((number, NotDone(NotDoneCode.WRITTEN_AFTER_MARK)))
                continue
            try:
                self._delete(goes)
            except StaleEntryError as problem:
                self.refused.append((number, not_done(problem)))
                continue
            self.done.add(number)
            self.bytes += step.frees

    def end(self) -> None:
        """Write the closing records. Raises RefusedForSafety."""
        self.interrupted |= len(self.done) + len(self.refused) < len(self.plan.steps)
        self.journal.write(
            *plan_history.ended(
                self.plan.identity,
                self.refused,
                done=len(self.done),
                moved_bytes=self.bytes,
                interrupted=self.interrupted,
            )
        )

    def _objects(self, step: Step) -> list[s3.Object]:
        entry, objects = s3.look_again(self.bucket, step.path)
        ours = self.earlier and all(
            (each.key, tag_number(each.tag)) in self.earlier or not _goes(step, each) for each in objects
        )
        if ours:
            return objects
        if not objects:
            raise StaleEntryError(NotDoneCode.GONE)
        if entry.folder_inode != step.fingerprint.folder_inode:
            raise StaleEntryError(NotDoneCode.OBJECTS_CHANGED)
        return objects

    def _delete(self, objects: Sequence[s3.Object]) -> None:
        for start in range(0, len(objects), _MOST_KEYS):
            keys = [{"Key": each.key} for each in objects[start : start + _MOST_KEYS]]
            with s3.explained(self.bucket):
                answer = self.bucket.client.delete_objects(
                    Bucket=self.bucket.name,
                    Delete={"Objects": keys, "Quiet": True},  # type: ignore[typeddict-item]
                )
            for error in answer.get("Errors", ()):
                raise StaleEntryError(NotDoneCode.STORAGE, f"{error.get('Key')}: {error.get('Code')}")


def tag_number(tag: str) -> int:
    """An object's tag as a number, which the journal keeps in place of an inode."""
    return int.from_bytes(hashlib.sha256(tag.encode()).digest()[:6])


def _in_order(step: Step, objects: Iterable[s3.Object]) -> list[s3.Object]:
    """The objects that a step takes, in the order of `FILES_REMOVED`, which begins with the mark."""
    order = plans.FILES_REMOVED.get(step.action, plans.FILES_REMOVED[Action.SLIM])
    rank = {part: number for number, parts in enumerate(order) for part in _bits(parts)}
    return sorted((each for each in objects if _goes(step, each)), key=lambda each: rank.get(_part(each), len(order)))


def _bits(parts: int) -> Iterable[int]:
    return (1 << bit for bit in range(parts.bit_length()) if parts >> bit & 1)


def _part(each: s3.Object) -> int:
    return PARTS.get(each.name, Part.OTHER)


def _goes(step: Step, each: s3.Object) -> bool:
    return step.action is Action.EVICT or any(_part(each) & taken for taken in plans.FILES_REMOVED[step.action])
