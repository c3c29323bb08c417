"""What the journal of a cache says of one plan, from its first record to its last. Pure values."""

from __future__ import annotations

import socket
import time

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
from neuron_top.cache.locks import lock_owner

UNDOABLE = frozenset({"done", "interrupted", "found"})
"""States of a plan whose loot may lie in the trash, and can be brought back."""


class PlanHistory:
    """What the journal says of one plan. `found`: it says nothing, and the plan's folder in the trash was read."""

    def __init__(self, begun: PlanBegun, *, found: bool = False) -> None:
        self.begun, self.found = begun, found
        self.moves: list[Move] = []
        self.refused: list[tuple[int, str]] = []
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
                # A plan that is resumed begins again under its name.
                self.ended = None

    @property
    def taken(self) -> int:
        """Bytes it took away in all its attempts; of one that was cut short, at most the rest of a batch too many."""
        refused = {step for step, _ in self.refused}
        return sum({move.path: move.frees for move in self.moves if move.step not in refused}.values())

    @property
    def state(self) -> str:
        """`done`, `restored`, `purged`, `found`, `running` (by a live process) or `interrupted`."""
        if self.purged:
            return "purged"
        if self.found:
            return "found"
        if self.restored and not self.restored.kept:
            return "restored"
        if self.ended and not self.ended.interrupted:
            return "done"
        return "running" if not self.ended and lock_owner.is_alive(self.begun.owner) else "interrupted"


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
