"""The list of changes that operators asked for on nodes of the fleet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.fleet_change import FleetChangePage
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from neuron_top.views.fleet_plan import FleetPlan, change_text
from neuron_top.views.model import Run


class FleetChangesPage(LiveScreen):
    """The changes that operators asked for, newest first; enter opens one."""

    NAME: ClassVar[str] = "detail"
    IS_PAGE: ClassVar[bool] = True
    BINDINGS = screen_bindings("detail")

    def __init__(self) -> None:
        super().__init__()
        self._plans: Sequence[FleetPlan] = ()
        self._said = "asking the database…"
        self._here = 0
        self._poller = Poller(self, lambda: self.host.services.fleet_actions.newest(), self._on_plans, 2.0)

    def body(self) -> Iterable[Widget]:
        """One page."""
        yield Page(self._draw_lines)

    def on_mount(self) -> None:
        """Begin to ask."""
        self._poller.start()
        self.call_after_refresh(self._poller.poll)

    def read(self, run: Run, now: float) -> Any:
        """Returns None: the page does not depend on the run."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

    def _on_plans(self, result: Sequence[FleetPlan] | Exception) -> None:
        if isinstance(result, Exception):
            self._said = str(result)
        else:
            self._plans, self._said = result, "Nobody asked for a change yet."
        self.query_one(Page).redraw()
        self.query_one(KeyBar).redraw()

    def offers(self, action: str) -> bool:
        """Enter only if there is a change to open; changes have no log lines."""
        return action != "log_lines" and (action != "open" or bool(self._plans))

    def action_move(self, by: int) -> None:
        """Up or down."""
        self._here = max(0, min(len(self._plans) - 1, self._here + by))
        self.query_one(Page).reveal(self._here + 1)

    def action_open(self) -> None:
        """The change under the cursor."""
        if self._plans:
            batch = self._plans[min(self._here, len(self._plans) - 1)].batch
            self.host.open(FleetChangePage(lambda actions: actions.of(batch)))

    def action_back(self) -> None:
        """Close."""
        self.dismiss()

    def _draw_lines(self, theme: Theme, width: int) -> list[Strip]:
        strips = [rule(theme, width, "Changes on nodes, newest first", "enter opens one" if self._plans else "")]
        if not self._plans:
            return [*strips, *paragraph(theme, self._said, width, theme.quiet)]
        for number, plan in enumerate(self._plans):
            line = Line(theme, width).put(theme.glyphs.cursor if number == self._here else " ", theme.title).gap()
            line.put(plan.batch, theme.strong, 10).gap(2).put(plan.action, theme.text, 8).gap()
            line.put(plan.asked_by, theme.quiet, 16).gap().put(change_text(plan), theme.text)
            strips.append(line.strip())
        return strips
