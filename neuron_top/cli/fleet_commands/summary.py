"""Print the summary of a job over all its nodes: what `neurontop run` prints at the end of a job of one machine.

    neurontop fleet summary 4711
    neurontop fleet summary bert --json | jq .graphs

exit status: 0 fine · 1 the database cannot be used · 2 no database is named · 3 no such job
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.names import named
from neuron_top.cli.output import print_json, print_text
from neuron_top.cli.plain import summary_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet summary`."""
    parser.add_argument("job", type=named, metavar="JOB", help="id, unique prefix of one, or name")
    add_reading_options(parser, job=False)


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    with fleet_service(arguments) as fleet:
        found = fleet.summary(arguments.job)
    print_json(found) if arguments.json else print_text(summary_text(found, fleet.place))
    return 0
