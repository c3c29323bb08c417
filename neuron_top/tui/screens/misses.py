"""The page of all misses of a run, each with its explanation, and the page of a cache entry.

The explanations are read from caches, in a thread: they stand for the moment in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line
from neuron_top.tui.panels.entry_rows import entry_lines
from neuron_top.tui.panels.why import misses_lines, why_lines
from neuron_top.tui.screens.async_page import AsyncPage, MissLookup
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.theme import Theme
from neuron_top.views.entries import EntryRow
from neuron_top.views.miss_explanation import Misses, MissExplanation, MissQuery


def misses_page(find: Callable[[], Misses]) -> AsyncPage:
    """The page of all misses of a run; `find` explains them."""
    return AsyncPage(
        lambda: _or_none_text(find()),
        misses_lines,
        waiting="Looking into the cache…",
        failed="The misses cannot be explained",
        why="this page explains every miss",
    )


def _or_none_text(misses: Misses) -> Misses | str:
    return misses if misses.met else "No graph missed: all came from the cache, or the log names none."


class EntryDetail(DetailPage):
    """A cache entry, and why its graph was not found when it was looked up."""

    def __init__(self, row: EntryRow, *, why: bool = False) -> None:
        """`why`: ask at once."""
        super().__init__(lambda run, now: self._shown(), _entry_page, "")
        self._row, self._ask_at_once = row, why
        self._lookup = MissLookup(self, answered=lambda: self.show(self._shown()))

    def on_mount(self) -> None:
        """Ask, if the page was opened for that."""
        if self._ask_at_once:
            self.action_why()

    def _shown(self) -> tuple[EntryRow, MissExplanation | None]:
        return self._row, self._lookup.explanation

    def action_why(self) -> None:
        """Ask the cache of the entry."""
        self._lookup.start(MissQuery(module=self._row.module, roots=(self._row.root,), compiler=self._row.compiler))


def _entry_page(theme: Theme, view: tuple[EntryRow, MissExplanation | None], width: int) -> Sequence[Strip]:
    row, why = view
    strips = entry_lines(theme, row, width)
    return strips if why is None else [*strips, Line(theme, width).strip(), *why_lines(theme, why, width)]
