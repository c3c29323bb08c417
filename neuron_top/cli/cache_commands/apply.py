"""Execute a plan that was saved with --save-plan, or resume one that was interrupted.

  neurontop cache evict --min-free 50GB --save-plan tonight.json
  neurontop cache apply tonight.json --yes
  neurontop cache apply 3f9a                      an interrupted plan of the cache in force, by its name
  neurontop cache apply 3f9a s3://bucket/prefix   or of another root (of a copy: its destination)

Every step is checked against the disk again; what changed since the plan was made is skipped, and named.

exit status: 0 done · 1 some steps were not done · 2 usage, or not a plan · 3 no such plan · 4 refused for safety
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neuron_top.cli.cache_commands import common, execution, options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.cli.names import PLAN_NAME, named
from neuron_top.errors import NothingToShow
from neuron_top.services.caches import CacheService, Plan
from neuron_top.services.saved_plans import read_plans


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache apply`."""
    parser.add_argument(
        "plan", type=named, metavar="PLANFILE", help="a file written by --save-plan, or an interrupted plan's name"
    )
    common.add_root(parser)
    execution.add_jobs(parser)
    execution.add_grace_period(parser)
    options.add_plan_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Read, ask, execute."""
    service = options.service_of(arguments)
    plans = map(service.revalidate, _named(arguments, service))
    return run_plans(list(plans), arguments, service)


def _named(arguments: argparse.Namespace, service: CacheService) -> tuple[Plan, ...]:
    path = Path(arguments.plan)
    if path.is_file():
        return read_plans(path)
    if not PLAN_NAME.match(arguments.plan):
        raise NothingToShow(
            f"{arguments.plan!r} is no file, and no name of a plan (letters a to f and digits; `neurontop cache "
            "journal` lists them)"
        )
    return (service.interrupted(service.resolve(arguments.root), arguments.plan),)
