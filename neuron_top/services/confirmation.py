"""The confirmation of a plan by a person, which is the same on the command line, in the terminal and on the web.

A plain plan needs a yes. A plan that is large, takes a whole compiler version, or has a step with a warning needs its
verb typed out. A lock that is not proved dead is confirmed on its own. For storage that others may use, a person first
states that nobody does.
"""

from __future__ import annotations

import msgspec

from neuron_top.actions.plan import Plan, Step
from neuron_top.actions.reasons import RefusalCode
from neuron_top.actions.verb import Verb

TYPED_BYTES = 20 * 1024**3
"""From this size on, the verb must be typed."""
EXCLUSIVE_WORD = "exclusive"
"""The word to type for the statement that no other host or container uses the cache."""


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """The required confirmation. `word` must be typed; if it is empty, a yes or a button is enough."""

    word: str = ""
    per_step: tuple[Step, ...] = ()
    """Steps that are each confirmed on their own, with `word`; unconfirmed ones are left out of the plan."""


def confirmation_of(*plans: Plan) -> Confirmation:
    """The confirmation that these plans, made together, require."""
    warned = [step for plan in plans for step in plan.steps if step.is_risky]
    forced = tuple(warned) if plans and plans[0].verb is Verb.UNLOCK else ()
    large = sum(plan.frees for plan in plans) >= TYPED_BYTES
    typed = bool(large or warned or any(plan.emptied for plan in plans))
    return Confirmation(word=str(plans[0].verb) if plans and typed else "", per_step=forced)


def needs_statement(plan: Plan) -> bool:
    """Whether the plan is refused only because others may use the storage: a person may state that nobody does, and
    the plan is then made again (`assume_exclusive`)."""
    return plan.refusal is not None and plan.refusal.code is RefusalCode.SHARED


class ForcedUnlockPrompt:
    """The questions about a plan of forced unlocks; other plans have none."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._asked = confirmation_of(plan).per_step
        self._confirmed: list[Step] = []
        self._answered = 0

    @property
    def current(self) -> Step | None:
        """The lock of the current question; None if all were answered, or none is forced."""
        return self._asked[self._answered] if self._answered < len(self._asked) else None

    @property
    def question(self) -> str:
        """The question about the current lock; empty when there is none."""
        step = self.current
        return f"{self._answered + 1} of {len(self._asked)}: {step.path}" if step is not None else ""

    def answer(self, *, take: bool) -> None:
        """Accept or skip the current lock, and move on to the next."""
        self._confirmed += self._asked[self._answered : self._answered + 1] if take else ()
        self._answered += 1

    def confirmed(self) -> Plan:
        """The plan with the steps that need no question and those that were confirmed."""
        steps = tuple(step for step in self._plan.steps if step in self._confirmed or step not in self._asked)
        return msgspec.structs.replace(self._plan, steps=steps)
