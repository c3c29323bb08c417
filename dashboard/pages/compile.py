"""Compile: who compiled what when, every graph in a grid, what it cost over time, and one graph in full."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import compile_figures as figures
from neuron_top.dashboard.address import search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import chart, fact_list, note, panel, table
from neuron_top.dashboard.explain_panel import explanation_panel
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.grids import GRAPH_COLUMNS, grid
from neuron_top.dashboard.page_diff import PageChart, Rows
from neuron_top.dashboard.torch_frames import torch_section
from neuron_top.errors import NeuronTopError
from neuron_top.services.graphs import operators_of
from neuron_top.services.misses import MissService
from neuron_top.units import bytes_text, count_text, counted, duration_text
from neuron_top.views.cache_lookups import CacheLookup, cache_lookups
from neuron_top.views.graphs import GraphPage, GraphRow, GraphTable, graph_page, graph_table
from neuron_top.views.miss_explanation import MissExplanation, question, roots
from neuron_top.views.model import LineRef, Run
from neuron_top.views.operators import Operators
from neuron_top.views.timeline import Timeline, whole_timeline
from neuron_top.views.torch_trace import TorchView, summary_words, torch_view

PATH, NAME = "compile", "Compile"
LINES_SHOWN = 20
INPUTS_SHOWN = 12
OUTPUTS = PageOutputs(
    parts=("compile-summary", "compile-graph", "compile-torch"),
    charts=("compile-timeline", "compile-cumulative", "compile-spread", "compile-rate"),
    grids=("compile-grid",),
)


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    return html.Div(
        [
            dcc.Store(id="compile-marks", data=None),
            html.Div(html.P(id="compile-summary"), className="full"),
            panel(
                "Compiles by worker",
                chart("compile-timeline", "Compiles, waits and hits by worker", 120),
                wide=True,
            ),
            html.Div(id="compile-graph", className="full", role="status"),
            html.Div(
                [html.P(id="compile-busy", className="quiet", role="status"), html.Div(id="compile-depth")],
                className="full",
            ),
            html.Div(id="compile-torch", className="full"),
            panel("Graphs", grid("compile-grid", GRAPH_COLUMNS, "Graphs"), tools=export_links("graphs"), wide=True),
            panel("Cumulative compile time", chart("compile-cumulative", "Cumulative compile time", 220)),
            panel("Compile durations", chart("compile-spread", "Distribution of compile durations", 220)),
            panel("Hits and misses over time", chart("compile-rate", "Hits and misses over time", 220)),
        ],
        className="grid",
    )


def render(
    graphs: GraphTable,
    lanes: Timeline,
    lookups: tuple[CacheLookup, ...],
    page: GraphPage | None,
    lines: list[str],
    colors: ChartColors,
    frames: TorchView | None = None,
) -> dict[str, Any]:
    """Every section of the page."""
    return {
        "compile-summary": _summary(graphs, frames),
        "compile-graph": _graph(page, lines) if page is not None else None,
        "compile-torch": torch_section(frames),
        "compile-timeline": figures.lanes(lanes, lookups, colors),
        "compile-cumulative": PageChart(figures.cumulative(lanes, colors)),
        "compile-spread": PageChart(figures.spread(graphs.rows, colors)),
        "compile-rate": PageChart(figures.rate(lookups, colors)),
        "compile-grid": Rows([row(one) for one in graphs.rows]),
    }


def row(one: GraphRow) -> dict[str, Any]:
    """A graph as a row of the grid: plain numbers, which sort as numbers."""
    return {
        "id": one.key,
        "graph": one.key,
        "state": one.state,
        "seconds": one.seconds,
        "precision": str(one.precision.value),
        "elapsed": round(one.elapsed) if one.elapsed else None,
        "left": round(one.left.high) if one.left is not None else None,
        "rank": one.rank,
        "workers": one.workers,
        "hits": one.hits,
        "misses": one.misses,
        "failures": one.failures,
        "wait": one.wait_seconds,
        "bytes": one.artifact_bytes,
        "operators": one.operators,
        "compiler": one.compiler or "",
        "direction": one.direction,
        "message": one.message,
    }


def _summary(graphs: GraphTable, frames: TorchView | None) -> Any:
    card = graphs.card
    if not card.total and frames is not None:
        return f"No graph of the compile cache. Compiled by PyTorch itself: {summary_words(frames.summary)}; see below."
    if not card.total:
        return note("No graph yet. Start a job with `neurontop run`, or name its log when you start the server.")
    return (
        f"{counted(card.total, 'graph')}: {card.hit} from the cache, {card.done} compiled, {card.failed} failed, "
        f"{card.cached_failures} cached failures, {len(card.running)} compiling, {len(card.waiting)} waiting. "
        f"{duration_text(card.seconds)} of wall time went into compiling and waiting."
    )


def _graph(page: GraphPage, lines: list[str]) -> Any:
    one = page.row
    pairs = (
        ("state", one.state),
        ("compile time", f"{duration_text(one.seconds)} ({one.precision.value})"),
        ("compiler", one.compiler or "—"),
        ("flags", " ".join(page.flags) or "—"),
        ("inputs", "  ".join(page.inputs) or "—"),
        ("operators", count_text(one.operators)),
        ("graph, artifact", f"{bytes_text(one.graph_bytes)}, {bytes_text(one.artifact_bytes)}"),
        ("cache entry", f"{page.cache_state or 'not seen by the catalog'} in {page.cache_root or '—'}"),
        ("ranks", ", ".join(map(str, one.ranks)) or "—"),
        ("missing on the hub", ", ".join(page.hub_missing)),
    )
    attempts = [
        (
            "—" if a.rank is None else a.rank,
            a.outcome or "running",
            duration_text(a.seconds),
            a.code or "—",
            bytes_text(a.peak_rss_bytes),
            a.cause or "—",
        )
        for a in page.attempts
    ]
    content = [fact_list(pairs)]
    if page.message:
        content += [
            html.H3("Failure"),
            html.Pre(page.message[:4000], className="log"),
            note(page.advice, kind="warn"),
        ]
    if attempts:
        head = ("rank", "outcome", "took", "code", "peak memory", "cause")
        content.append(table(head, attempts, caption="Compiles of this graph", right=(0, 2, 4)))
    content.append(html.H3("Log lines"))
    content.append(html.Pre("\n".join(lines), className="log") if lines else note("No log line of this graph is kept."))
    return panel(one.key, *content, tools=[html.Button("Close", id="compile-close", className="plain")], wide=True)


def _lines(feeds: FeedRegistry, run: str, places: tuple[LineRef, ...]) -> list[str]:
    wanted = [(place.source, place.offset) for place in places[-LINES_SHOWN:]]
    return [line.text for line in feeds.feed(run).log_lines(wanted)]


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    def answer(asked: PageRequest) -> dict[str, Any]:
        key = asked.state.get("graph", "")

        def one(run: Run, now: float) -> GraphPage | None:
            return graph_page(run, now, key)

        page = feeds.read(asked.run, one) if key else None
        graphs, lanes, lookups, frames = (
            feeds.cached_view(asked.run, graph_table),
            feeds.cached_view(asked.run, whole_timeline),
            feeds.cached_view(asked.run, cache_lookups),
            feeds.cached_view(asked.run, torch_view),
        )
        lines = _lines(feeds, asked.run, page.lines) if page is not None else []
        return render(graphs, lanes, lookups, page, lines, asked.colors, frames)

    bind(app, "compile", OUTPUTS, answer)

    _register_cache_details(app, feeds)

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("compile-grid", "selectedRows"),
        Input("compile-timeline", "clickData"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(chosen: list[dict[str, Any]] | None, click: dict[str, Any] | None, search: str) -> Any:
        from dash import ctx

        if ctx.triggered_id == "compile-timeline":
            key = ((click or {}).get("points") or [{}])[0].get("customdata")
        else:
            key = chosen[0].get("id") if chosen else None
        return search_with(search, graph=key) if isinstance(key, str) and key else no_update

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("compile-close", "n_clicks"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def close(clicks: int | None, search: str) -> Any:
        return search_with(search, graph=None) if clicks else no_update


def cache_details(reasons: MissExplanation | None, made_of: Operators | None) -> Any:
    """What the cache tells of a graph: why it missed, and the operators it is made of."""
    parts = []
    if reasons is not None:
        parts.append(explanation_panel(reasons))
    if made_of is not None:
        kinds = [(html.Code(row.name), count_text(row.count), html.Code("  ".join(row.shapes))) for row in made_of.rows]
        shown = f"{count_text(made_of.total)} operators of {len(kinds)} kinds, read from {made_of.place}"
        words = f"{shown}; inputs {'  '.join(made_of.inputs[:INPUTS_SHOWN])}" if made_of.inputs else shown
        head = ("operator", "count", "commonest results")
        parts.append(panel("Operators", html.P(words), table(head, kinds, caption="Operators", right=(1,))))
    return html.Div(parts, className="grid two") if parts else note("No cache on this machine has this graph.")


def _register_cache_details(app: Dash, feeds: FeedRegistry) -> None:
    """What has to be read from a cache: asked once when a graph is chosen, in a thread."""

    @app.callback(
        Output("compile-depth", "children"),
        Input("url", "search"),
        running=[(Output("compile-busy", "children"), "Reading the cache …", "")],
    )
    async def look(search: str) -> Any:
        state = state_of(search)
        key, run = state.get("graph", ""), state.get("run", "")
        if not key:
            return None
        try:
            asked = feeds.read(run, partial(question, key=key))
            named = feeds.read(run, _roots)
            page = feeds.read(run, partial(graph_page, key=key))
        except NeuronTopError as problem:
            return note(str(problem), kind="bad")
        if page is None or page.row.module is None:
            return (
                note("The logs do not name this graph's module, so no cache can be searched for it.")
                if page is not None
                else None
            )
        reasons = await asyncio.to_thread(MissService(feeds.settings).why, asked) if asked is not None else None
        return cache_details(reasons, await asyncio.to_thread(operators_of, feeds.settings, page.row.module, named))


def _roots(run: Run, _now: float) -> tuple[str, ...]:
    return roots(run)
