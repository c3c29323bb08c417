"""A plan on the page of the cache: its preview, its progress, its outcome, and the buttons that it allows now."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from neuron_top.dashboard.components import attributes, note, panel
from neuron_top.dashboard.guard import current_permission
from neuron_top.dashboard.permissions import action_permission
from neuron_top.services.caches import action_of
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.units import count_text
from neuron_top.views.plan import choice_text, outcome_lines, plan_lines

STEPS_SHOWN = 40


def plan_panel(execution: PlanExecution) -> Any:
    """A plan as it stands."""
    plan, content = execution.plan, []
    if execution.state is PlanState.PLANNED:
        text = "\n".join(line.text for line in plan_lines(plan, STEPS_SHOWN))
        content = [html.Pre(text, className="log")]
    if execution.state is PlanState.RUNNING:
        content = _progress(execution)
    if execution.outcome is not None:
        content.append(html.Pre("\n".join(line.text for line in outcome_lines(execution.outcome)), className="log"))
    if execution.message:
        content.append(note(execution.message, kind="bad" if execution.state is PlanState.FAILED else "quiet"))
    is_stopped = execution.outcome is not None and execution.outcome.interrupted
    state = "stopped" if is_stopped else execution.state
    return panel(f"{action_of(plan.verb).title}: {state}", *content, _buttons(execution), wide=True)


def _progress(execution: PlanExecution) -> list[Any]:
    progress, steps = execution.progress, len(execution.plan.steps)
    done = progress.done + progress.refused if progress is not None else 0
    detail = f": {progress.detail}" if progress is not None and progress.detail else ""
    return [
        html.Progress(value=str(done), max=str(steps), **attributes(aria_label="steps done")),
        html.P(f"{count_text(done)} of {count_text(steps)} steps{detail}"),
    ]


def _buttons(execution: PlanExecution) -> Any:
    """Cancel stands first, so that it is what the keyboard meets first."""
    can_act = current_permission.get() >= action_permission(execution.plan.verb)
    waits = execution.state is PlanState.PLANNED
    buttons: list[Any] = [_button("Cancel" if waits else "Close", "close", execution, className="plain")]
    if execution.state is PlanState.RUNNING:
        buttons.append(
            _button(
                "Stopping …" if execution.stopping else "Stop",
                "stop",
                execution,
                className="plain",
                disabled=not can_act or not execution.can_stop,
            )
        )
    if execution.can_confirm:
        if execution.typed:
            buttons.append(
                dcc.Input(
                    id={"type": "plan-word", "plan": execution.plan.identity},
                    placeholder=f"type {execution.typed} to confirm",
                )
            )
        buttons.append(
            _button(choice_text(execution.plan), "confirm", execution, className="danger", disabled=not can_act)
        )
        if not can_act:
            buttons.append(html.Span("Sign in with the act token to execute plans.", className="quiet"))
    if execution.can_undo:
        buttons.append(_button("Undo", "undo", execution, disabled=not can_act))
    return html.Div(buttons, className="row")


def _button(text: str, action: str, execution: PlanExecution, **more: Any) -> Any:
    identity = {"type": f"plan-{action}", "plan": execution.plan.identity}
    return html.Button(text, n_clicks=0, id=identity, **more)
