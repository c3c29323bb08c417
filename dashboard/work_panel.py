"""A plan on the page of the cache: its preview, its progress, its outcome, and what can be done about it now."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from neuron_top.actions.desk import COMPILE
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.components import more, note, panel
from neuron_top.dashboard.guard import current_permission
from neuron_top.dashboard.plans import PlanExecution
from neuron_top.units import count_text
from neuron_top.views.plan import outcome_lines, plan_lines

STEPS_SHOWN = 40
WORDS = {"evict": "Evict", "slim": "Slim (keep the graphs)", COMPILE: "Compile failures now",
         "retry": "Failures: on the next run", "unlock": "Remove dead locks",
         "quarantine": "Quarantine broken"}  # fmt: skip


def work_panel(work: PlanExecution) -> Any:
    """A plan as it stands, with the buttons that it allows."""
    plan, identity = work.plan, work.plan.identity
    content: list[Any] = []
    if work.state == "planned":
        text = "\n".join(line.text for line in plan_lines(plan, STEPS_SHOWN))
        content = [html.Pre(text, className="log")]
    if work.state == "running":
        progress = work.progress
        done = progress.done + progress.refused if progress is not None else 0
        content = [
            html.Progress(value=str(done), max=str(len(plan.steps)), **more(aria_label="steps done")),
            html.P(
                f"{count_text(done)} of {count_text(len(plan.steps))} steps"
                + (f": {progress.detail}" if progress is not None and progress.detail else "")
            ),
        ]
    if work.outcome is not None:
        content.append(html.Pre("\n".join(line.text for line in outcome_lines(work.outcome)), className="log"))
    if work.message:
        content.append(note(work.message, kind="bad" if work.state == "failed" else "quiet"))
    state = "stopped" if work.outcome is not None and work.outcome.interrupted else work.state
    return panel(f"{plan.verb}: {state}", *content, _answers(work, identity), wide=True)


def _answers(work: PlanExecution, identity: str) -> Any:
    """The buttons; Cancel stands first, so that it is what the keyboard meets first."""
    acts = current_permission.get() is Permission.ACT
    buttons: list[Any] = [html.Button("Close" if work.state != "planned" else "Cancel", className="plain", n_clicks=0,
                           id={"type": "work-close", "plan": identity})]  # fmt: skip
    if work.state == "running":
        buttons.append(html.Button("Stopping …" if work.stopping else "Stop", className="plain", n_clicks=0,
                                   disabled=not acts or work.stopping,
                                   id={"type": "work-stop", "plan": identity}))  # fmt: skip
    if work.state == "planned" and work.plan.steps and not work.plan.refused:
        words = f"{WORDS.get(work.plan.verb, work.plan.verb)}: {count_text(len(work.plan.steps))} entries"
        if work.typed:
            buttons.append(
                dcc.Input(id={"type": "work-word", "plan": identity}, placeholder=f"type {work.typed} to confirm")
            )
        buttons.append(html.Button(words, className="danger", n_clicks=0, disabled=not acts,
                                   id={"type": "work-confirm", "plan": identity}))  # fmt: skip
        if not acts:
            buttons.append(html.Span("Sign in with the act token to do this.", className="quiet"))
    if work.state == "done" and work.outcome is not None and work.outcome.done and work.plan.verb != COMPILE:
        buttons.append(html.Button("Undo", n_clicks=0, disabled=not acts, id={"type": "work-undo", "plan": identity}))
    return html.Div(buttons, className="row")
