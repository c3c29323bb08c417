"""The blame of a job on the page of the fleet: sums, graphs, what was compiled again, and nodes over time."""

from __future__ import annotations

from typing import Any

from dash import html

from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import absent, fact_list, note, table
from neuron_top.dashboard.figures import empty, iso, layout, moments, plain
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.units import count_text, counted
from neuron_top.views.blame.records import Blame
from neuron_top.views.blame.text import (
    ADVICE,
    GRAPH_COLUMNS,
    REPEATED_COLUMNS,
    graph_cells,
    headline,
    notes,
    repeated_cells,
    span_text,
    timeline_label,
)
from neuron_top.views.blame.timeline import Doing, blame_timeline

GRAPHS_SHOWN = 10
ROWS_SHOWN = 24
COLUMNS = 80
_LEVELS = {Doing.NOTHING: None, Doing.WAITING: 0, Doing.COMPILING: 1}


def blame_section(found: Blame | str) -> Any:
    """Sentences and tables."""
    if isinstance(found, str):
        return absent(found)
    if not found.graphs:
        return absent(f"No rank compiled a graph or waited for one; {counted(found.found, 'graph')} found in a cache.")
    parts: list[Any] = [fact_list(tuple(headline(found))), *(note(text, kind="warn") for text in notes(found))]
    rows = [graph_cells(row) for row in found.graphs[:GRAPHS_SHOWN]]
    parts.append(table(GRAPH_COLUMNS, rows, caption="Graphs that cost most", right=(2, 5, 7)))
    if len(found.graphs) > GRAPHS_SHOWN:
        parts.append(note(f"{count_text(len(found.graphs) - GRAPHS_SHOWN)} more: `neurontop fleet blame {found.job}`"))
    if found.repeated:
        again = [(*repeated_cells(row), ADVICE[row.because]) for row in found.repeated]
        head = (*REPEATED_COLUMNS, "what to do")
        parts.append(table(head, again, caption="Compiles of what another node had", right=(1, 2, 4, 5)))
    return html.Div(parts)


def blame_figure(found: Blame | str, colors: ChartColors) -> PageChart:
    """A row for each group of nodes that did the same, those that spent most first."""
    drawn = blame_timeline(found, COLUMNS) if isinstance(found, Blame) else None
    if drawn is None:
        return PageChart(empty(colors, "", 60))
    rows = drawn.rows[:ROWS_SHOWN]
    left = sum(len(row.nodes) for row in drawn.rows[ROWS_SHOWN:])
    parts = [span_text(drawn.start, drawn.end), "amber: waiting, blue: compiling"]
    parts += [f"{counted(left, 'more node')} spent less"] if left else []
    width = (drawn.end - drawn.start or 1.0) / COLUMNS
    edges = [iso(drawn.start + number * width) for number in range(COLUMNS + 1)]
    trace = {
        "type": "heatmap",
        "x": edges,
        "z": [[_LEVELS[cell] for cell in row.cells] for row in rows],
        "y": [plain(timeline_label(row)) for row in rows],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, colors.warn], [1, colors.accent]],
        "xgap": 0,
        "ygap": 2,
        "hovertemplate": "%{y}, %{x}<extra></extra>",
        "showscale": False,
    }
    whole = layout(
        colors,
        84 + 16 * len(parts) + 22 * len(rows),
        title={"text": "<br>".join(parts), "font": {"size": 12}},  # a phone has no room for them side by side
        margin={"t": 14 + 16 * len(parts)},
        xaxis=moments(edges),
        yaxis={"autorange": "reversed", "type": "category", "fixedrange": True, "automargin": True},
    )
    return PageChart({"data": [trace], "layout": whole})
