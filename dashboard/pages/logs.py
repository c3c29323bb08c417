"""Logs: the last lines of all sources, filtered and followed, and the whole files searched. Drawn as plain text.

The browser appends what is new and puts older finds above; it sends back what it has, so nothing is kept for it here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode
from zlib import crc32

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.dashboard.address import hold, search_with, state_of
from neuron_top.dashboard.components import attributes, panel, with_commands
from neuron_top.dashboard.explain_panel import LinePosition, graphs_by_line
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.filtering import filtering
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.layout import show_permission
from neuron_top.errors import NeuronTopError
from neuron_top.filters import Kept, newest_kept
from neuron_top.services.feeds import Feed, LineLevel, LogLine, LogQuery
from neuron_top.services.fleet import NodeLogs
from neuron_top.units import TO_THE_SECOND, bytes_text, count_text, counted, moment_text
from neuron_top.views.log_rows import columns, split_line
from neuron_top.views.moments import LinePlace, place_at

PATH, NAME = "logs", "Logs"
READ = 5000
SENT = 1000
OLDER_SENT = 200
AROUND = 400
PAGES_LOOKED_AT = 25
"""Of AROUND lines each: so far from a line whose time is known another one is searched."""
DAY = 86400.0
FILTER_SECONDS = 0.5
"""For the last lines; a filter that needs longer looks at fewer of them."""
SEARCH_SECONDS = 0.8
"""Of one question; where nothing was found by then, the page says how far it is and asks again."""
LEVELS = {
    LineLevel.PLAIN: "all lines",
    LineLevel.EVENT: "events and up",
    LineLevel.WARNING: "warnings and errors",
    LineLevel.ERROR: "errors",
}


def layout(state: dict[str, str]) -> Any:
    """The page without its lines."""
    return html.Div(
        [
            dcc.Store(id="logs-marks", data=None),
            dcc.Store(id="logs-new", data=None),
            dcc.Store(id="logs-top", data=None),
            dcc.Store(id="logs-found", data=None),
            panel(
                "Log lines",
                html.Div(
                    [
                        html.Label("Search the lines", htmlFor="logs-search", className="visually-hidden"),
                        dcc.Input(
                            id="logs-search",
                            type="search",
                            value=state.get("q", ""),
                            placeholder="level:error rank:3 !not words",
                            className="grow",
                        ),
                        dcc.Dropdown(
                            id="logs-level",
                            options=[{"label": text, "value": level or "all"} for level, text in LEVELS.items()],
                            value=state.get("level") or "all",
                            clearable=False,
                            searchable=False,
                            className="run-picker",
                        ),
                        dcc.Checklist({"follow": "follow"}, ["follow"], id="logs-follow", className="switch"),
                        dcc.Checklist({"alike": "group equal lines"}, ["alike"], id="logs-alike", className="switch"),
                    ],
                    className="row",
                ),
                html.Div(
                    [
                        html.Button("Search further back", id="logs-older", className="plain", n_clicks=0),
                        html.Span(id="logs-count", className="quiet", role="status"),
                        html.Span(id="logs-searched", className="quiet", role="status"),
                    ],
                    className="row",
                ),
                html.Ol(
                    id="logs-lines",
                    className="lines tall columns grouped",
                    tabIndex=0,
                    **attributes(aria_label="Log lines"),
                ),
                wide=True,
            ),
        ],
        className="grid",
    )


def query_of(words: str, level: str) -> LogQuery:
    """The query of the page: the terms of `words`, and lines of this level and worse."""
    query = LogQuery(words)
    return query.at_least(LineLevel(level)) if level in tuple(LineLevel)[1:] else query


def _question(state: dict[str, str]) -> list[str]:
    """A key of the query that the browser's lines answer."""
    return [state.get(name, "") for name in ("run", "q", "level", "node", "at")]


async def _reader(feeds: FeedRegistry, fleet: DashboardFleet, state: dict[str, str]) -> Feed | NodeLogs:
    """The logs of a run, or those of a node of the fleet. Raises NothingToShow."""
    run, node = state.get("run", ""), state.get("node", "")
    await feeds.opened(run)  # the names of graphs in its lines are the run's
    return fleet.logs(node) if node else feeds.feed(run)


def _ways_from(node: str) -> list[Any]:
    """Links from the lines of one node."""
    back = dcc.Link(f"node {node}", href=f"fleet?{urlencode({'node': node})}")
    return [" · ", back, " · ", dcc.Link("lines of this machine", href="logs")]


def node_text(state: dict[str, str]) -> str:
    """A text that names the node, where the lines are those of one node."""
    return f"{state['node']}, from its agent: " if state.get("node") else ""


