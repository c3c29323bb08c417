"""One action in the drawer at the right: its total, its plans by cache and compiler, one confirmation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from neuron_top.dashboard.components import attributes, note, table, text_block
from neuron_top.dashboard.guard import current_permission, why_not_act
from neuron_top.dashboard.permissions import action_permission
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.units import bytes_text, count_text, counted, duration_text
from neuron_top.views.plan import (
    PlanStepRow,
    act_choice,
    act_sum,
    choice_text,
    cost,
    lines_behind_steps,
    outcome_lines,
    plan_head,
    reason_text,
    step_rows,
    title_of,
)
from neuron_top.views.plan_sentences import goal_missed_text, progress_parts

STEPS_SHOWN = 40


def plan_drawer(executions: Sequence[PlanExecution]) -> Any:
    """All plans of one act: their sum first, a line for each, the whole text of each below."""
    title = title_of(*(execution.plan for execution in executions))
    several = len(executions) > 1
    waiting = any(execution.state is PlanState.PLANNED for execution in _open(executions))
    parts: list[Any] = [html.H2(f"{title.capitalize()}: {_state(executions)}")]
    if waiting:
        parts.append(html.P(act_sum([execution.plan for execution in executions]), className="sum"))
        missed = dict.fromkeys(goal_missed_text(execution.plan) for execution in executions)
        parts += [note(text, kind="warn") for text in missed if text]
    roots = {execution.plan.root for execution in executions}
    if several and len(roots) == 1:
        parts.append(html.P(html.Code(executions[0].plan.root)))
    names = [_name(execution, with_root=len(roots) > 1) for execution in executions]
    if several:
        parts.append(_lines(executions, names, is_same_root=len(roots) == 1))
        parts += _skipped(executions)
    for name, execution in zip(names, executions, strict=True):
        details = _details(execution)
        if several:
            summary, has_ended = f"{_counts(execution)}: {name}", bool(execution.outcome or execution.message)
            details = [html.Details([html.Summary(summary), *details], open=has_ended)]
        parts += details
    parts += [html.Div(id="cache-action", role="alert"), _buttons(executions)]
    named = attributes(aria_label=f"Plan: {title}", aria_modal="true")
    return html.Section(parts, className="drawer panel", role="dialog", **named)


def _state(executions: Sequence[PlanExecution]) -> str:
    states = dict.fromkeys(_state_of(execution) for execution in _open(executions))
    return ", ".join(states)


def _open(executions: Sequence[PlanExecution]) -> Sequence[PlanExecution]:
    """The plans that were or can be executed, which the state of an act is about; else all of them."""
    return [each for each in executions if each.state is not PlanState.PLANNED or each.can_confirm] or executions


def _state_of(execution: PlanExecution) -> str:
    is_stopped = execution.outcome is not None and execution.outcome.interrupted
    if execution.state is PlanState.PLANNED:
        return "a plan, nothing is changed yet"
    if execution.is_being_undone:
        return "being undone"
    return "stopped" if is_stopped else execution.state.value


def _counts(execution: PlanExecution) -> str:
    """What a plan's disclosure holds."""
    skipped = len(execution.plan.exclusions)
    return counted(len(execution.plan.steps), "step") + (f", {count_text(skipped)} skipped" if skipped else "")


def _skipped(executions: Sequence[PlanExecution]) -> list[Any]:
    """Why entries are skipped, of all plans together."""
    reasons = Counter(reason_text(each) for execution in executions for each in execution.plan.exclusions)
    return [note(f"{count_text(count)} skipped: {reason}") for reason, count in reasons.items()]


def _name(execution: PlanExecution, *, with_root: bool) -> str:
    """The compiler whose entries it changes, and the cache where that is not said for all."""
    compilers = sorted({step.path.partition("/")[0] for step in execution.plan.steps})
    which = compilers[0] if len(compilers) == 1 else f"{len(compilers)} compiler versions" if compilers else "nothing"
    return f"{execution.plan.root}: {which}" if with_root else which


def _lines(executions: Sequence[PlanExecution], names: Sequence[str], *, is_same_root: bool) -> Any:
    """A line per plan; the state only where it is not that of all, which the heading says."""
    columns: dict[str, list[str]] = {
        "compiler" if is_same_root else "plan": list(names),
        "entries": [count_text(len(execution.plan.steps)) for execution in executions],
        "frees": [bytes_text(execution.plan.frees) for execution in executions],
        "to compile again": [_price(execution) for execution in executions],
        "skipped": [count_text(len(execution.plan.exclusions)) for execution in executions],
    }
    is_new = all(execution.state is PlanState.PLANNED for execution in executions)
    open_ = _open(executions)
    states = [_state_of(execution) if execution in open_ else "not executed" for execution in executions]
    columns |= {"state": states} if not is_new and len(set(states)) > 1 else {}
    rows = list(zip(*columns.values(), strict=True))
    return table(list(columns), rows, caption="The plans of this action", right=(1, 2, 3, 4))


