"""Work with many nodes: their jobs, what each node does, and the database that their agents ship to.

The database is PostgreSQL 15 or newer, named by NEURONTOP_STORE=postgresql://host/database or --store. One machine
needs none: its recordings lie in a file of their own.

  neurontop fleet jobs                          jobs: state, nodes, phase, graphs left, longest wait
  neurontop fleet nodes --job 4711              a line per node: phase, cores, step time, what is wrong
  neurontop fleet top step_seconds              the ten slowest nodes
  neurontop fleet different                     what the slow nodes have that the others have not
  neurontop fleet init                          make the tables, or migrate those of an earlier version
  neurontop fleet init --print-sql              print the SQL instead, for whoever must review it first
  neurontop fleet prune --dry-run               the days that the policy would drop

exit status: 0 fine · 1 the database cannot be used · 2 usage · 3 no tables there yet, no such job or node · 4 refused
for safety: an unsafe connection, or nobody confirmed · 130 interrupted
"""

from __future__ import annotations

import argparse

from neuron_top.cli.command import configure_group, execute_in_group
from neuron_top.cli.fleet_commands import SUBCOMMANDS


def configure(parser: argparse.ArgumentParser) -> None:
    """The commands of the fleet."""
    configure_group(parser, "neurontop fleet COMMAND [options]", SUBCOMMANDS)


def execute(arguments: argparse.Namespace) -> int:
    """Run the one that was named."""
    return execute_in_group("neurontop fleet", "neuron_top.cli.fleet_commands", SUBCOMMANDS, arguments)
