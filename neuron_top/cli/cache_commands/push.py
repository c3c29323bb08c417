"""Store artifacts of this node in a bucket (or a shared folder), after a pre-compile: only what is not there yet.

  neurontop cache push s3://bucket/prefix --assume-exclusive
  neurontop cache push s3://bucket/prefix --from /local/nvme/neuron-cache --for last --assume-exclusive

Others may write to a bucket at the same time, which cannot be seen: state with --assume-exclusive that nobody does.
The mark of an entry comes last, so nobody takes a half-stored one for a hit.

exit status: 0 all is there · 1 some entries were not copied · 2 usage · 3 no such cache · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import transfer
from neuron_top.cli.names import named


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache push`."""
    parser.add_argument(
        "target", type=named, metavar="TARGET", help="s3://bucket/prefix, or the folder of a shared cache"
    )
    parser.add_argument(
        "--from", dest="root", type=named, metavar="ROOT", help="the cache's folder (default: the one in force)"
    )
    transfer.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Store."""
    return transfer.transfer(arguments, arguments.root, arguments.target)
