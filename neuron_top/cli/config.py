"""Print the effective settings with their origins: flag > environment > file > default."""

from __future__ import annotations

import argparse

from neuron_top import settings
from neuron_top.cli.output import print_json, print_text, table


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop config`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object: name → {value, origin}")
    parser.add_argument("--path", action="store_true", help="print only the path of the settings file")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    if arguments.path:
        print_text(str(settings.config_path()))
        return 0
    current, origins = settings.load()
    values = {name: getattr(current, name) for name in current.__struct_fields__}
    if arguments.json:
        print_json({name: {"value": value, "origin": origins[name]} for name, value in values.items()})
    else:
        print(
            table(("setting", "value", "origin"), [(name, str(value), origins[name]) for name, value in values.items()])
        )
    return 0
