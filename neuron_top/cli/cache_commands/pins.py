"""List the pins: patterns of modules that no eviction takes, with who set them, when and why.

exit status: 0 printed · 2 usage
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common, options
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import visible
from neuron_top.units import UNKNOWN


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache pins`."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    service = options.service_of(arguments)
    rows = [(pin.pattern, pin.why, pin.by, common.instant(pin.at or None)) for pin in service.pins.all()]
    rows += [(pattern, "settings", "", None) for pattern in service.pins.of_settings()]
    if arguments.json:
        print_json({"pins": [{"pattern": row[0], "why": row[1], "by": row[2], "at": row[3]} for row in rows]})
    elif rows:
        print(table(("pattern", "why", "by", "when"), [[visible(word or UNKNOWN) for word in row] for row in rows]))
    else:
        log_stderr("neurontop: nothing is pinned")
    return 0
