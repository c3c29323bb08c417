"""Undo a change of the fleet: each node brings back what it took away, from its own trash.

    neurontop fleet undo 1a2b3c4d5e                  on every node that did something
    neurontop fleet undo 1a2b3c4d5e --nodes n1       on this node alone

exit status: 0 undone · 1 some nodes could not, or did not answer · 2 usage · 3 no such change, or nothing to undo
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.act import DONE_SECONDS, report
from neuron_top.cli.fleet_commands.common import node_names
from neuron_top.cli.names import named
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.services.fleet_actions import FleetActions


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet undo`."""
    parser.add_argument("change", metavar="CHANGE", help="as it was printed, or as `fleet changes` lists it")
    parser.add_argument("--nodes", type=named, metavar="A,B,…", help="only these nodes")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_store(parser, of_fleet=True)


def execute(arguments: argparse.Namespace) -> int:
    """Ask and report."""
    nodes = node_names(arguments.nodes)
    with FleetActions(settings_of(arguments)) as actions:
        actions.undo(arguments.change, nodes)
        plan = actions.answered(arguments.change, DONE_SECONDS)
    return report(plan, as_json=arguments.json)