def render(lines: list[LogLine], query: LogQuery) -> Kept[LogLine]:
    """The lines that are wanted, the last of them; those that there was no time to look at are counted."""
    kept = newest_kept(lines, query.keep, FILTER_SECONDS) if query else Kept(lines, 0)
    return Kept(kept.rows[-SENT:], kept.unseen)


def search_start(every: list[LogLine], sent: list[LogLine]) -> dict[str, int]:
    """Where a search further back begins, by source: before the oldest line that was sent, or looked at if all fit."""
    top: dict[str, int] = {}
    for line in sent if len(sent) == SENT else every:
        top[line.source] = min(line.offset, top.get(line.source, line.offset))
    return top


def search_back(
    feed: Feed | NodeLogs, top: dict[str, int], query: LogQuery
) -> tuple[list[LogLine], dict[str, int], bool]:
    """(older finds, how far the search came, whether that is the beginning): one answer's worth, or a second's."""
    found: list[LogLine] = []
    at, ended, deadline = dict(top), False, time.monotonic() + SEARCH_SECONDS
    while not ended and len(found) < OLDER_SENT and time.monotonic() < deadline:
        page = feed.log_older(at, OLDER_SENT - len(found), query)
        found[:0] = page.lines
        at, ended = at | page.at, page.ended
    return found, at, ended


def status_text(lines: list[LogLine], every: list[LogLine], unseen: int, query: LogQuery) -> str:
    """How many lines there are, or what is wrong with the filter."""
    if query.problem:
        return f"This filter cannot be used: {query.problem}"
    if unseen:
        seen = count_text(len(every) - unseen)
        return f"{count_text(len(lines))} of the last {seen} lines; the filter is too slow to look at more of them"
    if not every:
        return "No log is read at the moment."
    which = f"{count_text(len(lines))} of the last" if len(lines) < len(every) else "the last"
    return f"{which} {counted(len(every), 'line')}"


def rows_of(lines: list[LogLine], graphs: Mapping[LinePosition, str]) -> list[list[Any]]:
    """(level, text, place, graph, time, who, component, message, what equal lines share, whether it begins a record,
    day).

    Of graph, time, who, component and day "" where the line names none; of the message where it is the whole text.
    """
    return [_row(line, graphs.get((line.source, line.offset), "")) for line in lines]


def _row(line: LogLine, graph: str) -> list[Any]:
    split, alike, begins, day = split_line(line)
    key = f"{crc32(repr(alike).encode()):x}" if split.message else ""
    message = split.message if split.message != line.text else ""
    place = f"{line.source}:{line.offset}"
    return [line.level, line.text, place, graph, split.time, split.who, split.component, message, key, begins, day]


def news(
    lines: list[LogLine], question: list[str], known: Any, graphs: Mapping[LinePosition, str]
) -> tuple[dict[str, Any], list[Any]]:
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
    return {"reset": reset, "lines": rows_of(lines[first:], graphs)}, mark


class Around(NamedTuple):
    """The lines at a moment."""

    lines: list[LogLine]
    focus: str
    """The place of the line that stands nearest before it."""


def moment_of(state: dict[str, str]) -> float | None:
    """The moment that the address asks for, seconds since the epoch; None where it asks for none that can be read."""
    try:
        given = datetime.fromisoformat(state.get("at", ""))
    except ValueError:
        return None
    moment = (given if given.tzinfo is not None else given.replace(tzinfo=UTC)).timestamp()
    return moment if is_in_calendar(moment) else None  # a zone may lead out of the first and last year


