"""Plans which broken artifacts are moved aside, so that clients stop taking them for hits. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neuron_top.actions.plan import Action, Exclusion, Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.freed_bytes import FreedBytes
from neuron_top.actions.planners.plan_builder import build_plan, exclude, read_only_layout, step_of
from neuron_top.actions.reasons import Reason, ReasonCode
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import BROKEN, LOCKED


def plan_quarantine(
    entries: Iterable[Entry], root: str, context: PlanContext, found: Mapping[str, str] | None = None
) -> Plan:
    """Move aside what the cheap test calls broken, and what a full verification `found` (path → what is wrong)."""
    steps: list[Step] = []
    exclusions: list[Exclusion] = []
    wanted = sorted(entries, key=lambda entry: entry.path)
    freed = FreedBytes(wanted, context.trashed)
    for entry in wanted:
        problem = (found or {}).get(entry.path) or (str(entry.state) if entry.state in BROKEN else "")
        if not problem:
            continue
        if reason := read_only_layout(entry, context):
            exclusions.append(exclude(entry, reason))
        elif entry.state in LOCKED:
            exclusions.append(exclude(entry, Reason(ReasonCode.LOCKED)))
        else:
            going = freed.take(entry, keep_graph=True)
            action = Action.EVICT if entry.is_file else Action.QUARANTINE
            steps.append(step_of(action, entry, Reason(ReasonCode.BROKEN, problem), context, going=going))
    return build_plan(Verb.QUARANTINE, root, "corrupt artifacts", steps, exclusions, context)
