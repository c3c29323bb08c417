"""Limits how often the program draws: a burst of changes becomes one drawing, a single change is drawn at once, and
while nothing but logs grows, all else stands for a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from neuron_top.tui.screens.base import LiveScreen
    from neuron_top.views.model import Run

PERIOD = 0.1
"""Least seconds between two drawings: a change appears within this and the time to draw."""
WHOLE_SECONDS = 0.9
"""How long a whole drawing stands while nothing changes, or nothing but logs grows: clocks on the screen advance once a
second."""


class Refresher:
    """Calls `draw` in the event loop, soon after `announce` was called from any thread."""

    def __init__(self, draw: Callable[[], None], period: float = PERIOD) -> None:
        self._draw, self._period = draw, period
        self._loop = asyncio.get_running_loop()
        self._last = float("-inf")
        self._planned = False

    def announce(self) -> None:
        """Note a change; may be called from any thread, and costs nothing while a drawing is planned."""
        if self._planned:
            return
        self._planned = True
        try:
            self._loop.call_soon_threadsafe(self._plan)
        except RuntimeError:
            self._planned = False  # the loop is closed, as the program is exiting

    def tick(self) -> None:
        """Draw if nothing was drawn for a second, so that clocks on the screen advance."""
        if self._loop.time() - self._last > WHOLE_SECONDS:
            self.announce()

    def _plan(self) -> None:
        self._loop.call_at(max(self._loop.time(), self._last + self._period), self._fire)

    def _fire(self) -> None:
        self._planned = False
        self._last = self._loop.time()
        self._draw()


class Drawn(NamedTuple):
    """What was drawn last, as a whole."""

    screen: LiveScreen
    run: Run
    events: int
    """Events of the run but for those that only say that a log has grown."""
    at: float
    """Monotonic seconds."""

    @staticmethod
    def now(screen: LiveScreen, run: Run) -> Drawn:
        """What is drawn of this run now."""
        return Drawn(screen, run, run.events - run.growths, time.monotonic())

    @property
    def is_fresh(self) -> bool:
        """Whether clocks on the screen need not advance yet."""
        return time.monotonic() - self.at < WHOLE_SECONDS

    def still_holds(self, run: Run, _: float) -> bool:
        """Whether nothing but logs has grown since, of this run."""
        return run is self.run and run.events - run.growths == self.events
