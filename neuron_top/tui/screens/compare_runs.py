"""The page that puts two recordings side by side; both are read in a thread, which takes a second for a long run."""

from __future__ import annotations

from collections.abc import Callable

from textual.strip import Strip

from neuron_top.errors import NeuronTopError
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.look import Look
from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.views.compare import Comparison


class CompareRunsPage(DetailPage):
    """`compare` is called once; what it raises is told in its place."""

    def __init__(self, compare: Callable[[], Comparison]) -> None:
        super().__init__(lambda run, now: self._answer, self._lines, "")
        self._compare = compare
        self._answer: Comparison | str = "Reading both recordings…"

    def on_mount(self) -> None:
        """Begin to compare."""
        self.run_worker(self._ask, thread=True)

    def _ask(self) -> None:
        try:
            answer: Comparison | str = self._compare()
        except (NeuronTopError, OSError) as problem:
            answer = f"They cannot be compared: {problem}"
        self.top.call_from_thread(self._came, answer)

    def _came(self, answer: Comparison | str) -> None:
        self._answer = answer
        self.show(answer)

    @staticmethod
    def _lines(look: Look, view: Comparison | str, width: int) -> list[Strip]:
        if isinstance(view, str):
            title = rule(look, width, "Two recordings", "esc goes back")
            return [title, Line(look, width).gap(2).put(view, look.quiet).strip()]
        return comparison_lines(look, view, width)
