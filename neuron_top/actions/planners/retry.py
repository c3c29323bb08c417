"""Plans which cached failures are compiled again, now or on the next run. Pure.

On the next run: the failure mark is moved aside under the entry's lock, which turns the entry into an extracted graph.
Now: the graph is compiled here, by the compiler that its folder names (`execution.compile_now`). A graph that the
compiler itself rejected will fail again: it is skipped with an explanation, unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from neuron_top.actions.plan import Action, Exclusion, Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.freed_bytes import NOTHING, FreedBytes, Going
from neuron_top.actions.planners.plan_builder import build_plan, exclude, read_only_layout, step_of
from neuron_top.actions.reasons import Reason, ReasonCode, Risk
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.failures import FailureClass, FailureKind
from neuron_top.cache.model.states import FAILURES, State


def plan_retry(
    entries: Iterable[Entry],
    root: str,
    context: PlanContext,
    *,
    deterministic: bool = False,
    compilers: Collection[str] | None = None,
) -> Plan:
    """Try the failures among `entries` again; those that are bound to fail again only if `deterministic`.

    `compilers`: the compiler folders that this machine can compile for, to compile now; None: on the next run.
    """
    steps: list[Step] = []
    exclusions: list[Exclusion] = []
    action = Action.RETRY if compilers is None else Action.COMPILE
    wanted = sorted(entries, key=lambda entry: entry.path)
    freed = FreedBytes(wanted, context.trashed)
    for entry in wanted:
        obstacle = _obstacle(entry, context, compilers, deterministic=deterministic)
        if obstacle is not None:
            exclusions.append(exclude(entry, obstacle))
        elif entry.state in FAILURES:
            going = freed.take(entry, keep_graph=True) if action is Action.RETRY else NOTHING
            steps.append(_step(action, entry, context, going))
    criteria = "failures, also those bound to fail again" if deterministic else "failures that may succeed now"
    verb = Verb.RETRY if compilers is None else Verb.COMPILE
    return build_plan(verb, root, criteria, steps, exclusions, context)


def for_memory(plan: Plan) -> bool:
    """Whether the compiler was killed for lack of memory in one of the failures."""
    return any(step.failure is FailureClass.MEMORY for step in plan.steps)


def _obstacle(
    entry: Entry, context: PlanContext, compilers: Collection[str] | None, *, deterministic: bool
) -> Reason | None:
    """Why a failure is not tried again; None if it is, and for an entry that did not fail."""
    if entry.state is State.RETRYING:
        return Reason(ReasonCode.RETRYING)
    if entry.state not in FAILURES:
        return None
    if reason := read_only_layout(entry, context):
        return reason
    if entry.module in context.compiling:
        return Reason(ReasonCode.NAMED_BY_PROCESS)
    failure = entry.failure
    if failure is not None and failure.kind is FailureKind.DETERMINISTIC and not deterministic:
        return Reason(ReasonCode.BOUND_TO_FAIL, failure.code or "", failure=failure.cause)
    if compilers is not None and entry.compiler not in compilers:
        return Reason(ReasonCode.COMPILER_MISSING)
    return None


def _step(action: Action, entry: Entry, context: PlanContext, going: Going) -> Step:
    failure = entry.failure
    kind = failure.kind if failure else FailureKind.UNKNOWN
    code, cause = (failure.code or "", failure.cause) if failure else ("", None)
    reason = Reason(_CODES[kind], code, failure=cause)
    step = step_of(action, entry, reason, context, going=going, risk=_RISKS.get(kind))
    return msgspec.structs.replace(step, failure=cause or FailureClass.UNKNOWN)


_CODES = {
    FailureKind.DETERMINISTIC: ReasonCode.FAILED_DETERMINISTIC,
    FailureKind.ENVIRONMENT: ReasonCode.FAILED_ENVIRONMENT,
    FailureKind.UNKNOWN: ReasonCode.FAILED_UNKNOWN,
}
_RISKS = {FailureKind.DETERMINISTIC: Risk.BOUND_TO_FAIL}