def _price(execution: PlanExecution) -> str:
    price = cost(execution.plan)
    known = duration_text(price.seconds) if price.compiles > price.unknown else ""
    unknown = f"{price.unknown:,} of unknown duration" if price.unknown else ""
    return " + ".join(filter(None, (known, unknown))) or "nothing"


def _details(execution: PlanExecution) -> list[Any]:
    """A plan as it stands: its lines, its progress, its outcome."""
    content: list[Any] = []
    if execution.state is PlanState.PLANNED:
        plan = execution.plan
        content = [html.P(line.text) for line in plan_head(plan)]
        content.append(html.Ol([_step(row) for row in step_rows(plan, STEPS_SHOWN)], className="steps"))
        content.append(text_block(line.text for line in lines_behind_steps(plan, STEPS_SHOWN)))
    if execution.state is PlanState.RUNNING:
        content = _progress(execution)
    if execution.outcome is not None and execution.state is not PlanState.UNDONE:
        content.append(text_block(line.text for line in outcome_lines(execution.outcome)))
    if execution.message:
        content.append(note(execution.message, kind="bad" if execution.state is PlanState.FAILED else "quiet"))
    return content


def _step(row: PlanStepRow) -> Any:
    """What is done to which entry; below it the compiler it is of, and why."""
    compiler, _, entry = row.path.rpartition("/")
    why = ": ".join(filter(None, (row.facts, row.reason)))
    parts = [
        html.Span([f"{row.action} ", html.Code(entry)]),
        html.Span(row.size, className="size"),
        html.Small(" · ".join(filter(None, (compiler, why)))),
    ]
    parts += [html.Small(f"proof: {row.proof}")] if row.proof else []
    parts += [html.Small(row.warning, className="warn")] if row.warning else []
    return html.Li(parts)


def _progress(execution: PlanExecution) -> list[Any]:
    progress, steps = execution.progress, len(execution.plan.steps)
    done = progress.done + progress.refused if progress is not None else 0
    parts = progress_parts(progress) if progress is not None else []
    detail = f": {', '.join(parts)}" if parts else ""
    return [
        html.Progress(value=str(done), max=str(steps), **attributes(aria_label="steps done")),
        html.P(f"{count_text(done)} of {count_text(steps)} steps{detail}"),
    ]


def _buttons(executions: Sequence[PlanExecution]) -> Any:
    """Cancel stands first, so that it is what the keyboard meets first; each button acts on all plans it can act on."""
    can_act = current_permission.get() >= action_permission(executions[0].plan.verb)
    waits = [execution for execution in executions if execution.can_confirm]
    runs = [one for one in executions if one.state in (PlanState.CONFIRMED, PlanState.RUNNING)]
    undoable = [execution for execution in executions if execution.can_undo]
    is_new = any(execution.state is PlanState.PLANNED for execution in _open(executions))
    buttons: list[Any] = [
        _button("Cancel" if is_new else "Close", "close", executions, className="plain", autoFocus="autofocus")
    ]
    if runs:
        stopping = all(execution.stopping for execution in runs)
        able = can_act and any(execution.can_stop for execution in runs)
        buttons.append(
            _button("Stopping …" if stopping else "Stop", "stop", runs, className="plain", disabled=not able)
        )
    if waits:
        typed = next((execution.typed for execution in waits if execution.typed), "")
        if typed:
            word = dcc.Input(id={"type": "plan-word", "plan": _identity(waits)}, style={"width": "7rem"})
            buttons.append(html.Label([html.Span(f"type {typed} to confirm"), word], className="field"))
        text = choice_text(waits[0].plan) if len(waits) == 1 else act_choice([execution.plan for execution in waits])
        buttons.append(_button(text, "confirm", waits, className="danger", disabled=not can_act))
        if not can_act:
            buttons.append(html.Span(why_not_act("to execute plans"), className="quiet"))
    if undoable:
        buttons.append(_button("Undo", "undo", undoable, disabled=not can_act))
    return html.Div(buttons, className="row drawer-buttons")


def _button(text: str, action: str, executions: Sequence[PlanExecution], **more: Any) -> Any:
    return html.Button(text, n_clicks=0, id={"type": f"plan-{action}", "plan": _identity(executions)}, **more)


def _identity(executions: Sequence[PlanExecution]) -> str:
    return ",".join(execution.plan.identity for execution in executions)
