"""The first lines of the overview: why the job failed, was cut off, or what it has overcome, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, lines_of, without_backticks
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text
from neuron_top.views.alerts import Severity
from neuron_top.views.diagnosis import Headline, diagnosis_view, headline
from neuron_top.views.overview import Overview
from neuron_top.views.verdict import VerdictState, verdict

MOST_PROOF = 6
"""Lines of the log, beside the reason and the next step."""
_PLACE = 9


def size_request(view: Overview, width: int, filled: Mapping[str, int] | None = None) -> SizeRequest:
    """A line at least; all of the reason and of the next step where there is room, and what `filled` the memory."""
    cause = _cause(view)
    if cause is None:
        return SizeRequest(0, 0)
    return SizeRequest(1, len(_reason(cause, width)) + len(_advice(cause, width)) + bool(filled) + len(_proof(view)))


def reason_panel(
    theme: Theme, view: Overview, width: int, height: int, filled: Mapping[str, int] | None = None
) -> list[Strip]:
    """The reason first; the next step, what `filled` the memory, what the log says and what else was seen where lines
    are left."""
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
    strips += [Line(theme, width).gap(2).put(part, theme.quiet).strip() for part in advice]
    if filled and len(strips) < height:
        from neuron_top.tui.panels.core_rows import memory_row  # the first frame has no failure

        strips.append(Strip.join([Line(theme, 2).gap(2).strip(), memory_row(theme, filled, max(0, width - 2))]))
    for place, text, is_cause in _proof(view, height - len(strips)):
        line = Line(theme, width).gap(2).put(place, theme.quiet, _PLACE, right=True).gap(2)
        strips.append(line.put(text, style if is_cause else theme.text).strip())
    return strips


def _proof(view: Overview, most: int = MOST_PROOF) -> list[tuple[str, str, bool]]:
    """(line number, text, whether it is the cause) of what the log says around it, then what else was seen, counted.

    Of more lines than there is room for, those nearest to the cause.
    """
    if view.diagnosis is None or not view.header.over or not view.diagnosis.failed:
        return []
    shown = diagnosis_view(view.diagnosis)
    lines = [(count_text(line.line), line.text, line.is_cause) for line in shown.lines if len(shown.lines) > 1]
    shown_lines = {place for place, _text, _is_cause in lines}
    others = [
        (
            count_text(other.line),
            f"{other.what}: {other.text}" + (f" × {count_text(other.count)}" * (other.count > 1)),
            False,
        )
        for other in shown.others
        if count_text(other.line) not in shown_lines
    ]
    most = max(0, min(most, MOST_PROOF))
    cause = next((at for at, (_place, _text, is_cause) in enumerate(lines) if is_cause), 0)
    first = max(0, min(cause - most // 2, len(lines) - most))
    return [*lines[first:], *others][:most]


def _cause(view: Overview) -> Headline | None:
    """The diagnosis, or that the log just stops; None if the first line of the screen says it all."""
    cause = headline(view.diagnosis, over=view.header.over)
    one = verdict(view)
    if cause is not None or one.state not in (VerdictState.INTERRUPTED, VerdictState.CUT_OFF, VerdictState.FAILED):
        return cause
    return Headline(
        severity=one.severity, text=f"{one.state}: {one.reason}", reason=one.reason, next_step=one.next_step
    )


def _reason(cause: Headline, width: int) -> list[str]:
    return lines_of(cause.text, max(20, width - 2))


def _advice(cause: Headline, width: int) -> list[str]:
    return lines_of(without_backticks(cause.next_step), max(20, width - 2))
