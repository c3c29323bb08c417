"""Options that stand for a setting: `--store`, `--prometheus` and `--read-only`; `settings_of` reads them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from neuron_top import settings as configuration
from neuron_top.settings import Settings


def add_store(parser: argparse.ArgumentParser, *, of_fleet: bool = False) -> None:
    """The option; `settings_of` reads it. `of_fleet`: the command works with a fleet's database and nothing else."""
    what, default = "database to read recordings from", "the setting store, else this machine's own recordings"
    if of_fleet:
        what, default = "database of the fleet", "the setting store"
    parser.add_argument(
        "--store",
        metavar="URL",
        help=f"{what}, postgresql://[user@]host[:port]/database (default: {default}); put a password into ~/.pgpass or "
        "PGPASSWORD",
    )


def add_prometheus(parser: argparse.ArgumentParser) -> None:
    """The option; `settings_of` reads it."""
    parser.add_argument(
        "--prometheus",
        metavar="URL",
        help="server with the samples of nodes over time, such as http://prometheus:9090 (default: the setting "
        "prometheus); credentials come from NEURONTOP_PROMETHEUS_TOKEN, or _USER and _PASSWORD",
    )


def settings_of(arguments: argparse.Namespace, overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings with what the command line says. Raises UsageError for an address with a password in it."""
    named = {name: getattr(arguments, name, None) for name in ("store", "prometheus")}
    read_only = getattr(arguments, "read_only", False) or None  # not given, it leaves the setting as it is
    return configuration.load({**(overrides or {}), **named, "read_only": read_only})[0]
