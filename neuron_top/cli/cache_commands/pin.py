"""Keep modules from eviction, until they are unpinned.

  neurontop cache pin MODULE_176283691422090868+f7f529f3     one module
  neurontop cache pin 'MODULE_1762*'                         a pattern
  neurontop cache pin --run 20261121T0312                    every module that a recorded run used
  neurontop cache pin --note "serving, until March" MODULE_…

Pins hold for every root of this user; `neurontop cache pins` lists them.

exit status: 0 fine · 2 a name that no module can have · 3 no such recording · 4 read-only mode
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import options
from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import ReadOnlyMode, UsageError
from neuron_top.services.named_modules import modules_of_run
from neuron_top.services.pins import Pin, can_match


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache pin`."""
    add_what(parser)
    parser.add_argument("--note", metavar="TEXT", default="", help="why, for whoever lists the pins")


def add_what(parser: argparse.ArgumentParser) -> None:
    """Which modules are meant."""
    parser.add_argument(
        "pattern", nargs="*", type=named, metavar="MODULE", help="a module, or a pattern of module names"
    )
    parser.add_argument("--run", type=named, metavar="RUN", help="every module that this recorded run used")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options.add_read_only(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Pin."""
    wanted, why = chosen(arguments)
    for each in arguments.pattern:
        if not can_match(each):
            raise UsageError(f"{each!r} matches no module: specify a whole name, or a pattern ('{each}*')")
    fresh = options.service_of(arguments).pins.add(wanted, arguments.note or why)
    report(arguments, fresh, "pinned")
    return 0


def chosen(arguments: argparse.Namespace) -> tuple[list[str], str]:
    """(patterns, why). Raises UsageError for none, RefusedForSafety in read-only mode."""
    service = options.service_of(arguments)
    if service.read_only:
        raise ReadOnlyMode()
    wanted, why = list(arguments.pattern), ""
    if arguments.run is not None:
        wanted += modules_of_run(service.settings, arguments.run)
        why = f"run {arguments.run}"
    if not wanted:
        raise UsageError("specify at least one of MODULE, a pattern, --run")
    return wanted, why


def report(arguments: argparse.Namespace, changed: list[Pin], did: str) -> None:
    """Print which pins were changed."""
    if arguments.json:
        print_json({did: [pin.pattern for pin in changed]})
    else:
        log_stderr(f"neurontop: {len(changed)} {did}")
