"""Remove locks whose holder is proved dead, each with the proof; the entry itself stays.

  neurontop cache unlock --dry-run                which locks may go, and why the others stay
  neurontop cache unlock MODULE_0123              one entry of the cache in force
  neurontop cache unlock --force MODULE_0123      also without a proof: each lock is named and asked for again

A lock whose holder is proved alive stays, whatever is asked for. On shared file systems nothing can be proved from one
host. The lock is moved to the trash, so `neurontop cache restore` brings it back.

exit status: 0 done · 1 some steps were not done · 3 no such cache or entry · 4 refused for safety
"""

from __future__ import annotations

import argparse
import sys

import msgspec

from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cli.cache_commands import acting, carrying, common
from neuron_top.cli.output import log_stderr
from neuron_top.errors import RefusedForSafety
from neuron_top.escapes import visible


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache unlock`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument("--force", action="store_true", help="also locks without proof; each is asked for again")
    carrying.add_drain(parser)
    acting.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, carry out."""
    given, text = common.root_and_entry(arguments, required=False, buckets=True)
    root = acting.root_meant(given)
    snapshot, around = acting.look(root, arguments)
    entries = snapshot.entries if text is None else (common.one_entry(snapshot, text),)
    plan = plan_unlock(entries, root, around, force=arguments.force)
    changes = not (arguments.dry_run or arguments.save_plan or plan.refused)
    return acting.settle([_asked_again(plan) if arguments.force and changes else plan], arguments)


def _asked_again(plan: Plan) -> Plan:
    """Only the forced steps that somebody confirmed one by one; --yes does not answer for a lock without proof."""
    kept = []
    for step in plan.steps:
        if not step.warning:
            kept.append(step)
            continue
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise RefusedForSafety(
                "nothing was done: a lock without proof is removed only when somebody types yes to it"
            )
        log_stderr(f"{visible(step.path)}: {step.warning}")
        if acting.ask("Remove this lock? Type yes: ") == "yes":
            kept.append(step)
    return msgspec.structs.replace(plan, steps=tuple(kept))
