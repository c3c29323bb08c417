"""Look at a compile cache and keep it in order: what is in it, in which state, and what can be done about it.

ROOT is a folder; without one it is the cache a job started here would use: --cache_dir in NEURON_CC_FLAGS, then
NEURON_COMPILE_CACHE_URL, then /var/tmp/neuron-compile-cache. Other caches found on this machine are named on
stderr. Looking changes nothing, access times included.

  neurontop cache ls --state failed             the failures, with their cause
  neurontop cache ls --sort bytes               the largest entries first
  neurontop cache stats                         sums by state and compiler version, free disk space
  neurontop cache show MODULE_0123              one entry: graph, artifact, lock, failure log
  neurontop cache verify --deep                 read every artifact: header, digest, archive
  neurontop cache roots                         every cache of this machine, neighbors included
  neurontop cache ls --torch-neuron             the cache of native PyTorch (TorchNeuron): NEFFs and both tiers' locks

Every change is a plan that can be read, executed and undone: a command that takes something away shows what would go,
what is skipped and why, what it frees and what compiling it again would cost, and asks. --dry-run only shows, --yes
does not ask. `restore PLAN` takes nothing away and does not ask; without PLAN it shows the newest one and asks.
`maintain` is for cron: it does what the policy says without asking.

  neurontop cache evict --min-free 50GB         least recently used first, until so much of the disk is free
  neurontop cache retry --next-run              clear failures, so that the next run compiles them again
  neurontop cache unlock                        locks whose holder is proved dead, each with the proof
  neurontop cache restore                       undo the newest plan; `neurontop cache journal` lists them all

exit status: 0 fine · 1 something is corrupt, or a step was not done · 2 usage · 3 no such cache or entry ·
4 refused for safety: a job uses the cache, it is shared, read-only mode, nobody confirmed · 130 interrupted
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import READING, SUBCOMMANDS
from neuron_top.cli.command import configure_group, execute_in_group
from neuron_top.errors import RefusedForSafety
from neuron_top.escapes import visible

_DOES_NOTHING = frozenset({"--dry-run", "-h", "--help"})


def configure(parser: argparse.ArgumentParser) -> None:
    """The commands of the cache."""
    configure_group(parser, "neurontop cache COMMAND [ROOT] [options]", SUBCOMMANDS)


def execute(arguments: argparse.Namespace) -> int:
    """Run the one that was named."""
    try:
        return execute_in_group(
            "neurontop cache", "neuron_top.cli.cache_commands", SUBCOMMANDS, arguments, complete=_name_the_root
        )
    except BrokenPipeError:
        raise  # the reader of our output went away
    except OSError as problem:
        if not _is_journaled(arguments):
            raise
        where = visible(str(problem.filename)) if problem.filename else "the cache, or standard output"
        raise RefusedForSafety(
            f"cache {arguments.action} was stopped by the disk ({problem.strerror or problem}: {where}); "
            "`neurontop cache journal` lists what was done"
        ) from None


def _is_journaled(arguments: argparse.Namespace) -> bool:
    """Whether the command may have done something that a journal lists."""
    if arguments.action in (*READING, "policy") or not _DOES_NOTHING.isdisjoint(arguments.rest):
        return False
    return arguments.action != "verify" or "--quarantine" in arguments.rest


def _name_the_root(given: argparse.Namespace) -> None:
    """Of `--torch-neuron` without a ROOT, the place of that cache."""
    if getattr(given, "torch_neuron", False) and given.root is None:
        from neuron_top.services.cache_places import torch_neuron_root  # looks into every kind of cache

        given.root = torch_neuron_root()
