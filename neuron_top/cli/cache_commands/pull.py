"""Fetch artifacts to this node: once for all its ranks, several entries and ranges at a time, each verified.

  neurontop cache pull s3://bucket/prefix                          all usable entries that the cache in force lacks
  neurontop cache pull s3://bucket/prefix --for last               only what the last recorded run used
  neurontop cache pull s3://bucket/prefix --for graphs.txt --to /local/nvme/neuron-cache
  srun --ntasks-per-node=1 neurontop cache pull s3://bucket/prefix --for job.log      on every node of a job

Nothing is asked: entries are only added, each under its lock, and its mark comes last. What an entry's record says of
its files (sha256) is compared with what arrived. Interrupted, call it again: it fetches what is left. Several at a time
share the work: what one is fetching the others wait for.

exit status: 0 all is here · 1 some entries are missing there or were not copied · 2 usage · 3 no such cache ·
4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import transfer
from neuron_top.cli.names import named


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache pull`."""
    parser.add_argument(
        "source", type=named, metavar="SOURCE", help="s3://bucket/prefix, or the folder of a shared cache"
    )
    parser.add_argument(
        "--to", type=named, metavar="ROOT", help="the cache's folder on this node (default: the one in force)"
    )
    transfer.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Fetch."""
    return transfer.transfer(arguments, arguments.source, arguments.to)
