"""When frames are sent: not before the screen that is gone to has what it shows, and then at once."""

from __future__ import annotations

import contextlib
from typing import Any

from textual.app import App

from neuron_top.tui.screens.base import LiveScreen


class OutputGate(App[int]):
    """An application whose screens say when they have arrived."""

    _held: contextlib.ExitStack | None = None
    """What is not sent yet, and the clock that sends it at the latest."""

    def on_load(self) -> None:
        """The first screen is on its way."""
        self.delay_update()

    def delay_update(self, delay: float = 0.05) -> None:
        """Nothing is sent until the screen that is gone to has its view; Textual would wait for the time to pass."""
        self._held = self._held or contextlib.ExitStack()
        self._held.enter_context(self.batch_update())
        self._held.callback(self.set_timer(delay, self.arrived).stop)

    def push_screen(self, screen: Any, *arguments: Any, **options: Any) -> Any:
        """A page on top of what is shown; it is sent when it has its view."""
        if isinstance(screen, LiveScreen):
            self.delay_update()
        return super().push_screen(screen, *arguments, **options)

    def arrived(self) -> None:
        """The screen in front has what it shows: send it."""
        if self._held is not None:
            self._held.close()
            self._held = None
            self.screen.refresh()

    def prepare(self, name: str) -> None:
        """Make a screen before it is gone to; it is styled as it is made, and need not be once more."""
        self._init_mode(name)
        for screen in self._screen_stacks[name]:
            screen._css_update_count = self._css_update_count
