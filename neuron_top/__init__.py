"""neuron-top: live observability and cache management for AWS Neuron compile and training runs.

In a notebook: `neuron_top.open_run("last")` and `neuron_top.open_cache(root)` give pandas tables and plotly figures;
`neuron_top.open_fleet(store)` those of many nodes. The extra `[notebook]` brings pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuron_top.notebook import open_cache, open_fleet, open_run

__all__ = ["__version__", "open_cache", "open_fleet", "open_run"]
__version__ = "0.2.0.dev0"


def __getattr__(name: str) -> Any:
    # Loaded by those who ask for it: a training process imports this package too.
    if name in ("open_cache", "open_fleet", "open_run"):
        return getattr(import_module("neuron_top.notebook"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
