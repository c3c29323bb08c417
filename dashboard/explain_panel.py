"""Miss explanations on the pages: the panel, links from graphs to it, and that of a cache entry."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, html, no_update

from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.components import note, panel, table
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.services.feeds import Run
from neuron_top.services.misses import MissService
from neuron_top.views.miss_explanation import MissExplanation, MissQuery

LinePosition = tuple[str, int]
"""A log line: its source and offset."""


def explanation_panel(reasons: MissExplanation, title: str = "Why it missed") -> Any:
    """Causes, the likeliest first, and what was compared."""
    rows = [(reason.kind, reason.text, html.Code(reason.entry)) for reason in reasons.reasons]
    head = ("cause", "what differs", "compared with")
    causes = table(head, rows, caption="Causes, the likeliest first") if rows else None
    return panel(title, html.P(html.Strong(reasons.headline)), causes, note(reasons.footnote))


def graph_link(key: str, run: str, words: str | None = None) -> Any:
    """A link to the page of a graph. Relative: the server may have a prefix."""
    asked = urlencode({"run": run, "graph": key} if run else {"graph": key})
    return html.A(html.Code(key) if words is None else words, href=f"compile?{asked}")


def graphs_by_line(run: Run, _now: float) -> dict[LinePosition, str]:
    """The graph of each log line that is kept."""
    return {(place.source, place.offset): graph.key for graph in run.compiles.graphs.values() for place in graph.lines}


def register(app: Dash, feeds: FeedRegistry, caches: DashboardCaches) -> None:
    """Explain the miss of the clicked cache entry, in a thread."""

    @app.callback(Output("cache-why", "children"), Input("cache-grid", "cellClicked"), prevent_initial_call=True)
    async def tell(clicked: dict[str, Any] | None) -> Any:
        key = str((clicked or {}).get("rowId"))
        row = next((one for one in caches.last.rows if one.key == key), None)
        if row is None:  # a group, or an entry that has gone since
            return no_update
        asked = MissQuery(module=row.module, roots=(row.root,), compiler=row.compiler)
        return explanation_panel(
            await asyncio.to_thread(MissService(feeds.settings).why, asked), f"Why {row.module} missed"
        )
