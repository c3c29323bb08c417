"""Locks that nothing proves dead, asked for one by one: which are to go all the same. Pure."""

from __future__ import annotations

import msgspec

from neuron_top.actions.plan import Plan, Step


class ForcedUnlockPrompt:
    """The questions that a plan of forced unlocks asks before it is carried out; any other plan asks none."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._asked = [step for step in plan.steps if step.warning] if plan.verb == "unlock" else []
        self._taken: list[Step] = []
        self._at = 0

    @property
    def current(self) -> Step | None:
        """The lock that is asked about; None when all were answered, or none is forced."""
        return self._asked[self._at] if self._at < len(self._asked) else None

    @property
    def question(self) -> str:
        """Which lock it is, in words; empty when none is asked about."""
        step = self.current
        return f"{self._at + 1} of {len(self._asked)}: {step.path}" if step is not None else ""

    def answer(self, *, take: bool) -> None:
        """Take the current lock, or leave it alone; on to the next."""
        self._taken += self._asked[self._at : self._at + 1] if take else []
        self._at += 1

    def confirmed(self) -> Plan:
        """The plan with the steps that need no question, and those that were confirmed."""
        steps = tuple(step for step in self._plan.steps if step in self._taken or step not in self._asked)
        return msgspec.structs.replace(self._plan, steps=steps)
