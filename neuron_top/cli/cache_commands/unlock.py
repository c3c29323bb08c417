"""Remove locks whose holder is proved dead, each with the proof; the entry itself stays.

  neurontop cache unlock --dry-run                which locks may go, and why the others stay
  neurontop cache unlock MODULE_0123              one entry of the cache in force
  neurontop cache unlock --force MODULE_0123      also without a proof: each lock is named and asked for again

A lock whose holder is proved alive stays, whatever is asked for. On shared file systems nothing can be proved from one
host. The lock is moved to the trash, so `neurontop cache restore` brings it back.

exit status: 0 done · 1 some steps were not done · 2 usage · 3 no such cache or entry · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common, execution, options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.services.caches import Verb


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache unlock`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument(
        "--force", action="store_true", help="also locks whose holder is not proved dead; asks about each"
    )
    execution.add_grace_period(parser)
    options.add_plan_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, execute."""
    service = options.service_of(arguments)
    root, text = common.root_and_entry(arguments, service, required=False)
    look = service.look(root)
    common.report_problems(look.snapshot)
    entries = look.snapshot.entries if text is None else (common.one_entry(look.snapshot, text),)
    verb = Verb.FORCE_UNLOCK if arguments.force else Verb.UNLOCK
    return run_plans([look.plan_entries(verb, entries)], arguments, service)
