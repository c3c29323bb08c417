"""The log lines of a node of the fleet, fetched from its agent a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.widget import Widget

from neuron_top.services.fleet import NodeLogs
from neuron_top.tui.screens.logs import LogsScreen
from neuron_top.tui.widgets.log_view import LogView

RENEW_SECONDS = 0.5


class NodeLogsPage(LogsScreen):
    """The keys of the log screen, of one node's logs; escape goes back to the fleet."""

    def __init__(self, open_logs: Callable[[Callable[[], None]], NodeLogs]) -> None:
        super().__init__()
        self._logs = open_logs(lambda: None)

    def body(self) -> Iterable[Widget]:
        """One view of the log."""
        yield LogView(lambda: self._logs)

    def on_mount(self) -> None:
        """Look for newer lines again and again, and for what was asked for."""
        self.set_interval(RENEW_SECONDS, self._renew)

    def _renew(self) -> None:
        if self.is_current and not self.host.paused:
            if not (self.log_view.lines or self.log_view.filtered):
                self.log_view.follow()  # what was asked for came too late, or not at all
            self.log_view.renew()
            self.log_view.redraw()

    def action_back(self) -> None:
        """Undo the newest narrowing, else close."""
        if not (self.close_filter() or self.clear_cursor()):
            self.dismiss()

    def action_open(self) -> None:
        """Say where the page of a graph is."""
        self.notice("graphs of a job: neurontop watch --store URL --job NAME")

    def action_why(self) -> None:
        """Likewise."""
        self.action_open()
