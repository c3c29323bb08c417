"""Empty the trash of a cache: what plans took away is deleted for ever, and its space is free.

  neurontop cache purge --older-than 7d           plans that were carried out so long ago
  neurontop cache purge --plan 3f9a               one plan
  neurontop cache purge --yes                     all of it

A plan that cannot be deleted (something is mounted in it, a permission is missing) is set apart and named; the others
go all the same.

exit status: 0 done · 1 a plan could not be deleted · 2 usage · 3 no such plan · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.amounts import parse_seconds
from neuron_top.cli.cache_commands import common, options
from neuron_top.cli.cache_commands.plan_runner import confirm
from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import ReadOnlyMode
from neuron_top.escapes import visible
from neuron_top.services.trash import PlanHistory, Purge
from neuron_top.units import bytes_text, counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache purge`."""
    common.add_root(parser)
    parser.add_argument("--plan", type=named, metavar="PLAN", help="only this plan, by its name or the beginning of it")
    parser.add_argument("--older-than", metavar="AGE", help="only plans executed at least AGE ago, such as 7d")
    options.add_read_only(parser)
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="say what would be deleted")
    answer.add_argument("--yes", action="store_true", help="delete without asking")
    options.add_trash(parser)


def in_trash_text(history: PlanHistory) -> str:
    """What lies in the trash because of a plan: its name, what it did and how much lies there."""
    lying = bytes_text(history.bytes_in_trash)
    return f"plan {history.begun.plan}: {history.begun.verb}, {history.begun.policy}, {lying}"


def execute(arguments: argparse.Namespace) -> int:
    """Show, ask, delete."""
    service = options.service_of(arguments)
    root = service.resolve(arguments.root)
    age = parse_seconds(arguments.older_than) if arguments.older_than is not None else 0.0
    histories = service.trash.purgeable(root, older_than=age, plan=arguments.plan)
    if arguments.json and arguments.dry_run:
        print_json({"root": root, "plans": [each.begun.plan for each in histories]})
        return 0
    for history in histories if not arguments.json else ():
        print(visible(in_trash_text(history)))
    if arguments.json and not histories:
        _print_json(root, Purge())
        return 0
    if not histories or arguments.dry_run:
        trash = f"the trash of {visible(root)}"
        if histories:
            log_stderr(f"neurontop: {counted(len(histories), 'plan')} in {trash} could be purged")
        else:
            plan = f"nothing of plan {arguments.plan}" if arguments.plan else "no plan"
            old = f" that was executed at least {arguments.older_than} ago" if arguments.older_than else ""
            log_stderr(f"neurontop: nothing to purge: {trash} holds {plan}{old}")
        return 0
    if service.read_only:
        raise ReadOnlyMode()
    if not arguments.yes:
        gone = counted(len(histories), "plan is", "plans are")
        confirm(f"{gone} deleted for ever and cannot be restored.")
    purge = service.trash.purge(root, histories)
    for remark in (*purge.remarks, *(why for _, why in purge.failed)):
        log_stderr(f"neurontop: {visible(remark)}")
    if arguments.json:
        _print_json(root, purge)
    else:
        plans, files = counted(len(purge.records), "plan"), counted(purge.files, "file")
        log_stderr(f"neurontop: {plans} purged: {bytes_text(purge.freed)} free, {files}")
    return 1 if purge.failed else 0


def _print_json(root: str, purge: Purge) -> None:
    print_json(
        {
            "root": root,
            "plans": [record.plan for record in purge.records],
            "freed_bytes": purge.freed,
            "files": purge.files,
            "failed": [plan for plan, _ in purge.failed],
        }
    )
