"""Let pinned modules be evicted again: by name, pattern or recorded run.

neurontop cache unpin 'MODULE_1762*'            this pin, and every pin that the pattern matches
neurontop cache unpin --run 20261121T0312
"""

from __future__ import annotations

import argparse

from neuron_top.actions.pins import Pins
from neuron_top.cli.cache_commands import common, pin


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache unpin`."""
    pin.add_what(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Unpin."""
    wanted, _ = pin.chosen(arguments)
    pin.tell(arguments, Pins(common.state_path()).remove(wanted), "unpinned")
    return 0
