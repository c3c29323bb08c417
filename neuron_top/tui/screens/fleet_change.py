"""A change on nodes of the fleet: one plan with the sum and what each node skips, one confirmation, undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from rich.style import Style
from textual.events import Key
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.errors import NeuronTopError
from neuron_top.services.fleet_actions import FleetActions, FleetRequest
from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.units import counted
from neuron_top.views.fleet_plan import (
    FleetPlan,
    change_lines,
    change_text,
    confirm_text,
    is_question,
    undoable_nodes,
)
from neuron_top.views.model import Run
from neuron_top.views.plan import LineKind

PERIOD_SECONDS = 0.5
"""How often the database is asked while a page of changes is in front."""


class Choice(NamedTuple):
    """A button."""

    text: str
    act: Callable[[], None]
    word: str = ""
    """The word that must be typed before."""


class FleetChangePage(LiveScreen):
    """Follows one change from its plan to its outcome; ↑ ↓ select a node, tab a button."""

    NAME: ClassVar[str] = "detail"
    IS_PAGE: ClassVar[bool] = True
    UNNAMED: ClassVar[frozenset[str]] = frozenset({"open", "log_lines"})
    BINDINGS = [*screen_bindings("detail"), ("tab", "shift(1)"), ("shift+tab", "shift(-1)")]
    may_leave = False

    def __init__(self, begin: Callable[[FleetActions], FleetPlan]) -> None:
        """`begin` asks for the change, or finds one that was asked for; called in a thread."""
        super().__init__()
        self._begin = begin
        self.plan: FleetPlan | None = None
        self._problem = ""
        self._node = 0
        self.chosen = 0
        self.typed = ""
        self._poller = Poller(self, self._read_change, self._on_change, PERIOD_SECONDS)

    @classmethod
    def asking(cls, request: FleetRequest, nodes: str) -> FleetChangePage:
        """A new change, of nodes that are named or match."""
        return cls(lambda actions: actions.ask(request, actions.nodes_named(nodes)))

    def body(self) -> Iterable[Widget]:
        """The lines, and below them the buttons."""
        yield Page(self._draw_lines)
        yield RenderWidget("choice", self._draw_choice, lambda view: 2)

    def on_mount(self) -> None:
        """Ask."""
        self._redraw()
        self._in_thread(self._begin)

    def read(self, run: Run, now: float) -> Any:
        """Returns None: the page does not depend on the run."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

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

    def action_shift(self, by: int) -> None:
        """Select the next button."""
        self.chosen, self.typed = (self.chosen + (1 if by > 0 else -1)) % len(self.choices), ""
        self._redraw()

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

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        self.query_one(Page).page(by)

    def action_edge(self, end: int) -> None:
        """To the top or the bottom."""
        self.query_one(Page).edge(end)

    @property
    def _word(self) -> str:
        """What must be typed for the chosen button; "" for one that is pressed alone."""
        return self.choices[min(self.chosen, len(self.choices) - 1)].word

    def on_key(self, event: Key) -> None:
        """Take the letters of the word that must be typed; none of them is a command meanwhile."""
        word = self._word
        if not word:
            return
        if event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.character and event.character.isprintable():
            self.typed = (self.typed + event.character)[: len(word)]
        else:
            return
        event.stop()
        event.prevent_default()
        self._redraw()

    def copied(self) -> str:
        """The whole page as text."""
        return self.query_one(Page).text

    # Drawing

    def _redraw(self) -> None:
        self.query_one(Page).redraw()
        self.query_one("#choice", RenderWidget).show(self.chosen)
        self.query_one(KeyBar).show_typing(bool(self._word))

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

    def _draw_choice(self, theme: Theme, _chosen: int, width: int, height: int) -> list[Strip]:
        line = Line(theme, width).gap(2)
        choices = self.choices
        here = min(self.chosen, len(choices) - 1)
        for number, choice in enumerate(choices):
            text = f"[ {choice.text} ]" if number == here else f"  {choice.text}  "
            line.put(text, theme.key if number == here else theme.quiet).gap()
        below = Line(theme, width).gap(2)
        if word := self._word:
            below.put(f"type {word} to confirm: {self.typed}_", theme.warn)
        else:
            below.put("tab selects, enter does what is selected, ↑ ↓ select a node, esc leaves", theme.quiet)
        return [line.strip(), below.strip()]


_STYLES: dict[LineKind, Callable[[Theme], Style]] = {
    LineKind.TOTAL: lambda theme: theme.title,
    LineKind.HEADING: lambda theme: theme.strong,
    LineKind.REFUSAL: lambda theme: theme.bad,
    LineKind.STEP: lambda theme: theme.text,
    LineKind.EXCLUSION: lambda theme: theme.warn,
    LineKind.CAVEAT: lambda theme: theme.quiet,
    LineKind.MORE: lambda theme: theme.quiet,
}


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
