"""Past compile times, for commands that show what runs: imported and read only when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuron_top.run.estimate import Estimator
    from neuron_top.settings import Settings


def estimator(settings: Settings) -> Estimator:
    """What past compiles allow to expect of those that run."""
    from neuron_top.ingest import run_loader

    return run_loader.estimator(settings)
