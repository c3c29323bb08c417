"""The log as a page of its own: follow the end, or stand still and look around, filter, jump between what matters.

While it follows, only the lines that fit are asked for. When it stands still, its window moves through the logs as far
as they reach, whatever their size; new lines wait at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto

from textual import events
from textual.strip import Strip

from neuron_top.services.feeds import LineLevel, LogLine, LogQuery, source_name
from neuron_top.tui.drawing import paragraph, rule
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.log import LINES_PER_ROW, LogLayout, LogStrips
from neuron_top.tui.widgets.log_window import NEAR_LINES, TAIL_LINES, LogWindow, Reads, Search
from neuron_top.units import counted
from neuron_top.views.log_rows import LogRow, LogRows, grouped, single

SEARCH_SECONDS = 0.01
"""Pause between two steps of a search: keys are answered in between."""


class JumpEnd(Enum):
    """The end of a jump that did not simply find the next line."""

    AROUND = auto()
    """To a line that was reached from the other end of the log."""
    ALONE = auto()
    """To the line it began at: there is no other."""
    NONE = auto()
    """Nowhere: there is no such line."""


class LogView(Lines, can_focus=True):
    """All sources, or one, as they came; beyond what is kept of them, in the order of their clocks."""

    def __init__(self, feed: Callable[[], Reads], title: str = "Log") -> None:
        """`feed` is called again for every window, as a recording may be played in between."""
        super().__init__(id="logview")
        self._feed, self._title = feed, title
        self._window = LogWindow(feed())
        self._strips_of_lines = LogStrips()
        self._search: Search | None = None
        self._filling = False
        self._unfiltered: tuple[LogWindow, LogLine] | None = None
        """The window that stood still before it was filtered, and the line that its cursor was on."""
        self._led_to: LogLine | None = None
        """The line to which a filter led."""
        self.following = True
        self.typed = ""
        """The filter."""
        self.marked_only = False
        self.groups = True
        """Equal lines share a row."""
        self._arranged: LogRows[LogLine] = LogRows([], [])
        self._arranged_for: tuple[object, ...] = ()
        self.cursor: int | None = None
        """By index of its row; so is `first`."""
        self.first = 0
        self.skip = 0
        self.origin: str | None = None
        """The screen that a line was shown from; escape goes back to it."""

    @property
    def lines(self) -> list[LogLine]:
        """The lines in the window."""
        return self._window.lines

    @property
    def rows(self) -> list[LogRow[LogLine]]:
        """The lines in the window, arranged as rows."""
        return self._arrange().rows

    def _arrange(self) -> LogRows[LogLine]:
        """The rows; arranged anew when the window holds other lines."""
        lines = self.lines
        ends = (lines[0], lines[-1]) if lines else ()
        key = (self._window, len(lines), ends, self.groups)
        if key != self._arranged_for:
            self._arranged = grouped(lines) if self.groups else single(lines)
            self._arranged_for = key
        return self._arranged

    def _row_of(self, line: LogLine) -> int:
        """The index of the row that a line of the window is in; the last one for a line that is not there."""
        index = self._window.index((line.source, line.offset))
        return self._arrange().of_line[index] if index is not None else len(self.rows) - 1

    @property
    def room(self) -> int:
        """Rows that fit."""
        return max(1, self.size.height - 1)

    def renew(self) -> None:
        """Show newer lines, if the end is followed."""
        if self.following:
            if self._window.query:
                self._window.take_newer_tail()
                self.first = max(0, len(self.rows) - self.room)
            else:
                self._take_tail()
            self.redraw()

    def _take_tail(self) -> None:
        query = self._window.query
        self._window = LogWindow(self._feed())
        self._window.query = query
        few = self.room * LINES_PER_ROW if self.groups else self.room
        self._window.take_tail(few if self.following else max(few, NEAR_LINES))
        if self.groups and len(self.rows) < self.room and len(self.lines) >= few:
            self._window.take_tail(max(few, NEAR_LINES))
        self.first = max(0, len(self.rows) - self.room)

    def draw(self, width: int, height: int) -> list[Strip]:
        """Title, then the lines from the one scrolled to."""
        room = height - 1
        rows = self.rows
        self.first = max(0, min(self.first, len(rows) - room))
        title = rule(self.theme, width, self._title, self._summary())
        if not self.lines:
            return [title, *paragraph(self.theme, self._nothing(), width, self.theme.quiet, left=0)]
        chosen = self.cursor - self.first if self.cursor is not None else None
        shown = rows[self.first : self.first + room]
        return [title, *self._strips_of_lines.draw(self.theme, shown, width, self.skip, chosen)]

    def _summary(self) -> str:
        words = ["following"] if self.following else [self._place()]
        query = self._window.query
        if query.only is not None:
            words.append(f"only {source_name(query.only)}")
        if self.marked_only:
            words.append("marked lines only")
        if query.problem:
            words.append(query.problem)
        elif self.typed:
            words.append(f"'{self.typed}'")
        hidden = len(self.lines) - len(self.rows)
        if hidden and not self.following:
            words.append(f"{counted(len(self.lines), 'line')} in {counted(len(self.rows), 'row')}, x shows each")
        if self._window.unseen:
            words.append(f"slow filter: {counted(self._window.unseen, 'older line')} not looked at yet")
        if self._search is not None or self._filling:
            words.append("searching…")
        if self.lines and (state := self._feed().log_state()):
            words.append(state)
        if self.skip:
            words.append(f"from column {self.skip + 1}")
        return " · ".join(words)

    def _place(self) -> str:
        line = self.current
        if line is None:
            return "standing still"
        edge = ""
        if self._window.at_start and self.cursor == 0:
            unread = self._window.unread
            edge = f"older lines are in {unread}, which is not read · " if unread else "first line · "
        return f"{edge}{source_name(line.source)} byte {line.offset:,}"

    def _nothing(self) -> str:
        if state := self._feed().log_state():
            return state
        if self._filling:
            return "Looking for lines that match…"
        if self._window.query:
            return self._no_match()
        return "No log lines yet: the output of a job under neurontop run, or of the files named to neurontop watch."

    def _no_match(self) -> str:
        if self.marked_only:
            lines, shown = ("line that matches", "all that match") if self.typed else ("line", "all lines")
            return f"No {lines} is an error, a warning or an event. m shows {shown}."
        by_rank = " Many logs do not say which rank wrote a line." if "rank:" in self._window.query.text else ""
        return f"No line matches. esc drops the filter.{by_rank}"

    def hold(self) -> None:
        """Stop following, with the cursor on the last line."""
        if self.following:
            self.following = False
            if self._window.query:
                self._window.take_newer_tail()
            else:
                self._take_tail()
            self.cursor = len(self.rows) - 1

    def follow_all(self) -> None:
        """Drop what narrows the lines, show them from their beginning, and follow."""
        self.skip = 0
        self._window.query, self.typed, self.marked_only = LogQuery(), "", False
        self.follow()

    def follow_feed(self) -> None:
        """Follow all logs of the feed, from the beginning of their lines; a filter stays."""
        self.skip = 0
        self._window.query = LogQuery(self._window.query.text)
        self.follow()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._unfiltered = None
        self.following, self.cursor, self._search = True, None, None
        self._take_tail()
        self.redraw()

    def toggle_follow(self) -> None:
        """Follow, or stand still."""
        if self.following:
            self.hold()
            self.redraw()
        else:
            self.follow()

    def move(self, by: int) -> None:
        """Move the cursor; the first move stops following. At an edge of the window, the logs are read further."""
        self.hold()
        self._search = None
        target = (self.cursor or 0) + by
        if target < 0:
            target += self._kept_in_place(self._window.lengthen_up)
        elif target >= len(self.rows):
            target += self._kept_in_place(lambda: -self._window.lengthen_down())
        self._to(target)

    def _kept_in_place(self, lengthen: Callable[[], int]) -> int:
        """Read further, which moves every line by so many; by how many rows what the cursor is on has moved."""
        before = self.cursor or 0
        of_line = self._arrange().of_line
        line = of_line.index(before) if of_line else 0
        line += lengthen()
        of_line = self._arrange().of_line
        by = of_line[max(0, min(line, len(of_line) - 1))] - before if of_line else 0
        self.first = max(0, self.first + by)
        return by

    def page(self, by: int) -> None:
        """Move by pages."""
        self.move(by * max(1, self.room - 1))

    def edge(self, end: int) -> None:
        """To the first line of all, or to the end, following."""
        if end > 0:
            self.follow()
            return
        self.hold()
        self._window.take_start()
        self._to(0)

    def show(self, source: str, offset: int) -> bool:
        """One source alone, at the line that stands at `offset`; False when that line is no more."""
        self._search, self.following, self.typed, self.marked_only = None, False, "", False
        self._window = LogWindow(self._feed())
        self._window.query = LogQuery("", source)
        self._window.take_tail(TAIL_LINES)
        found = self._window.index((source, offset))
        if found is None:
            found = self._window.take_around({source: offset}, (source, offset))
        if found is None:
            self.follow()
            return False
        self._to_line(found)
        return True

    def _to_line(self, index: int) -> None:
        """To a line of the window; one that is only alike to the one of its row stands for itself from now on."""
        arranged = self._arrange()
        row = arranged.rows[arranged.of_line[index]]
        if row.line.text != self.lines[index].text and row.varies:
            self.groups = False
        self._to(self._arrange().of_line[index], middle=True)

    def toggle_groups(self) -> None:
        """Equal lines as one row, or each line by itself; the cursor stays on its line."""
        line = self.current
        self.groups = not self.groups
        self._strips_of_lines.layout = LogLayout()
        if self.following:
            self._take_tail()
            self.redraw()
        elif line is not None:
            self._to(self._row_of(line), middle=True)

    def _to(self, index: int, middle: bool = False) -> None:
        self.cursor = max(0, min(index, len(self.rows) - 1)) if self.lines else None
        if self.cursor is not None:
            self.first = max(min(self.first, self.cursor), self.cursor - self.room + 1)
            if middle:
                self.first = max(0, self.cursor - self.room // 2)
        self.redraw()

    def shift(self, by: int) -> None:
        """Look further right or left in long lines, as far as one on the screen reaches."""
        shown = self.rows[self.first : self.first + self.room]
        if by < 0 or self.skip + by < max((len(row.columns.message) for row in shown), default=0):
            self.skip = max(0, self.skip + by)
            self.redraw()

    def jump(self, by: int, least: LineLevel, tell: Callable[[JumpEnd], None]) -> None:
        """To the next (1) or previous (-1) line of this level or worse, beyond the last one from the other end again;
        `tell` is called where it is not simply the next one."""
        start = self.cursor if self.cursor is not None else len(self.rows)
        if self.following:
            self.hold()
            start = len(self.rows)
        self._search = None
        ahead = range(start + 1, len(self.rows)) if by > 0 else range(start - 1, -1, -1)
        found = self._first_row(least, ahead)
        if found is not None:
            self._to(found)
        elif self._window.at_end if by > 0 else self._window.at_start:
            self._jump_around(by, start, least, tell)
        else:
            self._begin(
                self._window.search(by, least),
                self._to_found,
                lambda: self._jump_around(by, start, least, tell),
            )

    def _first_row(self, least: LineLevel, indices: Iterable[int]) -> int | None:
        wanted, rows = least.and_worse(), self.rows
        return next((index for index in indices if rows[index].line.level in wanted), None)

    def _jump_around(self, by: int, start: int, least: LineLevel, tell: Callable[[JumpEnd], None]) -> None:
        """The same from the first line of all, or from the last."""

        def arrive(search: Search, line: LogLine) -> None:
            index = self._window.index((line.source, line.offset))
            if index is not None and self._arrange().of_line[index] == start:
                tell(JumpEnd.ALONE)
            elif self._to_found(search, line):
                tell(JumpEnd.AROUND)
            else:
                tell(JumpEnd.NONE)

        def look_at_hand() -> None:
            # Lines of another machine, or of a log that is gone, cannot be read again: only the window is left.
            every = range(len(self.rows))
            found = self._first_row(least, every if by > 0 else reversed(every))
            if found is not None:
                self._to(found)
            tell(JumpEnd.NONE if found is None else JumpEnd.ALONE if found == start else JumpEnd.AROUND)

        self._begin(self._window.search_all(by, least), arrive, look_at_hand)

    def _to_found(self, search: Search, line: LogLine) -> bool:
        """Go to a line that a search found; False where the line no longer exists."""
        place = (line.source, line.offset)
        found = self._window.index(place)
        if found is None:
            found = self._window.take_around(search.at, place)
        if found is not None:
            self._to_line(found)
        return found is not None

    def _begin(self, search: Search, arrive: Callable[[Search, LogLine], object], missing: Callable[[], None]) -> None:
        self._search = search
        self._search_on(search, arrive, missing)

    def _search_on(
        self, search: Search, arrive: Callable[[Search, LogLine], object], missing: Callable[[], None]
    ) -> None:
        if self._search is not search:  # another search was started meanwhile
            return
        line = search.step()
        if not search.ended:
            self.set_timer(SEARCH_SECONDS, lambda: self._search_on(search, arrive, missing))
            self.redraw()
            return
        self._search = None
        if line is not None:
            arrive(search, line)
        else:
            missing()
        self.redraw()

    def only_marked(self) -> None:
        """Show only lines that matter, or all again; of those that the filter keeps."""
        self.marked_only = not self.marked_only
        self._again(self._query(self._window.query.only))

    def filter(self, text: str) -> None:
        """Keep the lines that match, as LogQuery understands it."""
        self.typed = text.strip()
        self._again(self._query(None))

    def _query(self, only: str | None) -> LogQuery:
        return LogQuery(f"level:event {self.typed}" if self.marked_only else self.typed, only)

    def _again(self, query: LogQuery) -> None:
        self._search = None
        if self.following or not self._stay_near(query):
            self._window.query = query
            self._take_tail()
            if not self.following:
                self._to(len(self.rows) - 1)
        self.redraw()
        if query and len(self.rows) < self.room and not self._filling:
            self._filling = True
            self._fill()

    def _stay_near(self, query: LogQuery) -> bool:
        """Show the lines of a query around the line under the cursor, or around the one from which the filter was
        begun, as long as no key has left the line to which it led; False where nothing of them can be read."""
        window, line = self._window, self.current
        if self._unfiltered is not None and window.query and (line is None or line == self._led_to):
            window, line = self._unfiltered
        if line is None or line not in window.lines:
            return False
        if not window.query:
            self._unfiltered = window, line
        elif len(self._feed().log_chains()) > 1:
            # What is not shown of the other logs does not tell how far they were then.
            query = LogQuery(query.text, line.source)
        if not query and not window.query:
            self._window = window
            index = window.lines.index(line)
        else:
            at = window.position(line)
            self._window = LogWindow(self._feed())
            self._window.query = query
            index = self._window.take_near(at)
            if not self.lines and self._window.at_start and self._window.at_end:
                return False
        self.cursor = None
        if self.lines:
            self._to_line(min(index, len(self.lines) - 1))
        self._led_to = self.current
        return True

    def _fill(self) -> None:
        """Read further matching lines, older ones first, until the screen is full, as those at hand are too few."""
        window = self._window
        if not window.query or len(self.rows) >= self.room or (window.at_start and window.at_end):
            self._filling = False
            self.redraw()
            return
        came = self._kept_in_place(lambda: -window.lengthen_down() if window.at_start else window.lengthen_up())
        if self.cursor is not None:
            self.cursor += came
        elif not self.following and self.rows:
            self.cursor = len(self.rows) - 1
            self._led_to = self.current
        self.first = max(0, len(self.rows) - self.room)
        self.redraw()
        self.set_timer(SEARCH_SECONDS, self._fill)

    @property
    def filtered(self) -> bool:
        """Whether something narrows what is shown."""
        return bool(self._window.query)

    @property
    def matches_only(self) -> bool:
        """Whether a text that was typed narrows what is shown: then every line is a match."""
        return bool(self.typed)

    @property
    def current(self) -> LogLine | None:
        """The line under the cursor; of equal ones the first."""
        rows = self.rows
        return rows[self.cursor].line if self.cursor is not None and 0 <= self.cursor < len(rows) else None

    def on_click(self, event: events.Click) -> None:
        """A click on a row holds the log and chooses it."""
        index = self.first + event.y - 1
        if event.y > 0 and index < len(self.rows):
            line = self.rows[index].line
            self.hold()
            self._to(self._row_of(line))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel stops following and goes back."""
        self.move(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel; at the end it follows again."""
        if not self.following:
            last = self._window.at_end and self.cursor is not None and self.cursor >= len(self.rows) - 1
            self.follow() if last else self.move(3)
