"""Cache: every entry of every root, what takes the space, and what is done about it: plan, preview, confirm, undo."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import cache_figures, compile_figures, explain_panel
from neuron_top.dashboard.address import hold, search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.cache_plans import VERBS, CachePlans
from neuron_top.dashboard.components import chart, note, panel
from neuron_top.dashboard.entry_rows import GROUPED_BY, Group, grouped, keys_of, ordered, row, toggled
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.filtering import filtering
from neuron_top.dashboard.grids import ENTRY_COLUMNS, grid
from neuron_top.dashboard.guard import maker_now
from neuron_top.dashboard.look import Palette
from neuron_top.dashboard.other_caches import other_cache
from neuron_top.dashboard.page_diff import Chart
from neuron_top.dashboard.plans import PlanExecution
from neuron_top.dashboard.work_panel import WORDS, work_panel
from neuron_top.errors import NeuronTopError
from neuron_top.units import bytes_text, count_text, counted
from neuron_top.views.cache_lookups import CacheLookup, answers
from neuron_top.views.entries import EntryRow, EntryTable, entry_filter

PATH, NAME = "cache", "Cache"
SLOTS = PageOutputs(
    parts=("cache-summary", "cache-work", "cache-shown", "cache-version", "cache-others"),
    charts=("cache-treemap", "cache-rate"),
)
MOST_CHOSEN = 20_000


def layout(state: dict[str, str]) -> Any:
    """The page without its numbers."""
    query = dcc.Input(
        id="cache-query", type="search", value=state.get("q", ""), className="grow",
        placeholder="state:failed size>1GB used>30d compiler:2.21 text   ( / )",
    )  # fmt: skip
    groups = dcc.Dropdown(
        id="cache-group",
        options=[{"label": "no groups", "value": "none"}, *({"label": by, "value": by} for by in GROUPED_BY)],
        value=state.get("group") or "none",
        clearable=False,
        searchable=False,
        className="run-picker",
    )
    buttons = [html.Button(WORDS[verb], id=f"cache-{verb}", n_clicks=0, className="plain") for verb in VERBS]
    return html.Div(
        [
            dcc.Store(id="cache-known", data=None),
            dcc.Store(id="cache-toggle"),  # the row id of a group that somebody opens or closes
            html.Div(html.P(id="cache-summary"), className="full"),
            panel("What takes the space", chart("cache-treemap", "Cache size by compiler, state and age", 360)),
            panel("Hits and misses over time", chart("cache-rate", "Answers of the cache over time", 240)),
            html.Div(id="cache-work", className="full", role="status"),
            panel(
                "Entries",
                html.Div([html.Label("Filter the entries", htmlFor="cache-query", className="visually-hidden"), query,
                          html.Span([html.Span("group by", className="quiet"), groups], className="together")],
                         className="row"),
                html.P(id="cache-shown", className="quiet", role="status"),
                html.Span(id="cache-version", hidden=True),
                grid("cache-grid", ENTRY_COLUMNS, "Cache entries", infinite=True, many=True, height=460),
                html.Div([html.Span("With the selected entries, or all that the filter shows when none is:"), *buttons],
                         className="row actions"),
                html.Div(id="cache-refused", role="alert"),
                html.Div(id="cache-acted", role="alert"),
                html.Div(note("Click an entry to see why its graph was not found when it was looked up."),
                         id="cache-why", role="status"),
                tools=export_links("cache"), wide=True,
            ),
            html.Div(id="cache-others", className="full"),
        ],
        className="grid two",
    )  # fmt: skip


def render(
    view: EntryTable,
    shown: list[EntryRow],
    known: tuple[CacheLookup, ...],
    works: list[PlanExecution],
    colors: Palette,
) -> dict[str, Any]:
    """Every section of the page. `shown`: the rows that its filter keeps."""
    return {
        "cache-summary": _summary(view),
        "cache-shown": f"{counted(len(shown), 'entry', 'entries')}, {bytes_text(sum(row.bytes for row in shown))}",
        "cache-work": [work_panel(work) for work in works] or None,
        "cache-others": [other_cache(one) for one in view.others] or None,
        "cache-treemap": Chart(cache_figures.treemap(shown, colors)),
        "cache-rate": Chart(compile_figures.rate(known, colors)),
    }


def chosen(view: EntryTable, query: str) -> list[EntryRow]:
    """The rows that a filter keeps. Raises UsageError for a filter that is too long."""
    return list(filter(entry_filter(query), view.rows)) if query.strip() else list(view.rows)


def arranged(view: EntryTable, state: dict[str, str], model: list[dict[str, Any]]) -> Sequence[EntryRow | Group]:
    """The rows of the grid as the address and the grid's headers ask for them."""
    rows, by = chosen(view, state.get("q", "")), state.get("group", "")
    return grouped(rows, by, opened_groups(state), model) if by in GROUPED_BY else ordered(rows, model)


