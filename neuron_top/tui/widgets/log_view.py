"""The log as a page of its own: follow the end, or stand still and look around, filter, jump between what matters.

While it follows, only the lines that fit are asked for; when it stands still, it holds what the feed keeps (the last
few thousand lines of every source) and new lines are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.strip import Strip

from neuron_top.pipeline.log_line import LogLine
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.log import log_strip

KEPT = 5000
"""Lines held while it stands still or filters."""
MARKED = ("error", "warning", "event")

Tail = Callable[[int], Sequence[LogLine]]


class LogView(Lines, can_focus=True):
    """All sources in the order of arrival."""

    def __init__(self, tail: Tail) -> None:
        super().__init__(id="logview")
        self._tail = tail
        self._lines: Sequence[LogLine] = ()
        self._keep: Callable[[str], bool] | None = None
        self._query = ""
        self.following = True
        self.marked_only = False
        self.cursor: int | None = None
        self.first = 0
        self.skip = 0

    def renew(self) -> None:
        """Newer lines came in: shown only while the end is followed."""
        if self.following:
            self._fetch()
            self.redraw()

    def _fetch(self) -> None:
        room = max(1, self.size.height - 1)
        plain = self._keep is None and not self.marked_only
        lines = self._tail(room if self.following and plain else KEPT)
        if self.marked_only:
            lines = [line for line in lines if line.level in MARKED]
        if self._keep is not None:
            keep = self._keep
            lines = [line for line in lines if keep(f"{line.text} {line.source}")]
        self._lines = lines
        if self.following:
            self.first = max(0, len(lines) - room)

    def draw(self, width: int, height: int) -> list[Strip]:
        """Title, then the lines from the one scrolled to."""
        room = height - 1
        self.first = max(0, min(self.first, len(self._lines) - room))
        title = rule(self.look, width, "Log", self._summary())
        if not self._lines:
            return [title, Line(self.look, width).put(self._nothing(), self.look.quiet).strip()]
        shown = enumerate(self._lines[self.first : self.first + room], self.first)
        return [title, *(log_strip(self.look, line, width, self.skip, at == self.cursor) for at, line in shown)]

    def _summary(self) -> str:
        words = [
            "following"
            if self.following
            else f"line {(self.cursor or self.first) + 1:,} of the last {len(self._lines):,}"
        ]
        if self.marked_only:
            words.append("marked lines only")
        if self._query:
            words.append(f"'{self._query}'")
        if self.skip:
            words.append(f"from column {self.skip + 1}")
        return " · ".join(words)

    def _nothing(self) -> str:
        if self._query or self.marked_only:
            return "No line of the last few thousand matches. esc drops the filter, m shows all lines."
        return "No log lines yet: the output of a job under neurontop run, or of the files named to neurontop watch."

    def hold(self) -> None:
        """Stand still: keep what the feed keeps, with the cursor on the last line."""
        if self.following:
            self.following = False
            self._fetch()
            self.cursor = len(self._lines) - 1
            self.first = max(0, len(self._lines) - max(1, self.size.height - 1))

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following, self.cursor = True, None
        self._fetch()
        self.redraw()

    def toggle_follow(self) -> None:
        """Follow, or stand still."""
        if self.following:
            self.hold()
            self.redraw()
        else:
            self.follow()

    def move(self, by: int) -> None:
        """Move the cursor; the first move stops following."""
        self.hold()
        self._to((self.cursor or 0) + by)

    def page(self, by: int) -> None:
        """Move by pages."""
        self.move(by * max(1, self.size.height - 2))

    def edge(self, end: int) -> None:
        """To the first line held, or to the end, following."""
        if end > 0:
            self.follow()
        else:
            self.hold()
            self._to(0)

    def _to(self, index: int) -> None:
        self.cursor = max(0, min(index, len(self._lines) - 1))
        room = max(1, self.size.height - 1)
        self.first = max(min(self.first, self.cursor), self.cursor - room + 1)
        self.redraw()

    def shift(self, by: int) -> None:
        """Look further right or left in long lines."""
        self.skip = max(0, self.skip + by)
        self.redraw()

    def jump(self, by: int, levels: Sequence[str]) -> bool:
        """To the next (1) or previous (-1) line of these levels; False when there is none."""
        self.hold()
        start = self.cursor if self.cursor is not None else len(self._lines)
        indices = range(start + 1, len(self._lines)) if by > 0 else range(start - 1, -1, -1)
        found = next((index for index in indices if self._lines[index].level in levels), None)
        if found is not None:
            self._to(found)
        else:
            self.redraw()
        return found is not None

    def only_marked(self) -> None:
        """Show only lines that matter, or all again."""
        self.marked_only = not self.marked_only
        self._again()

    def filter(self, query: str, keep: Callable[[str], bool] | None) -> None:
        """Keep the lines whose text or source passes."""
        self._query, self._keep = query, keep
        self._again()

    def _again(self) -> None:
        self._fetch()
        if not self.following:
            self._to(len(self._lines) - 1)
        self.redraw()

    @property
    def current(self) -> LogLine | None:
        """The line under the cursor."""
        return self._lines[self.cursor] if self.cursor is not None and 0 <= self.cursor < len(self._lines) else None

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel stops following and goes back."""
        self.move(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel; at the end it follows again."""
        if not self.following:
            at_end = self.cursor is not None and self.cursor >= len(self._lines) - 1
            self.follow() if at_end else self.move(3)
