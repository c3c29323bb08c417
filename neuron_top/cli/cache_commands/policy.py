"""Show and edit the budget of the compile caches; `neurontop cache maintain` keeps it.

  neurontop cache policy                                       what is in force, and where each value comes from
  neurontop cache policy --max-size 200GB --older-than 30d     write these to the settings file
  neurontop cache policy --state empty,failed,corrupt          classes that go as soon as they are a day old
  neurontop cache policy --min-free none                       no such goal any more

Values are kept in config.toml (`neurontop config --path`); its comments stay.

exit status: 0 fine · 2 a value is wrong, or the file cannot be written · 4 read-only mode
"""

from __future__ import annotations

import argparse

from neuron_top import settings
from neuron_top.cli.cache_commands import options
from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.cli.setting_options import settings_of
from neuron_top.services.cache_policy import PolicyService

FIELDS = {
    "max_size": "cache_max_size",
    "min_free": "cache_min_free",
    "older_than": "cache_older_than",
    "state": "cache_states",
    "pins": "cache_pins",
    "grace": "trash_grace",
}
"""Option → setting."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache policy`."""
    parser.add_argument("--max-size", type=named, metavar="SIZE", help="keep a cache below SIZE, such as 200GB")
    parser.add_argument("--min-free", type=named, metavar="SIZE", help="keep SIZE of its disk free, such as 50GB")
    options.add_alias(parser, "--free", "min_free", type=named)
    parser.add_argument("--older-than", type=named, metavar="AGE", help="evict entries not used for AGE, such as 30d")
    parser.add_argument("--state", type=named, metavar="S", help="evict entries in these states, comma-separated")
    parser.add_argument(
        "--pins", type=named, metavar="PATTERNS", help="never evict these modules, comma-separated patterns"
    )
    parser.add_argument("--grace", type=named, metavar="AGE", help="purge the trash after AGE, such as 7d")
    parser.add_argument("--json", action="store_true", help="one JSON object: name → {value, origin}")
    options.add_read_only(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Edit what is given, then print all."""
    given = {field: getattr(arguments, option) for option, field in FIELDS.items()}
    changes = {field: "" if value == "none" else value for field, value in given.items() if value is not None}
    if changes:
        by_name_only = PolicyService(settings_of(arguments)).edit(changes)
        log_stderr(f"neurontop: the policy was written to {settings.config_path()}")
        for state in by_name_only:
            log_stderr(f"neurontop: {state} may be somebody's work: maintain skips it; use evict --state {state}")
    current, origins = settings.load()
    values = {field: getattr(current, field) for field in FIELDS.values()}
    if arguments.json:
        print_json({name: {"value": value, "origin": origins[name]} for name, value in values.items()})
    else:
        rows = [(name, value or "—", origins[name]) for name, value in values.items()]
        print(table(("setting", "value", "origin"), rows))
    return 0
