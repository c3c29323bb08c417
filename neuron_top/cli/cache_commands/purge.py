"""Empty the trash of a cache: what plans took away is deleted for ever, and its space is free.

  neurontop cache purge --older-than 7d           plans that were carried out so long ago
  neurontop cache purge --plan 3f9a               one plan
  neurontop cache purge --yes                     all of it

A plan that cannot be deleted (something is mounted in it, a permission is missing) is set apart and named; the others
go all the same.

exit status: 0 done · 1 a plan could not be deleted · 3 no such plan · 4 refused for safety
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.records import PlanPurged
from neuron_top.actions.journal.trash import CannotPurge, Trash
from neuron_top.amounts import parse_seconds
from neuron_top.cli.cache_commands import acting, common
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.escapes import visible
from neuron_top.units import bytes_text, counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache purge`."""
    common.add_root(parser)
    parser.add_argument("--plan", metavar="PLAN", help="only this plan, by its name or the beginning of it")
    parser.add_argument("--older-than", metavar="AGE", help="only plans carried out so long ago, as 7d")
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="say what would be deleted")
    answer.add_argument("--yes", action="store_true", help="delete without asking")
    acting.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Show, ask, delete."""
    if acting.root_meant(arguments.root).startswith("s3://"):
        raise UsageError("a bucket is its own trash: old versions go by a lifecycle rule of the bucket")
    trash = acting.open_trash(arguments)
    histories = _chosen(trash, arguments)
    if arguments.json and arguments.dry_run:
        print_json({"root": str(trash.root), "plans": [each.begun.plan for each in histories]})
        return 0
    for history in histories if not arguments.json else ():
        taken = bytes_text(history.ended.moved_bytes if history.ended else None)
        print(visible(f"plan {history.begun.plan}: {history.begun.verb}, {history.begun.policy}, {taken}"))
    if not histories or arguments.dry_run:
        log_stderr(f"neurontop: {counted(len(histories), 'plan')} in {visible(str(trash.folder))} could be purged")
        return 0
    if arguments.read_only:
        raise RefusedForSafety("read-only mode: nothing is changed")
    if not arguments.yes:
        acting.confirm(
            f"{counted(len(histories), 'plan is', 'plans are')} deleted for ever and cannot be restored.", ""
        )
    records, failed = purged(trash, histories)
    freed, files = sum(record.freed for record in records), sum(record.files for record in records)
    if arguments.json:
        print_json({"root": str(trash.root), "plans": [record.plan for record in records], "freed_bytes": freed,
                    "files": files, "failed": failed})  # fmt: skip
    else:
        log_stderr(
            f"neurontop: {counted(len(records), 'plan')} purged: {bytes_text(freed)} free, {counted(files, 'file')}"
        )
    return 1 if failed else 0


def purged(trash: Trash, histories: Sequence[PlanHistory]) -> tuple[list[PlanPurged], list[str]]:
    """(what went, the names of plans that could not be deleted); each of those is told."""
    records, failed = [], []
    with trash.exclusively():
        acting.tell_remarks(trash)
        for history in histories:
            try:
                records.append(trash.purge(history))
            except NothingToShow as problem:  # somebody removed its folder meanwhile
                if len(histories) == 1:
                    raise
                log_stderr(f"neurontop: {visible(str(problem))}")
            except CannotPurge as problem:
                log_stderr(f"neurontop: {visible(str(problem))}")
                failed.append(history.begun.plan)
    return records, failed


def _chosen(trash: Trash, arguments: argparse.Namespace) -> list[PlanHistory]:
    if arguments.plan is not None:
        return [trash.history_of(arguments.plan)]
    age = parse_seconds(arguments.older_than) if arguments.older_than is not None else 0.0
    return trash.expired(common.now() - age)
