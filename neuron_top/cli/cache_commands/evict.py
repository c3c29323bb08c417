"""Free disk: take entries out of a cache by size, free space, age, compiler version, state or name.

  neurontop cache evict --max-size 200GB --dry-run     what would go so that the cache takes at most so much
  neurontop cache evict --free 50GB                    until so much of the disk is free
  neurontop cache evict --older-than 30d --slim        unused for 30 days; graphs and flags stay, to compile again
  neurontop cache evict --compiler '<2.20'             entries of old compilers (or a pattern: 'inductor-*')
  neurontop cache evict --state failed,empty --yes     for scripts; never asks
  neurontop cache evict --workdirs                     what dead compiles left in their work folders

Filters narrow down what may go, --max-size and --free say when to stop. Least recently used goes first, and what took
an hour to compile goes after what took seconds. Nothing that is locked, being written, pinned, or used within a day
goes, and nothing at all while a job uses the cache. Everything goes to a trash beside the cache:
`neurontop cache restore` brings it back, `neurontop cache purge` frees the space.

exit status: 0 done · 1 some steps were not done · 2 usage · 3 no such cache · 4 refused for safety · 130 interrupted
"""

from __future__ import annotations

import argparse
import os

from neuron_top.actions.plan import Plan
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.cli.cache_commands import acting, carrying, common
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache evict`."""
    common.add_root(parser)
    add_filters(parser)
    parser.add_argument("--workdirs", action="store_true", help="also what dead compiles left in their work folders")
    parser.add_argument("--slim", action="store_true", help="keep graph and flags, so that it can be compiled again")
    carrying.add_drain(parser)
    acting.add_options(parser)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """What is meant; words are read by `policy_of`, so that a wrong one is a clear error."""
    parser.add_argument("--max-size", metavar="SIZE", help="until the cache takes at most so much, as 200GB")
    parser.add_argument("--free", metavar="SIZE", help="until so much of the disk is free, as 50GB")
    parser.add_argument("--older-than", metavar="AGE", help="only what was not used for so long, as 30d")
    parser.add_argument("--compiler", metavar="SPEC", help="only of these compilers: '<2.20', or a pattern of folders")
    parser.add_argument("--state", metavar="S", type=common.state_names, help="only these states, comma-separated")
    parser.add_argument("--module", metavar="PATTERN", action="append", help="only these modules (may be repeated)")


def policy_of(arguments: argparse.Namespace) -> EvictCriteria:
    """The wish that the options spell. Raises UsageError."""
    return EvictCriteria(
        max_bytes=parse_bytes(arguments.max_size) if arguments.max_size is not None else None,
        free_bytes=parse_bytes(arguments.free) if arguments.free is not None else None,
        older_than=parse_seconds(arguments.older_than) if arguments.older_than is not None else None,
        compiler=arguments.compiler,
        states=arguments.state or frozenset(),
        modules=tuple(arguments.module or ()),
        slim=arguments.slim,
    )


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, carry out."""
    policy = policy_of(arguments)
    if policy.empty and not arguments.workdirs:
        raise UsageError(
            "evict what? give --max-size, --free, --older-than, --compiler, --state, --module or --workdirs"
        )
    root = acting.root_meant(arguments.root)
    if root.startswith("s3://") and (policy.free_bytes is not None or arguments.workdirs):
        raise UsageError("--free and --workdirs speak of a disk: in a bucket, say --max-size or --older-than")
    return acting.settle(_plans(root, policy, arguments), arguments)


def _plans(root: str, policy: EvictCriteria, arguments: argparse.Namespace) -> list[Plan]:
    snapshot, around = acting.look(root, arguments)
    found = []
    if not policy.empty:
        try:
            found.append(plan_with_reads(snapshot, snapshot.entries, root, policy, around))
        except ValueError as problem:
            raise UsageError(f"--compiler: {problem}") from None
    if arguments.workdirs:
        sweeps = sweep.plan_sweeps(sweep.look(), around, os.getuid())
        if not sweeps:
            log_stderr("neurontop: no work folder of a compile was found on this machine")
        found += sweeps
    return found
