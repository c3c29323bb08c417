"""Plans which locks may go: by default only those whose holder is proved dead, each with the proof. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top.actions.plan import Action, Exclusion, Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.plan_builder import build_plan, exclude, read_only_layout, step_of
from neuron_top.actions.reasons import Reason, ReasonCode, Risk
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import Holder


def plan_unlock(entries: Iterable[Entry], root: str, context: PlanContext, *, force: bool = False) -> Plan:
    """Remove the locks of `entries` whose holder is proved dead. `force` also takes, each with a warning, those about
    whose holder nothing is proved; a lock whose holder is proved alive always stays.
    """
    steps: list[Step] = []
    exclusions: list[Exclusion] = []
    for entry in sorted(entries, key=lambda entry: entry.path):
        lock = entry.lock
        # TorchNeuron's lock is the kernel's, which ends with its process: the file that stays behind locks nothing.
        if lock is None or (entry.is_file and lock.verdict is not Holder.ALIVE):
            continue
        if reason := read_only_layout(entry, context):
            exclusions.append(exclude(entry, reason))
        elif lock.verdict is Holder.ALIVE:
            exclusions.append(exclude(entry, Reason(ReasonCode.HOLDER_ALIVE, lock.proof or "")))
        elif lock.verdict is Holder.DEAD:
            steps.append(step_of(Action.UNLOCK, entry, Reason(ReasonCode.HOLDER_DEAD), context, proof=lock.proof or ""))
        elif force:
            steps.append(step_of(Action.UNLOCK, entry, Reason(ReasonCode.FORCED), context, risk=Risk.NO_PROOF))
        else:
            exclusions.append(exclude(entry, Reason(ReasonCode.LOCK_UNPROVED)))
    return build_plan(
        Verb.UNLOCK, root, "locks, forced" if force else "locks of dead holders", steps, exclusions, context
    )
