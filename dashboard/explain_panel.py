"""Miss explanations on the pages: the panel, and the links of graphs to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from dash import html

from neuron_top.dashboard.components import attributes, note, panel, table
from neuron_top.services.feeds import Run
from neuron_top.views.miss_explanation import MissExplanation

LinePosition = tuple[str, int]
"""A log line: its source and offset."""


def explanation_panel(reasons: MissExplanation, title: str = "Why it missed") -> Any:
    """Causes, the likeliest first, and what was compared."""
    rows = [(reason.kind, reason.text, html.Code(reason.entry)) for reason in reasons.reasons]
    head = ("cause", "what differs", "compared with")
    causes = table(head, rows, caption="Causes, the likeliest first") if rows else None
    return panel(title, html.P(html.Strong(reasons.headline)), causes, note(reasons.footnote))


def graph_link(key: str, run: str, words: str | None = None) -> Any:
    """A link that opens a graph in the drawer, else on the compile page. Relative: the server may have a prefix."""
    asked = urlencode({"run": run, "graph": key} if run else {"graph": key})
    return html.A(html.Code(key) if words is None else words, href=f"compile?{asked}", **attributes(data_graph=key))


def graphs_by_line(run: Run, _now: float) -> dict[LinePosition, str]:
    """The graph of each log line that is kept."""
    return {(place.source, place.offset): graph.key for graph in run.compiles.graphs.values() for place in graph.lines}
