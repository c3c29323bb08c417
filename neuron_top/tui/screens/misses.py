"""The page of all misses of a run, each with its answer, and the page of a cache entry with the reason of its miss.

The answers are read from caches, in a thread: they stand for the moment in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line
from neuron_top.tui.look import Theme
from neuron_top.tui.panels.entry_rows import entry_lines
from neuron_top.tui.panels.why import misses_lines, why_lines
from neuron_top.tui.screens.async_page import AsyncPage, ExplainablePage
from neuron_top.views.entries import EntryRow
from neuron_top.views.miss_explanation import Misses, MissExplanation, MissQuery


class MissesPage(AsyncPage):
    """What `ask` finds."""

    def __init__(self, ask: Callable[[], Misses]) -> None:
        super().__init__(
            lambda: _found(ask()), misses_lines, waiting="Looking into the cache…", failed="It cannot be told"
        )

    def action_why(self) -> None:
        """It is the answer."""
        self.notice("this page is the answer")


def _found(answer: Misses) -> Misses | str:
    return answer if answer.met else "Nothing missed: every graph of this run came from the cache, or none was named."


class EntryDetail(ExplainablePage):
    """A cache entry, and why its graph was not found when it was looked up."""

    def __init__(self, row: EntryRow, *, ask: bool = False) -> None:
        super().__init__(lambda run, now: (row, self._why), _entry_page, "", ask=ask)
        self._row = row

    def action_why(self) -> None:
        """Ask the cache of the entry."""
        self.look_up(MissQuery(module=self._row.module, roots=(self._row.root,), compiler=self._row.compiler))

    def answered(self) -> None:
        """Show it under the entry."""
        self.show((self._row, self._why))


def _entry_page(look: Theme, view: tuple[EntryRow, MissExplanation | None], width: int) -> Sequence[Strip]:
    row, why = view
    strips = entry_lines(look, row, width)
    return strips if why is None else [*strips, Line(look, width).strip(), *why_lines(look, why, width)]
