"""Look at a compile cache: what is in it, in which state, and what can be done about it.

ROOT is a folder; without one it is the cache a job started here would use: --cache_dir in NEURON_CC_FLAGS, then
NEURON_COMPILE_CACHE_URL, then /var/tmp/neuron-compile-cache. Other caches found on this machine are named on
stderr. Looking changes nothing, access times included.

  neurontop cache ls --state failed             the failures, with their cause
  neurontop cache ls --sort bytes               the largest entries first
  neurontop cache stats                         sums by state and compiler version, free disk space
  neurontop cache show MODULE_0123              one entry: graph, artefact, lock, failure log
  neurontop cache verify --full                 read every artefact: header, digest, archive
  neurontop cache roots                         every cache of this machine, neighbours included

exit status: 0 fine · 1 verify found something broken · 2 usage · 3 no such cache or entry
"""

from __future__ import annotations

import argparse
import importlib

from neuron_top.cli.cache_commands import SUBCOMMANDS


def configure(parser: argparse.ArgumentParser) -> None:
    """One parser per row of the table."""
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    for row in SUBCOMMANDS:
        module = importlib.import_module(f"neuron_top.cli.cache_commands.{row.module}")
        sub = actions.add_parser(
            row.name,
            help=row.summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(execute_action=module.execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the sub-command."""
    result = arguments.execute_action(arguments)
    return int(result)
