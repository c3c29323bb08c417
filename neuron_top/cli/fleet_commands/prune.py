"""Drop days of events from the database that are older than --keep, or the oldest until all take at most --max-size.

  neurontop fleet prune --dry-run               what would go, and what it frees
  neurontop fleet prune --keep 14d --yes        for cron and systemd timers; never asks

A day is the one that events arrived on, by the server's clock and in UTC; today's always stays. Runs of which no event
is left, and nodes that were not seen since, go with them. It cannot be undone.

exit status: 0 fine · 1 the database cannot be used · 2 usage · 3 no tables there yet · 4 refused: nobody confirmed
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neuron_top.cli.output import log_stderr, print_json, print_text, table
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.units import bytes_text, counted

if TYPE_CHECKING:
    from neuron_top.services.fleet_admin import Pruning


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop fleet prune`."""
    add_store(parser, of_fleet=True)
    parser.add_argument(
        "--keep", metavar="AGE", help="drop days that are older, such as 30d (default: the setting fleet_keep)"
    )
    parser.add_argument(
        "--max-size",
        metavar="SIZE",
        help="drop the oldest days until all take at most this, such as 500GB (default: the setting fleet_max_size)",
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="show what would go and change nothing")
    answer.add_argument("--yes", action="store_true", help="drop it without asking")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Show, ask, drop."""
    from neuron_top.services.fleet_admin import FleetAdministration

    settings = settings_of(arguments, {"fleet_keep": arguments.keep, "fleet_max_size": arguments.max_size})
    administration = FleetAdministration(settings)
    pruning = administration.pruning()
    if not arguments.json:
        _show(pruning)
    if not arguments.dry_run:
        if pruning.going and not arguments.yes:
            from neuron_top.cli.cache_commands.plan_runner import confirm

            confirm(f"Drop {counted(len(pruning.going), 'day')}, {bytes_text(pruning.frees)}; this cannot be undone.")
        administration.prune(pruning)
    if arguments.json:
        print_json(
            {
                "schema": 1,
                "store": administration.place,
                "dropped": not arguments.dry_run,
                "frees": pruning.frees,
                "going": pruning.going,
                "staying": pruning.staying,
            }
        )
    elif pruning.going and not arguments.dry_run:
        log_stderr(f"neurontop: {counted(len(pruning.going), 'day')} dropped, {bytes_text(pruning.frees)} freed")
    return 0


def _show(pruning: Pruning) -> None:
    if not pruning.going:
        print_text(f"nothing to drop: {counted(len(pruning.staying), 'day')} within the policy")
        return
    rows = [(day.day, bytes_text(day.bytes), "goes") for day in pruning.going]
    rows += [(day.day, bytes_text(day.bytes), "stays") for day in pruning.staying]
    print(table(("day", "size", ""), rows, right=(1,)))
