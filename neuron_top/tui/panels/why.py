"""Why something missed, as lines: one answer on the page of its graph or entry, or all misses of a run on one page."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.look import Theme
from neuron_top.units import counted
from neuron_top.views.miss_explanation import Misses, MissExplanation

REASON_CELLS = 23
"""Cells in front of a reason."""


def why_lines(look: Theme, why: MissExplanation, width: int, title: str = "Why it missed") -> list[Strip]:
    """The likeliest cause in words, the others below it, and what the answer rests on."""
    strips = [rule(look, width, title), *paragraph(look, why.headline, width, look.strong)]
    for reason in (one for one in why.reasons if one.text != why.headline):
        first, *others = paragraph(look, reason.text, width - REASON_CELLS, left=0)
        kind = Line(look, REASON_CELLS).gap(2).put(reason.kind, look.accent).strip()
        strips += [Strip([*kind, *first], width)]
        strips += [Strip([*Line(look, REASON_CELLS).strip(), *other], width) for other in others]
    return strips + (paragraph(look, why.footnote, width, look.quiet) if why.footnote else [])


def misses_lines(look: Theme, view: Misses | str, width: int) -> list[Strip]:
    """Every miss of a run with its answer, or the words that stand there until the answers come."""
    if isinstance(view, str):
        return [rule(look, width, "Why they missed", "esc goes back"), *paragraph(look, view, width, look.quiet)]
    told = f"{len(view.told)} of {view.met}" if len(view.told) < view.met else ""
    parts = (counted(view.met, "miss", "misses"), f"{told}, the longest compiles" if told else "", "esc goes back")
    strips = [rule(look, width, "Why they missed", " · ".join(part for part in parts if part))]
    for why in view.told:
        strips += [Line(look, width).strip(), *why_lines(look, why, width, why.module)]
    return strips
