"""Base class of widgets that are redrawn often: a list of lines, of which only those that changed are drawn again.

Textual's stock tables, sparklines and logs cost several times as much per second; a line that did not change costs
nothing here but a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.filter import ANSIToTruecolor
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.host import Host, host_of
from neuron_top.tui.theme import Theme


class Lines(Widget):
    """A widget drawn by `draw(width, height)`; call `redraw()` whenever what it shows may have changed."""

    DEFAULT_CSS = "Lines { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self._strips: list[Strip] = []
        self._drawn_for = Size(-1, -1)

    @property
    def host(self) -> Host:
        """The application."""
        return host_of(self)

    @property
    def theme(self) -> Theme:
        """Palette and glyphs in force."""
        return self.host.render_theme

    def draw(self, width: int, height: int) -> Sequence[Strip]:
        """The lines for a size; what is missing at the bottom is blank."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw again and send the lines that differ from what is on the screen."""
        size = self.size  # Textual looks for it on the screen each time
        if size != self._drawn_for:
            self.refresh()
            return
        before, self._strips = self._strips, self._filled(size)
        changed = list(_changes(before, self._strips, size.width))
        if changed:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """One line."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region; after a resize all are drawn anew, once.

        Textual works out borders, padding and opacity, which no line of ours has, and looks for colors of the
        terminal's own to spell out, of which we use none.
        """
        size = self.size
        if size != self._drawn_for:
            self._drawn_for = size
            self._strips = self._filled(size)
        strips = self._strips[crop.y : crop.bottom]
        strips += [Strip.blank(size.width, self.theme.text)] * (crop.height - len(strips))
        for wanted in self.get_line_filters():
            if not isinstance(wanted, ANSIToTruecolor):
                background = self.background_colors[1]
                strips = [strip.apply_filter(wanted, background) for strip in strips]
        if crop.column_span == (0, size.width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def notify_style_update(self) -> None:
        """A new theme: everything is drawn again."""
        super().notify_style_update()
        self._drawn_for = Size(-1, -1)

    def _filled(self, size: Size) -> list[Strip]:
        width, height = size
        if width <= 0 or height <= 0:
            return []
        strips = list(self.draw(width, height))[:height]
        blank = Strip.blank(width, self.theme.text)
        return strips + [blank] * (height - len(strips))


def _changes(before: list[Strip], after: list[Strip], width: int) -> Iterator[Region]:
    for y, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            yield Region(0, y, _changed_until(old, new, width), 1)


def _changed_until(old: Strip, new: Strip, width: int) -> int:
    """How many cells of a line must be sent; an equal end is not sent again."""
    end = width
    for was, now in zip(reversed(list(old)), reversed(list(new)), strict=False):
        if was != now:
            break
        end -= now.cell_length
    return max(1, end)
