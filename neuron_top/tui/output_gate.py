"""Delays frames until the screen that is switched to has its view, and then sends them at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from textual.app import App

Result = TypeVar("Result")


class OutputGate:
    """Holds back an application's output until it is released, or until a short time has passed."""

    def __init__(self, app: App[Result], released: Callable[[], None]) -> None:
        """`released` is called each time the output may go out again."""
        self._app, self._released = app, released
        self._held: contextlib.ExitStack | None = None

    @property
    def is_held(self) -> bool:
        """Whether output is held back now."""
        return self._held is not None

    def hold(self, seconds: float = 0.05) -> None:
        """Send nothing until `release`, at most for so long."""
        self._held = self._held or contextlib.ExitStack()
        self._held.enter_context(self._app.batch_update())
        self._held.callback(self._app.set_timer(seconds, self.release).stop)

    def release(self) -> None:
        """Send what was held back."""
        if self._held is not None:
            self._held.close()
            self._held = None
            self._released()
