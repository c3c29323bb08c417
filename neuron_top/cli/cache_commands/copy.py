"""Copy usable entries to another root: every file is written under a temporary name, verified, and the mark comes last.

  neurontop cache copy /shared/cache /local/cache                  all usable entries that DEST lacks
  neurontop cache copy /local/cache s3://bucket/prefix             to S3 (pip install 'neuron-top[s3]')
  neurontop cache copy ~/.cache/huggingface/hub/models--aws-neuron--optimum-neuron-cache /var/tmp/neuron-compile-cache
  neurontop cache copy --compiler '==2.21' --module 'MODULE_17*' SOURCE DEST --dry-run

Only hits travel; locks, failures and what is being compiled never do. Keys carry no host name, so a copied entry is
a hit on any node with the same compiler, client and flags. From a hub's local copy the blobs behind its links are
copied.

exit status: 0 done · 1 some entries were not copied · 2 usage · 3 no such cache · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.cli.names import named
from neuron_top.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache copy`."""
    parser.usage = "%(prog)s [options] [ROOT] DEST"
    parser.add_argument(
        "places",
        nargs="+",
        type=named,
        metavar="DEST",
        help="destination; before it, the source (default: the cache in force)",
    )
    parser.add_argument(
        "--module", type=named, metavar="PATTERN", action="append", help="only these modules (may be repeated)"
    )
    parser.add_argument(
        "--compiler", type=named, metavar="SPEC", help="only of these compilers: '==2.21', or a pattern of folders"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options.add_plan_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, copy."""
    if len(arguments.places) > 2:
        raise UsageError("specify one ROOT and one DEST")
    service = options.service_of(arguments)
    source = service.resolve(arguments.places[0] if len(arguments.places) == 2 else None)
    target = service.resolve(arguments.places[-1])
    modules = tuple(arguments.module or ())
    plan = service.plan_copy(source, target, modules=modules, compiler=arguments.compiler)
    return run_plans([plan], arguments, service)
