"""A widget that is one drawing function: a card above a table, a timeline below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.strip import Strip

from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines

Draw = Callable[[Theme, Any, int, int], Sequence[Strip]]


class RenderWidget(Lines):
    """Draws `draw(look, view, width, height)`; as many lines high as `lines(view)` says."""

    def __init__(self, name: str, draw: Draw, lines: Callable[[Any], int]) -> None:
        super().__init__(id=name)
        self._draw, self._lines = draw, lines
        self.view: Any = None

    def show(self, view: Any) -> None:
        """Take a newer view."""
        self.view = view
        height = self._lines(view)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.redraw()

    def draw(self, width: int, height: int) -> Sequence[Strip]:
        """What the function draws; blank before the first view."""
        return self._draw(self.theme, self.view, width, height) if self.view is not None else ()
