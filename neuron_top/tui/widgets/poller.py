"""Rows that come from a disk: looked for in a thread while their screen is in front, never while a key is answered."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from textual.strip import Strip

from neuron_top.errors import NeuronTopError
from neuron_top.tui.drawing import rule
from neuron_top.tui.look import Theme
from neuron_top.tui.widgets.lines import Lines

LATELY_SECONDS = 1.0


class Poller(Lines):
    """No lines of its own: calls `look_up` in a thread every `period` seconds and hands the answer to `came`."""

    DEFAULT_CSS = "Shelf { display: none; }"

    def __init__(self, look_up: Callable[[], Any], came: Callable[[Any], None], period: float) -> None:
        super().__init__(id="shelf")
        self._look_up, self._came, self._period = look_up, came, period
        self._looked = float("-inf")

    def on_mount(self) -> None:
        """Look again and again; the first time when the screen has come."""
        self.set_interval(self._period, self.look_again)

    def look_anew(self) -> None:
        """Start a look because the screen is gone to, unless it was left only a moment ago."""
        if monotonic() - self._looked > LATELY_SECONDS:
            self.look_again()

    def look_again(self) -> None:
        """Start a look unless the screen is not in front or nothing may change."""
        if self.screen.is_current and not self.top.paused:
            self._looked = monotonic()
            self.run_worker(self._look, thread=True, exclusive=True)

    def _look(self) -> None:
        try:
            answer = self._look_up()
        except (NeuronTopError, OSError) as problem:
            answer = problem
        if self.is_mounted and self.app.is_running:
            self.app.call_from_thread(self._came, answer)

    def draw(self, width: int, height: int) -> list[Strip]:
        """Nothing."""
        return []


def title(look: Theme, name: str, text: str, width: int) -> Strip:
    """The title line of a shelf's screen."""
    return rule(look, width, name, text)
