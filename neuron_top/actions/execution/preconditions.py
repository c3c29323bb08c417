"""Preconditions shared by all executors."""

from __future__ import annotations

from collections.abc import Callable, Collection

from neuron_top.actions import plan as plans
from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.open_entries import StaleEntryError
from neuron_top.actions.plan import Action, Plan, Step
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.actions.verb import Verb
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


def pin_check(plan: Plan, pins: Collection[str]) -> Callable[[Step], None]:
    """A check of steps that raises StaleEntryError for an eviction of a module that is pinned by now."""
    if plan.verb is not Verb.EVICT or not pins:
        return lambda step: None
    is_pinned = matcher(pins)

    def check(step: Step) -> None:
        if is_pinned(step.path.rpartition("/")[2].removesuffix(".neff")):
            raise StaleEntryError(NotDoneCode.PINNED)

    return check
