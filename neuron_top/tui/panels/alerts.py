"""Draws the alerts, each with its evidence and what to do, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, lines_of, rule, without_backticks
from neuron_top.tui.theme import Theme
from neuron_top.units import duration_text
from neuron_top.views.alerts import since_words
from neuron_top.views.handled_alerts import AlertList, PastAlert
from neuron_top.views.model import Alert

_LEAST_EVIDENCE = 16
"""Cells."""
SHOWN = 3
"""The most alerts on the overview; `a` opens all of them."""


def size_request(alerts: Sequence[Alert], width: int, handled: int = 0) -> SizeRequest:
    """Title and a line per alert; with room, the evidence and what to do below it, whole in so many columns.

    Nothing without alerts; the title where all were acknowledged or muted.
    """
    if not alerts:
        return SizeRequest(int(handled > 0), int(handled > 0))
    shown = alerts[:SHOWN]
    lines = sum(
        1 + len(_wrapped(alert.evidence, width)) + len(_wrapped(without_backticks(alert.next_step), width))
        for alert in shown
    )
    return SizeRequest(1 + min(2, len(alerts)), 1 + lines + (len(alerts) > SHOWN))


def alerts_panel(
    theme: Theme,
    alerts: Sequence[Alert],
    now: float,
    width: int,
    height: int,
    handled: int = 0,
    shown_above: int = 0,
    until: float | None = None,
) -> list[Strip]:
    """The panel. `handled`: how many more were acknowledged or muted; `shown_above`: how many the panel of the
    reason shows; `until`: when a log ended that is no longer written."""
    if not alerts and not handled:
        return []
    more = " besides the failure" if shown_above else ""
    more += f" · {handled} acknowledged or muted" if handled else ""
    strips = [rule(theme, width, "Alerts", _summary(alerts) + more)]
    room = height - 1
    fits = room if len(alerts) <= min(room, SHOWN) else room - 1
    shown = alerts[: max(0, min(SHOWN, fits))]
    each = min(3, fits // len(shown)) if shown else 1
    spare = fits - each * len(shown)
    for alert in shown:
        strips.append(alert_line(theme, alert, now, width, evidence=each < 3, until=until))
        texts = ((alert.evidence, theme.text),) * (each == 3) + ((without_backticks(alert.next_step), theme.quiet),) * (
            each >= 2
        )
        for text, style in texts:
            parts = fitted(text, width, 1 + (spare if each == 3 else 0))
            spare -= len(parts) - 1
            strips += [Line(theme, width).gap(2).put(part, style).strip() for part in parts]
    if len(shown) < len(alerts) and room > 0:
        strips.append(Line(theme, width).put(f"  +{len(alerts) - len(shown)} more: a shows all", theme.quiet).strip())
    return strips


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of a text that stands two columns in; an empty one keeps its line."""
    return lines_of(text, max(20, width - 2)) or [""]


def fitted(text: str, width: int, most: int) -> list[str]:
    """A text in at most this many lines; the last one is cut between two words if the rest does not fit."""
    parts = _wrapped(text, width)
    return parts if len(parts) <= most else [*parts[: most - 1], " ".join(parts[most - 1 :])]


def _summary(alerts: Sequence[Alert]) -> str:
    if not alerts:
        return "none"
    counts = [(sum(alert.severity == word for alert in alerts), word) for word in ("error", "warning", "info")]
    return " · ".join(f"{count} {word}{'s' if count > 1 and word != 'info' else ''}" for count, word in counts if count)


def alert_line(
    theme: Theme, alert: Alert, now: float, width: int, evidence: bool = True, until: float | None = None
) -> Strip:
    """Sign, severity, title, since when, and the evidence if it has no line of its own."""
    glyphs = theme.glyphs
    sign = {"error": glyphs.failed, "warning": glyphs.warn}.get(alert.severity, glyphs.note)
    style = theme.level(alert.severity)
    since = since_words(alert.kind, alert.since, now, until)
    line = Line(theme, width).put(f"{sign} {alert.severity}: {alert.title}", style)
    line.put(f" {since}" if since else "", theme.quiet)
    if evidence and line.left > 2 + _LEAST_EVIDENCE:  # a shorter piece would be useless
        line.gap(2).put(alert.evidence, theme.text)
    return line.strip()


class AlertPageView(NamedTuple):
    """The page of alerts: the moment, the key of the chosen one, and up to when things have gone on."""

    listed: AlertList
    now: float
    chosen: str
    until: float


def alert_page(theme: Theme, view: AlertPageView, width: int) -> list[Strip]:
    """Every alert with all its text: what was seen, and what to do; then those that ended."""
    listed = view.listed
    strips = [rule(theme, width, "Alerts", _summary(listed.active) if listed.holding else "")]
    if not listed.holding:
        strips += [Line(theme, width).gap(2).put("No alerts.", theme.quiet).strip(), Line(theme, width).strip()]
    for title, found in (("", listed.active), ("Acknowledged", listed.acknowledged), ("Muted", listed.muted)):
        if title and found:
            strips.append(rule(theme, width, title, f"{len(found)}"))
        for alert in found:
            strips += _whole_alert(theme, alert, view, width, is_quiet=bool(title))
    if listed.past:
        strips.append(rule(theme, width, "Past", f"{len(listed.past)}"))
        strips += [_past_line(theme, past, width) for past in listed.past]
    return strips


def _whole_alert(theme: Theme, alert: Alert, view: AlertPageView, width: int, *, is_quiet: bool) -> list[Strip]:
    cursor = Line(theme, 2).put(theme.glyphs.cursor if alert.key == view.chosen else " ", theme.key).strip()
    strips = [Strip.join([cursor, alert_line(theme, alert, view.now, max(0, width - 2), False, view.until)])]
    for text, style in (
        (alert.evidence, theme.quiet if is_quiet else theme.text),
        (without_backticks(alert.next_step), theme.quiet),
    ):
        wrapped = lines_of(text, max(20, min(width - 6, 110)))
        strips += [Line(theme, width).gap(6).put(part, style).strip() for part in wrapped]
    return [*strips, Line(theme, width).strip()]


def _past_line(theme: Theme, past: PastAlert, width: int) -> Strip:
    begun = past.since if past.since is not None else past.seen
    held = past.ended - begun if past.ended is not None else 0.0
    line = (
        Line(theme, width)
        .gap(2)
        .put(datetime.fromtimestamp(begun).astimezone().strftime("%m-%d %H:%M:%S"), theme.quiet)
    )
    line.gap(2).put(f"{past.severity}: {past.title}", theme.text)
    line.put(f" for {duration_text(held)}" if held > 0.0 else "", theme.quiet)
    return line.gap(2).put(past.evidence, theme.quiet).strip()
