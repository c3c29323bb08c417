"""The newest lines of the log beside the overview on a wall screen; a narrower window never requests them."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.address import state_of
from neuron_top.dashboard.components import attributes, panel
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.errors import NeuronTopError
from neuron_top.services.feeds import LogLine
from neuron_top.views.log_rows import LogRow, grouped

READ = 400
"""Lines looked at, since many of them may be alike."""
ROWS_SHOWN = 80


def pinned_log() -> Any:
    """The panel without its lines."""
    return panel(
        "Log",
        dcc.Store(id="pinned-pulse"),
        dcc.Store(id="pinned-marks"),
        html.Div(id="pinned-lines", className="from-end", tabIndex=0, **attributes(aria_label="The newest log lines")),
        extra="pinned",
    )


def rows_of(lines: list[LogLine]) -> Any:
    """The newest lines, equal ones as one row; None where there are none."""
    rows = grouped(lines).rows[-ROWS_SHOWN:]
    return html.Ol([_item(row) for row in rows], className="lines columns grouped") if rows else None


def _item(row: LogRow[LogLine]) -> Any:
    split = row.columns
    cells = (("time", split.time), ("who", row.who_text), ("component", split.component))
    named = any(text for _name, text in cells)
    return html.Li(
        [
            *(html.Span(text, className=name) for name, text in cells),
            html.Span((split.message if named else row.line.text) or " ", className="message"),
            html.B(row.count_text, className="times"),
        ],
        className=" ".join(filter(None, (row.line.level, "" if named else "plain"))),
    )


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the panel to the lines of the job that the address names."""
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "ifWide"),
        Output("pinned-pulse", "data"),
        Input("pulse", "data"),
        Input("url", "search"),
    )

    @app.callback(
        Output("pinned-lines", "children"),
        Output("pinned-marks", "data"),
        Input("pinned-pulse", "data"),
        State("url", "search"),
        State("pinned-marks", "data"),
        prevent_initial_call=True,
    )
    async def update(_pulse: Any, search: str, known: Any) -> tuple[Any, Any]:
        run = state_of(search).get("run", "")
        try:
            await feeds.opened(run)
            lines = feeds.feed(run).log_tail(READ)
        except NeuronTopError:  # the page itself reports it
            return None, None
        mark = [run, lines[-1].source, lines[-1].offset, len(lines[-1].text)] if lines else [run]
        return (no_update, no_update) if mark == known else (rows_of(lines), mark)
