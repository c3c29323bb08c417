"""Where the caches are and what they could give back: budget, disk, and what each part costs to compile again.

Below them PyTorch's own cache, read-only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from neuron_top.dashboard.components import note, panel, stacked_bar, table
from neuron_top.services.caches import Disk
from neuron_top.units import UNKNOWN, bytes_text, count_text, moment_text, percent_text
from neuron_top.views.entries import EntryTable
from neuron_top.views.other_caches import COMMAND, READ_ONLY, OtherCache
from neuron_top.views.reclaim import Reclaim, reclaimable


def space_panel(view: EntryTable, disks: Mapping[str, Disk], budget: int | None) -> Any:
    """A line per cache, then what could go."""
    if not view.rows:
        return note("No entry takes space.")
    return [_caches(view, disks, budget), *_parts(reclaimable(view.rows))]


def _caches(view: EntryTable, disks: Mapping[str, Disk], budget: int | None) -> Any:
    rows = []
    for root, size in view.bytes_by_root.items():
        disk = disks.get(root)
        free = f"{bytes_text(disk.free)} of {bytes_text(disk.total)}" if disk is not None else UNKNOWN
        of_budget = (_of_budget(size, budget),) if budget else ()
        rows.append((root, bytes_text(size), *of_budget, free))
    head = ("cache", "takes", *(("budget",) if budget else ()), "disk, free")
    return table(head, rows, caption="Where the caches are", right=(1,))


def _of_budget(size: int, budget: int) -> Any:
    name = "failed" if size > budget else "hit"
    parts = [("taken", min(size, budget), name), ("left", max(0, budget - size), "left")]
    share = percent_text(size / budget)
    bar = stacked_bar(parts, total=budget, label=f"{share} of its budget")
    return [bar, f"{share} of {bytes_text(budget)}"]


def _parts(parts: list[Reclaim]) -> list[Any]:
    if not parts:
        return [note("Nothing is failed, unfinished, older than a week, or of an older compiler.")]
    rows = [
        (
            dcc.Link(part.title, href="?" + urlencode({"q": part.query}), className="narrows"),
            count_text(part.entries),
            bytes_text(part.bytes),
            part.rebuild_text,
        )
        for part in parts
    ]
    head = ("could be reclaimed", "entries", "frees", "to compile again")
    return [table(head, rows, caption="What could be reclaimed", right=(1, 2, 3), fits=True)]


def other_cache(one: OtherCache) -> Any:
    """The panel of one cache."""
    kinds = [
        (html.Code(kind.kind), kind.what, count_text(kind.entries), bytes_text(kind.bytes), moment_text(kind.used))
        for kind in one.kinds
    ]
    largest = [
        (
            html.Code(entry.kind),
            html.Code(entry.key),
            bytes_text(entry.bytes),
            count_text(entry.files),
            moment_text(entry.used or entry.changed),
        )
        for entry in one.largest
    ]
    return panel(
        READ_ONLY,
        html.P(
            [
                html.Code(one.root),
                f" ({one.origin}): {count_text(one.entries)} entries, {bytes_text(one.bytes)}. "
                "PyTorch manages it, so nothing here can be selected, pinned or evicted; every entry: ",
                html.Code(COMMAND),
            ]
        ),
        table(
            ("kind", "what it holds", "entries", "size", "last used"),
            kinds,
            caption="Inductor's cache by kind",
            right=(2, 3),
        )
        if kinds
        else None,
        html.H3("The largest") if largest else None,
        table(
            ("kind", "largest entries", "size", "files", "last used"),
            largest,
            caption="The largest entries of Inductor's cache",
            right=(2, 3),
        )
        if largest
        else None,
        wide=True,
    )
