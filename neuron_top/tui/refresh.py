"""Limits how often the program draws: a burst of changes becomes one drawing, a single change is drawn at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PERIOD = 0.1
"""Least seconds between two drawings: a change appears within this and the time to draw."""


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
        if self._loop.time() - self._last > 0.9:
            self.announce()

    def _plan(self) -> None:
        self._loop.call_at(max(self._loop.time(), self._last + self._period), self._fire)

    def _fire(self) -> None:
        self._planned = False
        self._last = self._loop.time()
        self._draw()
