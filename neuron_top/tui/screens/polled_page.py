"""A page that is read again and again, in a thread, as long as it is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neuron_top.tui.screens.detail import DetailPage, Draw
from neuron_top.tui.screens.poller import Poller

PERIOD_SECONDS = 2.0


class PolledPage(DetailPage):
    """Shows what `find` returns, given the page; until then `waiting`, and `failed` with the reason.

    `turn` is called where left and right lead to something else, with -1 and 1; it says what is asked for now.
    """

    def __init__(
        self,
        find: Callable[[PolledPage], Any],
        draw: Draw,
        *,
        waiting: str,
        failed: str,
        turn: Callable[[int], str] | None = None,
    ) -> None:
        super().__init__(lambda run, now: self._answer, draw, "")
        self._find, self._failed, self._turn = find, failed, turn
        self._answer: Any = waiting
        self._poller = Poller(self, lambda: self._find(self), self._on_result, PERIOD_SECONDS)

    def on_mount(self) -> None:
        """Begin to ask."""
        self._poller.start()
        self.call_after_refresh(self._poller.poll)

    def action_shift(self, by: int) -> None:
        """Turn to the next or the one before, where there are several."""
        if self._turn is not None:
            self.notice(self._turn(1 if by > 0 else -1))
            self._poller.read_again()

    def _on_result(self, result: Any) -> None:
        self._answer = f"{self._failed}: {result}" if isinstance(result, Exception) else result
        self.show(self._answer)
