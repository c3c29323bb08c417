"""A widget that is one drawing function: a card above a table, a timeline below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.strip import Strip

from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines

LEAST_ROOM = 3
"""Lines in which something stands below a title."""
Draw = Callable[[Theme, Any, int, int], Sequence[Strip]]


class RenderWidget(Lines):
    """Draws `draw(look, view, width, height)`; as many lines high as `lines(view)` says."""

    def __init__(self, name: str, draw: Draw, lines: Callable[[Any], int]) -> None:
        super().__init__(id=name)
        self._draw, self._lines = draw, lines
        self.view: Any = None

    def show(self, view: Any, room: int | None = None) -> int:
        """Take a newer view; it is as high as its lines, at most `room`, and not there at all in less than LEAST_ROOM.

        Returns its height.
        """
        self.view = view
        height = self._lines(view)
        if room is not None:
            height = min(height, room) if room >= LEAST_ROOM else 0
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.redraw()
        return height

    def draw(self, width: int, height: int) -> Sequence[Strip]:
        """What the function draws; blank before the first view."""
        return self._draw(self.theme, self.view, width, height) if self.view is not None else ()
