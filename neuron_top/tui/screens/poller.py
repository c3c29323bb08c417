"""Rows that come from a disk: read in a thread while their screen is in front, never while a key is answered."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

from neuron_top.errors import NeuronTopError
from neuron_top.tui.screens.base import LiveScreen

Rows = TypeVar("Rows")
RECENT_SECONDS = 1.0


class Poller(Generic[Rows]):
    """Calls `read` in a thread every `period` seconds and hands its result, or its failure, to `on_result`.

    While a reading goes on no other begins: on a disk that hangs they would take all threads, and what an earlier one
    has found could replace what a later one found.
    While the screen is paused nothing is read, except for the first time, after an action has changed something, and
    once where what is shown is older than the pause.
    """

    def __init__(
        self,
        screen: LiveScreen,
        read: Callable[[], Rows],
        on_result: Callable[[Rows | Exception], None],
        period: float,
    ) -> None:
        self._screen, self._read, self._on_result, self._period = screen, read, on_result, period
        self._last = float("-inf")
        self._is_stale = True
        """Read even while the screen is held still."""
        self._is_reading = False

    def start(self) -> None:
        """Read again and again; the first time when the screen has arrived."""
        self._screen.set_interval(self._period, self.poll)

    def arrive(self) -> None:
        """Read when the screen is switched to, unless it was read only a moment ago."""
        paused_at = self._screen.host.paused_at
        self._is_stale |= paused_at is not None and self._last < paused_at
        if monotonic() - self._last > RECENT_SECONDS:
            self.poll()

    def poll(self) -> None:
        """Read, unless the screen is paused or not in front, or is read for already."""
        if self._screen.is_current and not self._is_reading and (self._is_stale or not self._screen.host.paused):
            self._last, self._is_stale, self._is_reading = monotonic(), False, True
            self._screen.run_worker(self._run, thread=True, group="poll")

    def read_again(self) -> None:
        """Read as soon as the screen is in front, because an action has changed what it shows."""
        self._is_stale = True
        self.poll()

    def _run(self) -> None:
        result: Rows | Exception
        try:
            result = self._read()
        except (NeuronTopError, OSError) as problem:
            result = problem
        if self._screen.is_mounted and self._screen.app.is_running:
            self._screen.app.call_from_thread(self._finished, result)

    def _finished(self, result: Rows | Exception) -> None:
        self._is_reading = False
        self._on_result(result)
        if self._is_stale:
            self.poll()
