"""A row of a table of commands, and a command that has commands of its own."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from neuron_top.cli.output import HelpFormatter, Parser


class Command(NamedTuple):
    """One row of a table: `module` holds `configure(parser)` and `execute(arguments) -> exit status`."""

    name: str
    module: str
    summary: str


def configure_group(parser: argparse.ArgumentParser, usage: str, rows: Sequence[Command]) -> None:
    """Options of a command that has others: only a name is read here, so that no module but its own is loaded."""
    width = max(len(row.name) for row in rows) + 1
    lines = "\n".join(f"  {row.name:<{width}} {row.summary}" for row in rows)
    parser.usage = usage
    parser.epilog = f"commands:\n{lines}\n\n`{usage.partition(' COMMAND')[0]} COMMAND --help` says more."
    parser.add_argument("action", choices=[row.name for row in rows], metavar="COMMAND", help="see below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def execute_in_group(
    group: str,
    package: str,
    rows: Sequence[Command],
    arguments: argparse.Namespace,
    complete: Callable[[argparse.Namespace], None] = lambda _: None,
) -> int:
    """Run the command that was named.

    `group`: what stands before its name; `package`: where its module lies; `complete`: fills in what options shared by
    the whole group mean, once they are read.
    """
    row = next(row for row in rows if row.name == arguments.action)
    module = importlib.import_module(f"{package}.{row.module}")
    parser = Parser(
        prog=f"{group} {row.name}",
        description=module.__doc__,
        formatter_class=HelpFormatter,
    )
    module.configure(parser)
    given = parser.parse_intermixed_args(arguments.rest)
    complete(given)
    return int(module.execute(given))