def opened_groups(state: dict[str, str]) -> list[str]:
    """The names of the groups that are open."""
    return [name for name in state.get("open", "").split("\t") if name]


def _summary(view: EntryTable) -> Any:
    there = [root for root, _origin, exists in view.roots if exists]
    if not there:
        looked = ", ".join(root for root, _origin, _exists in view.roots) or "nothing"
        return note(f"No compile cache was found (looked for: {looked}). Name one when you start the server.")
    states: dict[str, int] = {}
    for one in view.rows:
        states[one.state] = states.get(one.state, 0) + 1
    words = ", ".join(f"{count_text(number)} {state}" for state, number in sorted(states.items(), key=lambda p: -p[1]))
    size = bytes_text(sum(one.bytes for one in view.rows))
    return f"{counted(len(there), 'cache')}, {counted(len(view.rows), 'entry', 'entries')}, {size}" + (
        f": {words}." if words else "."
    )


def register(app: Dash, feeds: FeedRegistry, desk: CachePlans) -> None:
    """Bind the page to its data and its actions."""

    async def answer(asked: PageRequest) -> dict[str, Any]:
        await look()
        shown = await filtering(chosen, desk.last, asked.state.get("q", ""))
        works = []
        for identity in filter(None, asked.state.get("plan", "").split(",")):
            try:
                works.append(desk.work(identity))
            except NeuronTopError:
                continue
        sections = render(desk.last, shown, feeds.cached_view(asked.run, answers), works, asked.colors)
        return sections | {"cache-version": str(desk.version)}

    async def look() -> None:
        await asyncio.to_thread(desk.table)

    bind(app, "cache", SLOTS, answer)

    @app.callback(
        Output("cache-grid", "getRowsResponse"), Input("cache-grid", "getRowsRequest"), State("url", "search")
    )
    async def rows(request: dict[str, Any] | None, search: str) -> Any:
        if request is None:
            return no_update
        await look()
        state = state_of(search)
        try:
            made = await filtering(arranged, desk.last, state, request.get("sortModel") or [])
        except NeuronTopError:  # a filter that cannot be used: the page says why
            made = []
        first, last = int(request.get("startRow", 0)), int(request.get("endRow", 0))
        return {"rowData": [row(one, state.get("group", "")) for one in made[first:last]], "rowCount": len(made)}

    looked = ClientsideFunction("neurontop", "lookAgain")  # so do the pages at a new address, wherever they are
    app.clientside_callback(looked, Input("cache-version", "children"))  # type: ignore[no-untyped-call]

    @app.callback(
        Output("url", "search", allow_duplicate=True), Input("cache-toggle", "data"), State("url", "search"),
        prevent_initial_call=True,
    )  # fmt: skip
    async def toggle(asked: dict[str, Any] | None, search: str) -> Any:
        if asked is None:
            return no_update
        return search_with(search, open="\t".join(toggled(opened_groups(state_of(search)), str(asked.get("group")))))

    hold(app, "cache-query", "cache-group")

    @app.callback(
        Output("cache-query", "value"), Input("cache-treemap", "clickData"), State("cache-query", "value"),
        prevent_initial_call=True,
    )  # fmt: skip
    async def narrow(click: dict[str, Any] | None, query: str | None) -> Any:
        path = str(((click or {}).get("points") or [{}])[0].get("id", "")).split("\t")
        words = [f"{name}:{value}" for name, value in zip(("root", "compiler", "state"), path, strict=False)
                 if value and " " not in value]  # fmt: skip
        return " ".join(words) if words else no_update

    explain_panel.register(app, feeds, desk)
    _register_planning(app, desk)
    _register_work(app, desk)


