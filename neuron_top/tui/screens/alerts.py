"""All alerts on one page, and past ones; enter opens what one is about, L its log lines, a acknowledges, m mutes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.strip import Strip

from neuron_top.services.alerts import AlertAct
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels.alerts import AlertPageView, alert_page
from neuron_top.tui.screens.cores import core_detail, rank_query
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.graph_detail import GraphDetail, newest_line
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.views.cores import core_page
from neuron_top.views.graphs import graph_page
from neuron_top.views.handled_alerts import AlertList, alert_list, job_key
from neuron_top.views.model import Alert, Limits, Run, alerts

NO_ALERT = "there is no alert"


class AlertsPage(DetailPage, inherit_bindings=False):
    """Alerts."""

    NAME: ClassVar[str] = "alerts"
    BINDINGS = screen_bindings("alerts")

    def __init__(self, limits: Limits) -> None:
        super().__init__(partial(_read, limits=limits), alert_page, "", complete=self._with_choice)

    def _with_choice(self, view: tuple[str, tuple[Alert, ...], float, float]) -> AlertPageView:
        job, found, now, until = view
        arranged = alert_list(job, found, self.host.alert_keeper.take(job, found))
        arranged_view = AlertPageView(arranged, now, self._chosen, until)
        self._view = arranged_view  # that of which a choice is kept
        return arranged_view._replace(chosen=self.keep_choice())

    @property
    def _listed(self) -> AlertList:
        return self._view.listed if self._view is not None else AlertList(job="")

    @property
    def _shown(self) -> tuple[Alert, ...]:
        return self._listed.holding

    @property
    def chosen(self) -> Alert | None:
        """The alert under the cursor."""
        return next((alert for alert in self._shown if alert.key == self._chosen), None)

    def offers(self, action: str) -> bool:
        """Whether the keys for an alert are offered: only if there is one."""
        return action not in ("open", "log_lines", "mute", "acknowledge") or bool(self._shown)

    def show(self, view: tuple[str, tuple[Alert, ...], float, float] | None) -> None:
        """Draw them; the keys for them come and go with the first and the last."""
        before = bool(self._shown)
        super().show(view)
        if bool(self._shown) is not before:
            self.query_one(KeyBar).redraw()

    @property
    def choices(self) -> Sequence[str]:
        """Those that hold."""
        return [alert.key for alert in self._shown]

    def lines_for(self, theme: Theme, width: int, chosen: str) -> Sequence[Strip]:
        """The page."""
        return alert_page(theme, self._view._replace(chosen=chosen), width)

    def action_acknowledge(self) -> None:
        """Acknowledge the alert under the cursor, or undo that."""
        self._do(AlertAct.ACKNOWLEDGE, self._listed.acknowledged, "acknowledged: it no longer counts")

    def action_mute(self) -> None:
        """Mute the alert under the cursor for this job, or undo that."""
        self._do(AlertAct.MUTE, self._listed.muted, "muted for this job")

    def _do(self, act: AlertAct, done: tuple[Alert, ...], words: str) -> None:
        alert = self.chosen
        if alert is None:
            self.notice(NO_ALERT)
            return
        undo = alert.key in [one.key for one in done]
        self.host.alert_keeper.act(AlertAct.UNDO if undo else act, [alert.key])
        self.notice("the alert counts again" if undo else words)

    def action_open(self) -> None:
        """The page of the graph or core that the alert is about."""
        alert = self.chosen
        if alert is None:
            self.notice(NO_ALERT)
        elif alert.graph is not None:
            self.host.open(GraphDetail(alert.graph))
        elif alert.core is not None:
            self.host.open(core_detail(alert.core))
        else:
            self.notice("this alert is about the whole job: there is no page to open")

    def action_why(self) -> None:
        """The page of the graph, with the reason why it missed."""
        alert = self.chosen
        if alert is not None and alert.graph is not None:
            self.host.open(GraphDetail(alert.graph, why=True))
        else:
            self.notice("this alert is not about a graph" if alert is not None else NO_ALERT)

    def action_log_lines(self) -> None:
        """The log lines that the alert is about."""
        alert = self.chosen
        if alert is None:
            self.notice(NO_ALERT)
        elif alert.graph is not None:
            self.show_log_line(newest_line(self.host.feed.read(partial(graph_page, key=alert.graph))))
        elif alert.core is not None:
            page = self.host.feed.read(partial(core_page, key=alert.core))
            query = rank_query(page.row) if page is not None else ""
            self.host.show_log_lines(query) if query else self.notice_no_lines()
        else:
            self.host.show_log_lines("level:error")


def _read(run: Run, now: float, limits: Limits) -> tuple[str, tuple[Alert, ...], float, float]:
    return job_key(run), alerts(run, now, limits), now, run.effective_now(now)
