"""`--store URL`: which store a command reads, where it is not the one of the settings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from neuron_top import settings as configuration
from neuron_top.settings import Settings


def add_store(parser: argparse.ArgumentParser) -> None:
    """The option; `settings_of` reads it."""
    parser.add_argument(
        "--store",
        metavar="URL",
        help="read the recordings of a database, postgresql://[user@]host[:port]/database (default: the setting store, "
        "else this machine's own; a password belongs into ~/.pgpass or PGPASSWORD)",
    )


def settings_of(arguments: argparse.Namespace, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings with what the command line says. Raises UsageError for an address with a password in it."""
    return configuration.load({**(overrides or {}), "store": arguments.store})[0]
