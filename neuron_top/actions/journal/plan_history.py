"""What the journal of a cache says of one plan, from its first record to its last."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Sequence
from enum import StrEnum

from neuron_top.actions.journal.records import (
    AnyRecord,
    Move,
    MovesIntended,
    PlanBegun,
    PlanEnded,
    PlanPurged,
    PlanRestored,
    PurgeFailed,
    StepsRefused,
    user_name,
)
from neuron_top.actions.plan import Plan
from neuron_top.actions.reasons import WhyNotDone
from neuron_top.cache.locks import lock_owner


class HistoryState(StrEnum):
    """What became of a plan. The values are what `neurontop cache journal --json` carries."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    """By a live process."""
    RESTORED = "restored"
    PURGED = "purged"
    FOUND = "found"
    """Unknown to the journal, but what it took lies in the trash."""


UNDOABLE = frozenset({HistoryState.DONE, HistoryState.INTERRUPTED, HistoryState.FOUND})
"""States of a plan whose files may lie in the trash, and can be brought back."""


class PlanHistory:
    """What the journal says of one plan. `found`: it says nothing, and the plan's folder in the trash was read."""

    def __init__(self, begun: PlanBegun, *, found: bool = False) -> None:
        self.begun, self.found = begun, found
        self.since = begun.at
        """When its first attempt began; `begun` is the record of the newest."""
        self.attempts = 0
        self.moves: list[Move] = []
        self.lying: frozenset[str] | None = None
        """Paths that lie in the trash, where the storage was asked for them (`Journal.histories`)."""
        self.refused: list[tuple[int, WhyNotDone]] = []
        """Steps that the newest attempt did not do."""
        self.ended: PlanEnded | None = None
        self.restored: PlanRestored | None = None
        self.purged: PlanPurged | None = None
        self.apart: PurgeFailed | None = None

    def add(self, record: AnyRecord) -> None:
        """Take a record into account."""
        match record:
            case MovesIntended():
                self.moves.extend(record.moves)
            case StepsRefused():
                self.refused.extend(record.steps)
            case PlanEnded():
                self.ended = record
            case PlanRestored():
                self.restored = record
            case PlanPurged():
                self.purged = record
            case PurgeFailed():
                self.apart = record
            case PlanBegun():
                # A plan that is resumed begins again under its name, in another process, and tries every step again.
                self.attempts += 1
                self.begun, self.ended = record, None
                self.refused.clear()

    @property
    def taken(self) -> int:
        """Bytes that the plan took away in all its attempts. If an attempt was cut short and part of it was restored
        since, the bytes of up to one batch too many are counted."""
        return _bytes(self.undertaken) if self.restored or self.apart else self.bytes_in_trash

    @property
    def bytes_in_trash(self) -> int:
        """Bytes of the plan that lie in the trash now."""
        return _bytes(self.in_trash)

    @property
    def in_trash(self) -> list[Move]:
        """The moves whose files lie in the trash now."""
        if self.lying is None:
            return self.undertaken
        return [move for move in self.moves if move.path in self.lying]

    @property
    def gone(self) -> list[Move]:
        """The moves whose files are missing from the cache: they lie in the trash, or were deleted from it."""
        if self.purged or self.apart:
            if self.restored is None:
                return self.undertaken
            kept = {path for path, _ in self.restored.kept}
            return [move for move in self.undertaken if move.path in kept]
        return [] if self.state is HistoryState.RESTORED else self.in_trash

    @property
    def is_told_by_journal(self) -> bool:
        """Whether the journal alone says what lies in the trash: there was one attempt, it came to its end, and nothing
        of it was restored or deleted since."""
        ended = self.ended is not None and not self.ended.interrupted
        return ended and self.attempts == 1 and self.restored is None and self.apart is None

    @property
    def undertaken(self) -> list[Move]:
        """The moves of steps that were not refused."""
        refused = {step for step, _ in self.refused}
        return [move for move in self.moves if move.step not in refused]

    @property
    def is_over(self) -> bool:
        """Whether nothing that it took lies in the trash: if executed again, the same plan begins a new history."""
        return self.state in (HistoryState.PURGED, HistoryState.RESTORED)

    @property
    def state(self) -> HistoryState:
        """What became of it."""
        if self.purged:
            return HistoryState.PURGED
        if self.found:
            return HistoryState.FOUND
        if self.restored and not self.restored.kept:
            return HistoryState.RESTORED
        if self.ended and not self.ended.interrupted:
            return HistoryState.DONE
        runs = not self.ended and lock_owner.is_alive(self.begun.owner)
        return HistoryState.RUNNING if runs else HistoryState.INTERRUPTED


def _bytes(moves: Iterable[Move]) -> int:
    """Sum of the bytes; a file that two attempts meant to take counts once."""
    return sum({move.path: move.frees for move in moves}.values())


def begun(plan: Plan, owner: lock_owner.LockOwner) -> PlanBegun:
    """The record that opens a plan's history."""
    return PlanBegun(
        plan=plan.identity,
        at=time.time(),
        verb=plan.verb,
        root=plan.root,
        policy=plan.policy,
        user=user_name(),
        host=socket.gethostname(),
        owner=owner,
        steps=len(plan.steps),
        frees=plan.frees,
    )


def ended(
    plan: str, refused: Sequence[tuple[int, WhyNotDone]], *, done: int, moved_bytes: int, interrupted: bool
) -> list[AnyRecord]:
    """The records with which an execution ends, stamped with the present time."""
    at = time.time()
    end = PlanEnded(plan=plan, at=at, done=done, refused=len(refused), moved_bytes=moved_bytes, interrupted=interrupted)
    return [*([StepsRefused(plan=plan, at=at, steps=tuple(refused))] if refused else []), end]
