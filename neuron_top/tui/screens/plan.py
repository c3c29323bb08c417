"""The preview of a plan as a screen of its own: every step, every exclusion, what it frees and costs; then its outcome.

The choice stands on Cancel. What is large, or a whole compiler version, is done only after the verb was typed out; of
locks that nothing proves dead each is named and asked for on its own.
While a plan is carried out escape stops it cleanly before the next step; the outcome stays until it is closed, and
can be opened again from the cache screen.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from rich.style import Style
from textual.events import Key
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.actions.desk import CacheService
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.errors import NeuronTopError
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.look import Theme
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.widgets.page import Page
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.units import bytes_text, count_text
from neuron_top.views import plan as plan_view
from neuron_top.views.forced import ForcedUnlockPrompt
from neuron_top.views.model import Run
from neuron_top.views.plan import PlanLine

PREVIEW, WORKING, DONE = "preview", "working", "done"


class PlanPage(LiveScreen):
    """`done` is called with this page when the plan was carried out. Where there are `others`, other ways to the same
    end, each that can be carried out is a choice of its own, and the lines shown are those of the chosen one."""

    NAME: ClassVar[str] = "detail"
    BINDINGS = [*screen_bindings("detail"), ("tab", "shift(1)"), ("shift+tab", "shift(-1)")]
    may_leave = False

    def __init__(
        self, plan: Plan, desk: CacheService, done: Callable[[PlanPage], None], others: Sequence[Plan] = ()
    ) -> None:
        super().__init__()
        self.desk, self._done = desk, done
        self.choices = [each for each in (plan, *others) if self._allowed(each)]
        self.plan = self.choices[0] if self.choices else plan
        self.stage = PREVIEW
        self.chosen = 0
        """0 is Cancel, n the n-th of `choices`."""
        self.typed = ""
        self.word = _word(self.plan)
        self.forced = ForcedUnlockPrompt(self.plan)
        self.lines: Sequence[PlanLine] = plan_view.plan_lines(self.plan)
        self._stop = False
        self.progress: Progress | None = None

    def body(self) -> Iterable[Widget]:
        """The lines, and below them the choice."""
        yield Page(self._draw_lines)
        yield RenderWidget("choice", self._draw_choice, lambda view: 2)

    def on_mount(self) -> None:
        """Draw the choice once; it has nothing to wait for."""
        self._redraw()

    def read(self, run: Run, now: float) -> Any:
        """Nothing of the run."""

    def show(self, view: Any) -> None:
        """Nothing moves with the run."""

    @property
    def can_act(self) -> bool:
        """Whether there is anything to carry out, and nothing forbids it."""
        return bool(self.choices)

    def _allowed(self, plan: Plan) -> bool:
        return bool(plan.steps) and not plan.refused and not self.desk.read_only

    # Keys

    def action_shift(self, by: int) -> None:
        """The other choice."""
        if self.stage == PREVIEW and self.can_act:
            step = 1 if by > 0 else -1
            self.chosen = (self.chosen + step) % (1 + len(self.choices))
            self._choose(self.choices[max(0, self.chosen - 1)])

    def _choose(self, plan: Plan) -> None:
        """Show another of the choices."""
        if plan is not self.plan:
            self.plan, self.typed, self.word = plan, "", _word(plan)
            self.forced = ForcedUnlockPrompt(plan)
            self.lines = plan_view.plan_lines(plan)
            self.query_one(Page).first = 0
        self._redraw()

    def action_open(self) -> None:
        """Do what is chosen."""
        if self.stage == DONE or (self.stage == PREVIEW and self.chosen == 0):
            self.dismiss()
        elif self.stage == PREVIEW and self.forced.current is not None:
            self._answer()
        elif self.stage == PREVIEW and self.typed == self.word:
            self._begin()
        elif self.stage == PREVIEW:
            self.notice(f"type {self.word} first")

    def _answer(self) -> None:
        """One forced lock: the word takes it, enter alone leaves it; after the last what was confirmed is done."""
        if self.typed not in ("", self.word):
            self.notice(f"type {self.word} to take this lock, or nothing to leave it")
            return
        self.forced.answer(take=self.typed == self.word)
        self.typed = ""
        if self.forced.current is None:
            confirmed = self.forced.confirmed()
            if confirmed.steps:
                self.plan = confirmed
                self._begin()
                return
            self.notice("no lock was confirmed: nothing is done")
            self.chosen, self.forced = 0, ForcedUnlockPrompt(self.plan)
        self._redraw()

    def action_back(self) -> None:
        """Cancel; a plan that is being carried out stops before its next step."""
        if self.stage == WORKING:
            self._stop = True
            self.notice("stopping before the next step")
        else:
            self.dismiss()

    def on_key(self, event: Key) -> None:
        """Take the letters of the word that must be typed; none of them is a command meanwhile."""
        if self.stage != PREVIEW or self.chosen == 0 or not self.word:
            return
        if event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.character and event.character.isprintable():
            if event.character.isalpha() and len(self.typed) < len(self.word):
                self.typed += event.character
        else:
            return
        event.stop()
        event.prevent_default()
        self._redraw()

    def action_move(self, by: int) -> None:
        """Scroll."""
        self.query_one(Page).move(by)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        self.query_one(Page).page(by)

    def action_edge(self, end: int) -> None:
        """To the top or the bottom."""
        self.query_one(Page).edge(end)

    def copied(self) -> str:
        """The whole plan as text."""
        return self.query_one(Page).text

    # Carrying out

    def _begin(self) -> None:
        self.stage = WORKING
        self._redraw()
        self.run_worker(self._work, thread=True, exclusive=True)

    def _work(self) -> None:
        try:
            outcome: Outcome | NeuronTopError = self.desk.carry_out(self.plan, self._watch)
        except NeuronTopError as problem:
            outcome = problem
        if self.app.is_running:
            self.app.call_from_thread(self._finished, outcome)

    def _watch(self, progress: Progress) -> bool:
        news = self.progress is None or progress.done + progress.refused >= progress.total
        self.progress = progress
        if news or progress.detail or (progress.done + progress.refused) % 64 == 0:
            self.app.call_from_thread(self._redraw)
        return not self._stop

    def _finished(self, outcome: Outcome | NeuronTopError) -> None:
        self.stage = DONE
        if isinstance(outcome, NeuronTopError):
            self.lines = [PlanLine(plan_view.REFUSAL, f"nothing was done: {outcome}")]
        else:
            self.lines = plan_view.outcome_lines(outcome)
        self.query_one(Page).first = 0
        self._redraw()
        self._done(self)

    # Drawing

    def _redraw(self) -> None:
        self.query_one(Page).redraw()
        self.query_one("#choice", RenderWidget).show(self.stage)

    def _draw_lines(self, look: Theme, width: int) -> list[Strip]:
        head = {PREVIEW: "nothing is done yet", WORKING: "esc stops before the next step", DONE: "enter closes"}
        strips = [rule(look, width, f"{plan_view.VERBS.get(self.plan.verb, self.plan.verb)}", head[self.stage])]
        return strips + [
            Line(look, width).put(text, _style(look, line.kind)).strip()
            for line in self.lines
            for text in _folded(line.text, width)
        ]

    def _draw_choice(self, look: Theme, stage: Any, width: int, height: int) -> list[Strip]:
        line = Line(look, width).gap(2)
        if self.stage == PREVIEW and self.chosen and self.forced.question:
            question = f"type {self.word} to take this lock, enter leaves it, esc cancels: {self.typed}_"
            return [
                line.put(self.forced.question, look.text).strip(),
                Line(look, width).gap(2).put(question, look.warn).strip(),
            ]
        if self.stage == WORKING:
            return [line.put(self._progress_words(), look.accent).strip()]
        if self.stage == DONE:
            return [_button(line, look, "Close", chosen=True).strip()]
        _button(line, look, "Cancel", chosen=self.chosen == 0).gap(3)
        if self.can_act:
            for number, plan in enumerate(self.choices, 1):
                _button(line, look, plan_view.choice_text(plan), chosen=self.chosen == number).gap(3)
            asked = Line(look, width).gap(2)
            if self.word and self.chosen:
                asked.put(f"type {self.word} to go on: {self.typed}_", look.warn)
            else:
                asked.put("tab chooses, enter does what is chosen, esc cancels", look.quiet)
            return [line.strip(), asked.strip()]
        why = self.plan.refused or ("read-only mode" if self.desk.read_only else "there is nothing to do")
        return [line.put(why, look.quiet).strip()]

    def _progress_words(self) -> str:
        now = self.progress
        if now is None:
            return "beginning"
        left = f", {count_text(now.refused)} left alone" if now.refused else ""
        if now.detail:
            failed = f", {count_text(now.refused)} failed" if now.refused else ""
            return f"{count_text(now.done)} of {count_text(now.total)} done{failed}, {now.detail}"
        return f"{count_text(now.done)} of {count_text(now.total)} done, {bytes_text(now.moved_bytes)}{left}"


def _folded(text: str, width: int) -> list[str]:
    """A line of a plan on as many rows as it needs: a reason that is cut off is no reason."""
    return [text] if len(text) <= width else textwrap.wrap(text, width, subsequent_indent=" " * 6) or [text]


def _word(plan: Plan) -> str:
    """What must be typed first: also for steps that carry a warning."""
    return plan_view.typed_word(plan) or (plan.verb if any(step.warning for step in plan.steps) else "")


def _button(line: Line, look: Theme, text: str, *, chosen: bool) -> Line:
    """Brackets tell the chosen one where colors don't."""
    return line.put(f"[ {text} ]" if chosen else f"  {text}  ", look.key if chosen else look.quiet)


def _style(look: Theme, kind: str) -> Style:
    return {
        plan_view.HEADING: look.title,
        plan_view.STEP: look.text,
        plan_view.EXCLUSION: look.quiet,
        plan_view.TOTAL: look.text,
        plan_view.CAVEAT: look.quiet,
        plan_view.WARNING: look.warn,
        plan_view.REFUSAL: look.bad,
        plan_view.MORE: look.quiet,
    }[kind]
