"""The list of changes that operators asked for on nodes of the fleet."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.fleet_change import FleetChangePage
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.theme import Theme
from neuron_top.views.fleet_plan import FleetPlan, change_text


class FleetChangesPage(DetailPage):
    """The changes that operators asked for, newest first; enter opens one."""

    def __init__(self) -> None:
        super().__init__(
            lambda run, now: self._plans,
            lambda theme, view, width: self.lines_for(theme, width, self.keep_choice()),
            "",
        )
        self._plans: Sequence[FleetPlan] = ()
        self._said = "asking the database…"
        self._poller = Poller(self, lambda: self.host.services.fleet_actions.newest(), self._on_plans, 2.0)

    def on_mount(self) -> None:
        """Begin to ask."""
        self._poller.start()
        self.call_after_refresh(self._poller.poll)

    def _on_plans(self, result: Sequence[FleetPlan] | Exception) -> None:
        if isinstance(result, Exception):
            self._said = str(result)
        else:
            self._plans, self._said = result, "Nobody asked for a change yet. A on the Fleet screen asks nodes for one."
        self.show(self._plans)

    @property
    def choices(self) -> Sequence[str]:
        """The changes, by their names."""
        return [plan.batch for plan in self._plans]

    @property
    def has_below(self) -> bool:
        """Whether there is a change to open."""
        return bool(self._plans)

    def action_open(self) -> None:
        """The change under the cursor."""
        if self._plans:
            batch = self.keep_choice()
            self.host.open(FleetChangePage(lambda actions: actions.of(batch)))

    def action_log_lines(self) -> None:
        """Say that there are none."""
        self.notice_no_lines()

    def lines_for(self, theme: Theme, width: int, chosen: str) -> Sequence[Strip]:
        """A line for each."""
        strips = [rule(theme, width, "Changes on nodes, newest first", "enter opens one" if self._plans else "")]
        if not self._plans:
            return [*strips, *paragraph(theme, self._said, width, theme.quiet)]
        for plan in self._plans:
            line = Line(theme, width).put(theme.glyphs.cursor if plan.batch == chosen else " ", theme.title).gap()
            line.put(plan.batch, theme.strong, 10).gap(2).put(plan.action, theme.text, 8).gap()
            line.put(plan.asked_by, theme.quiet, 16).gap().put(change_text(plan), theme.text)
            strips.append(line.strip())
        return strips
