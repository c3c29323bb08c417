"""A screen that is mainly one table: cursor, sort, filter, and how its rows are arranged from one start to the next."""

from __future__ import annotations

from typing import Any, ClassVar

from neuron_top.filters import words_filter
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.ui_state import TableState
from neuron_top.tui.widgets.table import Opened, Table


class TableScreen(LiveScreen):
    """The keys that move, sort and open rows act on `table`."""

    FILTER_HINT: ClassVar[str] = "words to keep; !word to leave out"

    @property
    def table(self) -> Table[Any]:
        """The table."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Arrange the rows as they were when the program was left, with the filter in sight."""
        state = self.host.table_states.get(self.NAME)
        if state is not None:
            self.restore_table(state)
            if state.filter:
                self.call_later(self.open_filter, state.filter)

    def show_new_lines(self) -> bool:
        """Nothing: no row says how far a log has grown."""
        return True

    def table_state(self) -> TableState:
        """How the rows are arranged now."""
        table = self.table
        return TableState(column=table.sorted_title, reverse=table.reversed, filter=table.query_text)

    def restore_table(self, state: TableState) -> None:
        """Arrange the rows so."""
        self.table.sort_by_title(state.column, state.reverse)

    def clear_cursor(self) -> bool:
        """Drop the cursor; False when there was none."""
        if self.table.order.release():
            self.table.redraw()
            return True
        return False

    def apply_filter(self, query: str) -> None:
        """Keep the rows that match."""
        self.table.filter(query, words_filter(query) if query.strip() else None)

    def copied(self) -> str:
        """The selected row as text."""
        row = self.table.order.current
        return self.table.text(row) if row is not None else ""

    def action_move(self, by: int) -> None:
        """Up or down."""
        self.table.move(by)

    def action_page(self, by: int) -> None:
        """A page up or down."""
        self.table.page(by)

    def action_edge(self, end: int) -> None:
        """First or last."""
        self.table.edge(end)

    def action_open(self) -> None:
        """The page of the selected row."""
        self.table.open()

    def action_mark(self) -> None:
        """Mark the row under the cursor, or remove its mark, and go on to the next."""
        row = self.table.order.current
        if row is None:
            self.notice("select a row first (arrow keys)")
            return
        self.mark(row)
        self.table.move(1)

    def mark(self, row: Any) -> None:
        """Mark a row, or remove its mark; where rows can be marked."""
        raise NotImplementedError

    def action_sort(self) -> None:
        """The next column."""
        title = self.table.sort_next()
        self.notice(f"sorted by {title}" if title else "in the table's own order")

    def action_reverse(self) -> None:
        """The reverse order."""
        if self.table.sorted_by is None:
            self.notice("sort by a column first (s)")
            return
        self.table.sort(self.table.sorted_by, not self.table.reversed)

    def on_opened(self, message: Opened) -> None:
        """A row of the table was opened."""
        self.opened(message.row)

    def opened(self, row: Any) -> None:
        """Show the page of a row."""
        raise NotImplementedError