def lines_around(reader: Feed | NodeLogs, place: LinePlace, moment: float) -> Around | None:
    """The lines before and after a moment, found from a line whose time is known; None where its log is gone. Slow."""
    offset = _nearest(reader, place, moment)
    older = reader.log_older({place.source: offset}, AROUND // 2)
    newer = reader.log_newer({place.source: offset}, AROUND)
    lines = [*older.lines, *newer.lines]
    return Around(lines, f"{place.source}:{offset}") if lines else None


def _nearest(reader: Feed | NodeLogs, place: LinePlace, moment: float) -> int:
    """The offset of the last line before a moment by the clocks that lines begin with, counted from the known one."""
    offset, at, first = place.offset, {place.source: place.offset}, None
    for _page in range(PAGES_LOOKED_AT):
        page = reader.log_newer(at, AROUND)
        for line in page.lines:
            clock = _seconds_of(columns(line).time)
            if clock is None or line.source != place.source:
                continue
            first = clock if first is None else first
            if (clock - first) % DAY >= max(0.0, moment - place.time) + 1.0:  # clocks are cut to seconds
                return offset
            offset = line.offset
        at |= page.at
        if page.ended or not page.lines:
            break
    return offset


def _seconds_of(clock: str) -> float | None:
    parts = clock.split(":")
    return float(parts[0]) * 3600 + float(parts[1]) * 60 + float(parts[2]) if len(parts) == 3 else None


def _moment_words(moment: float, around: Around | None, newest: str) -> Any:
    when = moment_text(moment, TO_THE_SECOND)
    words = f"around {when}" if around is not None else f"no line with a time near {when}; the last lines"
    return [f"{words} · ", dcc.Link("show the newest", href=newest)]


def register(app: Dash, feeds: FeedRegistry, fleet: DashboardFleet) -> None:
    """Bind the page to its data."""

    @app.callback(
        Output("logs-new", "data"),
        Output("logs-count", "children"),
        Output("logs-top", "data", allow_duplicate=True),
        Output("logs-searched", "children", allow_duplicate=True),
        Output("logs-older", "hidden"),
        Input("pulse", "data"),
        Input("url", "search"),
        State("logs-marks", "data"),
        State("permission", "data"),
        prevent_initial_call="initial_duplicate",
    )
    async def update(_pulse: Any, search: str, known: Any, permission: int) -> list[Any]:
        show_permission(app.config.requests_pathname_prefix, permission)
        state = state_of(search)
        question = _question(state)
        try:
            reader = await _reader(feeds, fleet, state)
            moment = moment_of(state)
            if moment is not None and isinstance(known, list) and known[:1] == [question]:
                return [no_update] * 5  # the lines at a moment do not change
            place = feeds.read(question[0], partial(place_at, moment=moment)) if moment is not None else None
            around = None
            if moment is not None and place is not None:
                around = await asyncio.to_thread(lines_around, reader, place, moment)
            every, why = around.lines if around is not None else reader.log_tail(READ), reader.log_state()
            graphs = feeds.cached_view(question[0], graphs_by_line)
        except NeuronTopError as problem:
            return [{"reset": True, "lines": [], "mark": None}, with_commands(str(problem)), None, "", True]
        query = query_of(question[1], question[2])
        lines, unseen = await filtering(render, every, query)
        new, mark = news(lines, question, known, graphs)
        words = with_commands(why) if why else node_text(state) + status_text(lines, every, unseen, query)
        if node := state.get("node"):
            words = [*([words] if isinstance(words, str) else words), *_ways_from(node)]
        if moment is not None:
            new = {**new, "focus": around.focus if around is not None else "", "far": True}
            words = _moment_words(moment, around, search_with(search, at=None) or "?")
        if not new["reset"]:
            return [{**new, "mark": mark}, words, no_update, no_update, no_update]
        start = search_start(every[unseen:], lines)
        return [{**new, "mark": mark}, words, {"question": question, "at": start}, "", not any(start.values())]

    hold(app, "logs-search", "logs-level")
    _register_search(app, feeds, fleet)
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "groupLines"), Output("logs-alike", "title"), Input("logs-alike", "value")
    )
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "appendLines"),
        Output("logs-marks", "data"),  # set by what has drawn them: an answer that was never drawn is asked for again
        Input("logs-new", "data"),
        State("logs-follow", "value"),
    )


def _register_search(app: Dash, feeds: FeedRegistry, fleet: DashboardFleet) -> None:
    """The search through the whole files, backwards, a second at a time."""

    @app.callback(
        Output("logs-found", "data"),
        Output("logs-top", "data"),
        Output("logs-searched", "children"),
        Input("logs-older", "n_clicks"),
        State("logs-top", "data"),
        State("url", "search"),
        running=[(Output("logs-older", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    async def search(clicks: int | None, top: Any, address: str) -> Any:
        state = state_of(address)
        question = _question(state)
        if not clicks or not top or top.get("question") != question:
            return no_update, no_update, no_update
        try:
            feed = await _reader(feeds, fleet, state)
            found, at, ended = await filtering(search_back, feed, top["at"], query_of(question[1], question[2]))
        except NeuronTopError as problem:
            return no_update, no_update, str(problem)
        if feed.log_state() and not found:
            return no_update, no_update, with_commands(feed.log_state())
        left = sum(at.values())
        words = "the beginning is reached" if ended else f"{bytes_text(left)} before that not searched yet"
        rows = rows_of(found, feeds.cached_view(question[0], graphs_by_line))
        news_ = {"lines": rows, "again": not found and not ended}
        return news_, {"question": question, "at": at}, f"{len(found)} older found; {words}"

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "prependLines"),
        Output("logs-older", "title"),
        Input("logs-found", "data"),
        State("logs-older", "n_clicks"),
    )
