"""The plans of one act together: what a person decides about is their sum. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.actions.plan import Plan
from neuron_top.actions.registry import action_of
from neuron_top.units import bytes_text, counted, duration_text
from neuron_top.views.plan import cost


def act_sum(plans: Sequence[Plan]) -> str:
    """`51 entries · 693 MiB · 3.2 h to compile again · free afterwards 74 GiB`; what is skipped stands behind it."""
    steps = sum(len(plan.steps) for plan in plans)
    skipped = sum(len(plan.exclusions) for plan in plans)
    words = [counted(steps, "entry", "entries"), bytes_text(sum(plan.frees for plan in plans))]
    prices = [cost(plan) for plan in plans]
    compiles, unknown = sum(price.compiles for price in prices), sum(price.unknown for price in prices)
    if compiles > unknown:
        words.append(f"{duration_text(sum(price.seconds for price in prices))} to compile again")
    if unknown:
        words.append(f"{counted(unknown, 'compile')} of unknown duration")
    free = _free_afterwards(plans)
    if free is not None and steps:
        words.append(f"free afterwards {bytes_text(free)}")
    if skipped:
        words.append(f"{skipped:,} skipped")
    return " · ".join(words)


def act_choice(plans: Sequence[Plan]) -> str:
    """What the button of several plans says: `Evict: 51 entries, 693 MiB`."""
    steps, size = sum(len(plan.steps) for plan in plans), bytes_text(sum(plan.frees for plan in plans))
    return f"{action_of(plans[0].verb).title.capitalize()}: {counted(steps, 'entry', 'entries')}, {size}"


def _free_afterwards(plans: Sequence[Plan]) -> int | None:
    """Of the disk where the most becomes free; caches that told the same free space lie on one disk."""
    disks: dict[int, int] = {}
    for plan in plans:
        if plan.before.free is not None:
            disks[plan.before.free] = disks.get(plan.before.free, 0) + plan.frees
    return max((before + freed for before, freed in disks.items()), default=None)
