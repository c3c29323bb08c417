"""Let pinned modules be evicted again: by name, pattern or recorded run.

  neurontop cache unpin 'MODULE_1762*'            this pin, and every pin that the pattern matches
  neurontop cache unpin --run 20261121T0312       every module that a recorded run used

exit status: 0 fine · 2 usage · 3 no such recording · 4 read-only mode
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import options, pin
from neuron_top.cli.output import log_stderr


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache unpin`."""
    pin.add_what(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Unpin."""
    wanted, _ = pin.chosen(arguments)
    removed = options.service_of(arguments).pins.remove(wanted)
    pin.report(arguments, removed, "unpinned")
    if not removed:
        log_stderr("neurontop: no pin has such a pattern; `neurontop cache pins` lists the pins")
    return 0
