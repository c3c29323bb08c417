"""Runs: the recordings of this user with their labels, the summary of one, and curves of several over one axis."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import overlays
from neuron_top.dashboard.address import OF_ONE_RUN, search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.chart_colors import DARK, ChartColors
from neuron_top.dashboard.components import BLANK, chart, fact_list, left_out, note, panel, table
from neuron_top.dashboard.explain_panel import graph_link
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.grids import RUN_COLUMNS, grid
from neuron_top.dashboard.guard import current_permission, why_not_act
from neuron_top.dashboard.layout import run_of, run_options
from neuron_top.dashboard.overlays import Overlays
from neuron_top.dashboard.page_diff import PageChart, Rows
from neuron_top.dashboard.permissions import LEAST_TO_EXECUTE
from neuron_top.errors import NeuronTopError
from neuron_top.services.runs import RunService
from neuron_top.units import bytes_text, count_text, counted, duration_text, number_text, percent_text
from neuron_top.views.counts import graph_words, hit_rate_text, lookup_words
from neuron_top.views.diagnosis import headline
from neuron_top.views.overlay import MOST_RUNS, OverlaidRun
from neuron_top.views.overview import Overview, overview
from neuron_top.views.runs import RunRow
from neuron_top.views.summary import Summary, summary
from neuron_top.views.welcome import is_idle

PATH, NAME = "runs", "Runs"
OUTPUTS = PageOutputs(
    parts=("runs-note", "runs-report", "runs-summary", "runs-laid", "runs-loss-head", "runs-throughput-head"),
    charts=("runs-loss", "runs-throughput"),
    grids=("runs-grid",),
)
STAR = "star"


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    return html.Div(
        [
            dcc.Store(id="runs-marks", data=None),
            html.Div(id="runs-note", className="full"),
            panel("Recordings", grid("runs-grid", RUN_COLUMNS, "Recordings"), tools=export_links("runs"), wide=True),
            html.Div(
                [
                    html.Div(id="runs-report"),
                    html.Div(id="runs-documents", className="row"),
                    html.Label("Compare with", htmlFor="runs-with", className="visually-hidden"),
                    dcc.Dropdown(
                        id="runs-with",
                        options=[],
                        placeholder="lay over, and compare with …",
                        className="run-picker wide-picker",
                        multi=True,
                    ),
                ],
                className="full row",
            ),
            panel(
                "Over one axis",
                html.P(id="runs-laid", className="quiet"),
                html.Div(
                    [
                        html.Div([html.H3(id=f"runs-{name}-head"), chart(f"runs-{name}", title, overlays.HEIGHT)])
                        for name, title in (("loss", "Loss of several runs"), ("throughput", "Throughput of several"))
                    ],
                    className="grid two",
                ),
                tools=[
                    dcc.RadioItems(
                        {overlays.STEP: "by step", overlays.TIME: "by time"},
                        overlays.STEP,
                        id="runs-axis",
                        inline=True,
                        className="switch",
                    )
                ],
                wide=True,
                extra="overlay",
            ),
            _labels(),
            html.Div(id="runs-summary", className="full", role="status"),
        ],
        className="grid",
    )


def _labels() -> Any:
    """The labels of the chosen recording, to be changed."""
    fields = (
        ("Name", dcc.Input(id="runs-name", type="text", maxLength=80, className="grow")),
        ("Tags", dcc.Input(id="runs-tags", type="text", placeholder="sweep bf16", className="grow")),
        ("Note", dcc.Input(id="runs-text", type="text", maxLength=2000, className="grow")),
    )
    return panel(
        "Labels of the chosen recording",
        dcc.Store(id="runs-labels-of"),
        html.Div(
            [
                *(html.Label([html.Span(name, className="quiet"), field], className="field") for name, field in fields),
                dcc.Checklist({STAR: "starred"}, [], id="runs-star", className="switch"),
                html.Button("Save", id="runs-save", className="plain", n_clicks=0),
                html.Span(id="runs-labeled", role="status", className="quiet"),
            ],
            className="row",
        ),
        wide=True,
        extra="labels",
    )


def render(
    rows: tuple[RunRow, ...],
    run_summary: Summary | None,
    run: str = LIVE,
    laid: list[OverlaidRun] | None = None,
    axis: str = overlays.STEP,
    colors: ChartColors = DARK,
    view: Overview | None = None,
    *,
    chosen: int = 0,
    replayed: bool = False,
    unreadable: str = "",
) -> dict[str, Any]:
    """Every section of the page. `laid`: the runs whose curves are drawn over one axis, of `chosen` ones; `replayed`:
    `run` is played; `unreadable`: why the recordings cannot be listed."""
    laid = laid or []
    nothing = run == LIVE and view is not None and is_idle(view)
    hints = [] if rows else [note("No recording yet. Make one with `neurontop run -- <command>`.")]
    if unreadable:
        hints = [note(unreadable, kind="bad")]
    elif rows and nothing:
        hints = [note("No job runs here. Choose a recording to see its summary.")]
    return {
        "runs-note": hints or None,
        "runs-report": None if nothing else report_link(run),
        "runs-summary": summary_panel(run_summary, run, view, replayed=replayed)
        if run_summary and not nothing
        else None,
        "runs-laid": _laid_words(laid, chosen) if laid else None,
        "runs-loss-head": "Loss" if any(one.loss for one in laid) else None,
        "runs-throughput-head": "Throughput" if any(one.throughput for one in laid) else None,
        "runs-loss": overlays.loss(laid, axis, colors) if laid else PageChart(BLANK),
        "runs-throughput": overlays.throughput(laid, axis, colors) if laid else PageChart(BLANK),
        "runs-grid": Rows([row(one) for one in rows]),
    }


def _laid_words(laid: list[OverlaidRun], chosen: int) -> str:
    count = (
        f"the first {MOST_RUNS} of {chosen} runs"
        if chosen > MOST_RUNS
        else f"{counted(len(laid), 'run')}, at most {MOST_RUNS}"
    )
    return f"{count}: {', '.join(one.title for one in laid)}"


def row(one: RunRow) -> dict[str, Any]:
    """A recording as a row of the grid."""
    return {
        "id": one.id,
        "star": "★" if one.starred else "",
        "run": one.id,
        "name": one.called,
        "tags": " ".join(one.tags),
        "note": one.note,
        "node": one.node,
        "state": one.state_text,
        "reason": one.reason,
        "started": one.started,
        "seconds": one.seconds,
        "graphs": one.graphs,
        "compile_share": one.compile_share,
        "hit_rate": one.hit_rate,
        "events": one.events,
        "bytes": one.bytes,
        "command": " ".join(one.command),
    }


def _compile_time(one: Summary) -> str:
    share = f" ({percent_text(one.compile_share)})" if one.compile_share is not None else ""
    return f"{duration_text(one.compile_seconds)}{share}"


def _waits(one: Summary) -> str:
    longest = f", longest {duration_text(one.longest_wait_seconds)}" if one.longest_wait_seconds is not None else ""
    return f"{count_text(one.lock_waits)}{longest}" if one.lock_waits else "none"


def summary_panel(one: Summary, run: str = LIVE, view: Overview | None = None, *, replayed: bool = False) -> Any:
    """The summary of a run; `replayed`: as it was at the moment that its replay shows."""
    cause = headline(one.diagnosis, over=True)
    pairs = (
        ("reason", cause.text if cause is not None else ""),
        ("command", " ".join(one.command)),
        ("state", one.state_text),
        ("wall time", duration_text(one.wall_seconds)),
        ("compiling and waiting", _compile_time(one)),
        ("graphs", graph_words(view.compile) if view is not None else ""),
        ("lookups", lookup_words(view.cache) if view is not None else ""),
        ("hit rate", hit_rate_text(view.cache) if view is not None else percent_text(one.hit_rate)),
        ("lock waits", _waits(one)),
        ("last step", count_text(one.steps) + (f" of {count_text(one.total_steps)}" if one.total_steps else "")),
        ("loss", number_text(one.loss)),
        ("throughput", f"{number_text(one.throughput, 3)} {one.throughput_unit}" if one.throughput is not None else ""),
        ("log lines", f"{counted(one.errors, 'error')}, {counted(one.warnings, 'warning')}"),
    )
    slow = [
        (graph_link(graph.key, run), duration_text(graph.seconds), bytes_text(graph.peak_rss_bytes))
        for graph in one.slowest
    ]
    content = [fact_list(pairs)]
    if slow:
        content.append(
            table(("slowest graphs", "took", "compiler's memory"), slow, caption="Slowest graphs", right=(1, 2))
        )
    title = one.called or "This run"
    return panel(f"{title}, at this moment of the replay" if replayed else title, *content, wide=True)


def report_link(run: str) -> Any:
    """The way to the full report of a run."""
    return html.A("Full report", href=f"report?{urlencode({'run': run})}", className="plain", target="_blank")


def comparison_link(prefix: str, run: str, others: list[str]) -> Any:
    """The way to the comparison of a run with others."""
    asked = [("a", run), *(("b", run_of(other)) for other in others)]
    words = "Compare with it" if len(others) == 1 else f"Compare all {len(asked)}"
    if len(asked) > MOST_RUNS:
        words = f"Compare the first {MOST_RUNS} of {len(asked)}"
    if not others:
        return note("Choose further runs to lay their curves over this one's and to compare.")
    return html.A(words, href=f"{prefix}comparison?{urlencode(asked)}", className="plain", target="_blank")


def others_of(state: dict[str, str]) -> list[str]:
    """The runs that the address names beside the chosen one, which is not compared with itself."""
    chosen = state.get("run", LIVE)
    return [name for name in state.get("with", "").split(",") if name and run_of(name) != chosen]


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    laid_over = Overlays(feeds)

    async def answer(asked: PageRequest) -> dict[str, Any]:
        await feeds.opened(asked.run)
        others = others_of(asked.state)
        names = list(dict.fromkeys([asked.run, *map(run_of, others)])) if others else []
        laid = await asyncio.to_thread(laid_over.read, names) if names else []
        one, view = await asyncio.to_thread(
            lambda: (feeds.cached_view(asked.run, summary), feeds.cached_view(asked.run, overview))
        )
        played = feeds.is_replay and asked.run == LIVE
        try:
            recordings, unreadable = await asyncio.to_thread(feeds.listed_recordings), ""
        except NeuronTopError as problem:
            recordings, unreadable = (), str(problem)
        axis, colors = asked.values[0], asked.colors
        return render(
            recordings,
            one,
            asked.run,
            laid,
            axis,
            colors,
            view,
            chosen=len(names),
            replayed=played,
            unreadable=unreadable,
        )

    bind(app, "runs", OUTPUTS, answer, [Input("runs-axis", "value")])

    @app.callback(
        Output("runs-documents", "children"),
        Output("runs-with", "options"),
        Output("runs-with", "value"),
        Input("url", "search"),
        State("prefix", "data"),
    )
    async def documents(search: str, prefix: str) -> Any:
        state, rows = state_of(search), await asyncio.to_thread(feeds.recordings)
        others, run = others_of(state), state.get("run", LIVE)
        options = [option for option in run_options(rows, live=feeds.live_name) if run_of(option["value"]) != run]
        return comparison_link(prefix, run, others), options, others

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("runs-with", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def compare_with(chosen: list[str] | None, search: str) -> Any:
        named = ",".join(chosen or [])
        same = named == state_of(search).get("with", "")
        return no_update if same else search_with(search, **{"with": named})

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("runs-grid", "selectedRows"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(chosen: list[dict[str, Any]] | None, search: str) -> Any:
        run = str(chosen[0].get("id")) if chosen else state_of(search).get("run", LIVE)
        return no_update if run == state_of(search).get("run", LIVE) else search_with(search, run=run, **OF_ONE_RUN)

    _register_labels(app, feeds)


def _register_labels(app: Dash, feeds: FeedRegistry) -> None:
    """The fields of the chosen recording's labels, and what saves them."""

    @app.callback(
        Output("runs-labels-of", "data"),
        Output("runs-name", "value"),
        Output("runs-tags", "value"),
        Output("runs-text", "value"),
        Output("runs-star", "value"),
        Output("runs-save", "disabled"),
        Output("runs-save", "title"),
        Output("runs-labeled", "children", allow_duplicate=True),
        Input("url", "search"),
        State("runs-labels-of", "data"),
        prevent_initial_call="initial_duplicate",
    )
    async def fill(search: str, filled: str | None) -> Any:
        run = state_of(search).get("run", LIVE)
        if run == filled:
            return [no_update] * 8
        one = next((row for row in await asyncio.to_thread(feeds.recordings) if row.id == run), None)
        may = current_permission.get() >= LEAST_TO_EXECUTE
        if one is None:
            return [run, "", "", "", [], True, "", left_out()]
        words = "" if may else why_not_act("to change them")
        return [run, one.name, " ".join(one.tags), one.note, [STAR] if one.starred else [], not may, words, words]

    @app.callback(
        Output("runs-labeled", "children"),  # permissions.py asks for the act token by this name
        Output("pulse", "data", allow_duplicate=True),
        Input("runs-save", "n_clicks"),
        State("runs-name", "value"),
        State("runs-tags", "value"),
        State("runs-text", "value"),
        State("runs-star", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def save(
        clicks: int, name: str | None, tags: str | None, text: str | None, star: list[str] | None, search: str
    ) -> Any:
        run = state_of(search).get("run", LIVE)
        one = next((row for row in await asyncio.to_thread(feeds.recordings) if row.id == run), None)
        if not clicks or one is None:
            return no_update, no_update
        wanted = (tags or "").replace(",", " ").split()
        try:
            await asyncio.to_thread(
                RunService(feeds.settings).label,
                run,
                new_name=name if name != one.name else None,
                note=text or "",
                starred=STAR in (star or []),
                add_tags=wanted,
                remove_tags=[tag for tag in one.tags if tag not in wanted],
            )
        except NeuronTopError as problem:
            return f"Not saved: {problem}", no_update
        feeds.list_again()
        return "Saved.", time.time()
