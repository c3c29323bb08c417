"""Alerts on the first page: three at most, then how many more; acknowledged, muted and past ones folded below."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from dash import html

from neuron_top.dashboard.components import attributes, with_commands
from neuron_top.dashboard.explain_panel import graph_link
from neuron_top.dashboard.guard import current_permission
from neuron_top.dashboard.permissions import LEAST_TO_EXECUTE
from neuron_top.services.alerts import AlertAct
from neuron_top.units import TO_THE_SECOND, counted, duration_text, moment_text
from neuron_top.views.handled_alerts import AlertList, PastAlert
from neuron_top.views.model import Alert

SHOWN = 3
PAST_SHOWN = 50
_WORDS = {
    AlertAct.ACKNOWLEDGE: ("Acknowledge", "Acknowledge: it no longer counts until it comes back"),
    AlertAct.MUTE: ("Mute", "Keep it away for this job"),
    AlertAct.UNDO: ("Count again", "Undo acknowledging or muting it"),
}
_WHILE_ACTIVE, _ONCE_HANDLED = (AlertAct.ACKNOWLEDGE, AlertAct.MUTE), (AlertAct.UNDO,)


def alert_panel(listed: AlertList, run: str, shown_above: Collection[str] = ()) -> list[Any]:
    """The panel of alerts. `shown_above`: keys of those that the band above shows; they are folded."""
    active = [alert for alert in listed.active if alert.key not in shown_above]
    above = [alert for alert in listed.active if alert.key in shown_above and (may_act() or alert.graph is not None)]
    more = active[SHOWN:]
    parts = [_alert(alert, run, _WHILE_ACTIVE) for alert in active[:SHOWN]]
    for title, found, acts in (
        (f"{counted(len(above), 'alert')} of the failure above", above, _WHILE_ACTIVE),
        (f"+{len(more)} more", more, _WHILE_ACTIVE),
        (f"{len(listed.acknowledged)} acknowledged", listed.acknowledged, _ONCE_HANDLED),
        (f"{len(listed.muted)} muted", listed.muted, _ONCE_HANDLED),
    ):
        if found:
            parts.append(_folded(title, found, run, acts))
    if listed.past:
        past = [html.Li(_past_text(one)) for one in listed.past[:PAST_SHOWN]]
        summary = html.Summary(counted(len(listed.past), "past alert"))
        parts.append(html.Details([summary, html.Ul(past)], className="alert quiet-alert"))
    return parts


def _folded(title: str, found: Sequence[Alert], run: str, acts: Sequence[AlertAct]) -> Any:
    rows = [_alert(alert, run, acts) for alert in found]
    return html.Details([html.Summary(title), *rows], className="alert quiet-alert")


def _alert(alert: Alert, run: str, acts: Sequence[AlertAct]) -> Any:
    return html.Article(
        [
            html.Strong(f"{alert.severity}: {alert.title}"),
            html.Span(alert.evidence),
            html.Span([_button(act, alert) for act in acts], className="alert-acts") if may_act() else None,
            html.Span(with_commands(alert.next_step), className="next-step"),
            graph_link(alert.graph, run, "its graph, and why it missed") if alert.graph is not None else None,
        ],
        className=f"alert {alert.severity}",
    )


def may_act() -> bool:
    """Whether the client of this request may acknowledge and mute alerts."""
    return current_permission.get() >= LEAST_TO_EXECUTE


def _button(act: AlertAct, alert: Alert) -> Any:
    name, words = _WORDS[act]
    label = attributes(aria_label=f"{name}: {alert.title}, {alert.evidence}")
    identity = {"type": "alert-act", "act": act.value, "key": alert.key}
    return html.Button(name, id=identity, title=words, className="link", n_clicks=0, **label)


def _past_text(one: PastAlert) -> str:
    begun = one.since if one.since is not None else one.seen
    moment = moment_text(begun, TO_THE_SECOND)
    held = f" for {duration_text(one.ended - begun)}" if one.ended is not None and one.ended > begun else ""
    return f"{moment}: {one.severity}: {one.title}{held}. {one.evidence}"
