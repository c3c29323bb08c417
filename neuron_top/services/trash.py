"""What was done to caches, by their journals: listed, undone out of their trashes, and deleted for good."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from neuron_top.actions.backends import BackendKind
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.records import PlanPurged, PlanRestored
from neuron_top.actions.journal.trash import CannotPurge
from neuron_top.errors import NeuronTopError, NothingToShow, ReadOnlyMode
from neuron_top.services.cache_reader import CacheReader
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.views.plan_sentences import restored_text

__all__ = ["PlanHistory", "Purge", "Restored", "TrashService"]


class Restored(NamedTuple):
    """The result of an undo."""

    record: PlanRestored
    kind: BackendKind
    """Where the cache is stored, which the words about it depend on."""
    remarks: tuple[str, ...]
    """What went wrong in the trash besides, in words."""

    @property
    def text(self) -> str:
        """A sentence about what was restored."""
        return restored_text(self.record, self.kind)


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


class TrashService:
    """The journals and trashes of the caches that `reader` may look at. Slow: not for an event loop."""

    def __init__(self, reader: CacheReader) -> None:
        self._reader, self._read_only = reader, reader.settings.read_only

    def histories(self, root: str) -> list[PlanHistory]:
        """The history of every plan that was executed on a cache, oldest first."""
        return self._reader.backend(root).journal().histories()

    def restorable(self, roots: Iterable[str]) -> list[PlanHistory]:
        """The plans of these caches whose files can be restored; none of a cache whose journal cannot be read."""
        found: list[PlanHistory] = []
        for root in roots:
            with suppress(NeuronTopError, OSError):
                found += self._newest_first(root)
        return found

    def last_restorable(self, root: str) -> PlanHistory:
        """The newest plan that can be undone. Raises NothingToShow."""
        newest = next(self._newest_first(root), None)
        if newest is None:
            raise NothingToShow(f"nothing that was done to {root} can be undone")
        return newest

    def _newest_first(self, root: str) -> Iterator[PlanHistory]:
        """The plans of a cache whose files can be restored."""
        journal = self._reader.backend(root).journal()
        return (each for each in reversed(journal.histories()) if each.state in UNDOABLE and journal.holds(each))

    def undo(self, root: str, identity: str) -> Restored:
        """Restore the files of the plan with this id, or id prefix. Raises NothingToShow, RefusedForSafety."""
        backend = self._reader.backend(root)
        record = backend.undo(identity, read_only=self._read_only)
        return Restored(record, backend.kind, tuple(backend.journal().remarks))

    def undo_execution(self, execution: PlanExecution) -> None:
        """Undo a plan that was executed here. Raises RefusedForSafety, NothingToShow."""
        execution.begin_undo()
        try:
            restored = self.undo(execution.plan.root, execution.plan.identity)
        except (NeuronTopError, OSError) as problem:
            execution.fail_undo(str(problem))
            raise
        execution.end_undo(restored.text)

    def purgeable(self, root: str, *, older_than: float = 0.0, plan: str | None = None) -> list[PlanHistory]:
        """Plans whose trash may be deleted: one by name, or all; of these, those that were executed at least
        `older_than` seconds ago; 0: even those that a clock which was ahead has dated.

        Raises NothingToShow if there is no such cache, UsageError for a bucket.
        """
        trash = self._reader.backend(root).trash()
        trash.check_there()
        before = time.time() - older_than if older_than else math.inf
        if plan is not None:
            history = trash.history_of(plan)
            return [history] if (history.ended or history.begun).at <= before else []
        return trash.expired(before)

    def purge(self, root: str, histories: Sequence[PlanHistory]) -> Purge:
        """Delete the files of these plans for good.

        Raises ReadOnlyMode; NothingToShow for a single plan that is gone.
        """
        if self._read_only:
            raise ReadOnlyMode()
        trash = self._reader.backend(root).trash()
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
