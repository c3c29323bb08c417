"""Apply the policy once: for cron and systemd timers. Asks nothing, and acts on nothing doubtful.

  neurontop cache maintain                        the cache in force
  neurontop cache maintain /var/tmp/neuron-compile-cache --dry-run

First what lies in the trash for longer than the grace period is purged; then the classes of the policy go, then what
was not used for its age, then the least recently used until the cache keeps its size and the disk its free space. A
cache that somebody uses, a shared file system without --i-am-alone, collected graphs and half-stored artifacts are
left alone.

exit status: 0 done, or nothing to do · 1 some steps were not done · 3 no such cache · 4 refused for safety
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import msgspec

from neuron_top import settings
from neuron_top.actions.execution.local import execute as carry_out
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.planners.maintain import policy_of
from neuron_top.amounts import parse_seconds
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cli.cache_commands import acting, common, purge
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.escapes import visible
from neuron_top.units import bytes_text, counted
from neuron_top.views.plan import outcome_lines, plan_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache maintain`."""
    common.add_root(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what would be done and change nothing")
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")
    parser.add_argument(
        "--i-am-alone", action="store_true", help="state that no other host or container uses this cache"
    )
    acting.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Purge, plan, carry out."""
    current = settings.load()[0]
    root = acting.local_root(arguments.root)
    freed, stuck = (0, False) if arguments.dry_run or arguments.read_only else _purge(root, arguments, current)
    found: list[Plan] = []
    outcomes: list[Outcome] = []
    wishes = policy_of(current)
    if arguments.dry_run and wishes:
        found = foreseen(wishes, root, *acting.look(root, arguments))
    for policy in () if arguments.dry_run else wishes:
        snapshot, context = acting.look(root, arguments)
        plan = plan_with_reads(snapshot, snapshot.entries, root, policy, context)
        found.append(plan)
        if plan.steps and not plan.refused:
            outcomes.append(carry_out(plan, acting.trash_of(root, arguments)))
    if arguments.json:
        print_json({"schema": 1, "purged_bytes": freed, "plans": found, "outcomes": outcomes})
    else:
        _tell(found, outcomes, arguments)
    if any(plan.refused for plan in found):
        log_stderr(f"neurontop: nothing was done: {next(plan.refused for plan in found if plan.refused)}")
        return acting.REFUSED
    return 1 if stuck or any(outcome.refused for outcome in outcomes) else 0


def foreseen(wishes: Iterable[EvictCriteria], root: str, snapshot: Snapshot, context: PlanContext) -> list[Plan]:
    """The plans of a run that meets the cache as `snapshot` has it: each without what those before it take."""
    found = []
    entries = list(snapshot.entries)
    for policy in wishes:
        plan = plan_with_reads(snapshot, entries, root, policy, context)
        found.append(plan)
        if not plan.refused:
            gone = {step.path for step in plan.steps}
            entries = [entry for entry in entries if entry.path not in gone]
            context = _after(plan, context)
    return found


def _after(plan: Plan, context: PlanContext) -> PlanContext:
    """What a look after `plan` would find: a smaller cache on a disk as full as before, its trash not yet purged."""
    before = msgspec.structs.replace(plan.after, free=plan.before.free, free_inodes=plan.before.free_inodes)
    return msgspec.structs.replace(context, before=before, trash_bytes=context.trash_bytes + plan.frees)


def _purge(root: str, arguments: argparse.Namespace, current: settings.Settings) -> tuple[int, bool]:
    """(bytes freed, whether a plan could not be deleted)."""
    trash = acting.trash_of(root, arguments)
    grace = parse_seconds(current.trash_grace) if current.trash_grace else 0.0
    expired = trash.expired(common.now() - grace)
    if not expired:
        return 0, False
    records, failed = purge.purged(trash, expired)
    freed = sum(record.freed for record in records)
    log_stderr(f"neurontop: {counted(len(records), 'plan')} purged from the trash, {bytes_text(freed)} free")
    return freed, bool(failed)


def _tell(found: list[Plan], outcomes: list[Outcome], arguments: argparse.Namespace) -> None:
    if not found:
        log_stderr("neurontop: no policy is set (neurontop cache policy --max-size 200GB)")
    for plan in found if arguments.dry_run else ():
        print("\n".join(visible(line.text) for line in plan_lines(plan)))
    for outcome in outcomes:
        print("\n".join(visible(line.text) for line in outcome_lines(outcome)))
    for plan in found:
        if plan.goal_missed:
            log_stderr(f"neurontop: {plan.goal_missed}")
