"""Plans copies of usable entries that another root lacks. Pure. Locks, failures and half-stored artifacts stay."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.plan import Action, Fingerprint, Plan, Step, Totals, identity_of
from neuron_top.actions.planners.compiler_filter import compiler_filter
from neuron_top.actions.planners.plan_builder import exclude
from neuron_top.actions.reasons import Reason, ReasonCode, Refusal, RefusalCode
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import State


class CopyDestination(NamedTuple):
    """The root that is copied to, as it is now."""

    root: str
    done: Collection[str] = ()
    """Paths of the entries that it has with their mark."""
    free: int | None = None
    """Bytes that may still be written; None is unknown or without bound."""


def plan_copy(
    snapshot: Snapshot,
    destination: CopyDestination,
    *,
    now: float,
    modules: tuple[str, ...] = (),
    compiler: str | None = None,
    refusal: Refusal | None = None,
) -> Plan:
    """Copy the hits of `snapshot` that the destination lacks; `modules`, `compiler`: only these.

    Raises ValueError for a `compiler` that cannot be read.
    """
    target, there, free = destination
    matches, steps, exclusions = compiler_filter(compiler), [], []
    is_named = matcher(modules)
    taken: set[str] = set()
    for entry in sorted(snapshot.entries, key=lambda entry: entry.path):
        if not ((not modules or is_named(entry.module)) and matches(entry.compiler.rpartition("/")[2])):
            continue
        obstacle = _obstacle(entry, there, taken)
        if obstacle is not None:
            exclusions.append(exclude(entry, obstacle))
            continue
        taken.add(target_path(entry.path))
        steps.append(_step(entry))
    total = sum(step.copies for step in steps)
    if refusal is None and free is not None and total > free:
        refusal = Refusal(RefusalCode.NO_SPACE, target, total, free)
    before = Totals(entries=len(there), files=0, size=0, free=free)
    after = Totals(
        entries=len(there) + len(steps),
        files=sum(step.files for step in steps),
        size=total,
        free=None if free is None else free - total,
    )
    return Plan(
        identity=identity_of("copy", f"{snapshot.root}\0{target}", now, steps),
        verb=Verb.COPY,
        root=snapshot.root,
        target=target,
        policy=f"to {target}",
        made_at=now,
        steps=tuple(steps),
        exclusions=tuple(exclusions),
        before=before,
        after=after,
        refusal=refusal,
    )


def _obstacle(entry: Entry, there: Collection[str], taken: Collection[str]) -> Reason | None:
    if entry.state is not State.HIT:
        return Reason(ReasonCode.NOT_A_HIT, str(entry.state))
    if entry.flags_hash_ok is False:
        return Reason(ReasonCode.FLAGS_MISMATCH)
    if target_path(entry.path) in there:
        return Reason(ReasonCode.USABLE_THERE)
    return Reason(ReasonCode.SAME_ENTRY) if target_path(entry.path) in taken else None


def _step(entry: Entry) -> Step:
    return Step(
        action=Action.COPY,
        path=entry.path,
        cause=Reason(ReasonCode.MISSING_THERE),
        frees=0,
        copies=entry.apparent,
        files=entry.parts.bit_count(),
        fingerprint=Fingerprint.of(entry),
    )


def target_path(path: str) -> str:
    """The path of an entry's copy: its own, but without the `snapshots/<commit>/` of a hub's local copy."""
    parts = path.split("/")
    return "/".join(parts[2:]) if parts[0] == "snapshots" and len(parts) > 3 else path
