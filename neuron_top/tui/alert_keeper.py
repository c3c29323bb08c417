"""Keeps the history of the shown job's alerts; it is read and written in a thread, never while a screen is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from neuron_top.errors import NeuronTopError
from neuron_top.tui.replay_controller import ReplayController
from neuron_top.tui.services import Services
from neuron_top.views.handled_alerts import NO_HISTORY, AlertHistory, noted
from neuron_top.views.model import Alert

if TYPE_CHECKING:
    from neuron_top.services.alerts import AlertAct

RELOAD_SECONDS = 5.0
"""Seconds between two reads of what other programs (the web, the command line) did."""


class KeeperHost(Protocol):
    """What the keeper asks of the application."""

    playback: ReplayController

    @property
    def services(self) -> Services: ...
    def run_worker(self, work: Callable[[], None], *, thread: bool, exit_on_error: bool) -> object: ...
    def announce(self) -> None: ...


class AlertKeeper:
    """The history of one job's alerts, at most some seconds old."""

    def __init__(self, app: KeeperHost) -> None:
        self._app = app
        self.history = NO_HISTORY
        self._job: str | None = None
        self._found: tuple[Alert, ...] = ()
        self._asked = float("-inf")
        self._under_way = False

    def take(self, job: str, found: Sequence[Alert]) -> AlertHistory:
        """Take the alerts that are active now, and return the history of their job."""
        if job != self._job:
            self._job, self.history, self._asked = job, NO_HISTORY, float("-inf")
        self._found = tuple(found)
        return self.history

    def tick(self) -> None:
        """Called once a second: store new alerts, and read what other programs acknowledged or muted."""
        if self._job is None or self._under_way:
            return
        live = self._app.playback.clock is None
        is_new = live and noted(self.history, self._job, self._found, time.time()) is not self.history
        if is_new or time.monotonic() - self._asked >= RELOAD_SECONDS:
            self._start(None, ())

    def act(self, act: AlertAct, keys: Sequence[str]) -> None:
        """Acknowledge or mute some of the alerts, or undo it."""
        self._start(act, tuple(keys))

    def _start(self, act: AlertAct | None, keys: tuple[str, ...]) -> None:
        self._asked, self._under_way = time.monotonic(), True
        job, found = self._job or "", self._found
        live = self._app.playback.clock is None

        def work() -> None:
            service = self._app.services.alerts
            try:
                history = service.note(job, found, time.time()) if live else service.history(job)
                history = service.act(job, act, keys) if act is not None else history
            except NeuronTopError:
                history = self.history  # unchanged, as the state folder cannot be written to
            # In this thread, as waiting for the screen's thread would never end once that has ended.
            self._on_result(job, history)

        self._app.run_worker(work, thread=True, exit_on_error=False)

    def _on_result(self, job: str, history: AlertHistory) -> None:
        self._under_way = False
        if job == self._job and history != self.history:
            self.history = history
            self._app.announce()
