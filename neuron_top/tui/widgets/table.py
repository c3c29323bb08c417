"""A table that draws only the lines it shows: sort, filter, cursor, mouse; cells may be bars and sparklines."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from neuron_top.tui.drawing import Line, cells_in, lines_of
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.order import Order

Row = TypeVar("Row")
Cell = Sequence[tuple[str, Style]]
_LEAST_ROWS = 6
"""Tables with fewer lines have no room for a line about the chosen row."""
_TWO_LINES_FROM, _TWO_LINES_BELOW = 14, 140
"""Lines and cells of a table that has two lines about the chosen row: most sentences are longer than a narrow window,
and a table of few lines needs them for its rows. Where one suffices, the other stays free: no row moves."""

_BLANKS_AND_WORD = re.compile(r"(\s*\S*)(.*)", re.DOTALL)

NEVER = 1_000_000
"""The `least` of a column that is not shown now: a width that no terminal has."""


class Column(NamedTuple):
    """One column. `width` in cells; with `grow` it shares what is left.

    With `least` it is shown where the table has so many cells and room for it.
    """

    title: str
    width: int
    cell: Callable[[Any, Theme, int], Cell]
    sort: Callable[[Any], Any] | None = None
    right: bool = False
    grow: int = 0
    least: int = 0
    down: bool = False
    """Sorted with the largest first."""


class Opened(Message):
    """A row was opened with enter or a second click."""

    def __init__(self, row: object) -> None:
        super().__init__()
        self.row = row


class Table(Lines, Generic[Row], can_focus=True):
    """Rows under a header line. `text` gives what a filter looks at; `nothing` is shown when there are no rows."""

    def __init__(
        self,
        columns: Sequence[Column],
        key: Callable[[Row], Hashable],
        text: Callable[[Row], str],
        *,
        id: str | None = None,  # noqa: A002 (Textual's name)
    ) -> None:
        super().__init__(id=id)
        self.columns, self.text = tuple(columns), text
        self.order: Order[Row] = Order(key)
        self.sorted_by: int | None = None
        self.reversed = False
        self.first = 0
        self.nothing: Sequence[str] = ()
        self.query_text = ""
        self.across: Callable[[Row, Theme, int], Cell | None] = lambda row, theme, width: None
        """What stands in a row right across all columns, as in the head of a group; None for a row of cells."""

        self.about: Callable[[Row | None, Theme], Cell] | None = None
        """The last lines: what there is to say about the chosen row, or where none is chosen."""
        self.lasting = False
        """Cells follow from their row alone, so that a row that stays the same need not be drawn again."""
        self._drawn_with: tuple[object, ...] = ()
        self._drawn: dict[tuple[Hashable, bool], tuple[Row, Strip]] = {}

    def show(self, rows: Iterable[Row], *, arrange: bool = False) -> None:
        """Take the rows of a newer view; `arrange`: in their order, even while a row is chosen."""
        self.order.take(rows, arrange=arrange)
        self.redraw()

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Take other columns; the rows stay sorted by the same one where it is still there."""
        if columns == self.columns:
            return
        title, reverse = self.sorted_title, self.reversed
        self.columns = tuple(columns)
        if title:
            self.sort(None)
            self.sort_by_title(title, reverse)

    def draw(self, width: int, height: int) -> list[Strip]:
        """Header, then the rows that fit."""
        widths = column_widths(self.columns, width)
        if not len(self.order):
            lines = (part for text in self._empty() for part in lines_of(text, max(1, width)))
            return [self._header(widths, width), *(Line(self.theme, width).put(text).strip() for text in lines)]
        room = height - 1 - self._last_lines
        self._scroll(len(self.order), room)
        chosen = self.order.index
        shown = enumerate(self.order.part(self.first, room), self.first)
        drawn = self._known_row if self.lasting else self._row
        strips = [self._header(widths, width), *(drawn(row, widths, width, at == chosen) for at, row in shown)]
        if self.about is None or not self._last_lines:
            return strips
        strips += [Strip.blank(width, self.theme.text)] * (height - self._last_lines - len(strips))
        strips += wrapped(self.theme, self.about(self.order.current, self.theme), width, self._last_lines)
        return [*strips, *[Strip.blank(width, self.theme.text)] * (height - len(strips))]

    @property
    def _last_lines(self) -> int:
        if self.about is None or self.size.height <= _LEAST_ROWS or not len(self.order):
            return 0
        return 2 if self.size.height >= _TWO_LINES_FROM and self.size.width < _TWO_LINES_BELOW else 1

    def _empty(self) -> Sequence[str]:
        if self.order.total:
            return (f"No row matches '{self.query_text}'. esc drops the filter.",)
        return self.nothing

    def _scroll(self, count: int, height: int) -> None:
        chosen = self.order.index
        if chosen is not None:
            self.first = min(self.first, chosen)
            self.first = max(self.first, chosen - height + 1)
        self.first = max(0, min(self.first, count - height))

    def _header(self, widths: Sequence[int], width: int) -> Strip:
        line = Line(self.theme, width).gap(2)
        for index, (column, size) in enumerate(zip(self.columns, widths, strict=True)):
            if size:
                arrows = "v^" if self.theme.is_ascii else "▼▲"
                title = f"{column.title}{arrows[not self.reversed]}" if index == self.sorted_by else column.title
                line.put(title, self.theme.title, size, column.right).gap()
        return line.strip()

    def _known_row(self, row: Row, widths: Sequence[int], width: int, chosen: bool) -> Strip:
        """A row as it was drawn before, if it is still the same."""
        drawn_with = self.theme, width, self.columns
        if drawn_with != self._drawn_with or len(self._drawn) > 4 * max(100, self.size.height):
            self._drawn_with, self._drawn = drawn_with, {}
        place = self.order.key(row), chosen
        known = self._drawn.get(place)
        if known is None or known[0] != row:
            known = self._drawn[place] = row, self._row(row, widths, width, chosen)
        return known[1]

    def _row(self, row: Row, widths: Sequence[int], width: int, chosen: bool) -> Strip:
        line = Line(self.theme, width, selected=chosen)
        line.put(self.theme.glyphs.cursor if chosen else " ", self.theme.key).gap()
        across = self.across(row, self.theme, line.left)
        if across is not None:
            return line.add(across).gap(line.left).strip()
        for column, size in zip(self.columns, widths, strict=True):
            if not size:
                continue
            room = min(size, line.left)  # a narrow table has less for its last column
            line.column(column.cell(row, self.theme, room), room, column.right).gap()
        return line.strip()

    def sort(self, index: int | None, reverse: bool | None = None) -> None:
        """Sort by a column; None is the order of the view."""
        self.sorted_by = index
        column = self.columns[index] if index is not None else None
        self.reversed = reverse if reverse is not None else bool(column and column.down)
        self.order.sort_by(column.sort if column else None, self.reversed)
        self.redraw()

    @property
    def sorted_title(self) -> str:
        """Title of the column it is sorted by; "" in the order of the view."""
        return "" if self.sorted_by is None else self.columns[self.sorted_by].title

    def sort_by_title(self, title: str, reverse: bool) -> None:
        """Sort by the column of this title; one that is not there (any more) changes nothing."""
        for index, column in enumerate(self.columns):
            if title and column.title == title and column.sort:
                self.sort(index, reverse)

    def sort_next(self) -> str:
        """Sort by the next column that can be; returns its name, "" for the order of the view."""
        able = [None, *(at for at, column in enumerate(self.columns) if column.sort and column.least < NEVER)]
        at = able.index(self.sorted_by) if self.sorted_by in able else 0
        self.sort(able[(at + 1) % len(able)])
        return self.sorted_title

    def filter(self, query: str, keep: Callable[[str], bool] | None) -> None:
        """Keep the rows whose text passes."""
        self.query_text = query
        self.order.filter_by(None if keep is None else lambda row: keep(self.text(row)))
        self.redraw()

    def move(self, by: int) -> None:
        """Move the cursor."""
        self.order.move(by)
        self.redraw()

    def page(self, by: int) -> None:
        """Move the cursor by pages."""
        self.move(by * max(1, self.size.height - 2 - self._last_lines))

    def edge(self, end: int) -> None:
        """Move the cursor to the first (-1) or last (1) row."""
        self.order.choose(0 if end < 0 else len(self.order))
        self.redraw()

    def open(self) -> None:
        """Open the chosen row (the first when none is chosen)."""
        if self.order.current is None:
            self.order.move(1)
            self.redraw()
        if self.order.current is not None:
            self.post_message(Opened(self.order.current))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the rows, or the cursor where one is."""
        self._wheel(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """As `on_mouse_scroll_down`, upwards."""
        self._wheel(-3)

    def _wheel(self, by: int) -> None:
        if self.order.index is not None:
            self.move(by)
        else:
            self.first += by
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        """A click on a title sorts, on a row chooses it, a second one opens it."""
        if event.y == 0:
            self._click_title(event.x)
            return
        index = self.first + event.y - 1
        if index >= len(self.order) or event.y >= self.size.height - self._last_lines:
            return
        again = index == self.order.index
        self.order.choose(index)
        self.redraw()
        if again:
            self.open()

    def _click_title(self, x: int) -> None:
        start = 2
        for index, (column, size) in enumerate(
            zip(self.columns, column_widths(self.columns, self.size.width), strict=True)
        ):
            if size and start <= x < start + size and column.sort:
                self.sort(index, not self.reversed if index == self.sorted_by else None)
                return
            start += size + 1 if size else 0


def wrapped(theme: Theme, pieces: Cell, width: int, lines: int) -> list[Strip]:
    """Pieces of text on at most `lines` lines, broken between words; the last line is cut where it is too long."""
    line, strips = Line(theme, width), list[Strip]()
    for text, style in pieces:
        rest = text
        while rest and len(strips) + 1 < lines:
            word, rest = _BLANKS_AND_WORD.match(rest).groups()  # type: ignore[union-attr]  # it matches any text
            if line.used and cells_in(word) > line.left:
                strips.append(line.strip())
                line, word = Line(theme, width).gap(2), word.lstrip()
            line.put(word, style)
        line.put(rest, style)
    return [*strips, line.strip()]


def column_widths(columns: Sequence[Column], width: int) -> list[int]:
    """Cells per column: 0 for those that a table has no room for; the growing ones share what is left.

    Columns without `least` are always there; of the others those that ask for the widest table go first.
    """
    widths = [0] * len(columns)
    left = width - 1
    for index in sorted(range(len(columns)), key=lambda index: columns[index].least):
        column = columns[index]
        if not column.least or (width >= column.least and left > column.width):
            widths[index] = column.width
            left -= column.width + 1
    parts = sum(column.grow for column, size in zip(columns, widths, strict=True) if size)
    if left <= 1 or not parts:
        return widths
    left -= 1
    return [size + (left * column.grow // parts if size else 0) for column, size in zip(columns, widths, strict=True)]
