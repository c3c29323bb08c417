"""One drawer for a graph and for a cache entry, on every page: what the run says about it, then what the caches hold.

The address names what is open (`graph=` or `entry=`); `drawer.js` opens and closes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.address import state_of
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.components import attributes, fact_list, note, panel, table, text_block
from neuron_top.dashboard.explain_panel import explanation_panel
from neuron_top.dashboard.feed_registry import FeedRegistry, is_dropped
from neuron_top.dashboard.page_diff import outputs_of
from neuron_top.errors import NeuronTopError
from neuron_top.services.entry_contents import operators_of
from neuron_top.services.misses import MissService
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted, duration_text
from neuron_top.views.entries import EntryRow
from neuron_top.views.graphs import GraphPage, counted_inputs, graph_page
from neuron_top.views.miss_explanation import MissExplanation, MissQuery, question
from neuron_top.views.model import LineRef
from neuron_top.views.operators import Operators
from neuron_top.views.words import entry_state_words, graph_state_words

LINES_SHOWN = 20
INPUTS_SHOWN = 12
ENTRIES_SHOWN = 10


def layout() -> Any:
    """The drawer without what it shows."""
    return html.Aside(
        [
            dcc.Store(id="drawer-marks", data=None),
            dcc.Store(id="drawer-pulse", data=0),
            html.Div(
                [
                    html.H2(id="drawer-title", tabIndex=-1),
                    html.Button("Close", id="drawer-close", className="plain", title="Close (esc)", n_clicks=0),
                ],
                className="panel-head",
            ),
            html.Div(id="drawer-now"),
            html.P(id="drawer-busy", className="quiet", role="status"),
            html.Div(id="drawer-depth"),
        ],
        id="detail",
        className="drawer panel detail",
        hidden=True,
        **attributes(aria_labelledby="drawer-title"),
    )


def graph_facts(page: GraphPage, lines: Sequence[str]) -> Any:
    """What a run says about a graph."""
    one = page.row
    pairs = (
        ("state", _state_text(one.state, graph_state_words(one.state))),
        ("compile time", f"{one.seconds_text} in this run" if one.seconds is not None else UNKNOWN),
        ("compiler", one.compiler or "—"),
        ("flags", " ".join(page.flags) or "—"),
        ("inputs", ", ".join(counted_inputs(page.inputs)) or "—"),
        ("operators", count_text(one.operators)),
        ("graph size", bytes_text(one.graph_bytes)),
        ("artifact", bytes_text(one.artifact_bytes)),
        ("cache", page.cache_root or page.root or UNKNOWN),
        ("cache entry", page.cache_state or ""),
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
    content.append(text_block(lines) if lines else note("No log line of this graph is kept."))
    return content


def entry_facts(one: EntryRow) -> Any:
    """What a cache says about an entry."""
    pairs = (
        ("state", _state_text(one.state, entry_state_words(one.state))),
        ("cache", one.root),
        ("compiler", one.compiler or "no compiler folder"),
        ("size on disk", f"{bytes_text(one.bytes)}, artifact {bytes_text(one.artifact_bytes)}"),
        ("last used", one.used_text),
        ("compile time", one.compile_text),
        ("flags", one.flags),
        ("lock", one.lock),
        ("failure", one.failure),
        ("advice", one.advice),
        ("problems", "; ".join(one.problems)),
    )
    return panel("In the cache", fact_list(pairs))


def cache_details(
    reasons: MissExplanation | None,
    made_of: Operators | None,
    entries: Sequence[EntryRow] = (),
    title: str = "Why it missed",
) -> Any:
    """What the caches report: the entries, why the graph missed, and the operators it is made of."""
    parts = [entry_facts(entry) for entry in entries[:ENTRIES_SHOWN]]
    if reasons is not None:
        parts.append(explanation_panel(reasons, title))
    if made_of is not None:
        kinds = [(html.Code(row.name), count_text(row.count), html.Code("  ".join(row.shapes))) for row in made_of.rows]
        shown = f"{counted(made_of.total, 'operator')} of {counted(len(kinds), 'kind')}, read from {made_of.place}"
        inputs = counted_inputs(made_of.inputs)
        more = f", and {counted(len(inputs) - INPUTS_SHOWN, 'other kind')}" if len(inputs) > INPUTS_SHOWN else ""
        words = f"{shown}; inputs {', '.join(inputs[:INPUTS_SHOWN])}{more}" if inputs else shown
        head = ("operator", "count", "commonest results")
        parts.append(panel("Operators", html.P(words), table(head, kinds, caption="Operators", right=(1,))))
    return html.Div(parts) if parts else note("No cache on this machine has this graph.")


def _state_text(state: str, meaning: str) -> str:
    return f"{state}: {meaning}" if meaning else state


def _lines(feeds: FeedRegistry, run: str, places: tuple[LineRef, ...]) -> list[str]:
    wanted = [(place.source, place.offset) for place in places[-LINES_SHOWN:]]
    return [line.text for line in feeds.feed(run).log_lines(wanted)]


def _module_of(entry: str) -> str:
    return entry.rpartition("/")[2]


def register(app: Dash, feeds: FeedRegistry, caches: DashboardCaches) -> None:
    """Bind the drawer to what the address names."""

    def now(run: str, graph: str, entry: str) -> dict[str, Any]:
        key = graph or _module_of(entry)
        try:
            page = feeds.read(run, partial(graph_page, key=key))
            lines = _lines(feeds, run, page.lines) if page is not None else []
        except NeuronTopError as problem:
            return {"title": key, "now": note(str(problem), kind="bad")}
        if page is not None:
            return {"title": key, "now": graph_facts(page, lines)}
        words = "This run has not used the entry." if entry else "This run has no graph of that name."
        return {"title": key, "now": note(words)}

    @app.callback(
        Output("drawer-title", "children"),
        Output("drawer-now", "children"),
        Output("drawer-marks", "data"),
        Input("url", "search"),
        Input("drawer-pulse", "data"),
        State("drawer-marks", "data"),
    )
    async def show(search: str, _pulse: int, known: dict[str, Any] | None) -> Any:
        state = state_of(search)
        graph, entry = state.get("graph", ""), state.get("entry", "")
        if not graph and not entry:
            return no_update, no_update, no_update
        run = state.get("run", "")
        with suppress(NeuronTopError):  # `now` says what is wrong
            await feeds.opened(run)
        values, marks = outputs_of(now(run, graph, entry), known or {})
        return [*values, marks]

    @app.callback(
        Output("drawer-depth", "children"),
        Input("url", "search"),
        State("drawer-depth", "children"),
        running=[(Output("drawer-busy", "children"), "Reading the caches …", "")],
    )
    async def look(search: str, _shown: Any) -> Any:
        state = state_of(search)
        graph, entry, run = state.get("graph", ""), state.get("entry", ""), state.get("run", "")
        if not graph and not entry:
            return None
        key = graph or _module_of(entry)
        try:
            await feeds.opened(run)
            asked = None if is_dropped(run) else feeds.read(run, partial(question, key=key))
            named = feeds.cache_roots(run)
            page = feeds.read(run, partial(graph_page, key=key))
        except NeuronTopError as problem:
            return note(str(problem), kind="bad")
        rows = (await asyncio.to_thread(caches.table)).rows
        module = page.row.module if page is not None else key
        if page is not None and module is None:
            return note("The logs do not name this graph's module, so no cache can be searched for it.")
        entries = [row for row in rows if row.key == entry] if entry else [row for row in rows if row.module == module]
        if asked is None and entries:
            one = entries[0]
            asked = MissQuery(module=one.module, roots=(one.root,), compiler=one.compiler)
        if page is None and not entries:
            return None
        reasons = await asyncio.to_thread(MissService(feeds.settings).why, asked) if asked is not None else None
        places = named or tuple({one.root for one in entries})
        made_of = await asyncio.to_thread(operators_of, feeds.settings, module, places) if module else None
        return cache_details(reasons, made_of, entries, f"Why {key} missed" if entry else "Why it missed")
