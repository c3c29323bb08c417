"""A change on nodes of the fleet: one plan with the sum and what each node skips, one confirmation, undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.errors import NeuronTopError
from neuron_top.services.fleet_actions import FleetActions, FleetRequest
from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.screens.question_page import QuestionPage, button_lines
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.page import Page
from neuron_top.units import counted
from neuron_top.views.fleet_plan import (
    FleetPlan,
    change_lines,
    confirm_text,
    is_question,
    undoable_nodes,
)
from neuron_top.views.plan import LineKind

PERIOD_SECONDS = 0.5
"""How often the database is asked while a page of changes is in front."""


class Choice(NamedTuple):
    """A button."""

    text: str
    act: Callable[[], None]
    word: str = ""
    """The word that must be typed before."""


class FleetChangePage(QuestionPage):
    """Follows one change from its plan to its outcome; ↑ ↓ select a node, tab a button."""

    def __init__(self, begin: Callable[[FleetActions], FleetPlan]) -> None:
        """`begin` asks for the change, or finds one that was asked for; called in a thread."""
        super().__init__()
        self._begin = begin
        self.plan: FleetPlan | None = None
        self._problem = ""
        self._node = 0
        self._poller = Poller(self, self._read_change, self._on_change, PERIOD_SECONDS)

    @classmethod
    def asking(cls, request: FleetRequest, nodes: str) -> FleetChangePage:
        """A new change, of nodes that are named or match."""
        return cls(lambda actions: actions.ask(request, actions.nodes_named(nodes)))

    def on_mount(self) -> None:
        """Ask."""
        self._in_thread(self._begin)

    # The change

    def _in_thread(self, work: Callable[[FleetActions], FleetPlan]) -> None:
        def run() -> None:
            result: FleetPlan | Exception
            try:
                result = work(self.host.services.fleet_actions)
            except NeuronTopError as problem:
                result = problem
            if self.app.is_running:
                self.app.call_from_thread(self._on_change, result)

        self.run_worker(run, thread=True, group="act")

    def _read_change(self) -> FleetPlan:
        return self.host.services.fleet_actions.of(self.plan.batch if self.plan is not None else "")

    def _on_change(self, result: FleetPlan | Exception) -> None:
        if isinstance(result, Exception):
            self._problem = str(result)
        else:
            if self.plan is None:
                self._poller.start()
            self._problem = ""
            if self.plan is None or len(self.plan.planned) != len(result.planned):
                self.chosen, self.typed = 0, ""  # only what is on the screen can be confirmed
            self.plan = result
        self._redraw()

    @property
    def choices(self) -> Sequence[Choice]:
        """The buttons that can be pressed now; the first one closes the page."""
        plan = self.plan
        if plan is None or not is_question(plan):
            return (Choice("Close", self.action_close), *self._undo_choices())
        return (
            Choice("Cancel", self._take_back),
            *((Choice(confirm_text(plan), self._confirm, plan.word),) if plan.planned else ()),
        )

    def _undo_choices(self) -> Iterable[Choice]:
        nodes = undoable_nodes(self.plan) if self.plan is not None else ()
        if len(nodes) > 1:
            yield Choice(f"Undo on {counted(len(nodes), 'node')}", partial(self._undo, nodes))
        if nodes:
            node = self._selected if self._selected in nodes else nodes[0]
            yield Choice(f"Undo on {node}", partial(self._undo, (node,)))

    @property
    def _selected(self) -> str:
        return self.plan.nodes[self._node].node if self.plan is not None else ""

    def _confirm(self) -> None:
        if (plan := self.plan) is not None:
            self._in_thread(lambda actions: actions.confirm(plan, self.typed))
            self.chosen = 0

    def _undo(self, nodes: Sequence[str]) -> None:
        if (plan := self.plan) is not None:
            self._in_thread(lambda actions: actions.undo(plan.batch, nodes))
            self.chosen = 0

    def _take_back(self) -> None:
        if (plan := self.plan) is not None:
            self._in_thread(lambda actions: actions.take_back(plan.batch))

    # Keys

    @property
    def buttons(self) -> int:
        """As many as there are choices."""
        return len(self.choices)

    def action_open(self) -> None:
        """Do what is selected."""
        choice = self.choices[min(self.chosen, len(self.choices) - 1)]
        if self.typed != choice.word:
            self.notice(f"type {choice.word} first")
            return
        choice.act()
        self._redraw()

    def action_back(self) -> None:
        """Close. A change that was not confirmed is withdrawn; a confirmed one goes on."""
        if self.plan is not None and is_question(self.plan):
            self._take_back()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Close; what was confirmed goes on."""
        self.dismiss()

    def action_move(self, by: int) -> None:
        """Select another node, for an undo on it alone."""
        if self.plan is not None:
            self._node = max(0, min(len(self.plan.nodes) - 1, self._node + by))
            here = [number for number, line in enumerate(change_lines(self.plan)) if line.node][self._node]
            self.query_one(Page).reveal(here + 1)
            self._redraw()

    @property
    def asked_word(self) -> str:
        """The word of the selected button."""
        return self.choices[min(self.chosen, len(self.choices) - 1)].word

    # Drawing

    def _draw_lines(self, theme: Theme, width: int) -> list[Strip]:
        plan = self.plan
        if plan is None:
            return paragraph(theme, self._problem or "asking the nodes…", width, theme.quiet)
        strips = [rule(theme, width, f"Change {plan.batch}", f"asked by {plan.asked_by}")]
        if self._problem:
            strips += paragraph(theme, self._problem, width, theme.bad)
        for line in change_lines(plan):
            style, here = _STYLES[line.kind](theme), bool(line.node) and line.node == self._selected
            mark = theme.glyphs.cursor if here else " "
            text, *more = paragraph(theme, line.text, width, style)
            strips.append(Line(theme, width).put(mark, theme.title).gap().put(text.text.strip(), style).strip()
                          if line.node else text)  # fmt: skip
            strips += more
        if plan.awaited:
            names = ", ".join(node.node for node in plan.awaited[:8])
            strips += paragraph(
                theme, f"waiting for {counted(len(plan.awaited), 'node')}: {names}", width, theme.accent
            )
        return strips

    def _draw_choice(self, theme: Theme, width: int) -> list[Strip]:
        texts = [choice.text for choice in self.choices]
        below, style = "tab selects, enter does what is selected, ↑ ↓ select a node, esc leaves", theme.quiet
        if word := self.asked_word:
            below, style = f"type {word} to confirm: {self.typed}_", theme.warn
        here = min(self.chosen, len(texts) - 1)
        return [*button_lines(theme, width, texts, here), *paragraph(theme, below, width, style)]


_STYLES: dict[LineKind, Callable[[Theme], Style]] = {
    LineKind.TOTAL: lambda theme: theme.title,
    LineKind.HEADING: lambda theme: theme.strong,
    LineKind.REFUSAL: lambda theme: theme.bad,
    LineKind.STEP: lambda theme: theme.text,
    LineKind.EXCLUSION: lambda theme: theme.warn,
    LineKind.CAVEAT: lambda theme: theme.quiet,
    LineKind.MORE: lambda theme: theme.quiet,
}
