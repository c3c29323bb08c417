"""Carry out a plan that was saved with --save-plan, or go on with one that was interrupted.

  neurontop cache evict --free 50GB --save-plan tonight.json
  neurontop cache apply tonight.json --yes
  neurontop cache apply 3f9a                      an interrupted plan of the cache in force, by its name
  neurontop cache apply 3f9a s3://bucket/prefix   or of another root (of a copy: its destination)

Every step is checked against the disk again; what changed since the plan was made is left alone, and said.

exit status: 0 done · 1 some steps were not done · 2 not a plan · 4 refused for safety
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from neuron_top.actions import plan as plans
from neuron_top.actions.plan import Plan
from neuron_top.cache import filesystem
from neuron_top.cli.cache_commands import acting, carrying, common
from neuron_top.errors import FileMalformed, RefusedForSafety, UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache apply`."""
    parser.add_argument("plan", metavar="PLANFILE", help="a file written by --save-plan, or an interrupted plan's name")
    common.add_root(parser)
    carrying.add_jobs(parser)
    carrying.add_drain(parser)
    acting.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Read, ask, carry out."""
    path = Path(arguments.plan)
    found = _saved(path) if path.is_file() else [_interrupted(arguments)]
    return acting.settle([_with_this_machine(plan, arguments) for plan in found], arguments)


def _saved(path: Path) -> Sequence[Plan]:
    try:
        return plans.decode(path.read_bytes())
    except (ValueError, msgspec.MsgspecError) as problem:
        raise FileMalformed(path, f"a plan that this program saved ({problem})") from None
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None


def _interrupted(arguments: argparse.Namespace) -> Plan:
    trash, root = acting.open_trash(arguments), acting.root_meant(arguments.root)
    plan = trash.plan(trash.history_of(arguments.plan).begun.plan)
    place = plan.target or plan.root
    if not place.startswith("s3://"):
        place = os.path.realpath(place)
    if place != root:
        raise RefusedForSafety(f"nothing was done: the plan in the trash of {root} is about {place}")
    return plan


def _with_this_machine(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """What forbids it is judged here and now, not as it was when the plan was saved."""
    shared = _why_shared(plan.target or plan.root)
    refused = "read-only mode" if arguments.read_only else ""
    if shared and not arguments.i_am_alone:
        refused = f"{shared}: say --i-am-alone when no other host or container uses this cache"
    return msgspec.structs.replace(plan, refused=refused)


def _why_shared(place: str) -> str | None:
    if place.startswith("s3://"):
        from neuron_top.cache import s3

        return s3.WHY_SHARED
    there = next(path for path in (Path(place), *Path(place).parents) if path.exists())
    return filesystem.describe(str(there)).why_shared
