"""List what was done to a cache: when, by whom, what it took away, and whether it can be undone.

  neurontop cache journal                         the plans carried out on the cache in force, newest last
  neurontop cache journal --json | jq '.plans[] | select(.state == "interrupted")'

States: done, restored, purged, running, interrupted (resume it with `neurontop cache apply PLAN`, or undo it),
found (not in the journal: what it took lies in the trash; restore or purge it).

exit status: 0 printed · 2 usage · 3 no such cache
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common, options
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import visible
from neuron_top.services.trash import PlanHistory
from neuron_top.units import UNKNOWN, bytes_text, count_text
from neuron_top.views.plan_sentences import not_done_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache journal`."""
    common.add_root(parser)
    options.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    service = options.service_of(arguments)
    root = service.resolve(arguments.root)
    service.backend(root).journal().check_there()
    histories = service.trash.histories(root)
    if arguments.json:
        trash = str(service.backend(root).journal().folder)
        print_json({"root": root, "trash": trash, "plans": [_json(each) for each in histories]})
        return 0
    if histories:
        header = ("plan", "when", "by", "what", "state", "done", "taken", "criteria")
        print(table(header, [_row(each) for each in histories], right=(5, 6)))
        for each in histories:
            if each.apart and not each.purged:
                log_stderr(f"neurontop: plan {each.begun.plan} could not be purged: {visible(each.apart.why)}")
    else:
        log_stderr(f"neurontop: the journal of {visible(root)} is empty")
    return 0


def _row(history: PlanHistory) -> tuple[str, ...]:
    begun, ended = history.begun, history.ended
    return (
        begun.plan,
        common.instant(begun.at) or UNKNOWN,
        visible(f"{begun.user}@{begun.host}"),
        begun.verb,
        history.state,
        f"{count_text(ended.done if ended else None)}/{count_text(begun.steps)}",
        bytes_text(ended.moved_bytes if ended else None),
        visible(begun.policy),
    )


def _json(history: PlanHistory) -> dict[str, object]:
    begun, ended, purged = history.begun, history.ended, history.purged
    return {
        "plan": begun.plan,
        "at": common.instant(begun.at),
        "by": begun.user,
        "host": begun.host,
        "verb": begun.verb,
        "policy": begun.policy,
        "state": history.state,
        "steps": begun.steps,
        "done": ended.done if ended else None,
        "moved_bytes": ended.moved_bytes if ended else None,
        "refused": [{"step": number, "reason": not_done_text(why)} for number, why in history.refused],
        "restored_at": common.instant(history.restored.at) if history.restored else None,
        "purged_at": common.instant(purged.at) if purged else None,
        "freed_bytes": purged.freed if purged else None,
        "purge_failed": history.apart.why if history.apart and not purged else None,
    }
