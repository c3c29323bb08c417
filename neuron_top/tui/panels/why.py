"""Why something missed, as lines: one answer on the page of its graph or entry, or all misses of a run on one page."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.drawing import Line, message, paragraph, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import counted
from neuron_top.views.miss_explanation import Misses, MissExplanation

WHY_TITLE = "Why it missed"
REASON_CELLS = 23
"""Cells in front of a reason."""


def why_lines(theme: Theme, why: MissExplanation, width: int, title: str = WHY_TITLE) -> list[Strip]:
    """The likeliest cause in words, the others below it, and what the answer rests on."""
    strips = [rule(theme, width, title), *paragraph(theme, why.headline, width, theme.strong)]
    for reason in (one for one in why.reasons if one.text != why.headline):
        first, *others = paragraph(theme, reason.text, width - REASON_CELLS, left=0)
        kind = Line(theme, REASON_CELLS).gap(2).put(reason.kind, theme.accent).strip()
        strips += [Strip([*kind, *first], width)]
        strips += [Strip([*Line(theme, REASON_CELLS).strip(), *other], width) for other in others]
    return strips + (paragraph(theme, why.footnote, width, theme.quiet) if why.footnote else [])


def misses_lines(theme: Theme, view: Misses | str, width: int) -> list[Strip]:
    """Every miss of a run with its explanation, or the text shown until those have been read."""
    if isinstance(view, str):
        return message(theme, "Why they missed", view, width)
    explained = f"{len(view.explained)} of {view.met}" if len(view.explained) < view.met else ""
    parts = (
        counted(view.met, "miss", "misses"),
        f"{explained}, the longest compiles" if explained else "",
    )
    strips = [rule(theme, width, "Why they missed", " · ".join(part for part in parts if part))]
    for why in view.explained:
        strips += [Line(theme, width).strip(), *why_lines(theme, why, width, why.module)]
    return strips
