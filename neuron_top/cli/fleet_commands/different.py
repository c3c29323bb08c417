"""Say what is different about some nodes: attributes whose values they have far more often than the rest of the nodes.

    neurontop fleet different                     the slow nodes against the others
    neurontop fleet different n17 n18 n19         these nodes against the others
    neurontop fleet different --job 4711 --json

`chance` is how often as many nodes, drawn blindly, would have the value so often. It orders rows; it proves no cause.

exit status: 0 fine · 1 the database cannot be used · 2 no database is named · 3 no such job or node, or no slow one
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.units import percent_text
from neuron_top.views.fleet_differences import differences, slow_selection


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet different`."""
    parser.add_argument(
        "nodes", nargs="*", metavar="NODE", help="nodes to compare with the rest (default: the slow ones)"
    )
    add_reading_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    with fleet_service(arguments) as fleet:
        page = fleet.page(arguments.job)
    found = differences(page, arguments.nodes or slow_selection(page))
    if arguments.json:
        print_json(found)
        return 0
    print_text(f"{', '.join(found.selected)} against {found.rest} others")
    rows = [
        (row.attribute, row.value, percent_text(row.selected_share), percent_text(row.rest_share), f"{row.chance:.2g}")
        for row in found.rows
    ]
    if rows:
        print(table(("attribute", "value", "these", "the others", "chance"), rows, right=(2, 3, 4)))
    else:
        print_text("no attribute differs")
    return 0
