"""Compile: who compiled what when, every graph in a grid, what it cost over time, and one graph in full."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import compile_figures as figures
from neuron_top.dashboard.address import hold, search_with
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import chart, fact_list, panel, sentences, table, term
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.grids import GRAPH_COLUMNS, grid
from neuron_top.dashboard.page_diff import PageChart, Rows, marked
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.dashboard.view_cache import CHART_REST, FRESH_SECONDS
from neuron_top.units import count_text, duration_text
from neuron_top.views.cache_lookups import CacheLookup, cache_lookups
from neuron_top.views.counts import GRAPH_FAILED, graph_words, hit_rate_text, lookup_words
from neuron_top.views.graphs import GraphRow, GraphTable, graph_table
from neuron_top.views.model import GraphState, Run
from neuron_top.views.progress import CacheCard, cache_card
from neuron_top.views.timeline import Timeline, folded, whole_timeline
from neuron_top.views.torch_trace import (
    FrameRow,
    FrameState,
    TorchView,
    added_up_words,
    cache_name,
    cache_words,
    nth_text,
    summary_words,
    torch_view,
)
from neuron_top.views.welcome import NO_GRAPH, NO_GRAPH_YET

PATH, NAME = "compile", "Compile"
FOLDED = "folded"
FOLDED_FROM = 8
"""Workers from which on those that did the same are one lane; with fewer there is nothing to choose."""
ORDERS = ("active", "slowest", "largest")
_ACTIVE = (GraphState.COMPILING, GraphState.WAITING, *GRAPH_FAILED)
"""What stands first in the order `active`."""
OUTPUTS = PageOutputs(
    parts=("compile-summary", "compile-few", "compile-torch"),
    charts=("compile-timeline", "compile-cumulative", "compile-spread", "compile-rate"),
    grids=("compile-grid",),
)


def layout(state: dict[str, str]) -> Any:
    """The page without its numbers."""
    first = state.get("order", ORDERS[0])
    order = dcc.RadioItems(list(ORDERS), first, id="compile-order", inline=True, className="switch")
    return html.Div(
        [
            dcc.Store(id="compile-marks", data=None),
            html.Div(html.P(id="compile-summary"), className="full"),
            panel(
                "Compiles by worker",
                html.Div(id="compile-few", hidden=True),
                chart("compile-timeline", "Compiles, waits and hits by worker", 120),
                tools=[dcc.Checklist({FOLDED: "fold ranks alike"}, [FOLDED], id="compile-fold", className="switch")],
                wide=True,
            ),
            panel(
                "Graphs",
                html.Div(
                    [
                        html.Label("Search the graphs", htmlFor="compile-search", className="visually-hidden"),
                        dcc.Input(
                            id="compile-search",
                            type="search",
                            value=state.get("q", ""),
                            placeholder="name, state, failure",
                            className="grow",
                        ),
                        html.Span([html.Span("first", className="quiet"), order], className="together"),
                    ],
                    className="row",
                ),
                grid("compile-grid", GRAPH_COLUMNS, "Graphs"),
                tools=export_links("graphs"),
                wide=True,
            ),
            panel("Cumulative compile time", chart("compile-cumulative", "Cumulative compile time", 220)),
            panel("Compile durations", chart("compile-spread", "Distribution of compile durations", 220)),
            panel("Hits and misses over time", chart("compile-rate", "Hits and misses over time", 240)),
            html.Div(id="compile-torch", className="full"),
        ],
        className="grid",
    )


def render(
    graphs: GraphTable,
    lanes: Timeline,
    lookups: tuple[CacheLookup, ...],
    cache: CacheCard,
    colors: ChartColors,
    frames: TorchView | None = None,
    *,
    is_folded: bool = True,
) -> dict[str, Any]:
    """Every section of the page."""
    drawn, marks = lanes, lookups
    are_many = len({*(lane.worker for lane in lanes.lanes), *(lookup.worker for lookup in lookups)}) > FOLDED_FROM
    if is_folded and are_many:
        drawn, marks = folded(lanes, lookups)
    return {
        "compile-summary": _summary(graphs, cache, frames),
        "compile-few": _marker(
            is_empty=not (graphs.rows or lanes.lanes or lookups), has_graphs=bool(graphs.rows), are_many=are_many
        ),
        "compile-torch": torch_section(frames),
        "compile-timeline": figures.lanes(drawn, marks, colors),
        "compile-cumulative": PageChart(figures.cumulative(lanes, lookups, colors)),
        "compile-spread": PageChart(figures.spread(graphs.rows, colors)),
        "compile-rate": PageChart(figures.rate(lookups, colors, view=lanes)),
        "compile-grid": Rows([{**row(one), **_placed(one)} for one in graphs.rows]),
    }


def _marker(*, is_empty: bool, has_graphs: bool, are_many: bool) -> Any:
    """Classes that tell the style sheet whether all panels are empty, or that of graphs alone, and if ranks fold."""
    if is_empty:
        return html.Span(className="no-compiles")
    names = (("no-graphs", not has_graphs), ("few-workers", not are_many))
    classes = " ".join(name for name, holds in names if holds)
    return html.Span(className=classes) if classes else None


def _placed(one: GraphRow) -> dict[str, Any]:
    """The fields that only the grid shows: the row's order, and which workers met the graph, in short."""
    group = _ACTIVE.index(one.state) if one.state in _ACTIVE else len(_ACTIVE)
    return {"active": group + 1 / (1 + max(0.0, one.elapsed or one.seconds or 0.0)), "who": worker_words(one)}


