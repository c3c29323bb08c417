"""The log screen: every source in the order of arrival, filtered, followed, jumped through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.run.model import Run
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.widgets.log_view import MARKED, LogView
from neuron_top.tui.widgets.order import words_filter


class LogsScreen(LiveScreen):
    """Log lines."""

    PLACE: ClassVar[str] = "logs"
    BINDINGS = bindings_for("logs")

    def body(self) -> Iterable[Widget]:
        """One view of the log."""
        yield LogView(self.top.log_tail)

    @property
    def log_view(self) -> LogView:
        """The lines."""
        return self.query_one(LogView)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: the lines come from the feed's own book."""

    def show(self, view: Any) -> None:
        """Newer lines."""
        self.log_view.renew()

    @property
    def can_filter(self) -> bool:
        """Lines can be filtered."""
        return True

    def filtered(self, query: str) -> None:
        """Keep the lines that match."""
        self.log_view.filter(query, words_filter(query) if query.strip() else None)

    def let_go(self) -> bool:
        """Follow again; False when it followed already."""
        if self.log_view.following:
            return False
        self.log_view.follow()
        return True

    def copied(self) -> str:
        """The line under the cursor."""
        line = self.log_view.current
        return line.text if line is not None else ""

    def action_move(self, by: int) -> None:
        """Up or down."""
        self.log_view.move(by)

    def action_page(self, by: int) -> None:
        """A page."""
        self.log_view.page(by)

    def action_edge(self, end: int) -> None:
        """First or last."""
        self.log_view.edge(end)

    def action_shift(self, by: int) -> None:
        """Sideways."""
        self.log_view.shift(by)

    def action_follow(self) -> None:
        """Follow, or stand still."""
        self.log_view.toggle_follow()

    def action_marked_only(self) -> None:
        """Only what matters."""
        self.log_view.only_marked()

    def action_next_match(self, by: int) -> None:
        """The next marked line."""
        if not self.log_view.jump(by, MARKED):
            self.notice("no further marked line")

    def action_next_error(self, by: int) -> None:
        """The next error."""
        if not self.log_view.jump(by, ("error",)):
            self.notice("no further error")


SCREEN = LogsScreen
