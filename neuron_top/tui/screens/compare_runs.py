"""The page that puts two recordings side by side; both are read in a thread, which takes a second for a long run."""

from __future__ import annotations

from collections.abc import Callable

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.theme import Theme
from neuron_top.views.compare import Comparison


def compare_page(compare: Callable[[], Comparison]) -> AsyncPage:
    """The page of what `compare` returns."""
    return AsyncPage(compare, _lines, waiting="Reading both recordings…", failed="The recordings cannot be compared")


def _lines(theme: Theme, view: Comparison | str, width: int) -> list[Strip]:
    if isinstance(view, str):
        title = rule(theme, width, "Two recordings", "esc goes back")
        return [title, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    return comparison_lines(theme, view, width)
