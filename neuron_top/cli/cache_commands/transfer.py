"""What `cache pull` and `cache push` share: which modules, how many at a time, progress with its rate, the report."""

from __future__ import annotations

import argparse
import sys
import time

import msgspec

from neuron_top.cli.cache_commands import options
from neuron_top.cli.cache_commands.execution import LiveLine
from neuron_top.cli.names import named
from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import RefusedForSafety
from neuron_top.escapes import visible
from neuron_top.services.caches import CacheService, Outcome, Plan, Progress
from neuron_top.services.named_modules import modules_needed
from neuron_top.units import bytes_text, counted, duration_text
from neuron_top.views.plan import outcome_lines, outcome_with_texts, plan_lines, with_texts
from neuron_top.views.plan_sentences import progress_parts, refusal_text

STREAMS = 4
"""Entries at a time; each large file of them arrives in ranges of its own."""
_HEARTBEAT_SECONDS = 30.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of both commands."""
    parser.add_argument(
        "--for",
        dest="needed",
        type=named,
        metavar="RUN|LIST",
        help="only the graphs that a recorded run used, or that a file names (a list, a job's log)",
    )
    parser.add_argument(
        "--streams",
        type=whole_number(1),
        default=STREAMS,
        metavar="N",
        help=f"entries copied at a time (default: {STREAMS})",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be copied and copy nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options.add_read_only(parser)
    options.add_exclusive(parser)


def transfer(arguments: argparse.Namespace, source: str | None, target: str | None) -> int:
    """Copy what `target` lacks of `source` (None: the cache in force); the exit status."""
    service = options.service_of(arguments)
    modules = modules_needed(service.settings, arguments.needed) if arguments.needed else ()
    notify = lambda text: log_stderr(f"neurontop: {text}")  # noqa: E731
    plan = service.plan_copy(service.resolve(source), service.resolve(target), modules=modules, notify=notify)
    missing = service.absent(plan, modules)
    for module in missing[:10]:
        log_stderr(f"neurontop: {module} is not in {plan.root}")
    if len(missing) > 10:
        log_stderr(f"neurontop: and {len(missing) - 10} more that are not there")
    if arguments.dry_run:
        if arguments.json:
            print_json({**_json(plan, None, 0.0, missing, service.already_there(plan)), "plan": with_texts(plan)})
        else:
            print("\n".join(visible(line.text) for line in plan_lines(plan, None)))
        return RefusedForSafety.exit_code if plan.is_refused else 1 if missing else 0
    if plan.is_refused:
        raise RefusedForSafety(f"nothing was done: {refusal_text(plan)}")
    outcome, seconds = _carried_out(service, plan, arguments.streams)
    there = service.already_there(plan) + (outcome.there if outcome else 0)
    _report(arguments, plan, outcome, seconds, missing, there)
    if outcome is not None and outcome.interrupted:
        return 130
    return 1 if missing or (outcome is not None and outcome.refused) else 0


def _carried_out(service: CacheService, plan: Plan, streams: int) -> tuple[Outcome | None, float]:
    began = time.monotonic()
    if not plan.steps:
        return None, 0.0
    with LiveLine("copy", live=sys.stderr.isatty()) as line:
        rate = _Rate(began, line, plan.after.size)
        outcome = service.execute(plan, rate.show, streams=streams)
    return outcome, time.monotonic() - began


class _Rate:
    """Shows progress with its rate: on a terminal a line that moves, elsewhere one every half minute."""

    def __init__(self, began: float, line: LiveLine, total: int) -> None:
        self._began, self._line, self._total = began, line, total
        self._reported_at = began

    def show(self, progress: Progress) -> bool:
        """Show the progress; False if the copy is to stop."""
        now = time.monotonic()
        rate = progress.moved_bytes / max(now - self._began, 0.001)
        left = (self._total - progress.moved_bytes) / rate if rate else 0.0
        progress = msgspec.structs.replace(progress, rate=rate, remaining=left if left > 1 else None)
        if not sys.stderr.isatty() and now - self._reported_at >= _HEARTBEAT_SECONDS:
            self._reported_at = now
            copied = f"{bytes_text(progress.moved_bytes)} of {bytes_text(self._total)}"
            parts = (f"{progress.done} of {progress.total} entries", copied, *progress_parts(progress))
            log_stderr(f"neurontop: {', '.join(parts)}")
        return self._line.show(progress)


def _report(
    arguments: argparse.Namespace, plan: Plan, outcome: Outcome | None, seconds: float, missing: list[str], there: int
) -> None:
    if arguments.json:
        print_json(_json(plan, outcome, seconds, missing, there))
        return
    if outcome is None:
        every = f"{plan.target} has every usable entry that was asked for of {plan.root}"
        print(visible(f"nothing to copy: {every if there else f'{plan.root} has no usable entry that was asked for'}"))
        return
    for line in outcome_lines(outcome):
        print(visible(line.text))
    copied = outcome.moved_bytes
    rate = bytes_text(copied / max(seconds, 0.001))
    entries = counted(outcome.done, "entry", "entries")
    print(f"{entries}, {bytes_text(copied)} in {duration_text(seconds)} ({rate}/s), each verified")


def _json(plan: Plan, outcome: Outcome | None, seconds: float, missing: list[str], there: int) -> dict[str, object]:
    return {
        "source": plan.root,
        "target": plan.target,
        "copied": outcome.done if outcome else 0,
        "bytes": outcome.moved_bytes if outcome else 0,
        "seconds": round(seconds, 3),
        "there": there,
        "refused": dict(outcome_with_texts(outcome).refused) if outcome else {},
        "missing": missing,
    }
