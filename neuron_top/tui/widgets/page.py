"""A page of lines that is longer than the screen: help, or everything about one graph, core or run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip

from neuron_top.tui.drawing import Line
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.units import counted

_LEAST_ROWS = 6
"""Pages with fewer lines have none to spare."""


class LineClicked(Message):
    """A line of a page was clicked."""

    def __init__(self, text: str, line: int) -> None:
        """`line`: its place on the page, 0 is the first one."""
        super().__init__()
        self.text, self.line = text, line


class Page(Lines):
    """Lines made by a function of look and width, scrolled by keys and wheel."""

    def __init__(self, lines: Callable[[Theme, int], Sequence[Strip]]) -> None:
        super().__init__(id="page")
        self._lines = lines
        self.first = 0
        self._count = 0

    def show(self, lines: Callable[[Theme, int], Sequence[Strip]]) -> None:
        """Show other lines; the scroll position stays."""
        self._lines = lines
        self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """The part that is scrolled to; where more is below, the last line says how much."""
        strips = list(self._lines(self.theme, width))
        self._count = len(strips)
        self.first = max(0, min(self.first, len(strips) - height))
        below = len(strips) - self.first - height
        shown = strips[self.first : self.first + height]
        if below > 0 and height >= _LEAST_ROWS:
            text = f"  ↓ {counted(below + 1, 'more line')}"
            shown[-1] = Line(self.theme, width).put(text, self.theme.quiet).strip()
        return shown

    @property
    def text(self) -> str:
        """The whole page as plain text."""
        return "\n".join(strip.text.rstrip() for strip in self._lines(self.theme, self.size.width))

    def move(self, by: int) -> None:
        """Scroll by lines."""
        self.first += by
        self.redraw()

    def reveal(self, line: int, rows: int = 4) -> None:
        """Scroll so that a line, and so many with it and below it as there is room for, can be seen."""
        self.first = max(min(self.first, line), min(line, line + rows - self.size.height))
        self.redraw()

    def page(self, by: int) -> None:
        """Scroll by pages."""
        self.move(by * max(1, self.size.height - 1))

    def edge(self, end: int) -> None:
        """To the first (-1) or the last (1) line."""
        self.first = 0 if end < 0 else self._count
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        """Tell the screen which line was clicked."""
        if event.y < len(self._strips):
            self.post_message(LineClicked(self._strips[event.y].text, self.first + event.y))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        self.move(-3)
