"""A plan to delete recordings: which go, which are skipped and why, and what that frees."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from neuron_top.units import bytes_text, counted, duration_text
from neuron_top.views.runs import RunRow

STILL_WRITTEN = "it is still being written; delete it when its job has ended"


class RunExclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that was named and stays."""

    id: str
    reason: str


class RunDeletion(msgspec.Struct, frozen=True, kw_only=True):
    """What deleting the named recordings would do; nothing was done."""

    steps: tuple[RunRow, ...]
    exclusions: tuple[RunExclusion, ...]
    frees: int
    """Bytes: events and, where they are on this machine, logs and other files."""


class RunDeleted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one step."""

    id: str
    freed_bytes: int
    not_done: str = ""
    """Why it was not deleted; "" where it was."""


def run_deletion(rows: Sequence[RunRow], written: Collection[str] = ()) -> RunDeletion:
    """The plan for these recordings, of which some are still `written`, by id; one named twice goes once."""
    distinct = list({row.id: row for row in rows}.values())
    steps = tuple(row for row in distinct if row.id not in written)
    return RunDeletion(
        steps=steps,
        exclusions=tuple(RunExclusion(id=row.id, reason=STILL_WRITTEN) for row in distinct if row.id in written),
        frees=sum(row.bytes for row in steps),
    )


def deletion_lines(plan: RunDeletion) -> Iterator[str]:
    """The plan, a recording a line."""
    if plan.steps:
        yield f"delete {counted(len(plan.steps), 'recording')}, {bytes_text(plan.frees)}; this cannot be undone"
    for row in plan.steps:
        words = [row.called, row.state_text, f"after {duration_text(row.seconds)}" if row.seconds is not None else ""]
        words += ["starred" if row.starred else "", f"tags {' '.join(row.tags)}" if row.tags else ""]
        yield f"  {row.id}  {bytes_text(row.bytes):>10}  {' · '.join(filter(None, words))}"
    for exclusion in plan.exclusions:
        yield f"skipped: {exclusion.id}: {exclusion.reason}"


def deleted_line(outcome: RunDeleted) -> str:
    """One step, as it went."""
    if outcome.not_done:
        return f"not deleted: {outcome.id}: {outcome.not_done}"
    return f"deleted {outcome.id}: {bytes_text(outcome.freed_bytes)} freed"
