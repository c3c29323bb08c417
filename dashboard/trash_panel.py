"""What can be restored in the caches, action by action, each with its undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from neuron_top.dashboard.components import attributes, note, panel, table
from neuron_top.dashboard.guard import current_permission, why_not_act
from neuron_top.dashboard.permissions import action_permission
from neuron_top.services.caches import action_of
from neuron_top.services.trash import PlanHistory
from neuron_top.units import bytes_text, count_text, moment_text

SHOWN = 50


def trash_panel(trash: Sequence[PlanHistory]) -> Any:
    """A row for each plan whose files lie in the trash (of a bucket: in older versions), the newest first; or None."""
    if not trash:
        return None
    rows = [
        (
            moment_text(one.begun.at),
            f"{action_of(one.begun.verb).title}: {one.begun.policy}" if one.begun.policy else "found in the trash",
            count_text(len({move.entry for move in one.in_trash})),
            bytes_text(one.bytes_in_trash),
            f"{one.begun.user}@{one.begun.host}" if one.begun.user else "—",
            one.begun.root,
            _undo(one),
        )
        for one in trash[:SHOWN]
    ]
    head = ("when", "what", "entries", "takes", "by", "cache", "")
    more = len(trash) - len(rows)
    return panel(
        "Trash",
        table(head, rows, caption="What lies in the trash", right=(2, 3)),
        note(
            (f"{count_text(more)} older plans are not listed. " if more else "")
            + "Undo brings all of a plan back. The space becomes free with `neurontop cache purge`, in a bucket by its "
            "own rule for old versions."
        ),
        wide=True,
    )


def _undo(one: PlanHistory) -> Any:
    may = current_permission.get() >= action_permission(one.begun.verb)
    return html.Button(
        "Undo",
        id={"type": "trash-undo", "plan": one.begun.plan},
        n_clicks=0,
        className="plain",
        disabled=not may,
        title="" if may else why_not_act("to undo"),
        **attributes(aria_label=f"Undo the plan {one.begun.plan} on {one.begun.root}"),
    )
