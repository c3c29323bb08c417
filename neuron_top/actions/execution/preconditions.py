"""Preconditions shared by all executors."""

from __future__ import annotations

from collections.abc import Collection

from neuron_top.actions import plan as plans
from neuron_top.actions.plan import Action, Plan
from neuron_top.errors import ReadOnlyMode, RefusedForSafety


def check_preconditions(plan: Plan, root: str, place: str, actions: Collection[Action], *, read_only: bool) -> None:
    """Raises RefusedForSafety unless `plan`, whose root is really `root`, may be executed on `place`."""
    if read_only:
        raise ReadOnlyMode()
    if plan.is_refused:
        why = plan.refusal.code if plan.refusal is not None else plan.refused
        raise RefusedForSafety(f"this plan was refused when it was made ({why}): make a new one")
    try:
        plans.check(plan)
    except ValueError as problem:
        raise RefusedForSafety(f"this plan cannot be executed: {problem}") from None
    if any(step.action not in actions for step in plan.steps):
        raise RefusedForSafety(f"a plan to {plan.verb} cannot be executed on this storage")
    if root != place:
        raise RefusedForSafety(f"this trash belongs to {place}, the plan to {plan.root}")
