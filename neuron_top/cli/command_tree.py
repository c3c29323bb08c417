"""All commands and options as one parser: what completion scripts and manual pages are made from.

The program itself reads one command at a time (`main.py`), because loading them all takes longer than most of them.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from neuron_top.cli import cache_commands, fleet_commands
from neuron_top.cli.command import Command
from neuron_top.cli.main import COMMANDS, overview_parser

_GROUPS = {
    "cache": ("neuron_top.cli.cache_commands", cache_commands.SUBCOMMANDS),
    "fleet": ("neuron_top.cli.fleet_commands", fleet_commands.SUBCOMMANDS),
}
"""Commands that have commands of their own: where their modules lie, and their tables."""


def whole_parser() -> argparse.ArgumentParser:
    """The parser of `neurontop` with a sub-parser for each command, and below those for their own commands."""
    parser = overview_parser()
    parser.usage = None
    _add(parser, COMMANDS, "neuron_top.cli")
    return parser


def _add(parser: argparse.ArgumentParser, rows: Sequence[Command], package: str) -> None:
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, module_name, summary in rows:
        module = importlib.import_module(f"{package}.{module_name}")
        command = commands.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in _GROUPS and package == "neuron_top.cli":
            _add(command, _GROUPS[name][1], _GROUPS[name][0])
        else:
            module.configure(command)
