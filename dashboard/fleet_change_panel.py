"""Changes of nodes on the page of the fleet: a form, one plan on a drawer, one confirmation, undo, the newest ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.address import search_with
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.components import attributes, note, panel, table, text_block
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.guard import current_permission, why_not_act
from neuron_top.dashboard.permissions import action_permission
from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.services.fleet_actions import FLEET_ACTIONS, CacheAction, FleetRequest
from neuron_top.units import counted
from neuron_top.views.fleet_plan import (
    FleetPlan,
    change_lines,
    change_text,
    confirm_text,
    is_question,
    undoable_nodes,
)

OUTPUTS = PageOutputs(parts=("fleet-change", "fleet-changes"))
SHOWN = 10
EXCLUSIVE = "exclusive"


def change_panel() -> Any:
    """The form and the newest changes."""
    names = {
        name: row.fleet_help if row.fleet_help.startswith(name) else f"{name}: {row.fleet_help}"
        for name, row in FLEET_ACTIONS.items()
    }
    fields = (
        ("nodes", "Nodes", "n1, trn-01*; * is every node"),
        ("modules", "Modules", "MODULE_12* …; empty: all"),
        ("source", "Pull from", "s3://bucket/prefix, or a folder"),
        ("root", "Cache", "empty: that of each node"),
    )
    may_ask = current_permission.get() >= Permission.ACT
    action = dcc.Dropdown(names, next(iter(names)), id="fleet-ask-action", clearable=False, className="run-picker")
    form = [
        html.Div([html.Label("Action", htmlFor="fleet-ask-action"), action], className="twice"),
        *(
            html.Div(
                [
                    html.Label(label, htmlFor=f"fleet-ask-{name}"),
                    dcc.Input(id=f"fleet-ask-{name}", type="text", placeholder=hint),
                ]
            )
            for name, label, hint in fields
        ),
        html.Div(html.Button("Plan it", id="fleet-ask", n_clicks=0, className="plain", disabled=not may_ask)),
    ]
    statement = {EXCLUSIVE: "no other host or container uses these caches (needed for network file systems)"}
    return panel(
        "Changes on nodes",
        dcc.Store(id="fleet-change-marks", data=None),
        html.Div(form, className="fields"),
        dcc.Checklist(statement, [], id="fleet-ask-exclusive", className="switch"),
        None if may_ask else note(why_not_act("to change nodes")),
        html.Div(id="fleet-asked", role="alert"),
        html.Div(id="fleet-acted", role="alert"),
        html.Div(id="fleet-change", role="status"),
        html.Div(id="fleet-changes"),
        wide=True,
    )


def render(change: FleetPlan | str | None, newest: Sequence[FleetPlan]) -> dict[str, Any]:
    """The drawer of the change that the address names, or why there is none, and the newest ones."""
    drawer: Any = note(change, kind="warn") if isinstance(change, str) else None
    if isinstance(change, FleetPlan):
        drawer = _drawer(change)
    return {"fleet-change": drawer, "fleet-changes": _newest(newest)}


def _newest(plans: Sequence[FleetPlan]) -> Any:
    if not plans:
        return note("Nobody asked for a change yet.")
    rows = [
        (
            html.A(plan.batch, href=f"?change={plan.batch}", className="narrows"),
            plan.action,
            plan.asked_by,
            str(plan.done),
            change_text(plan),
        )
        for plan in plans[:SHOWN]
    ]
    head = ("change", "action", "asked by", "steps done", "nodes")
    return table(head, rows, caption="The newest changes", right=(3,))


def _drawer(plan: FleetPlan) -> Any:
    awaited = [note(f"Waiting for {counted(len(plan.awaited), 'node')}.")] if plan.awaited else []
    parts = [
        html.H2(f"{plan.action}: change {plan.batch}"),
        html.P(f"asked by {plan.asked_by}"),
        text_block(line.text for line in change_lines(plan)),
        *awaited,
        _buttons(plan),
    ]
    return html.Section(parts, className="drawer panel", role="dialog", **attributes(aria_label="Change of nodes"))


def _buttons(plan: FleetPlan) -> Any:
    row: CacheAction | None = FLEET_ACTIONS.get(plan.action)
    can_act = row is not None and current_permission.get() >= action_permission(row.verb)
    buttons: list[Any] = [_button("Close", "close", plan, className="plain", autoFocus="autofocus")]
    if is_question(plan):
        buttons.append(_button("Cancel", "cancel", plan, className="plain", disabled=not can_act))
        if plan.planned:
            seen = ",".join(str(node.intent) for node in plan.planned)
            if plan.word:
                word = {"type": "change-word", "batch": plan.batch}
                buttons.append(dcc.Input(id=word, placeholder=f"type {plan.word} to confirm"))
            buttons.append(_button(confirm_text(plan), "confirm", plan, seen, className="danger", disabled=not can_act))
    nodes = undoable_nodes(plan)
    if len(nodes) > 1:
        buttons.append(_button(f"Undo on {counted(len(nodes), 'node')}", "undo", plan, disabled=not can_act))
    buttons += [_button(f"Undo on {node}", "undo", plan, node, disabled=not can_act) for node in nodes]
    if not can_act:
        buttons.append(html.Span(why_not_act("to change nodes"), className="quiet"))
    return html.Div(buttons, className="row drawer-buttons")


def _button(text: str, act: str, plan: FleetPlan, what: str = "", **more: Any) -> Any:
    name = {"type": f"change-{act}", "batch": plan.batch, "what": what}
    return html.Button(text, n_clicks=0, id=name, **more)


def answer_of(fleet: DashboardFleet, state: dict[str, str]) -> dict[str, Any]:
    """The panel's content for an address. Asks the database."""
    if not fleet.exists:
        return dict.fromkeys(OUTPUTS.parts)
    newest, change = fleet.changes(), None
    if name := state.get("change", ""):
        try:
            change = fleet.actions.of(name)
        except NothingToShow as problem:
            return render(str(problem), newest)
    return render(change, newest)


