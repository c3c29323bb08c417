"""All alerts on one page; arrows select one, enter opens what it is about, L shows its log lines."""

from __future__ import annotations

from functools import partial

from neuron_top.tui.panels.alerts import alert_page
from neuron_top.tui.screens.cores import core_detail, rank_query
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.graph_detail import GraphDetail, newest_line
from neuron_top.views.cores import core_page
from neuron_top.views.graphs import graph_page
from neuron_top.views.model import Alert, Limits, Run, alerts

View = tuple[tuple[Alert, ...], float, str]
"""The alerts, the moment, and the key of the chosen one."""


class AlertsPage(DetailPage):
    """Alerts; the selection stays with its alert while others come and go."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(partial(_read, limits=limits), alert_page, "", complete=self._with_choice)
        self._chosen = ""

    def _with_choice(self, view: tuple[tuple[Alert, ...], float]) -> View:
        shown, now = view
        if shown and self._chosen not in [alert.key for alert in shown]:
            self._chosen = shown[0].key
        return shown, now, self._chosen

    @property
    def _shown(self) -> tuple[Alert, ...]:
        return self._view[0] if self._view is not None else ()

    @property
    def chosen(self) -> Alert | None:
        """The alert under the cursor."""
        return next((alert for alert in self._shown if alert.key == self._chosen), None)

    def action_move(self, by: int) -> None:
        """Choose another alert."""
        keys = [alert.key for alert in self._shown]
        if keys:
            index = keys.index(self._chosen) if self._chosen in keys else 0
            self._chosen = keys[max(0, min(index + by, len(keys) - 1))]
            self.show(self._view[:2])
            self.page.reveal(self._chosen_line())

    def _chosen_line(self) -> int:
        """The line on which the chosen alert begins."""
        shown, now, chosen = self._view
        before = shown[: [alert.key for alert in shown].index(chosen)]
        return len(alert_page(self.host.render_theme, (before, now, ""), self.size.width)) if before else 0

    def action_open(self) -> None:
        """The page of the graph or core that the alert is about."""
        alert = self.chosen
        if alert is not None and alert.graph is not None:
            self.host.open(GraphDetail(alert.graph))
        elif alert is not None and alert.core is not None:
            self.host.open(core_detail(alert.core))
        else:
            self.notice("this alert is about the whole job: there is no page to open")

    def action_why(self) -> None:
        """The page of the graph, with the reason why it missed."""
        alert = self.chosen
        if alert is not None and alert.graph is not None:
            self.host.open(GraphDetail(alert.graph, why=True))
        else:
            self.notice("this alert is not about a graph")

    def action_log_lines(self) -> None:
        """The log lines that the alert is about."""
        alert = self.chosen
        if alert is not None and alert.graph is not None:
            self.show_log_line(newest_line(self.host.feed.read(partial(graph_page, key=alert.graph))))
        elif alert is not None and alert.core is not None:
            page = self.host.feed.read(partial(core_page, key=alert.core))
            query = rank_query(page.row) if page is not None else ""
            self.host.show_log_lines(query) if query else self.notice_no_lines()
        else:
            self.host.show_log_lines("level:error")


def _read(run: Run, now: float, limits: Limits) -> tuple[tuple[Alert, ...], float]:
    return alerts(run, now, limits), run.effective_now(now)
