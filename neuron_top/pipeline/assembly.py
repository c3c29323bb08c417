"""Which sources a live view of this machine has, besides the logs and jobs it was told of."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.runtime.source import Source
from neuron_top.runtime.sources import telemetry_sources
from neuron_top.settings import Settings


def machine_sources(settings: Settings) -> Sequence[Source]:
    """Device telemetry of this machine: absent devices say so once and cost nothing more."""
    return telemetry_sources(settings)
