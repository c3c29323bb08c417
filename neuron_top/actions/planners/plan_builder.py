"""What planners share: a step from an entry, a plan from its steps."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from neuron_top.actions.plan import (
    FILES_REMOVED,
    LOSES_ARTIFACT,
    Action,
    Exclusion,
    Fingerprint,
    Plan,
    Step,
    Totals,
    identity_of,
)
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.freed_bytes import NOTHING, Going
from neuron_top.actions.reasons import Goal, Reason, ReasonCode, RebuildSource, Risk
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry, Part, is_entry_path, is_neff_path

_EVICT, _KNOWN = Action.EVICT, ~Part.OTHER
_FILES, _FREES, _STAYS, _LINKS, _ACTION = map(operator.attrgetter, ("files", "frees", "stays", "links", "action"))

HUB = "snapshots/"
"""How the compilers of a hub's local copy begin; its entries are links into the hub's blobs."""


def step_of(
    action: Action,
    entry: Entry,
    cause: Reason,
    context: PlanContext,
    *,
    going: Going = NOTHING,
    proof: str = "",
    risk: Risk | None = None,
) -> Step:
    """A step on `entry`. `going`: what it takes away."""
    last_use, known_from = context.last_use(entry)
    seconds, known_by = context.rebuild(entry) if action in LOSES_ARTIFACT else (None, RebuildSource.UNKNOWN)
    return Step(
        action=action,
        path=entry.path,
        cause=cause,
        frees=going.frees,
        stays=going.stays,
        links=going.links,
        files=files_taken(action, entry),
        fingerprint=Fingerprint.of(entry),
        rebuild_seconds=seconds,
        rebuild_from=known_by,
        last_used=last_use,
        last_used_from=known_from,
        proof=proof,
        risk=risk,
    )


def files_taken(action: Action, entry: Entry) -> int:
    """How many files of `entry` the action takes."""
    if action is _EVICT:
        return (entry.parts & _KNOWN).bit_count() + len(entry.others)
    return sum((entry.parts & parts).bit_count() for parts in FILES_REMOVED.get(action, ()))


def exclude(entry: Entry, cause: Reason) -> Exclusion:
    """An entry that stays, and why."""
    return Exclusion(path=entry.path, state=entry.state, size=entry.allocated, cause=cause)


def read_only_layout(entry: Entry, context: PlanContext) -> Reason | None:
    """Why no plan changes the entry, whatever its state: its layout is another program's, or one that no step can name
    (which would have the whole plan refused). None if plans may change it."""
    if context.is_hub_commit or entry.compiler.startswith(HUB):
        return Reason(ReasonCode.HUB)
    return None if is_entry_path(entry.path) else Reason(ReasonCode.OLD_LAYOUT)


def build_plan(
    verb: Verb,
    root: str,
    policy: str,
    steps: Sequence[Step],
    exclusions: Iterable[Exclusion],
    context: PlanContext,
    *,
    goal: Goal | None = None,
    emptied: tuple[str, ...] = (),
) -> Plan:
    """The plan of these steps, with its identity and the totals after it."""
    skipped = tuple(exclusions)
    return Plan(
        identity=identity_of(verb, root, context.now, steps, policy, skipped),
        verb=verb,
        root=root,
        policy=policy,
        made_at=context.now,
        steps=tuple(steps),
        exclusions=skipped,
        before=context.before,
        after=_after(context.before, steps),
        notes=context.notes,
        refusal=context.refusal(),
        goal=goal,
        emptied=emptied,
    )


def _after(before: Totals, steps: Sequence[Step]) -> Totals:
    files, freed = sum(map(_FILES, steps)), sum(map(_FREES, steps))
    whole = list(map(_ACTION, steps)).count(_EVICT)
    # An entry of TorchNeuron's cache is a file, with no folder to free; all entries of a cache are alike.
    folders = 0 if steps and is_neff_path(steps[0].path) else whole
    inodes = files - sum(map(_LINKS, steps)) + folders
    return Totals(
        entries=before.entries - whole,
        files=before.files - files,
        size=before.size - freed - sum(map(_STAYS, steps)),
        free=None if before.free is None else before.free + freed,
        free_inodes=None if before.free_inodes is None else before.free_inodes + inodes,
    )
