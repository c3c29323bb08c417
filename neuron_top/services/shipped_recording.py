"""A recording whose events are also shipped to the fleet's database, by an agent of its own job."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from neuron_top.ingest.recording import Recording
from neuron_top.run.model import Run
from neuron_top.services.agent import attached_agent, detach
from neuron_top.settings import Settings
from neuron_top.telemetry.source import TelemetrySource
from neuron_top.views.summary import Summary

View = TypeVar("View")


class ShippedRecording(Recording):
    """As a recording; what cannot be shipped costs the command nothing."""

    def __init__(
        self,
        command: Sequence[str],
        settings: Settings,
        *,
        name: str = "",
        shown: bool = True,
        warn: Callable[[str], None] = lambda text: None,
        environ: Mapping[str, str] = os.environ,
        extra: Callable[[], Sequence[TelemetrySource]] = tuple,
    ) -> None:
        super().__init__(command, settings, name=name, shown=shown, warn=warn, environ=environ, extra=extra)
        attached = attached_agent(settings, self.run, name, self, warn)
        self._agent = attached[0] if attached is not None else None
        self.also = attached[1] if attached is not None else None

    def read(self, view: Callable[[Run, float], View]) -> View:
        """What the agent reads: the run as it is now."""
        return self.feed.read(view)

    def start(self, changed: Callable[[], None] = lambda: None) -> None:
        """Start the command, then the agent. Raises CommandNotStarted."""
        super().start(changed)
        if self._agent is not None:
            self._agent.start()

    def finish(self) -> tuple[int, Summary]:
        """Wait for the command, close the recording, ship what is left."""
        result = super().finish()
        if self._agent is not None:
            detach(self._agent, self._warn)
        return result
