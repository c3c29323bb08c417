"""The preview of a plan as a page of its own: every step, every exclusion, what it frees and costs; then its outcome.

Cancel is selected at first. What is large, or empties a whole compiler version, is done only after the verb was typed;
locks that nothing proves dead are each named and asked for on their own. While a plan is executed escape stops it
before its next step; the outcome stays until it is closed, and can be opened again from the cache screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.services.caches import CacheService
from neuron_top.services.confirmation import EXCLUSIVE_WORD, ForcedUnlockPrompt, needs_statement
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.tui.drawing import Line, cells_in, lines_of, paragraph, rule
from neuron_top.tui.screens.question_page import QuestionPage, button_lines
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.page import Page
from neuron_top.units import bytes_text, count_text
from neuron_top.views import plan as plan_view
from neuron_top.views.plan import LineKind, PlanLine, title_of
from neuron_top.views.plan_sentences import progress_parts, refusal_text

_PROGRESS_STEPS = 64
"""The progress is drawn again after this many steps."""


class PlanPage(QuestionPage):
    """A plan, or several alternatives for the same end: each that can be executed is a choice of its own, and the lines
    shown are those of the selected one. Of the buttons, 0 is Cancel, n the n-th of `choices`."""

    def __init__(
        self,
        executions: Sequence[PlanExecution],
        caches: CacheService,
        executed: Callable[[PlanExecution], None],
        plan_exclusive: Callable[[], None] | None = None,
    ) -> None:
        """`executed` is called when a plan was executed; `plan_exclusive`, to plan again as somebody who states that
        no other host or container uses the cache, when that was confirmed here."""
        super().__init__()
        self._caches, self._executed, self._plan_exclusive = caches, executed, plan_exclusive
        self.choices = [] if caches.read_only else [each for each in executions if each.can_confirm]
        self.execution = self.choices[0] if self.choices else executions[0]
        plan = self.execution.plan
        self.asks_exclusive = bool(
            not self.choices and plan.steps and needs_statement(plan) and plan_exclusive is not None
        )
        """The plan is refused only because others may use the cache, too."""
        self.forced = ForcedUnlockPrompt(self.execution.plan)

    @property
    def lines(self) -> Sequence[PlanLine]:
        """The plan, or its outcome."""
        if self.execution.is_being_undone:
            return [PlanLine(LineKind.HEADING, "being undone")]
        if self.execution.state is PlanState.UNDONE:
            return [PlanLine(LineKind.HEADING, f"undone: {self.execution.message}")]
        if self.execution.outcome is not None:
            return plan_view.outcome_lines(self.execution.outcome, here="U on the Cache screen")
        if self.execution.state is PlanState.FAILED:
            return [PlanLine(LineKind.REFUSAL, f"nothing was done: {self.execution.message}")]
        return plan_view.preview_lines(self.execution.plan)

    @property
    def is_question(self) -> bool:
        """Whether the person still has to decide."""
        return self.execution.state is PlanState.PLANNED

    @property
    def is_working(self) -> bool:
        """Whether the plan is being executed."""
        return self.execution.state in (PlanState.CONFIRMED, PlanState.RUNNING)

    @property
    def can_act(self) -> bool:
        """Whether there is anything to do that is not refused."""
        return bool(self.choices)

    @property
    def word(self) -> str:
        """What must be typed to confirm what is selected; "" when enter is enough."""
        return EXCLUSIVE_WORD if self.asks_exclusive else self.execution.typed

    @property
    def asked_word(self) -> str:
        """The word, once something else than Cancel is selected."""
        return self.word if self.is_question and self.chosen > 0 else ""

    # Keys

    def offers(self, action: str) -> bool:
        """Not escape while the plan is at work: then it stops that, as the page says."""
        return super().offers(action) and not (action == "back" and self.is_working)

    @property
    def buttons(self) -> int:
        """Cancel and the choices, as long as the person has to decide."""
        return 1 + (len(self.choices) or self.asks_exclusive) if self.is_question else 1

    def select(self, button: int) -> None:
        """Select a button; the lines become those of its plan."""
        execution = self.choices[max(0, button - 1)] if self.choices else self.execution
        if execution is not self.execution:
            self.execution = execution
            self.forced = ForcedUnlockPrompt(execution.plan)
            self.query_one(Page).first = 0
        super().select(button)

    def action_open(self) -> None:
        """Do what is selected."""
        if self.is_working:
            return
        if not self.is_question or self.chosen == 0:
            self.dismiss()
        elif self.forced.current is not None and not self.asks_exclusive:
            self._answer()
        elif self.typed != self.word:
            self.notice(f"type {self.word} first")
        elif self.asks_exclusive and self._plan_exclusive is not None:
            self.dismiss()
            self._plan_exclusive()
        else:
            self._begin(self.execution)

    def _answer(self) -> None:
        """Answer for one forced lock: the word removes it, enter alone skips it; after the last, execute the plan."""
        word = self.execution.typed
        if self.typed not in ("", word):
            self.notice(f"type {word} to remove this lock, or nothing to skip it")
            return
        self.forced.answer(take=self.typed == word)
        self.typed = ""
        if self.forced.current is None:
            confirmed = self.forced.confirmed()
            if confirmed.steps:
                self._begin(PlanExecution(plan=confirmed))
                return
            self.notice("no lock was confirmed: nothing is done")
            self.chosen, self.forced = 0, ForcedUnlockPrompt(self.execution.plan)
        self._redraw()

    def action_back(self) -> None:
        """Cancel; a plan that is being executed stops before its next step."""
        if not self.is_working:
            self.dismiss()
        elif self.execution.can_stop:
            self.execution.stop()
            self.notice("stopping before the next step")

    # Executing

    def _begin(self, execution: PlanExecution) -> None:
        self.notice("")  # remove the notice about the word to type
        execution.confirm(execution.typed)
        self.execution = execution
        self._redraw()
        self.run_worker(self._work, thread=True, exclusive=True)

    def _work(self) -> None:
        self._caches.run(self.execution, self._moved)
        if self.app.is_running:
            self.app.call_from_thread(self._finished)

    def _moved(self) -> None:
        """Draw the progress of the execution: the first, the last and every few steps, and each that has details."""
        progress = self.execution.progress
        if progress is None:
            return
        ended, beside = progress.done + progress.refused, progress_parts(progress)
        if ended <= 1 or ended >= progress.total or beside or ended % _PROGRESS_STEPS == 0:
            self.app.call_from_thread(self._redraw)

    def _finished(self) -> None:
        self.query_one(Page).first = 0
        self._redraw()
        self._executed(self.execution)

    # Drawing

    def _draw_lines(self, theme: Theme, width: int) -> list[Strip]:
        hint = "enter closes"
        if self.is_question:
            hint = "nothing is done yet" if self.can_act or self.asks_exclusive else "esc closes"
        elif self.is_working:
            hint = "esc stops before the next step"
        strips = [rule(theme, width, title_of(self.execution.plan), hint)]
        return strips + [
            Line(theme, width).put(text, _style(theme, line.kind)).strip()
            for line in self.lines
            for text in _folded(line.text, width)
        ]

    def _draw_choice(self, theme: Theme, width: int) -> list[Strip]:
        line = Line(theme, width).gap(2)
        if self.is_working:
            return [line.put(self._progress_text(), theme.accent).strip()]
        if not self.is_question:
            return button_lines(theme, width, ("Close",), 0)
        if not self.can_act and not self.asks_exclusive:
            if reason := refusal_text(self.execution.plan) or ("read-only mode" if self._caches.read_only else ""):
                return paragraph(theme, reason, width, theme.quiet)
            return button_lines(theme, width, ("Close",), 0)
        word = self.word
        if self.chosen and self.forced.question and not self.asks_exclusive:
            question = f"type {word} to remove this lock, enter skips it, esc cancels: {self.typed}_"
            return [
                *paragraph(theme, self.forced.question, width, theme.text),
                *paragraph(theme, question, width, theme.warn),
            ]
        texts = ["Cancel", *(plan_view.choice_text(execution.plan) for execution in self.choices)]
        if self.asks_exclusive:
            texts.append("No other host or container uses this cache")
        below, style = "tab selects, enter does what is selected, esc cancels", theme.quiet
        if word and self.chosen:
            below, style = f"type {word} to confirm: {self.typed}_", theme.warn
        return [*button_lines(theme, width, texts, self.chosen), *paragraph(theme, below, width, style)]

    def _progress_text(self) -> str:
        now = self.execution.progress
        if now is None:
            return "starting"
        text = f"{count_text(now.done)} of {count_text(now.total)} done"
        if beside := progress_parts(now):
            failed = f", {count_text(now.refused)} failed" if now.refused else ""
            return f"{text}{failed}, {', '.join(beside)}"
        skipped = f", {count_text(now.refused)} skipped" if now.refused else ""
        return f"{text}, {bytes_text(now.moved_bytes)}{skipped}"


def _folded(text: str, width: int) -> list[str]:
    """A line of a plan on as many rows as it needs: a reason must not be cut off."""
    return [text] if cells_in(text) <= width else lines_of(text, width, indent=6)


def _style(theme: Theme, kind: LineKind) -> Style:
    return {
        LineKind.HEADING: theme.title,
        LineKind.STEP: theme.text,
        LineKind.EXCLUSION: theme.quiet,
        LineKind.TOTAL: theme.text,
        LineKind.CAVEAT: theme.quiet,
        LineKind.WARNING: theme.warn,
        LineKind.REFUSAL: theme.bad,
        LineKind.MORE: theme.quiet,
    }[kind]
