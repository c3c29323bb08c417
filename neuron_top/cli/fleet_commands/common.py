"""What the commands of `neurontop fleet` share: the store, the job, names of nodes, and how they print."""

from __future__ import annotations

import argparse

from neuron_top.cli.names import named
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.services.fleet import FleetService


def add_reading_options(parser: argparse.ArgumentParser, *, job: bool = True) -> None:
    """--store, --job and --json."""
    add_store(parser, of_fleet=True)
    if job:
        parser.add_argument(
            "--job",
            type=named,
            metavar="JOB",
            help="only nodes of this job: id, unique prefix of one, or name",
        )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def fleet_service(arguments: argparse.Namespace) -> FleetService:
    """The fleet that was named."""
    return FleetService(settings_of(arguments))


def node_names(text: str | None) -> set[str]:
    """`n1, n2` → the names; none without a text."""
    return {name.strip() for name in (text or "").split(",") if name.strip()}
