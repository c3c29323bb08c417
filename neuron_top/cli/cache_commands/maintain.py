"""Apply the policy once: for cron and systemd timers. Asks nothing, and skips what is in doubt.

  neurontop cache maintain                        the cache in force
  neurontop cache maintain /var/tmp/neuron-compile-cache --dry-run

The policy is made of the settings cache_max_size, cache_min_free, cache_older_than and cache_states. First, what has
been in the trash for longer than the grace period is purged. Then entries in the policy's states go, then those that
were not used for its age, then the least recently used, until the cache is below its size and the disk has its free
space. Skipped are: what a running job may need, a cache on a shared file system without --assume-exclusive, extracted
graphs and half-stored artifacts.

exit status: 0 done, or nothing to do · 1 some steps were not done · 2 usage · 3 no such cache · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top import settings
from neuron_top.cli.cache_commands import common, options
from neuron_top.cli.cache_commands.plan_runner import REFUSED
from neuron_top.cli.cache_commands.purge import in_trash_text
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.escapes import visible
from neuron_top.services.cache_policy import Maintenance, PolicyService
from neuron_top.units import bytes_text, counted
from neuron_top.views.plan import outcome_lines, outcome_with_texts, plan_lines, with_texts
from neuron_top.views.plan_sentences import goal_missed_text, refusal_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache maintain`."""
    common.add_root(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what would be done and change nothing")
    options.add_read_only(parser)
    options.add_exclusive(parser)
    options.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Purge, plan, execute."""
    service, policy = options.service_of(arguments), PolicyService(settings.load()[0])
    root = service.resolve(arguments.root, folder=True)
    done = policy.foresee(service, root) if arguments.dry_run else policy.maintain(service, root)
    _report_purge(done)
    if arguments.json:
        print_json(
            {
                "schema": 1,
                "expired": [history.begun.plan for history in done.expired],
                "purged_bytes": done.purge.freed,
                "plans": list(map(with_texts, done.plans)),
                "outcomes": list(map(outcome_with_texts, done.outcomes)),
            }
        )
    else:
        _report(done, dry_run=arguments.dry_run)
    if done.problem is not None:
        raise done.problem
    refusal = next((refusal_text(plan) for plan in done.plans if plan.is_refused), "")
    if refusal:
        log_stderr(f"neurontop: nothing was done: {refusal}")
        return REFUSED
    return 1 if done.purge.failed or any(outcome.refused for outcome in done.outcomes) else 0


def _report_purge(done: Maintenance) -> None:
    for remark in (*done.purge.remarks, *(why for _, why in done.purge.failed)):
        log_stderr(f"neurontop: {visible(remark)}")
    if done.purge.records or done.purge.failed:
        plans, freed = counted(len(done.purge.records), "plan"), bytes_text(done.purge.freed)
        log_stderr(f"neurontop: {plans} purged from the trash, {freed} free")


def _report(done: Maintenance, *, dry_run: bool) -> None:
    for history in done.expired if dry_run else ():
        print(visible(f"purge from the trash, for ever: {in_trash_text(history)}"))
    if not done.plans and done.problem is None:
        log_stderr("neurontop: no policy is set; set one with: neurontop cache policy --max-size 200GB")
    for plan in done.plans if dry_run else ():
        print("\n".join(visible(line.text) for line in plan_lines(plan)))
    for outcome in done.outcomes:
        print("\n".join(visible(line.text) for line in outcome_lines(outcome)))
    for plan in done.plans:
        if missed := goal_missed_text(plan):
            log_stderr(f"neurontop: {missed}")
