"""What every hand asks before its first touch: is this a plan for me, for this place, and does nothing forbid it?"""

from __future__ import annotations

from collections.abc import Collection

from neuron_top.actions import plan as plans
from neuron_top.actions.plan import Action, Plan
from neuron_top.errors import RefusedForSafety


def check_preconditions(plan: Plan, root: str, place: str, actions: Collection[Action], *, read_only: bool) -> None:
    """Raises RefusedForSafety unless `plan`, whose root is really `root`, may be carried out on `place`."""
    if read_only:
        raise RefusedForSafety("read-only mode: nothing is changed")
    if plan.refused:
        raise RefusedForSafety(plan.refused)
    try:
        plans.check(plan)
    except ValueError as problem:
        raise RefusedForSafety(f"this plan cannot be carried out: {problem}") from None
    if any(step.action not in actions for step in plan.steps):
        raise RefusedForSafety(f"a plan to {plan.verb} is not for this hand")
    if root != place:
        raise RefusedForSafety(f"this trash belongs to {place}, the plan to {plan.root}")
