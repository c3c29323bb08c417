"""Draws the last line of the overview: which data is missing, and how to get it."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import lines_of, paragraph, without_backticks
from neuron_top.tui.theme import Theme
from neuron_top.views.missing import missing_text
from neuron_top.views.overview import Overview


def size_request(view: Overview, width: int) -> SizeRequest:
    """The whole sentence; nothing if no data is missing."""
    text = _text(view)
    lines = len(lines_of(text, max(20, width)))
    return SizeRequest(lines, lines)


def missing_panel(theme: Theme, view: Overview, width: int, height: int) -> list[Strip]:
    """The sentence."""
    return paragraph(theme, _text(view), width, theme.quiet, left=0)[:height]


def _text(view: Overview) -> str:
    return without_backticks(missing_text(view))
