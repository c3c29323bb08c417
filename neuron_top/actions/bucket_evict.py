"""Evictions from S3, and their undo: marks first, then a wait, then the rest; a versioned bucket is the trash.

There is no lock that the SDK's clients would respect, so this is only done when the operator states that nobody uses
the bucket. Each entry is listed again before its mark goes; one that changed is left alone. Deleting in a versioned
bucket writes delete markers, and undo takes those away, marks last. Without versioning there is no undo, and the plan
says so.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from neuron_top.actions import journal
from neuron_top.actions import plan as plans
from neuron_top.actions.journal import Chapter, Move, MovesIntended, PlanEnded, PlanRestored, StepsRefused, Trash
from neuron_top.actions.opened import Changed
from neuron_top.actions.plan import Action, Outcome, Plan, Progress, Step
from neuron_top.actions.user import user_name
from neuron_top.cache import lock_owner, s3
from neuron_top.cache.entry import PARTS, Part
from neuron_top.errors import RefusedForSafety

DRAIN_SECONDS = 60.0
"""Default wait between the marks and the rest: as long as the slowest download of somebody who saw the mark."""
_MOST_KEYS = 1000
_CLOCKS_SECONDS = 300.0
"""How far the service's clock may be from ours."""


class BucketJournal(Trash):
    """The journal of a bucket, kept in the state folder: a bucket has no place beside it."""

    def __init__(self, bucket: s3.Bucket, state: Path) -> None:
        super().__init__(state, state / "s3-journal")
        self.folder = state / "s3-journal" / hashlib.sha256(bucket.url.encode()).hexdigest()[:16]
        self.journal = self.folder / "journal.jsonl"

    def prepare(self) -> None:
        """Make its folder. Raises RefusedForSafety."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise RefusedForSafety(f"the journal {self.folder} cannot be made: {problem.strerror}") from None


def evict(
    plan: Plan,
    bucket: s3.Bucket,
    trash: BucketJournal,
    *,
    read_only: bool = False,
    drain_seconds: float = DRAIN_SECONDS,
    watch: Callable[[Progress], bool] = lambda progress: True,
    sleep: Callable[[float], object] = time.sleep,
) -> Outcome:
    """Carry out an eviction plan. Raises RefusedForSafety where the plan, the mode or the place forbids it."""
    if read_only or plan.refused:
        raise RefusedForSafety(plan.refused or "read-only mode: nothing is changed")
    plans.check(plan)
    versioned = bucket.versioned()
    with trash.exclusively():
        trash.write(journal.begun(plan, lock_owner.current()))
        run = _Eviction(plan, bucket, trash)
        try:
            run.marks(watch)
            if run.taken:
                sleep(drain_seconds)
                run.rest()
        finally:
            trash.write(run.ended())
    return Outcome(
        plan=plan.identity,
        done=len(run.done),
        refused=tuple((plan.steps[number].path, reason) for number, reason in run.refused),
        moved_bytes=run.bytes,
        freed_bytes=0 if versioned else run.bytes,
        interrupted=run.interrupted,
        trash=bucket.url if versioned else "",
        undo=f"undo: neurontop cache restore {plan.identity} {bucket.url}" if versioned
        else "this bucket keeps no versions: it cannot be undone",
    )  # fmt: skip


class _Eviction:
    def __init__(self, plan: Plan, bucket: s3.Bucket, trash: BucketJournal) -> None:
        self.plan, self.bucket, self.trash = plan, bucket, trash
        self.taken: dict[int, list[s3.Object]] = {}
        self.done: set[int] = set()
        self.refused: list[tuple[int, str]] = []
        self.bytes = 0
        self.interrupted = False

    def marks(self, watch: Callable[[Progress], bool]) -> None:
        """Look at each entry again and take its mark: from here on a client sees a miss."""
        for number, step in enumerate(self.plan.steps):
            try:
                self.taken[number] = self._objects(step)
                self._delete(number, step, [each for each in self.taken[number] if _is_mark(each)])
            except Changed as problem:
                self.taken.pop(number, None)
                self.refused.append((number, str(problem)))
            if not watch(Progress(number + 1 - len(self.refused), len(self.refused), len(self.plan.steps), self.bytes,
                                  step.path)):  # fmt: skip
                self.interrupted = True
                return

    def rest(self) -> None:
        """Take what is left of the entries whose marks are gone, unless somebody wrote there meanwhile."""
        for number, before in self.taken.items():
            step = self.plan.steps[number]
            _, now = s3.look_again(self.bucket, step.path)
            expected = {(each.key, each.tag) for each in before if not _is_mark(each)}
            if {(each.key, each.tag) for each in now} != expected:
                self.refused.append((number, "somebody wrote to it after its mark was taken"))
                continue
            self._delete(number, step, [each for each in before if not _is_mark(each) and _goes(step, each)])
            self.done.add(number)
            self.bytes += step.frees

    def ended(self) -> PlanEnded:
        """The closing record."""
        refused = StepsRefused(plan=self.plan.identity, at=time.time(), steps=tuple(self.refused))
        if self.refused:
            self.trash.write(refused)
        unfinished = self.interrupted or len(self.done) + len(self.refused) < len(self.plan.steps)
        return PlanEnded(
            plan=self.plan.identity,
            at=time.time(),
            done=len(self.done),
            refused=len(self.refused),
            moved_bytes=self.bytes,
            interrupted=unfinished,
        )

    def _objects(self, step: Step) -> list[s3.Object]:
        entry, objects = s3.look_again(self.bucket, step.path)
        if not objects:
            raise Changed("it is gone")
        if entry.folder_inode != step.fingerprint.folder_inode:
            raise Changed("its objects changed since the plan was made")
        return objects

    def _delete(self, number: int, step: Step, objects: Sequence[s3.Object]) -> None:
        moves = tuple(Move(number, step.action, each.key, 0, 0, each.size) for each in objects)
        if not moves:
            return
        self.trash.write(MovesIntended(plan=self.plan.identity, at=time.time(), moves=moves))
        for start in range(0, len(objects), _MOST_KEYS):
            keys = [{"Key": each.key} for each in objects[start : start + _MOST_KEYS]]
            with s3.explained(self.bucket):
                answer = self.bucket.client.delete_objects(
                    Bucket=self.bucket.name,
                    Delete={"Objects": keys, "Quiet": True},  # type: ignore[typeddict-item]
                )
            for error in answer.get("Errors", ()):
                raise Changed(f"{error.get('Key')}: {error.get('Code')}")


def _is_mark(each: s3.Object) -> bool:
    return bool(PARTS.get(each.key.rpartition("/")[2], 0) & Part.DONE)


def _goes(step: Step, each: s3.Object) -> bool:
    part = PARTS.get(each.key.rpartition("/")[2], Part.OTHER)
    return step.action is Action.EVICT or any(part & taken for taken in plans.TAKES[Action.SLIM])


def restore(identity: str, bucket: s3.Bucket, trash: BucketJournal, *, read_only: bool = False) -> PlanRestored:
    """Undo an eviction in a versioned bucket: the delete markers go, the entries' marks last.

    Raises NothingToShow for an unknown plan, RefusedForSafety without versions or in read-only mode.
    """
    if read_only:
        raise RefusedForSafety("read-only mode: nothing is changed")
    if not bucket.versioned():
        raise RefusedForSafety(f"{bucket.url} keeps no versions: nothing can be restored")
    with trash.exclusively():
        chapter = trash.chapter(identity)
        restored, kept = 0, []
        for move in reversed(chapter.moves):
            problem = _undelete(bucket, chapter, move.path)
            if problem:
                kept.append((move.path, problem))
            else:
                restored += 1
        record = PlanRestored(
            plan=chapter.begun.plan, at=time.time(), restored=restored, kept=tuple(kept), user=user_name()
        )
        trash.write(record)
    return record


def _undelete(bucket: s3.Bucket, chapter: Chapter, key: str) -> str:
    """Take the newest delete marker of an object away, if it is of this plan; gives why not."""
    with s3.explained(bucket):
        found = bucket.client.list_object_versions(Bucket=bucket.name, Prefix=key)
        marker = next(
            (each for each in found.get("DeleteMarkers", ()) if each["Key"] == key and each["IsLatest"]), None
        )
        if marker is None:
            return "it exists again, or was never deleted"
        if marker["LastModified"].timestamp() < chapter.begun.at - _CLOCKS_SECONDS:
            return "it was deleted before this plan"
        bucket.client.delete_object(Bucket=bucket.name, Key=key, VersionId=marker["VersionId"])
    return ""
