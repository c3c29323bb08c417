"""Undo in a versioned bucket: removes the delete markers that a plan left, those of the entries' marks last."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from neuron_top.actions.execution.s3 import tag_number
from neuron_top.actions.journal.journal import ADDING
from neuron_top.actions.journal.marks_last import Kept, bring_back
from neuron_top.actions.journal.records import Move, PlanRestored, user_name
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache import s3
from neuron_top.cache.model import filenames
from neuron_top.errors import NothingToShow, ReadOnlyMode, RefusedForSafety

_CLOCKS_SECONDS = 300.0
"""How far the service's clock may differ from ours."""


def restore(identity: str, bucket: s3.Bucket, journal: BucketJournal, *, read_only: bool = False) -> PlanRestored:
    """Undo a plan. An object that exists again with other content stays as it is, and is reported.

    Raises NothingToShow for an unknown plan, RefusedForSafety without versions or in read-only mode.
    """
    if read_only:
        raise ReadOnlyMode()
    if not bucket.versioned():
        raise RefusedForSafety(
            f"{bucket.url} has no versioning, so nothing can be restored: enable it to make later plans restorable"
        )
    with journal.exclusively():
        history = journal.history_of(identity)
        if history.begun.verb in ADDING:
            raise NothingToShow(f"plan {history.begun.plan} removed nothing: there is nothing to restore")
        restored = 0
        kept = Kept()
        for entry, moves in _by_entry(list(dict.fromkeys(reversed(history.moves)))).items():
            found = _Versions(bucket, entry, history.since - _CLOCKS_SECONDS)
            again = found.has_other_artifact(moves)
            restored += bring_back(moves, found.undelete, kept, is_compiled_again=again)
        record = PlanRestored(
            plan=history.begun.plan, at=time.time(), restored=restored, kept=tuple(kept), user=user_name()
        )
        journal.write(record)
        if not record.kept:
            journal.discard(history)
    return record


def _by_entry(moves: Sequence[Move]) -> dict[str, list[Move]]:
    found: dict[str, list[Move]] = {}
    for move in moves:
        found.setdefault(move.path.rpartition("/")[0], []).append(move)
    return found


class _Versions:
    """What a bucket keeps of one entry: delete markers in force, and the objects there now. One paged listing."""

    def __init__(self, bucket: s3.Bucket, entry: str, since: float) -> None:
        self._bucket, self._since = bucket, since
        self._markers: dict[str, tuple[str, float]] = {}
        self._there: dict[str, str] = {}
        pages = bucket.client.get_paginator("list_object_versions").paginate(Bucket=bucket.name, Prefix=f"{entry}/")
        with s3.explained(bucket):
            for page in pages:
                for marker in page.get("DeleteMarkers", ()):
                    if marker["IsLatest"]:
                        self._markers[marker["Key"]] = (marker["VersionId"], marker["LastModified"].timestamp())
                for version in page.get("Versions", ()):
                    if version["IsLatest"]:
                        self._there[version["Key"]] = version["ETag"]

    def has_other_artifact(self, moves: Iterable[Move]) -> bool:
        """Whether the entry has an artifact that the plan did not take."""
        taken = {(move.path, move.inode) for move in moves}
        return any(
            (key, tag_number(tag)) not in taken for key, tag in self._there.items() if filenames.is_artifact(key)
        )

    def undelete(self, move: Move) -> NotDone | bool:
        """Bring one object back: True if done, False if it was never deleted, else why not."""
        if move.path in self._there:
            same = tag_number(self._there[move.path]) == move.inode
            return False if same else NotDone(NotDoneCode.EXISTS_AGAIN)
        if move.path not in self._markers:
            return NotDone(NotDoneCode.NO_VERSION)
        version, at = self._markers[move.path]
        if at < self._since:
            return NotDone(NotDoneCode.DELETED_BEFORE)
        with s3.explained(self._bucket):
            self._bucket.client.delete_object(Bucket=self._bucket.name, Key=move.path, VersionId=version)
        return True
