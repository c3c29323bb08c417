"""The panel of compiles on the first page: how many graphs are done, what compiles now, and what the charts show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dash import html

from neuron_top.dashboard import compile_figures
from neuron_top.dashboard.components import left_out, stacked_bar, table
from neuron_top.dashboard.explain_panel import graph_link
from neuron_top.units import UNKNOWN, duration_text, percent_text, range_text
from neuron_top.views.cache_lookups import CacheLookup, LookupResult, cache_lookups
from neuron_top.views.counts import graph_parts, graph_words
from neuron_top.views.main_panel import MainPanel, main_panels
from neuron_top.views.model import GraphState, Run
from neuron_top.views.overview import Overview
from neuron_top.views.progress import RunningGraph
from neuron_top.views.timeline import Timeline, folded, whole_timeline

RUNNING_SHOWN = 20
_PART_CLASSES = {
    GraphState.HIT: "hit",
    GraphState.COMPILED: "done",
    GraphState.FAILED: "failed",
    GraphState.CACHED_FAILURE: "failed",
    GraphState.COMPILING: "running",
    GraphState.WAITING: "waiting",
    GraphState.EXTRACTED: "left",
}
"""Style of each part of the bar of graphs."""


class Compiles(NamedTuple):
    """What the charts of compiles show; workers that did the same are one lane."""

    lanes: Timeline
    marks: tuple[CacheLookup, ...]
    """The lookups of these lanes."""
    lookups: tuple[CacheLookup, ...]


def run_compiles(run: Run, now: float) -> Compiles:
    """All of the run."""
    lookups = cache_lookups(run, now)
    return Compiles(*folded(whole_timeline(run, now), lookups), lookups)


def compiles_panel(view: Overview, compiles: Compiles, run: str) -> Any:
    """The bar of graphs and what compiles now; left out where nothing was compiled, which the tiles say."""
    card = view.compile
    others = card.failed, card.cached_failures, card.running, card.waiting, card.extracted, card.interrupted
    if not card.done and not any(others):
        return left_out()
    parts = [(part.word, part.count, _PART_CLASSES[part.state]) for part in graph_parts(card, _PART_CLASSES)]
    words = graph_words(card)
    more = f"; {card.left} left" if card.left else ""
    if card.estimate is not None:
        span = range_text(card.estimate.low, card.estimate.high)
        more += f"; {span} for those that run ({card.estimate.ground})"
    share = f" ({percent_text(card.share)} of the time)" if card.share is not None else ""
    spent = f" Compiling and waiting took {duration_text(card.seconds)}{share}." if card.seconds else ""
    return [
        stacked_bar(parts, total=sum(count for _n, count, _c in parts), label=words),
        html.P(f"{words}{more}.{spent}"),
        _under_way((*card.running, *card.waiting)[:RUNNING_SHOWN], run),
        html.Span(className=_drawn_charts(view, compiles), hidden=True),
    ]


def _under_way(graphs: Sequence[RunningGraph], run: str) -> Any:
    """A line per graph; what is not known of any of them has no column."""
    columns: dict[str, Callable[[RunningGraph], Any]] = {
        "graph": lambda graph: graph_link(graph.key, run),
        "state": lambda graph: graph.state,
        "worker": lambda graph: compile_figures.worker_text(graph.rank, graph.pid),
        "elapsed": lambda graph: duration_text(round(graph.elapsed)) if graph.elapsed is not None else UNKNOWN,
        "time left": lambda graph: range_text(graph.left.low, graph.left.high) if graph.left is not None else UNKNOWN,
    }
    cells = {name: [text(graph) for graph in graphs] for name, text in columns.items()}
    known = {name: column for name, column in cells.items() if set(map(str, column)) != {UNKNOWN}}
    right = [place for place, name in enumerate(known) if name in ("elapsed", "time left")]
    rows = list(zip(*known.values(), strict=True))
    return table(list(known), rows, caption="Graphs being compiled", right=right) if rows else None


def _drawn_charts(view: Overview, compiles: Compiles) -> str:
    """Which charts of compiles say something, as classes for the style sheet: the timeline while it is what matters
    most, the rate once it is no straight line.
    """
    has_timeline = main_panels(view)[0] is MainPanel.TIMELINE and bool(compiles.lanes.lanes)
    varies = len({lookup.kind is LookupResult.HIT for lookup in compiles.lookups}) > 1
    return f"{'timeline' if has_timeline else 'no-timeline'} {'rate' if varies else 'no-rate'}"
