"""Compile caches as sources: the roots that a job or this machine uses, each watched for what changes in it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from neuron_top.cache import roots
from neuron_top.cache.processes import read_processes
from neuron_top.cache.scan.watch import CacheWatch
from neuron_top.events import Event
from neuron_top.settings import Settings
from neuron_top.telemetry.source import Emit


class WatchedCache:
    """One root, for as long as the feed runs. It need not exist yet."""

    def __init__(self, root: str, state: Path) -> None:
        self.name = f"cache:{root}"
        self._watch = CacheWatch(root, state)
        self._stopped = threading.Event()
        self._reported = False

    @property
    def is_behind(self) -> bool:
        """Whether the first scan of the root goes on."""
        return not self._reported and self._watch.is_alive

    def start(self, emit: Emit) -> None:
        """Watch until stopped."""

        def pass_on(event: Event) -> None:  # the first comes once the root was read, or is missing
            self._reported = True
            # The watch reports cache and source events only; its own type is the base of all events.
            emit(event)  # type: ignore[arg-type]

        self._watch.start(pass_on)
        self._stopped.wait()
        self._watch.stop()

    def stop(self) -> None:
        """End."""
        self._stopped.set()


def caches_of_job(environ: Mapping[str, str], settings: Settings) -> list[WatchedCache]:
    """The cache that a job with this environment uses; none when it is remote (`s3://`)."""
    root = roots.root_in_force(environ)
    return [] if root.remote else [WatchedCache(root.path, settings.state_path)]


def caches_of_machine(settings: Settings) -> list[WatchedCache]:
    """Every Neuron cache that exists here, by default, by our environment or by that of a running process."""
    found = roots.find(os.environ, read_processes())
    return [
        WatchedCache(root.path, settings.state_path)
        for root in found
        if root.kind is roots.CacheKind.NEURON and root.exists and not root.remote
    ]
