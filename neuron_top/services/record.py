"""Runs a training command that is recorded and shown; signals are passed on to it, its exit status is returned."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from neuron_top.ingest.assembly import job_sources
from neuron_top.ingest.feed import Feed
from neuron_top.ingest.recording import Recording
from neuron_top.processes.job_signals import signals_passed_on
from neuron_top.processes.launch import shell_status
from neuron_top.processes.self_stop import stop_until_continued
from neuron_top.settings import Settings

__all__ = ["Recording", "new_recording", "screen_feed", "shell_status", "signals_passed_on", "stop_until_continued"]


def new_recording(
    command: Sequence[str], settings: Settings, *, name: str, shown: bool, warn: Callable[[str], None]
) -> Recording:
    """A recording of `command`, its devices and its cache, not started yet; it is also shipped if a database is named.

    `shown`: pass the command's output on to our own streams. `warn` is called with what could not be recorded.
    """
    sources = partial(job_sources, settings, os.environ)
    recording = Recording(command, settings, name=name, shown=shown, warn=warn, extra=sources)
    if settings.store:
        from neuron_top.services.agent import ship

        ship(recording, settings, warn)
    return recording


def screen_feed(recording: Recording) -> Feed:
    """The recording as a feed for a screen that may open and close while the command goes on."""
    from neuron_top.ingest.feed_proxy import FeedProxy

    return FeedProxy(recording.feed)