def register(app: Dash, fleet: DashboardFleet) -> None:
    """Bind the panel to the database. Its buttons depend on who looks, so no answer is shared."""
    from dash import ctx

    async def answer(asked: PageRequest) -> dict[str, Any]:
        return await asyncio.to_thread(answer_of, fleet, asked.state)

    bind(app, "fleet-change", OUTPUTS, answer, is_of_one=False)

    @app.callback(
        Output("fleet-asked", "children"),  # permissions.py asks for the act token by this name
        Output("url", "search", allow_duplicate=True),
        Input("fleet-ask", "n_clicks"),
        State("fleet-ask-action", "value"),
        *[State(f"fleet-ask-{name}", "value") for name in ("nodes", "modules", "source", "root")],
        State("fleet-ask-exclusive", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def ask(clicks: int, action: str, *rest: Any) -> Any:
        *typed, stated, search = rest
        if not clicks:
            return no_update, no_update
        nodes, modules, source, root = (str(text or "").strip() for text in typed)
        request = FleetRequest(
            action=action,
            modules=tuple(modules.replace(",", " ").split()),
            source=source,
            root=root,
            assume_exclusive=EXCLUSIVE in (stated or []),
        )
        try:
            plan = await asyncio.to_thread(lambda: fleet.actions.ask(request, fleet.actions.nodes_named(nodes)))
        except NeuronTopError as problem:
            return note(str(problem), kind="warn"), no_update
        return None, search_with(search, change=plan.batch)

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input({"type": "change-close", "batch": ALL, "what": ALL}, "n_clicks"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def close(_clicks: object, search: str) -> Any:
        return search_with(search, change=None) if ctx.triggered_id and ctx.triggered[0]["value"] else no_update

    @app.callback(
        Output("fleet-acted", "children"),  # permissions.py asks for the act token by this name
        *[
            Input({"type": f"change-{act}", "batch": ALL, "what": ALL}, "n_clicks")
            for act in ("confirm", "cancel", "undo")
        ],
        State({"type": "change-word", "batch": ALL}, "value"),
        prevent_initial_call=True,
    )
    async def act(_confirm: object, _cancel: object, _undo: object, words: list[str | None]) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update
        work = _work(fleet, ctx.triggered_id, next(iter(words), "") or "")
        try:
            await asyncio.to_thread(work)
        except NeuronTopError as problem:
            return note(str(problem), kind="bad")
        return None


def _work(fleet: DashboardFleet, button: dict[str, str], word: str) -> Callable[[], FleetPlan]:
    """The action of a button of the drawer."""
    batch, what = button["batch"], button["what"]
    if button["type"] == "change-confirm":
        return lambda: fleet.actions.confirm_seen(batch, [int(one) for one in what.split(",") if one], word)
    if button["type"] == "change-undo":
        return lambda: fleet.actions.undo(batch, [what] if what else [])
    return lambda: fleet.actions.take_back(batch)
