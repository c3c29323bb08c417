"""The life cycle of a plan: planned, confirmed, running, done, undone. All front ends use it."""

from __future__ import annotations

import threading
from enum import StrEnum

import msgspec

from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.registry import action_of
from neuron_top.errors import RefusedForSafety
from neuron_top.services.confirmation import Confirmation, confirmation_of
from neuron_top.views.plan import outcome_with_texts
from neuron_top.views.plan_sentences import refusal_text


class PlanState(StrEnum):
    """Where a plan stands. The values are what the API carries."""

    PLANNED = "planned"
    CONFIRMED = "confirmed"
    RUNNING = "running"
    DONE = "done"
    """Carried out, or stopped before its end; see the outcome."""
    FAILED = "failed"
    """It could not be carried out; `message` says why."""
    UNDONE = "undone"


_TRANSITION = threading.Lock()
"""Held during a transition, so that two requests cannot both begin one plan."""


class PlanExecution(msgspec.Struct, kw_only=True):
    """A plan and what became of it. Safe from any thread."""

    plan: Plan
    state: PlanState = PlanState.PLANNED
    progress: Progress | None = None
    outcome: Outcome | None = None
    message: str = ""
    stopping: bool = False
    """Somebody asked to stop; the running step is still finished."""

    @property
    def confirmation(self) -> Confirmation:
        """What a person must answer before the plan is confirmed."""
        return confirmation_of(self.plan)

    @property
    def typed(self) -> str:
        """The word that must be typed to confirm; "" when a button is enough."""
        return self.confirmation.word

    @property
    def can_confirm(self) -> bool:
        """Whether the plan waits for confirmation, has something to do, and is not refused."""
        return self.state is PlanState.PLANNED and bool(self.plan.steps) and not self.plan.is_refused

    @property
    def can_stop(self) -> bool:
        """Whether the plan runs, or waits for its turn, and nobody asked it to stop yet."""
        return self.state in (PlanState.CONFIRMED, PlanState.RUNNING) and not self.stopping

    @property
    def can_undo(self) -> bool:
        """Whether the plan took something away that can be restored."""
        outcome = self.outcome
        # In a bucket, an interruption before the first finished step may have taken marks.
        took = outcome is not None and (outcome.done > 0 or (outcome.interrupted and outcome.undo is not None))
        return self.state is PlanState.DONE and took and action_of(self.plan.verb).undoable

    @property
    def is_being_undone(self) -> bool:
        """Whether its undo has begun and not ended."""
        return self.state is PlanState.UNDONE and not self.message

    def confirm(self, typed: str = "") -> None:
        """Planned → confirmed. Raises RefusedForSafety for a wrong word, a refused plan, or one not planned."""
        with _TRANSITION:
            if self.state is not PlanState.PLANNED:
                raise RefusedForSafety(f"this plan is {self.state} already")
            if self.plan.is_refused:
                raise RefusedForSafety(refusal_text(self.plan))
            if typed != self.typed:
                raise RefusedForSafety(f"type {self.typed} to confirm" if self.typed else "nothing has to be typed")
            self.state = PlanState.CONFIRMED

    def begin(self) -> None:
        """Confirmed → running. Raises RefusedForSafety for one that nobody confirmed."""
        with _TRANSITION:
            if self.state is not PlanState.CONFIRMED:
                raise RefusedForSafety(f"this plan is {self.state}: it is executed once, after its confirmation")
            self.state = PlanState.RUNNING

    def finish(self, outcome: Outcome) -> None:
        """Running → done. From here on the outcome has its reasons in words, for the API."""
        self.outcome, self.state = outcome_with_texts(outcome), PlanState.DONE

    def fail(self, message: str) -> None:
        """Running → failed."""
        self.message, self.state = message, PlanState.FAILED

    def stop(self) -> None:
        """Stop before the next step. Raises RefusedForSafety if the plan is not being executed."""
        with _TRANSITION:
            if self.state not in (PlanState.CONFIRMED, PlanState.RUNNING):
                raise RefusedForSafety(f"this plan is {self.state}: there is nothing to stop")
            self.stopping = True

    def begin_undo(self) -> None:
        """Done → undone, before the undo begins, so that only one caller tries. Raises RefusedForSafety."""
        with _TRANSITION:
            if not action_of(self.plan.verb).undoable:
                raise RefusedForSafety(f"a plan to {self.plan.verb} removed nothing: there is nothing to undo")
            if self.state is not PlanState.DONE:
                raise RefusedForSafety(f"this plan is {self.state}: there is nothing to undo")
            self.message, self.state = "", PlanState.UNDONE

    def end_undo(self, text: str) -> None:
        """Record what the undo restored, as a sentence."""
        self.message = text

    def fail_undo(self, problem: str) -> None:
        """Undone → done again, with the reason."""
        self.message, self.state = f"could not be undone: {problem}", PlanState.DONE
