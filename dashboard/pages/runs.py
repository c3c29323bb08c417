"""Runs: the recordings of this user, and what one of them came to."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.address import search_with
from neuron_top.dashboard.binding import Asked, Slots, bind
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.grids import RUN_COLUMNS, grid
from neuron_top.dashboard.hub import Hub
from neuron_top.dashboard.parts import facts, note, panel, table
from neuron_top.dashboard.sections import Rows
from neuron_top.units import bytes_text, count_text, duration_text, number_text, percent_text
from neuron_top.views.runs import RunRow
from neuron_top.views.summary import Summary, summary

PATH, NAME = "runs", "Runs"
SLOTS = Slots(parts=("runs-note", "runs-summary"), grids=("runs-grid",))


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    return html.Div(
        [
            dcc.Store(id="runs-known", data=None),
            html.Div(id="runs-note", className="full"),
            panel("Recordings", grid("runs-grid", RUN_COLUMNS, "Recordings"), tools=export_links("runs"), wide=True),
            html.Div(id="runs-summary", className="full", role="status"),
        ],
        className="grid",
    )


def render(rows: tuple[RunRow, ...], closing: Summary | None) -> dict[str, Any]:
    """Every section of the page."""
    hint = "Nothing was recorded yet. `neurontop run -- <command>` makes the first recording."
    return {
        "runs-note": None if rows else note(hint),
        "runs-summary": summary_panel(closing) if closing is not None else None,
        "runs-grid": Rows([row(one) for one in rows]),
    }


def row(one: RunRow) -> dict[str, Any]:
    """A recording as a row of the grid."""
    return {
        "id": one.id, "run": one.id, "name": one.name, "node": one.node, "state": one.state, "started": one.started,
        "seconds": round(one.seconds, 1) if one.seconds is not None else None, "graphs": one.graphs,
        "compile_share": one.compile_share, "hit_rate": one.hit_rate, "events": one.events, "bytes": one.bytes,
        "command": " ".join(one.command),
    }  # fmt: skip


def summary_panel(one: Summary) -> Any:
    """What a run came to."""
    pairs = (
        ("command", " ".join(one.command)), ("state", one.state), ("wall time", duration_text(one.wall_seconds)),
        ("compiling and waiting", f"{duration_text(one.compile_seconds)} ({percent_text(one.compile_share)})"),
        ("graphs", f"{one.graphs}: {one.graphs_hit} hit, {one.graphs_missed} compiled, {one.graphs_failed} failed"),
        ("hit rate", percent_text(one.hit_rate)),
        ("lock waits", f"{one.lock_waits}, longest {duration_text(one.longest_wait_seconds)}"),
        ("steps", f"{count_text(one.steps)} of {count_text(one.total_steps)}"), ("loss", number_text(one.loss)),
        ("throughput", f"{number_text(one.throughput, 3)} {one.throughput_unit}"),
        ("errors, warnings", f"{one.errors}, {one.warnings}"),
    )  # fmt: skip
    slow = [
        (html.Code(graph.key), duration_text(graph.seconds), bytes_text(graph.peak_rss_bytes)) for graph in one.slowest
    ]
    content = [facts(pairs)]
    if slow:
        content.append(table(("slowest graphs", "took", "peak memory"), slow, caption="Slowest graphs", right=(1, 2)))
    return panel(one.name or one.run or "This run", *content, wide=True)


def register(app: Dash, hub: Hub) -> None:
    """Bind the page to its data."""

    def answer(asked: Asked) -> dict[str, Any]:
        return render(hub.rows(), hub.kept(asked.run, summary))

    bind(app, "runs", SLOTS, answer)

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("runs-grid", "selectedRows"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(chosen: list[dict[str, Any]] | None, search: str) -> Any:
        return search_with(search, run=str(chosen[0].get("id")), core=None, graph=None) if chosen else no_update