def _register_planning(app: Dash, desk: CachePlans) -> None:
    from dash import ctx

    @app.callback(
        Output("url", "search", allow_duplicate=True), Output("cache-refused", "children"),
        *[Input(f"cache-{verb}", "n_clicks") for verb in VERBS],
        State("cache-grid", "selectedRows"), State("url", "search"),
        prevent_initial_call=True,
    )  # fmt: skip
    async def plan(*values: Any) -> Any:
        *clicks, selected, search = values
        if not any(clicks) or not ctx.triggered_id:
            return no_update, no_update
        try:
            shown = await filtering(chosen, desk.last, state_of(search).get("q", ""))
        except NeuronTopError as problem:
            return no_update, note(str(problem), kind="warn")
        keys = keys_of([str(one.get("id")) for one in selected or []], shown) or [one.key for one in shown]
        if len(keys) > MOST_CHOSEN:
            return no_update, note(
                f"At most {count_text(MOST_CHOSEN)} entries at a time: narrow the filter.", kind="warn"
            )
        try:
            works = await asyncio.to_thread(desk.plan, str(ctx.triggered_id).removeprefix("cache-"), keys, maker_now())
        except (NeuronTopError, ValueError) as problem:
            return no_update, note(str(problem), kind="warn")
        return search_with(search, plan=",".join(work.plan.identity for work in works)), None


def _register_work(app: Dash, desk: CachePlans) -> None:
    """What is done about plans that were made."""
    from dash import ALL, ctx

    @app.callback(
        Output("url", "search", allow_duplicate=True), Input({"type": "work-close", "plan": ALL}, "n_clicks"),
        State("url", "search"), prevent_initial_call=True,
    )  # fmt: skip
    async def close(_clicks: Any, search: str) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        closed = ctx.triggered_id["plan"]
        left = [one for one in state_of(search).get("plan", "").split(",") if one != closed]
        return search_with(search, plan=",".join(left))

    @app.callback(
        Output("cache-acted", "children"),  # its name is what the right to act is asked by: see rights.py
        Input({"type": "work-confirm", "plan": ALL}, "n_clicks"), Input({"type": "work-undo", "plan": ALL}, "n_clicks"),
        Input({"type": "work-stop", "plan": ALL}, "n_clicks"),
        State({"type": "work-word", "plan": ALL}, "value"), State({"type": "work-word", "plan": ALL}, "id"),
        prevent_initial_call=True,
    )  # fmt: skip
    async def act(_confirm: Any, _undo: Any, _stop: Any, words: list[str], names: list[Any]) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        kind, identity = ctx.triggered_id["type"], ctx.triggered_id["plan"]
        typed = {name["plan"]: word or "" for name, word in zip(names, words, strict=True)}
        try:
            if kind == "work-confirm":
                desk.carry_out(identity, typed.get(identity, ""))
            elif kind == "work-stop":
                desk.stop(identity)
            else:
                await asyncio.to_thread(desk.undo, identity)
        except (NeuronTopError, OSError) as problem:
            return note(str(problem), kind="bad")
        return None
