"""Runs: the recordings of this user, and the summary of one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.address import search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.components import fact_list, note, panel, table
from neuron_top.dashboard.explain_panel import graph_link
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.grids import RUN_COLUMNS, grid
from neuron_top.dashboard.layout import run_options
from neuron_top.dashboard.page_diff import Rows
from neuron_top.units import bytes_text, count_text, duration_text, number_text, percent_text
from neuron_top.views.diagnosis import headline
from neuron_top.views.runs import RunRow
from neuron_top.views.summary import Summary, summary

PATH, NAME = "runs", "Runs"
OUTPUTS = PageOutputs(parts=("runs-note", "runs-summary"), grids=("runs-grid",))


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    return html.Div(
        [
            dcc.Store(id="runs-marks", data=None),
            html.Div(id="runs-note", className="full"),
            panel("Recordings", grid("runs-grid", RUN_COLUMNS, "Recordings"), tools=export_links("runs"), wide=True),
            html.Div(
                [
                    html.Div(id="runs-documents", className="row"),
                    html.Label("Compare with", htmlFor="runs-with", className="visually-hidden"),
                    dcc.Dropdown(id="runs-with", options=[], placeholder="compare with …", className="run-picker"),
                ],
                className="full row",
            ),
            html.Div(id="runs-summary", className="full", role="status"),
        ],
        className="grid",
    )


def render(rows: tuple[RunRow, ...], run_summary: Summary | None, run: str = LIVE) -> dict[str, Any]:
    """Every section of the page."""
    hint = "No recording yet. Make one with `neurontop run -- <command>`."
    return {
        "runs-note": None if rows else note(hint),
        "runs-summary": summary_panel(run_summary, run) if run_summary is not None else None,
        "runs-grid": Rows([row(one) for one in rows]),
    }


def row(one: RunRow) -> dict[str, Any]:
    """A recording as a row of the grid."""
    return {
        "id": one.id,
        "run": one.id,
        "name": one.name,
        "node": one.node,
        "state": one.state_text,
        "started": one.started,
        "seconds": round(one.seconds, 1) if one.seconds is not None else None,
        "graphs": one.graphs,
        "compile_share": one.compile_share,
        "hit_rate": one.hit_rate,
        "events": one.events,
        "bytes": one.bytes,
        "command": " ".join(one.command),
    }


def summary_panel(one: Summary, run: str = LIVE) -> Any:
    """The summary of a run."""
    told = headline(one.diagnosis, over=True)
    pairs = (
        ("reason", told.text if told is not None else ""),
        ("command", " ".join(one.command)),
        ("state", one.state_text),
        ("wall time", duration_text(one.wall_seconds)),
        ("compiling and waiting", f"{duration_text(one.compile_seconds)} ({percent_text(one.compile_share)})"),
        ("graphs", f"{one.graphs}: {one.graphs_hit} hit, {one.graphs_missed} compiled, {one.graphs_failed} failed"),
        ("hit rate", percent_text(one.hit_rate)),
        ("lock waits", f"{one.lock_waits}, longest {duration_text(one.longest_wait_seconds)}"),
        ("steps", count_text(one.steps) + (f" of {count_text(one.total_steps)}" if one.total_steps else "")),
        ("loss", number_text(one.loss)),
        ("throughput", f"{number_text(one.throughput, 3)} {one.throughput_unit}"),
        ("errors, warnings", f"{one.errors}, {one.warnings}"),
    )
    slow = [
        (graph_link(graph.key, run), duration_text(graph.seconds), bytes_text(graph.peak_rss_bytes))
        for graph in one.slowest
    ]
    content = [fact_list(pairs)]
    if slow:
        content.append(table(("slowest graphs", "took", "peak memory"), slow, caption="Slowest graphs", right=(1, 2)))
    return panel(one.name or one.run or "This run", *content, wide=True)


def document_links(prefix: str, run: str, other: str | None) -> Any:
    """The ways to the full report of a run, and to its comparison with another."""
    compared = (
        html.A(
            "Compare with it",
            href=f"{prefix}comparison?{urlencode({'a': run, 'b': _id(other)})}",
            className="plain",
            target="_blank",
        )
        if other is not None
        else note("Choose a second run to compare with.")
    )
    return [
        html.A("Full report", href=f"{prefix}report?{urlencode({'run': run})}", className="plain", target="_blank"),
        compared,
    ]


def _id(value: str) -> str:
    return "" if value == "live" else value


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    def answer(asked: PageRequest) -> dict[str, Any]:
        return render(feeds.recordings(), feeds.cached_view(asked.run, summary), asked.run)

    bind(app, "runs", OUTPUTS, answer)

    @app.callback(
        Output("runs-documents", "children"),
        Output("runs-with", "options"),
        Output("runs-with", "value"),
        Input("url", "search"),
        State("prefix", "data"),
    )
    async def documents(search: str, prefix: str) -> Any:
        state, rows = state_of(search), feeds.recordings()
        return document_links(prefix, state.get("run", LIVE), state.get("with")), run_options(rows), state.get("with")

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("runs-with", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def compare_with(chosen: str | None, search: str) -> Any:
        same = (chosen or "") == state_of(search).get("with", "")
        return no_update if same else search_with(search, **{"with": chosen})

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("runs-grid", "selectedRows"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(chosen: list[dict[str, Any]] | None, search: str) -> Any:
        return search_with(search, run=str(chosen[0].get("id")), core=None, graph=None) if chosen else no_update
