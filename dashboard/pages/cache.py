"""Cache: every entry of every root, disk usage, and the actions on them: plan, preview, confirm, undo."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import cache_figures, compile_figures
from neuron_top.dashboard.address import hold, search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.caches import BUTTONS, FRESH_SECONDS, DashboardCaches
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import chart, left_out, note, panel
from neuron_top.dashboard.entry_rows import GROUPED_BY, Group, grouped, keys_of, ordered, row, toggled
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.filtering import filtering
from neuron_top.dashboard.grids import ENTRY_COLUMNS, grid
from neuron_top.dashboard.page_diff import PageChart, marked
from neuron_top.dashboard.plan_panel import plan_drawer
from neuron_top.dashboard.plan_registry import current_requester
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.dashboard.space_panel import other_cache, space_panel
from neuron_top.dashboard.trash_panel import trash_panel
from neuron_top.dashboard.view_cache import CHART_REST
from neuron_top.errors import NeuronTopError, NothingToShow, UsageError
from neuron_top.services.caches import Disk, Verb
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.services.trash import PlanHistory
from neuron_top.units import bytes_text, count_text, counted
from neuron_top.views.cache_lookups import CacheLookup, cache_lookups
from neuron_top.views.entries import NO_CACHES, OWN_CACHES, EntryRow, EntryTable, entry_filter
from neuron_top.views.growth import growth_curve

PATH, NAME = "cache", "Cache"
OUTPUTS = PageOutputs(
    parts=(
        "cache-summary",
        "cache-plans",
        "cache-space",
        "cache-used",
        "cache-grew",
        "cache-answered",
        "cache-trash",
        "cache-shown",
        "cache-version",
        "cache-others",
    ),
    charts=("cache-treemap", "cache-growth", "cache-rate"),
)
MOST_SELECTED = 20_000
EXCLUSIVE = "exclusive"
EVERYTHING = "everything"


def layout(state: dict[str, str]) -> Any:
    """The page without its numbers."""
    query = dcc.Input(
        id="cache-query",
        type="search",
        value=state.get("q", ""),
        className="grow",
        placeholder="state:failed size>1GB used>30d",
    )
    groups = dcc.Dropdown(
        id="cache-group",
        options=[{"label": "no groups", "value": "none"}, *({"label": by, "value": by} for by in GROUPED_BY)],
        value=state.get("group") or "none",
        clearable=False,
        searchable=False,
        className="run-picker",
    )
    buttons = [
        html.Button(action.button, id=f"cache-{action.verb}", n_clicks=0, className="plain", title=action.help)
        for action in BUTTONS
    ]
    everything = dcc.Checklist({EVERYTHING: "all that match the filter"}, [], id="cache-everything", className="switch")
    exclusive = dcc.Checklist(
        {EXCLUSIVE: "no other host or container uses these caches (needed for buckets and network file systems)"},
        [],
        id="cache-exclusive",
        className="switch",
    )
    return html.Div(
        [
            dcc.Store(id="cache-marks", data=None),
            dcc.Store(id="cache-toggle"),  # the row id of a group that somebody opens or closes
            html.Div(html.P(id="cache-summary"), className="full"),
            html.Div([_space(), _over_time()], className="stack twice"),
            panel(
                "Disk usage",
                html.Div(id="cache-used"),
                chart("cache-treemap", "Cache size by compiler, state and age", cache_figures.TREEMAP_HEIGHT),
                tools=[
                    dcc.RadioItems(
                        {by: f"by {by}" for by in cache_figures.COLORED_BY},
                        "age",
                        id="cache-color",
                        inline=True,
                        className="switch",
                    )
                ],
            ),
            html.Div(id="cache-trash", className="full"),
            html.Div(id="cache-undone", className="full", role="status"),
            html.Div(id="cache-plans", className="full", role="status"),
            panel(
                "Entries",
                html.Div(
                    [
                        html.Label("Filter the entries", htmlFor="cache-query", className="visually-hidden"),
                        query,
                        html.Span([html.Span("group by", className="quiet"), groups], className="together"),
                    ],
                    className="row",
                ),
                html.P(id="cache-shown", className="quiet", role="status"),
                html.Span(id="cache-version", hidden=True),
                grid("cache-grid", ENTRY_COLUMNS, "Cache entries", infinite=True, many=True, height=460),
                html.Div([html.Span("Selected entries:"), everything], className="row actions"),
                html.Div(buttons, className="row actions"),
                exclusive,
                html.Div(id="cache-refused", role="alert"),
                note("Click an entry to see what it holds and why its graph missed."),
                tools=export_links("cache"),
                wide=True,
            ),
            html.Div(id="cache-others", className="full"),
        ],
        className="grid",
    )


def _space() -> Any:
    return panel(
        "Space",
        html.Div(id="cache-space"),
        html.Div(
            [
                html.Label("Make room until", htmlFor="cache-free"),
                dcc.Input(id="cache-free", type="text", placeholder="50GB", style={"width": "7rem"}),
                html.Span("of the disk is free"),
                html.Button("Plan it", id="cache-make-room", n_clicks=0, className="plain"),
            ],
            className="row",
        ),
        html.Div(id="cache-room-refused", role="alert"),
    )


def _over_time() -> Any:
    """How the caches grew, and what they answered."""
    return html.Div(
        [
            panel(
                "Growth",
                html.Div(id="cache-grew"),
                chart("cache-growth", "Growth: what lies there, by when it was written", 200),
            ),
            panel(
                "Hits and misses over time",
                html.Div(id="cache-answered"),
                chart("cache-rate", "Hits and misses over time", 200),
            ),
        ],
        className="side-by-side",
    )


def render(
    view: EntryTable,
    shown: list[EntryRow],
    lookups: tuple[CacheLookup, ...],
    executions: list[PlanExecution],
    colors: ChartColors,
    *,
    disks: Mapping[str, Disk] = MappingProxyType({}),
    trash: Sequence[PlanHistory] = (),
    budget: int | None = None,
    colored_by: str = "age",
) -> dict[str, Any]:
    """Every section of the page. `shown`: the rows that its filter keeps."""
    return {
        **of_listing(view, shown, colors, disks=disks, trash=trash, budget=budget, colored_by=colored_by),
        **of_run(lookups, colors),
        **of_client(executions, "", trash),
    }


def of_listing(
    view: EntryTable,
    shown: list[EntryRow],
    colors: ChartColors,
    *,
    disks: Mapping[str, Disk],
    trash: Sequence[PlanHistory],
    budget: int | None,
    colored_by: str,
) -> dict[str, Any]:
    """The sections that go through all entries, which takes half a second for 50,000."""
    return {
        "cache-summary": _summary(view),
        "cache-shown": f"{counted(len(shown), 'entry', 'entries')}, {bytes_text(sum(row.bytes for row in shown))}",
        "cache-others": [other_cache(other) for other in view.others] or None,
        "cache-space": space_panel(view, disks, budget),
        "cache-used": _ages(colors) if shown and colored_by == "age" else None if shown else left_out(),
        "cache-grew": None if view.rows else left_out(),
        "cache-growth": PageChart(cache_figures.growth_chart(growth_curve(view.rows, time.time()), trash, colors)),
        "cache-treemap": PageChart(cache_figures.treemap(shown, colors, colored_by)),
    }


def of_run(lookups: tuple[CacheLookup, ...], colors: ChartColors) -> dict[str, Any]:
    """The sections about the lookups of a run."""
    return {
        "cache-answered": None if lookups else left_out(),
        "cache-rate": PageChart(compile_figures.rate(lookups, colors, height=200)),
    }


def of_client(executions: list[PlanExecution], gone: str, trash: Sequence[PlanHistory]) -> dict[str, Any]:
    """The sections with buttons, which depend on what the client may do. `gone`: why none of the plans is shown."""
    return {
        "cache-plans": plan_drawer(executions) if executions else note(gone, kind="warn") if gone else None,
        "cache-trash": trash_panel(trash),
    }


def _ages(colors: ChartColors) -> Any:
    """The legend of the colors: small parts of the treemap have no room for text."""
    swatches = [
        html.Span([html.Span(className="swatch", style={"background": color}), word])
        for word, color in cache_figures.age_colors(colors).items()
    ]
    return html.Div(swatches, className="legend")


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
    if not view.roots:
        return [*(note(words, kind="quiet no-caches") for words in NO_CACHES), note(OWN_CACHES)]
    problems = [note(problem, kind="warn") for problem in view.problems]
    existing = [root for root, _origin, exists in view.roots if exists]
    if not existing:
        searched = ", ".join(root for root, _origin, _exists in view.roots)
        return [
            note(
                f"No compile cache was found. Searched: {searched}. Name one when you start the server.",
                kind="quiet no-caches",
            ),
            *problems,
        ]
    if not view.rows:
        words = f"{', '.join(existing)}: no entry yet. The first compile there fills it."
        return [note(words, kind="quiet no-caches"), *problems]
    states: dict[str, int] = {}
    for each in view.rows:
        states[each.state] = states.get(each.state, 0) + 1
    counts = ", ".join(f"{count_text(number)} {state}" for state, number in sorted(states.items(), key=lambda p: -p[1]))
    size = bytes_text(sum(each.bytes for each in view.rows))
    text = f"{counted(len(existing), 'cache')}, {counted(len(view.rows), 'entry', 'entries')}, {size}"
    text += f": {counts}." if counts else "."
    return [text, *problems] if problems else text


def register(app: Dash, feeds: FeedRegistry, caches: DashboardCaches) -> None:
    """Bind the page to its data and its actions."""

    listings = SharedAnswers[dict[str, Any]](FRESH_SECONDS)

    async def answer(asked: PageRequest) -> dict[str, Any]:
        await feeds.opened(asked.run)
        await asyncio.to_thread(lambda: caches.use(feeds.listed_roots(asked.run)))
        await asyncio.to_thread(caches.table)
        query, colored_by, refused = asked.state.get("q", ""), str(asked.values[0]), ""
        version, view, disks, trash = caches.version, caches.last, caches.disks, caches.trash
        try:
            shown = await filtering(chosen, view, query)
        except UsageError as problem:
            shown, refused = list(view.rows), str(problem)

        def drawn() -> dict[str, Any]:
            found = of_listing(
                view, shown, asked.colors, disks=disks, trash=trash, budget=caches.budget, colored_by=colored_by
            )
            return marked(found)

        sections = {
            **await listings.get((query, asked.colors.name, colored_by), drawn, version),
            **of_run(await asyncio.to_thread(feeds.cached_view, asked.run, cache_lookups, CHART_REST), asked.colors),
            **of_client(*_plans_named(caches, asked.state.get("plan", "")), trash),
            "cache-version": str(version),
        }
        if refused:
            sections["cache-shown"] = note(refused, kind="warn")  # where the filter was typed
        return sections

    bind(app, "cache", OUTPUTS, answer, [Input("cache-color", "value")])
    looked = ClientsideFunction("neurontop", "lookAgain")  # so do the pages at a new address, wherever they are
    app.clientside_callback(looked, Input("cache-version", "children"))  # type: ignore[no-untyped-call]
    hold(app, "cache-query", "cache-group")
    _register_grid(app, caches)
    _register_treemap(app)
    _register_planning(app, caches)
    _register_executions(app, caches)


def _plans_named(caches: DashboardCaches, identities: str) -> tuple[list[PlanExecution], str]:
    """The plans that an address names, as far as they are kept, and why others are not shown."""
    found, gone = [], ""
    for identity in filter(None, identities.split(",")):
        try:
            found.append(caches.execution(identity))
        except NothingToShow as problem:
            gone = str(problem)
    return found, gone


def _register_grid(app: Dash, caches: DashboardCaches) -> None:
    """The rows of the grid as they scroll into sight, groups that open, the page of an entry."""

    @app.callback(
        Output("cache-grid", "getRowsResponse"), Input("cache-grid", "getRowsRequest"), State("url", "search")
    )
    async def rows(request: dict[str, Any] | None, search: str) -> Any:
        if request is None:
            return no_update
        await asyncio.to_thread(caches.table)
        state = state_of(search)
        try:
            made = await filtering(arranged, caches.last, state, request.get("sortModel") or [])
        except NeuronTopError:  # a filter that cannot be used: the page says why
            made = []
        first, last = int(request.get("startRow", 0)), int(request.get("endRow", 0))
        return {"rowData": [row(one, state.get("group", "")) for one in made[first:last]], "rowCount": len(made)}

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("cache-toggle", "data"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def toggle(asked: dict[str, Any] | None, search: str) -> Any:
        if asked is None:
            return no_update
        return search_with(search, open="\t".join(toggled(opened_groups(state_of(search)), str(asked.get("group")))))

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("cache-grid", "cellClicked"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def open_entry(clicked: dict[str, Any] | None, search: str) -> Any:
        key = str((clicked or {}).get("rowId"))
        is_entry = any(one.key == key for one in caches.last.rows)  # not a group, nor one that has gone since
        return search_with(search, entry=key, graph=None) if is_entry else no_update


def _register_treemap(app: Dash) -> None:
    """A click on a part filters by it."""

    @app.callback(
        Output("cache-query", "value"),
        Input("cache-treemap", "clickData"),
        State("cache-query", "value"),
        prevent_initial_call=True,
    )
    async def narrow(click: dict[str, Any] | None, query: str | None) -> Any:
        path = str(((click or {}).get("points") or [{}])[0].get("id", "")).split("\t")
        words = [
            f"{name}:{value}"
            for name, value in zip(("root", "compiler", "state"), path, strict=False)
            if value and " " not in value
        ]
        return " ".join(words) if words else no_update


def _register_planning(app: Dash, caches: DashboardCaches) -> None:
    from dash import ctx

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Output("cache-refused", "children"),
        *[Input(f"cache-{action.verb}", "n_clicks") for action in BUTTONS],
        State("cache-grid", "selectedRows"),
        State("cache-everything", "value"),
        State("cache-exclusive", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def plan(*values: Any) -> Any:
        *clicks, selected, everything, stated, search = values
        if not any(clicks) or not ctx.triggered_id:
            return no_update, no_update
        try:
            shown = await filtering(chosen, caches.last, state_of(search).get("q", ""))
        except NeuronTopError as problem:
            return no_update, note(str(problem), kind="warn")
        keys = keys_of([str(one.get("id")) for one in selected or []], shown)
        if EVERYTHING in (everything or []):
            keys = [one.key for one in shown]
        if not keys:
            text = f"Nothing is selected: tick entries, or “all that match the filter” ({count_text(len(shown))})."
            return no_update, note(text, kind="warn")
        if len(keys) > MOST_SELECTED:
            return no_update, note(
                f"At most {count_text(MOST_SELECTED)} entries at a time: narrow the filter.", kind="warn"
            )
        try:
            verb = Verb(str(ctx.triggered_id).removeprefix("cache-"))
            executions = await asyncio.to_thread(
                caches.plan, verb, keys, current_requester(), assume_exclusive=EXCLUSIVE in (stated or [])
            )
        except (NeuronTopError, ValueError) as problem:
            return no_update, note(str(problem), kind="warn")
        return search_with(search, plan=",".join(execution.plan.identity for execution in executions)), None

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Output("cache-room-refused", "children"),
        Input("cache-make-room", "n_clicks"),
        State("cache-free", "value"),
        State("cache-exclusive", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def make_room(clicks: int, wanted: str | None, stated: list[str] | None, search: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            executions = await asyncio.to_thread(
                caches.plan_room, wanted or "", current_requester(), assume_exclusive=EXCLUSIVE in (stated or [])
            )
        except NeuronTopError as problem:
            return no_update, note(str(problem), kind="warn")
        return search_with(search, plan=",".join(execution.plan.identity for execution in executions)), None


def _register_executions(app: Dash, caches: DashboardCaches) -> None:
    """The buttons of plans that were made."""
    from dash import ALL, ctx

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input({"type": "plan-close", "plan": ALL}, "n_clicks"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def close(_clicks: Any, search: str) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        closed = ctx.triggered_id["plan"].split(",")
        left = [one for one in state_of(search).get("plan", "").split(",") if one not in closed]
        return search_with(search, plan=",".join(left))

    @app.callback(
        Output("cache-action", "children"),  # permissions.py asks for the act token by this name
        Input({"type": "plan-confirm", "plan": ALL}, "n_clicks"),
        Input({"type": "plan-undo", "plan": ALL}, "n_clicks"),
        Input({"type": "plan-stop", "plan": ALL}, "n_clicks"),
        State({"type": "plan-word", "plan": ALL}, "value"),
        State({"type": "plan-word", "plan": ALL}, "id"),
        prevent_initial_call=True,
    )
    async def act(_confirm: Any, _undo: Any, _stop: Any, words: list[str], names: list[Any]) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        kind, together = ctx.triggered_id["type"], ctx.triggered_id["plan"]
        typed = {name["plan"]: word or "" for name, word in zip(names, words, strict=True)}
        identities, requester = together.split(","), current_requester()
        problems: dict[str, None] = {}
        if kind == "plan-confirm":
            try:
                caches.execute_together(identities, requester, typed.get(together, ""))
            except NeuronTopError as problem:
                problems[str(problem)] = None
        else:
            each_of = caches.stop if kind == "plan-stop" else caches.undo
            for identity in identities:  # one that is over, or cannot be undone, does not keep the others
                try:
                    await asyncio.to_thread(each_of, identity, requester)
                except (NeuronTopError, OSError) as problem:
                    problems[str(problem)] = None
        return [note(problem, kind="bad") for problem in problems] or None

    @app.callback(
        Output("cache-undone", "children"),  # permissions.py asks for the act token by this name
        Input({"type": "trash-undo", "plan": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    async def undo_past(_clicks: Any) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        try:
            words = await asyncio.to_thread(caches.undo_from_trash, str(ctx.triggered_id["plan"]), current_requester())
        except (NeuronTopError, OSError) as problem:
            return note(str(problem), kind="bad")
        return note(f"Undone: {words}.")
