"""The end of a log: the newest lines at the bottom, the important ones marked in a gutter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.strip import Strip

from neuron_top.services.feeds import LineLevel, LogLine
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines


def mark(theme: Theme, level: LineLevel) -> str:
    """The gutter sign of a line's level; a blank for ordinary lines."""
    glyphs = theme.glyphs
    signs = {LineLevel.ERROR: glyphs.failed, LineLevel.WARNING: glyphs.warn, LineLevel.EVENT: glyphs.note}
    return signs.get(level, " ")


def log_strip(theme: Theme, line: LogLine, width: int, skip: int = 0, selected: bool = False) -> Strip:
    """One line of a log: mark, then text from column `skip` on."""
    style = theme.level(line.level)
    drawn = Line(theme, width, selected).put(mark(theme, line.level), style).gap()
    text = style if line.level.is_marked else theme.text if line.level else theme.quiet
    return drawn.put(line.text[skip:], text).strip()


class LogStrips:
    """Draws lines of a log, and keeps what it drew last: while a log scrolls, most is shown again a row higher."""

    def __init__(self) -> None:
        self._known: dict[tuple[LogLine, bool], Strip] = {}
        self._drawn_for: tuple[Theme, int, int] | None = None

    def draw(self, theme: Theme, lines: Iterable[tuple[LogLine, bool]], width: int, skip: int = 0) -> list[Strip]:
        """These lines, each with whether the cursor is on it."""
        before = self._known if (theme, width, skip) == self._drawn_for else {}
        self._drawn_for = (theme, width, skip)
        lines = list(lines)
        strips = [before.get(line) or log_strip(theme, line[0], width, skip, line[1]) for line in lines]
        self._known = dict(zip(lines, strips, strict=True))
        return strips


class LogTail(Lines):
    """The last lines under a title; sources beside the title."""

    def __init__(self) -> None:
        super().__init__(id="log")
        self._lines: Sequence[LogLine] = ()
        self._ended = ""
        self._strips_of_lines = LogStrips()

    @property
    def wanted(self) -> int:
        """How many lines fit."""
        return max(0, self.size.height - 1)

    def on_resize(self) -> None:
        """There is room now, or more: what is in the log already has not to wait for the next change."""
        if self.wanted > len(self._lines) and not self.host.paused:
            self.show(self.host.log_tail(self.wanted))

    def show(self, lines: Sequence[LogLine]) -> None:
        """Take the newest lines."""
        if lines != self._lines:
            self._lines = lines
            self.redraw()

    def ended(self, text: str) -> None:
        """What is said of a log that has been silent for long: when its last line was."""
        if text != self._ended:
            self._ended = text
            self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """Title, then the lines that fit, newest last."""
        shown = self._lines[-(height - 1) :] if height > 1 else ()
        marked = sum(line.level.is_marked for line in shown)
        right = " · ".join(word for word in (f"{marked} marked" if marked else "", self._ended) if word)
        title = rule(self.theme, width, "Log", right)
        if not shown:
            return [title, Line(self.theme, width).put("No log lines yet.", self.theme.quiet).strip()]
        return [title, *self._strips_of_lines.draw(self.theme, ((line, False) for line in shown), width)]
