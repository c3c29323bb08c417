"""Free disk: take entries out of a cache by size, free space, age, compiler version, state or name.

  neurontop cache evict --max-size 200GB --dry-run     what would go so that the cache takes at most so much
  neurontop cache evict --min-free 50GB                until so much of the disk is free
  neurontop cache evict --older-than 30d --keep-graph  no use known for 30 days; graphs and flags stay
  neurontop cache evict --compiler '<2.20'             entries of old compilers (or a pattern: 'inductor-*')
  neurontop cache evict --state failed,empty --yes     for scripts; never asks
  neurontop cache evict --workdirs                     what dead compiles left in their work folders

Filters narrow down what may go, --max-size and --min-free say when to stop. Least recently used goes first, and what
took an hour to compile goes after what took seconds. Where no use is known (the mount keeps no access times, or
nothing read it since), an entry counts from when it was written. Nothing that is locked, being written, pinned, or
used within a day goes, nor what a running job holds, names, or may have used since it began. Everything goes to a
trash beside the cache: `neurontop cache restore` brings it back, `neurontop cache purge` frees the space.

exit status: 0 done · 1 some steps were not done · 2 usage · 3 no such cache · 4 refused for safety · 130 interrupted
"""

from __future__ import annotations

import argparse

from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.cli.cache_commands import common, execution, options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError
from neuron_top.services.cache_reader import BackendKind
from neuron_top.services.caches import EvictCriteria


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache evict`."""
    common.add_root(parser)
    add_filters(parser)
    parser.add_argument("--workdirs", action="store_true", help="also the work folders that dead compiles left behind")
    parser.add_argument(
        "--keep-graph", action="store_true", help="keep graph and flags, so that they can be compiled again"
    )
    options.add_alias(parser, "--slim", "keep_graph", action="store_true")
    execution.add_grace_period(parser)
    options.add_plan_options(parser)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """What is meant; amounts are read by `criteria_of`, so that a wrong one is a clear error."""
    parser.add_argument("--max-size", metavar="SIZE", help="evict until the cache takes at most SIZE, such as 200GB")
    parser.add_argument("--min-free", metavar="SIZE", help="evict until SIZE of the disk is free, such as 50GB")
    options.add_alias(parser, "--free", "min_free")
    parser.add_argument(
        "--older-than",
        metavar="AGE",
        help="only entries not used for AGE, such as 30d; where no use is known, entries written so long ago",
    )
    parser.add_argument(
        "--compiler", type=named, metavar="SPEC", help="only of these compilers: '<2.20', or a pattern of folders"
    )
    parser.add_argument("--state", metavar="S", type=common.state_names, help="only these states, comma-separated")
    parser.add_argument(
        "--module", type=named, metavar="PATTERN", action="append", help="only these modules (may be repeated)"
    )


def criteria_of(arguments: argparse.Namespace) -> EvictCriteria:
    """The criteria that the options spell. Raises UsageError."""
    return EvictCriteria(
        max_bytes=parse_bytes(arguments.max_size) if arguments.max_size is not None else None,
        free_bytes=parse_bytes(arguments.min_free) if arguments.min_free is not None else None,
        older_than=parse_seconds(arguments.older_than) if arguments.older_than is not None else None,
        compiler=arguments.compiler,
        states=arguments.state or frozenset(),
        modules=tuple(arguments.module or ()),
        keep_graph=arguments.keep_graph,
    )


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, execute."""
    criteria = criteria_of(arguments)
    if criteria.empty and not arguments.workdirs:
        raise UsageError(
            "specify at least one of --max-size, --min-free, --older-than, --compiler, --state, --module, --workdirs"
        )
    service = options.service_of(arguments)
    root = service.resolve(arguments.root)
    in_bucket = service.backend(root).kind is BackendKind.BUCKET
    if in_bucket and (criteria.free_bytes is not None or arguments.workdirs):
        raise UsageError("--min-free and --workdirs need a disk: for a bucket use --max-size or --older-than")
    look = service.look(root)
    common.question_root(look.snapshot)
    plans = [] if criteria.empty else [look.plan_eviction(criteria)]
    if arguments.workdirs:
        work_dirs = look.plan_work_dirs()
        if not work_dirs:
            log_stderr("neurontop: no work folder of a compile was found on this machine")
        plans += work_dirs
    return run_plans(plans, arguments, service)
