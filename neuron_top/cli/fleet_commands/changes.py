"""List the changes that operators asked nodes for, the newest first, with who asked and what became of them.

    neurontop fleet changes
    neurontop fleet changes --json | jq '.[0].nodes[] | {node, state, text}'

exit status: 0 fine · 1 the database cannot be used · 2 no database is named · 4 the login may not read them
"""

from __future__ import annotations

import argparse

from neuron_top.cli.output import print_json, print_text, table
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.services.fleet_actions import FleetActions
from neuron_top.views.fleet_plan import FleetPlan, change_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet changes`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_store(parser, of_fleet=True)


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    with FleetActions(settings_of(arguments)) as actions:
        found = actions.newest()
    if arguments.json:
        print_json(found)
    elif found:
        print(table(("change", "action", "asked by", "steps done", "nodes"), map(_cells, found), right=(3,)))
    else:
        print_text("nobody asked for a change yet")
    return 0


def _cells(plan: FleetPlan) -> tuple[str, ...]:
    return (
        plan.batch,
        plan.action,
        plan.asked_by,
        str(plan.done),
        change_text(plan),
    )
