"""The band at the top of the first page: the verdict on the job, and the lines of the log that state the reason.

Alerts stand below it, in cards with what can be done about them (`alert_panel.py`).
"""

from __future__ import annotations

from typing import Any

from dash import html

from neuron_top.dashboard.components import attributes, note
from neuron_top.units import count_text
from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view, other_findings
from neuron_top.views.overview import Overview
from neuron_top.views.verdict import GOES_ON, SIGNS, Verdict, VerdictState, progress_text, state_words, verdict


def reason_panel(view: Overview) -> Any:
    """The band."""
    one = verdict(view)
    content: list[Any] = [
        html.Div(
            [
                html.H2(f"{SIGNS.get(one.state, GOES_ON)} {state_words(one.state)}"),
                html.Strong(one.name),
                *_progress(one, view),
            ],
            className="band-head",
        ),
        html.P(one.reason, className="band-reason"),
    ]
    if one.next_step:
        content.append(note(f"Next: {one.next_step.rstrip('.')}.", kind="next-step"))
    whole = diagnosis_view(view.diagnosis) if view.diagnosis is not None else None
    if whole is not None and whole.lines:
        is_open = one.state is VerdictState.FAILED
        content.append(html.Details([html.Summary(f"The log at {whole.where}"), _evidence(whole)], open=is_open))
    if whole is not None and whole.others:
        seen = html.Ul([html.Li(html.Code(line)) for line in other_findings(whole)])
        content.append(html.Details([html.Summary("Also seen"), seen]))
    return html.Section(content, className=f"panel wide reason {one.severity} is-{one.state.replace(' ', '-')}")


def _progress(one: Verdict, view: Overview) -> list[Any]:
    words = progress_text(one)
    if one.progress is None:
        return [html.Span(words)] if words else []
    share = f"{one.progress:.4f}"
    bar = html.Progress(value=share, max="1", **attributes(aria_label="Progress of the job"))
    return [bar, html.Span(" · ".join(filter(None, (_done(one, view), words))))]


def _done(one: Verdict, view: Overview) -> str:
    """The meaning of the progress share, for a failed job, whose reason states the failure instead."""
    training = view.training
    if one.state is not VerdictState.FAILED or training.step is None:
        return ""
    return f"step {count_text(training.step)} of {count_text(training.total_steps)}"


def _evidence(view: DiagnosisView) -> Any:
    rows = [
        html.Tr(
            [html.Td(line.line, className="number"), html.Td(html.Code(line.text))],
            className="cause" if line.is_cause else None,
        )
        for line in view.lines
    ]
    scroll = attributes(aria_label="Lines of the log that state the reason")
    return html.Div(html.Table(html.Tbody(rows)), className="table-scroll", tabIndex=0, role="region", **scroll)
