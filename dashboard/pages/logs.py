"""Logs: the last lines of all sources, searched, filtered, followed. The browser appends them as plain text."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.address import search_with, state_of
from neuron_top.dashboard.hub import Hub
from neuron_top.dashboard.parts import more, panel
from neuron_top.errors import NeuronTopError
from neuron_top.pipeline.log_line import LogLine

PATH, NAME = "logs", "Logs"
READ = 5000
SENT = 1000
LEVELS = {"": "all lines", "event": "events and up", "warning": "warnings and errors", "error": "errors"}
_RANKING = ("", "event", "warning", "error")


def layout(state: dict[str, str]) -> Any:
    """The page without its lines."""
    return html.Div(
        [
            dcc.Store(id="logs-known", data=None),
            dcc.Store(id="logs-new", data=None),
            panel(
                "Log lines",
                html.Div(
                    [
                        html.Label("Search the lines", htmlFor="logs-search", className="visually-hidden"),
                        dcc.Input(id="logs-search", type="search", debounce=0.3, value=state.get("q", ""),
                                  placeholder="search ( / )", className="grow"),
                        dcc.Dropdown(id="logs-level", options=[{"label": text, "value": level or "all"}
                                     for level, text in LEVELS.items()], value=state.get("level") or "all",
                                     clearable=False, searchable=False, className="run-picker"),
                        dcc.Checklist({"follow": "follow"}, ["follow"], id="logs-follow", className="switch"),
                    ],
                    className="row",
                ),
                html.P(id="logs-count", className="quiet", role="status"),
                html.Ol(id="logs-lines", className="lines tall", tabIndex=0,
                        **more(aria_label="Log lines")),
                wide=True,
            ),
        ],
        className="grid",
    )  # fmt: skip


def render(lines: list[LogLine], words: str, level: str) -> list[LogLine]:
    """The lines that are wanted: every word is in the line, whatever its case."""
    wanted = [word.casefold() for word in words.split()]
    least = _RANKING.index(level) if level in _RANKING else 0
    return [
        line
        for line in lines
        if _RANKING.index(line.level) >= least and all(word in line.text.casefold() for word in wanted)
    ][-SENT:]


def news(lines: list[LogLine], question: list[str], known: Any) -> tuple[dict[str, Any], list[Any]]:
    """(what the browser lacks, its new mark). The last line it has comes again when it has grown since."""
    first, reset = 0, True
    if isinstance(known, list) and len(known) == 4 and known[0] == question:
        at = next((i for i in range(len(lines) - 1, -1, -1) if [lines[i].source, lines[i].offset] == known[1:3]), None)
        if at is not None:
            first, reset = at + (len(lines[at].text) == known[3]), False
        elif not lines and known[1] is None:
            reset = False
    last = lines[-1] if lines else None
    mark = [question, last.source if last else None, last.offset if last else None, len(last.text) if last else 0]
    rows = [[line.level, line.text, f"{line.source}:{line.offset}"] for line in lines[first:]]
    return {"reset": reset, "lines": rows}, mark


def register(app: Dash, hub: Hub) -> None:
    """Bind the page to its data."""

    @app.callback(
        Output("logs-new", "data"),
        Output("logs-count", "children"),
        Input("pulse", "data"),
        Input("url", "search"),
        State("logs-known", "data"),
    )
    async def update(_pulse: Any, search: str, known: Any) -> list[Any]:
        state = state_of(search)
        question = [state.get("run", ""), state.get("q", ""), state.get("level", "")]
        try:
            every = hub.feed(question[0]).log_tail(READ)
        except NeuronTopError as problem:
            return [{"reset": True, "lines": [], "mark": None}, str(problem)]
        lines = render(every, question[1], question[2])
        new, mark = news(lines, question, known)
        words = f"{len(lines)} of the last {len(every)} lines" if every else "No log is read at the moment."
        return [{**new, "mark": mark}, words]

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("logs-search", "value"),
        Input("logs-level", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def ask(words: str | None, level: str | None, search: str) -> Any:
        asked = search_with(search, q=words, level=None if level == "all" else level)
        return no_update if state_of(asked) == state_of(search) else asked

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "appendLines"),
        Output("logs-known", "data"),  # set by what has drawn them: an answer that was never drawn is asked for again
        Input("logs-new", "data"),
        State("logs-follow", "value"),
    )
