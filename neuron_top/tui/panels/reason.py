"""The first lines of the overview: why the job failed, was cut off, or what it has overcome, and what to do."""

from __future__ import annotations

import textwrap

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line
from neuron_top.tui.theme import Theme
from neuron_top.views.alerts import Severity
from neuron_top.views.diagnosis import Headline, headline
from neuron_top.views.overview import Overview
from neuron_top.views.verdict import VerdictState, verdict


def size_request(view: Overview, width: int) -> SizeRequest:
    """A line at least; all of the reason and of the next step where there is room."""
    cause = _cause(view)
    return (
        SizeRequest(0, 0) if cause is None else SizeRequest(1, len(_reason(cause, width)) + len(_advice(cause, width)))
    )


def reason_panel(theme: Theme, view: Overview, width: int, height: int) -> list[Strip]:
    """The reason first; the next step where lines are left."""
    cause = _cause(view)
    if cause is None:
        return []
    glyphs = theme.glyphs
    sign = {Severity.ERROR: glyphs.failed, Severity.WARNING: glyphs.warn}.get(cause.severity, glyphs.note)
    style = theme.level(cause.severity)
    reason, advice = _reason(cause, width), _advice(cause, width)
    if len(reason) > height:
        reason = [*reason[: height - 1], " ".join(reason[height - 1 :])]
    strips = [
        Line(theme, width).put(f"{sign if number == 0 else ' '} {part}", style).strip()
        for number, part in enumerate(reason)
    ]
    left = height - len(reason)
    if len(advice) > left:
        advice = [*advice[: left - 1], " ".join(advice[left - 1 :])] if left > 0 else []
    return [*strips, *(Line(theme, width).gap(2).put(part, theme.quiet).strip() for part in advice)]


def _cause(view: Overview) -> Headline | None:
    """The diagnosis; of a job whose log just stops, that; None where the first line of the screen says it all."""
    cause = headline(view.diagnosis, over=view.header.over)
    one = verdict(view)
    if cause is not None or one.state not in (VerdictState.CUT_OFF, VerdictState.FAILED):
        return cause
    return Headline(severity=one.severity, text=f"{one.state}: {one.reason}", next_step=one.next_step)


def _reason(cause: Headline, width: int) -> list[str]:
    return textwrap.wrap(cause.text, max(20, width - 2))


def _advice(cause: Headline, width: int) -> list[str]:
    return textwrap.wrap(cause.next_step, max(20, width - 2))
