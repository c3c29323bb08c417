"""The end of a log: the newest lines at the bottom, in columns, equal ones as one row, the important ones marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.strip import Strip

from neuron_top.services.feeds import LineLevel, LogLine
from neuron_top.tui.drawing import Line, lines_of, rule
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.views.log_rows import LogRow, grouped

WIDE = 110
"""Columns from which components have a column of their own."""
MOST_WHO, MOST_COMPONENT = 10, 20
_LEAST_PART = 20
"""Columns from which it is worth to go on with a message on a further line."""
LINES_PER_ROW = 4
"""Lines that are asked for, for each row that there is room for: equal ones share a row."""


def mark(theme: Theme, level: LineLevel) -> str:
    """The gutter sign of a line's level; a blank for ordinary lines."""
    glyphs = theme.glyphs
    signs = {LineLevel.ERROR: glyphs.failed, LineLevel.WARNING: glyphs.warn, LineLevel.EVENT: glyphs.note}
    return signs.get(level, " ")


class LogLayout(NamedTuple):
    """Widths of the columns in front of the messages; 0 leaves one out."""

    time: int = 0
    who: int = 0
    component: int = 0

    @property
    def margin(self) -> int:
        """Where a line without anything in front of its message begins, behind the sign."""
        return (self.time and self.time + 1) + (self.who and self.who + 1)


def layout_of(rows: Sequence[LogRow[LogLine]], width: int, before: LogLayout) -> LogLayout:
    """What the rows on the screen need; a column that was there stays, so that nothing jumps sideways."""
    time = max((len(row.columns.time) for row in rows), default=0)
    who = min(MOST_WHO, max((len(row.who_text) for row in rows), default=0))
    component = min(MOST_COMPONENT, max((len(row.columns.component) for row in rows), default=0))
    apart = component if width >= WIDE else 0
    return LogLayout(max(time, before.time), max(who, before.who), max(apart, before.component))


def log_strip(
    theme: Theme, row: LogRow[LogLine], layout: LogLayout, width: int, skip: int = 0, selected: bool = False
) -> Strip:
    """One row of a log: sign, time, who, component, then the message from column `skip` on, and how often."""
    line, columns = row.line, row.columns
    style = theme.level(line.level)
    text = style if line.level.is_marked else theme.text if line.level else theme.quiet
    drawn = Line(theme, width, selected).put(mark(theme, line.level), style).gap()
    if columns.begins or columns.who:
        if layout.time:
            drawn.put(columns.time, theme.quiet, layout.time).gap()
        if layout.who:
            drawn.put(row.who_text, theme.quiet, layout.who).gap()
        if layout.component and columns.component:
            drawn.put(columns.component, theme.quiet, layout.component).gap()
        elif columns.component:
            drawn.put(f"{columns.component}: ", theme.quiet)
    else:
        drawn.gap(layout.margin)
    count = row.count_text
    drawn.put(columns.message[skip:], text, max(0, drawn.left - len(count) - 1) if count else None)
    return drawn.end(count, theme.accent).strip() if count else drawn.strip()


def _message_begin(row: LogRow[LogLine], layout: LogLayout) -> int:
    """The column in which `log_strip` begins the message."""
    if not (row.columns.begins or row.columns.who):
        return 2 + layout.margin
    own = len(row.columns.component)
    return 2 + layout.margin + (layout.component + 1 if layout.component and own else own + 2 if own else 0)


class LogStrips:
    """Draws rows of a log, and keeps what it drew last: while a log scrolls, most is shown again a row higher."""

    def __init__(self) -> None:
        self._known: dict[tuple[LogRow[LogLine], bool], Strip] = {}
        self._drawn_for: tuple[Theme, LogLayout, int, int] | None = None
        self.layout = LogLayout()

    def draw(
        self, theme: Theme, rows: Sequence[LogRow[LogLine]], width: int, skip: int = 0, chosen: int | None = None
    ) -> list[Strip]:
        """These rows; the cursor is on the one at `chosen`."""
        self.layout = layout_of(rows, width, self.layout if width >= WIDE else self.layout._replace(component=0))
        before = self._known if (theme, self.layout, width, skip) == self._drawn_for else {}
        self._drawn_for = (theme, self.layout, width, skip)
        keys = [(row, index == chosen) for index, row in enumerate(rows)]
        strips = [before.get(key) or log_strip(theme, key[0], self.layout, width, skip, key[1]) for key in keys]
        self._known = dict(zip(keys, strips, strict=True))
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
        """How many lines fill it."""
        return max(0, self.size.height - 1) * LINES_PER_ROW

    def on_resize(self) -> None:
        """Draw what is in the log already as soon as there is room for it, not at the next change."""
        if self.wanted > len(self._lines):
            self.follow()

    def follow(self) -> None:
        """Take the newest lines of the shown feed."""
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
        shown = grouped(self._lines).rows[-(height - 1) :] if height > 1 else ()
        title = rule(self.theme, width, "Log", self._ended)
        if not shown:
            return [title, Line(self.theme, width).put("No log lines yet.", self.theme.quiet).strip()]
        strips = self._strips_of_lines.draw(self.theme, shown, width)
        return [title, *self._with_rests(shown, strips, width, height - 1 - len(shown))]

    def _with_rests(
        self, rows: Sequence[LogRow[LogLine]], strips: Sequence[Strip], width: int, spare: int
    ) -> Iterator[Strip]:
        """The rows; what a marked one has no room for stands below it, while there are lines to spare."""
        layout = self._strips_of_lines.layout
        for row, strip in zip(rows, strips, strict=True):
            room = width - _message_begin(row, layout) - (len(row.count_text) + 1 if row.times > 1 else 0)
            parts = lines_of(row.columns.message, room) if row.line.level.is_marked and room > _LEAST_PART else []
            if not 1 < len(parts) <= spare + 1:
                yield strip
                continue
            spare -= len(parts) - 1
            yield log_strip(self.theme, row._replace(columns=row.columns._replace(message=parts[0])), layout, width)
            for part in parts[1:]:
                rest = Line(self.theme, width).gap(_message_begin(row, layout))
                yield rest.put(part, self.theme.level(row.line.level)).strip()