def worker_words(one: GraphRow) -> str:
    """Which workers met a graph: its ranks or their count; without ranks its process, or the count of processes."""
    ranks = one.ranks
    if not ranks and one.workers > 1:
        return f"{one.workers} processes"
    if len(ranks) < 2:
        return figures.worker_text(ranks[0] if ranks else None, one.pid)
    in_a_row = ranks[-1] - ranks[0] == len(ranks) - 1
    return f"ranks {ranks[0]}–{ranks[-1]}" if in_a_row else f"{len(ranks)} ranks"


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
        "lookups": one.hits + one.misses + one.cached_failures,
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


def _summary(graphs: GraphTable, cache: CacheCard, frames: TorchView | None) -> Any:
    card = graphs.card
    if not card.total and frames is not None:
        return f"No graph of the compile cache. Compiled by PyTorch itself: {summary_words(frames.summary)}; see below."
    if not card.total:
        return sentences(NO_GRAPH if card.over else NO_GRAPH_YET)
    return [
        term("graph", graph_words(card)),
        " · ",
        term("lookup", lookup_words(cache)),
        " · ",
        term("hit rate", f"hit rate {hit_rate_text(cache)}"),
        f" · {duration_text(card.seconds)} of wall time went into compiling and waiting."
        if card.seconds is not None
        else " · how much wall time went into compiling and waiting is not known: no line dates it.",
    ]


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    answers = SharedAnswers[dict[str, Any]](FRESH_SECONDS)

    async def answer(asked: PageRequest) -> dict[str, Any]:
        await feeds.opened(asked.run)  # refuses who may not see it, before an answer that is shared
        (folds,) = asked.values
        is_folded = FOLDED in (folds or [])
        question = (asked.run, asked.colors.name, is_folded)
        drawn = partial(sections, asked.run, asked.colors, is_folded=is_folded)
        return await answers.get(question, lambda: marked(drawn()), feeds.version(asked.run))

    def sections(run: str, colors: ChartColors, *, is_folded: bool) -> dict[str, Any]:
        """In a thread: thousands of graphs take longer to draw than a browser of another page should wait."""
        graphs, lanes, lookups, frames = (
            feeds.cached_view(run, graph_table),
            feeds.cached_view(run, whole_timeline),
            feeds.cached_view(run, cache_lookups, CHART_REST),
            feeds.cached_view(run, torch_view),
        )
        return render(graphs, lanes, lookups, feeds.cached_view(run, _cache), colors, frames, is_folded=is_folded)

    bind(app, "compile", OUTPUTS, answer, [Input("compile-fold", "value")])
    hold(app, "compile-search", "compile-order")
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "orderGraphs"),
        Output("compile-order", "className"),
        Input("compile-order", "value"),
    )
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "searchGraphs"),
        Output("compile-search", "className"),
        Input("compile-search", "value"),
    )

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("compile-grid", "selectedRows"),
        Input("compile-grid", "cellClicked"),
        Input("compile-timeline", "clickData"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(
        chosen: list[dict[str, Any]] | None, cell: dict[str, Any] | None, click: dict[str, Any] | None, search: str
    ) -> Any:
        from dash import ctx

        if ctx.triggered_id == "compile-timeline":
            key = ((click or {}).get("points") or [{}])[0].get("customdata")
        elif cell and ctx.triggered_prop_ids.get("compile-grid.cellClicked"):
            key = cell.get("rowId")
        else:
            key = chosen[0].get("id") if chosen else None
        return search_with(search, graph=key) if isinstance(key, str) and key else no_update


def _cache(run: Run, _now: float) -> CacheCard:
    return cache_card(run)


FRAMES_SHOWN = 100


def torch_section(view: TorchView | None) -> Any:
    """The panel; nothing where no process wrote a trace."""
    if view is None:
        return None
    running_first = sorted(view.frames, key=lambda row: (row.state is not FrameState.COMPILING, -(row.began or 0.0)))
    breaks = [(count_text(row.times), html.Code(row.place), row.reason) for row in view.breaks[:FRAMES_SHOWN]]
    phases = [
        (row.meaning, html.Code(row.phase), count_text(row.times), duration_text(row.seconds)) for row in view.phases
    ]
    return panel(
        "torch.compile",
        html.P(added_up_words(view.summary)),
        fact_list([(cache_name(row.cache), cache_words(row)) for row in view.summary.caches])
        if view.summary.caches
        else None,
        _frames(_alike(running_first)[:FRAMES_SHOWN]),
        html.H3("Graph breaks") if breaks else None,
        table(("times", "place", "reason"), breaks, caption="Graph breaks", right=(0,)) if breaks else None,
        html.H3("Phases (nested, so they do not add up)") if phases else None,
        table(
            ("phase", "PyTorch's name", "times", "took"), phases, caption="Phases; they nest", right=(2, 3), minor=(1,)
        )
        if phases
        else None,
        wide=True,
    )


def _alike(rows: Sequence[FrameRow]) -> list[list[FrameRow]]:
    """Compiles of one frame with one outcome in several processes, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[FrameRow]] = {}
    for row in rows:
        same = (row.compile_id, row.function, row.place, row.state, row.backend, row.step, row.fx, row.aot)
        groups.setdefault((*same, row.failure, row.recompiled), []).append(row)
    return list(groups.values())


def _frames(groups: Sequence[Sequence[FrameRow]]) -> Any:
    """A row per group of compiles; a column that is empty in every row is left out."""
    columns: dict[str, list[Any]] = {
        "function": [html.Code(rows[0].function) for rows in groups],
        "compile": [nth_text(rows[0].compile_id) for rows in groups],
        "ranks": [_processes(rows) for rows in groups],
        "place": [html.Code(rows[0].place) if rows[0].place else "" for rows in groups],
        "state": [rows[0].state for rows in groups],
        "back end": [rows[0].backend for rows in groups],
        "took": [_took(rows) for rows in groups],
        "at step": [count_text(rows[0].step) if rows[0].step is not None else "" for rows in groups],
        "Inductor's cache": [rows[0].fx for rows in groups],
        "AOTAutograd's cache": [rows[0].aot for rows in groups],
        "why recompiled, or given up": [rows[0].failure or "; ".join(rows[0].recompiled) for rows in groups],
        "PyTorch's id": [html.Code(rows[0].compile_id) for rows in groups],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    right = [place for place, name in enumerate(shown) if name in ("took", "at step")]
    minor = [place for place, name in enumerate(shown) if name in ("place", "PyTorch's id")]
    rows = [[cell or "—" for cell in row] for row in zip(*shown.values(), strict=True)]
    return table(list(shown), rows, caption="Compiled frames, the newest first", right=right, minor=minor)


def _processes(rows: Sequence[FrameRow]) -> str:
    """The ranks that compiled a frame, or the number of processes whose ranks are not known."""
    ranks = sorted({row.rank for row in rows if row.rank is not None})
    if not ranks:
        return f"{len(rows)} processes" if len(rows) > 1 else ""
    in_a_row = ranks[-1] - ranks[0] == len(ranks) - 1
    return str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]}–{ranks[-1]}" if in_a_row else f"{len(ranks)} ranks"


def _took(rows: Sequence[FrameRow]) -> str:
    seconds = [row.seconds for row in rows if row.seconds is not None]
    if not seconds:
        return ""
    low, high = duration_text(min(seconds)), duration_text(max(seconds))
    return low if low == high else f"{low} – {high}"
