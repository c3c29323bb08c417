"""The first panel of the live page: why the job failed, or what it has overcome, and what to do."""

from __future__ import annotations

from typing import Any

from dash import html

from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view, headline, other_findings
from neuron_top.views.overview import Overview


def reason_panel(view: Overview) -> Any:
    """The reason with the lines that state it; None where there is none to tell."""
    told = headline(view.diagnosis, over=view.header.over)
    if told is None or view.diagnosis is None:
        return None
    whole = diagnosis_view(view.diagnosis)
    content: list[Any] = [html.H2(told.text)]
    if told.next_step:
        content.append(html.P(["Next: ", told.next_step]))
    if whole.lines:
        content.append(html.Details([html.Summary(f"The log at {whole.where}"), _evidence(whole)], open=True))
    if whole.others:
        seen = html.Ul([html.Li(html.Code(line)) for line in other_findings(whole)])
        content.append(html.Details([html.Summary("Also seen"), seen]))
    return html.Section(content, className=f"panel wide reason {told.severity}")


def _evidence(view: DiagnosisView) -> Any:
    rows = [
        html.Tr(
            [html.Td(line.line, className="number"), html.Td(html.Code(line.text))],
            className="cause" if line.is_cause else None,
        )
        for line in view.lines
    ]
    return html.Div(html.Table(html.Tbody(rows)), className="table-scroll", tabIndex=0)
