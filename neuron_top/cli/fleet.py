"""Work with many nodes: their jobs, what each node does, and the database that their agents ship to.

The database is PostgreSQL 15 or newer, named by NEURONTOP_STORE=postgresql://host/database or --store. One machine
needs none: its recordings lie in a file of their own.

  neurontop fleet jobs                          jobs: state, nodes, phase, graphs left, longest wait
  neurontop fleet nodes --job 4711              a line per node: phase, cores, step time, what is wrong
  neurontop fleet top step_seconds              the ten slowest nodes
  neurontop fleet different                     what the slow nodes have that the others have not
  neurontop fleet init                          make the tables, or migrate those of an earlier version
  neurontop fleet init --print-sql              print the SQL instead, for who must read it first
  neurontop fleet prune --dry-run               the days that the policy would drop

exit status: 0 fine · 1 the database cannot be used · 2 usage · 3 no tables there yet, no such job or node · 4 refused
for safety: an unsafe connection, or nobody confirmed · 130 interrupted
"""

from __future__ import annotations

import argparse
import importlib

from neuron_top.cli.fleet_commands import SUBCOMMANDS
from neuron_top.cli.output import Parser


def configure(parser: argparse.ArgumentParser) -> None:
    """Only the name of the sub-command is read here: its own module says the rest, and no other is loaded."""
    rows = "\n".join(f"  {row.name:<10} {row.summary}" for row in SUBCOMMANDS)
    parser.usage = "neurontop fleet COMMAND [options]"
    parser.epilog = f"commands:\n{rows}\n\n`neurontop fleet COMMAND --help` says more."
    parser.add_argument("action", choices=[row.name for row in SUBCOMMANDS], metavar="COMMAND", help="see below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def execute(arguments: argparse.Namespace) -> int:
    """Run the sub-command."""
    row = next(row for row in SUBCOMMANDS if row.name == arguments.action)
    module = importlib.import_module(f"neuron_top.cli.fleet_commands.{row.module}")
    parser = Parser(
        prog=f"neurontop fleet {row.name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    return int(module.execute(parser.parse_args(arguments.rest)))
