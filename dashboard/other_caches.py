"""PyTorch's own cache on the cache page, read-only: totals and the largest entries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dash import html

from neuron_top.dashboard.components import panel, table
from neuron_top.units import UNKNOWN, bytes_text, count_text
from neuron_top.views.other_caches import COMMAND, READ_ONLY, OtherCache


def other_cache(one: OtherCache) -> Any:
    """The panel of one cache."""
    kinds = [
        (html.Code(kind.kind), kind.what, count_text(kind.entries), bytes_text(kind.bytes), _when(kind.used))
        for kind in one.kinds
    ]
    largest = [
        (
            html.Code(entry.kind),
            html.Code(entry.key),
            bytes_text(entry.bytes),
            count_text(entry.files),
            _when(entry.used or entry.changed),
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


def _when(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC") if seconds is not None else UNKNOWN
