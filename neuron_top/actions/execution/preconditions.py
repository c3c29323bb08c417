"""Preconditions shared by all executors."""

from __future__ import annotations

from collections.abc import Collection

from neuron_top.actions import plan as plans
from neuron_top.actions.plan import Action, Plan
from neuron_top.errors import ReadOnlyMode, RefusedForSafety


def check_preconditions(
    plan: Plan, root: str, storage_root: str, actions: Collection[Action], *, read_only: bool
) -> None:
    """Raises RefusedForSafety unless `plan`, which changes `root` (a real path or a URL), may be executed on
    `storage_root`."""
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
    if root != storage_root:
        raise RefusedForSafety(f"this plan is for {root} and cannot be executed on {storage_root}")
