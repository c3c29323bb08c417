"""The page of all misses of a run, each with its answer, and the page of a cache entry with the reason of its miss.

The answers are read from caches, in a thread: they stand for the moment in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from neuron_top.errors import NeuronTopError
from neuron_top.tui.drawing import Line
from neuron_top.tui.look import Look
from neuron_top.tui.panels.entry_rows import entry_lines
from neuron_top.tui.panels.why import misses_lines, why_lines
from neuron_top.tui.screens.asking import AskingPage
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.views.entries import EntryRow
from neuron_top.views.why import Misses, Question, Why


class MissesPage(DetailPage):
    """`ask` is called once; what it raises is told in its place."""

    def __init__(self, ask: Callable[[], Misses]) -> None:
        super().__init__(lambda run, now: self._answer, misses_lines, "")
        self._look = ask
        self._answer: Misses | str = "Looking into the cache…"

    def on_mount(self) -> None:
        """Begin to ask."""
        self.run_worker(self._ask, thread=True)

    def _ask(self) -> None:
        try:
            answer: Misses | str = self._look()
        except (NeuronTopError, OSError) as problem:
            answer = f"It cannot be told: {problem}"
        if isinstance(answer, Misses) and not answer.met:
            answer = "Nothing missed: every graph of this run came from the cache, or none was named."
        self.top.call_from_thread(self._came, answer)

    def _came(self, answer: Misses | str) -> None:
        self._answer = answer
        self.show(answer)

    def action_why(self) -> None:
        """It is the answer."""
        self.notice("this page is the answer")


class EntryDetail(AskingPage):
    """A cache entry, and why its graph was not found when it was looked up."""

    def __init__(self, row: EntryRow, *, ask: bool = False) -> None:
        super().__init__(lambda run, now: (row, self._why), _entry_page, "", ask=ask)
        self._row = row

    def action_why(self) -> None:
        """Ask the cache of the entry."""
        self.look_up(Question(module=self._row.module, roots=(self._row.root,), compiler=self._row.compiler))

    def answered(self) -> None:
        """Show it under the entry."""
        self.show((self._row, self._why))


def _entry_page(look: Look, view: tuple[EntryRow, Why | None], width: int) -> Sequence[Strip]:
    row, why = view
    strips = entry_lines(look, row, width)
    return strips if why is None else [*strips, Line(look, width).strip(), *why_lines(look, why, width)]
