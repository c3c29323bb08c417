"""Executes a plan for a command: a line or a bar of progress where a person watches, an interrupt stops it cleanly."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from neuron_top.cli.cache_commands import options
from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import log_stderr
from neuron_top.services.caches import ActionExecutor, CacheService, Outcome, Plan, Progress, action_of
from neuron_top.units import bytes_text, count_text
from neuron_top.views.plan_sentences import progress_parts

if TYPE_CHECKING:
    from neuron_top.services.precompile import QueueProgress as CompileProgress


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """How many compiles at a time."""
    parser.add_argument(
        "-j", "--jobs", type=whole_number(1), metavar="N", help="compiles side by side, at most (default: cores)"
    )
    parser.add_argument(
        "--fewer-jobs",
        action="store_true",
        help="half as many compiles at a time: for compilers that were killed for memory",
    )


def add_grace_period(parser: argparse.ArgumentParser) -> None:
    """How long S3's readers get."""
    parser.add_argument(
        "--grace-period",
        metavar="AGE",
        default=options.GRACE_PERIOD,
        help="S3: time between deleting the marks and the rest, longer than any download takes (default: 60s)",
    )
    options.add_alias(parser, "--drain", "grace_period")


def jobs(arguments: argparse.Namespace) -> int:
    """How many compiles at a time."""
    wanted: int = arguments.jobs if arguments.jobs is not None else len(os.sched_getaffinity(0))
    return max(1, wanted // 2) if arguments.fewer_jobs else wanted


def execute_plan(plan: Plan, arguments: argparse.Namespace, service: CacheService) -> Outcome:
    """Execute `plan`. Raises RefusedForSafety."""
    row = action_of(plan.verb)
    compiles = row.executor is ActionExecutor.COMPILERS
    with LiveLine(row.title, live=sys.stderr.isatty() and not compiles) as line:
        if compiles:
            return _compile(plan, arguments, service, line)
        if service.waits_for_readers(plan):
            grace = arguments.grace_period
            log_stderr(f"neurontop: the marks go first; then {grace} for downloads under way, then the rest")
        remarks: list[str] = []
        outcome = service.execute(plan, line.show, remarks.append)
    for remark in remarks:
        log_stderr(f"neurontop: {remark}")
    return outcome


def _compile(plan: Plan, arguments: argparse.Namespace, service: CacheService, line: LiveLine) -> Outcome:
    from neuron_top.cli.compile_screen import AboveScreen, ProgressScreen  # loads the compilers' side

    screen = ProgressScreen()

    def watch(progress: CompileProgress) -> bool:
        screen.show(progress)
        return not line.stopped

    try:
        return service.compile_here(plan, jobs=jobs(arguments), log=AboveScreen(screen), watch=watch)
    finally:
        screen.close()


class LiveLine:
    """A context around an execution: one line that says how far it is; an interrupt stops it before its next step.

    Not `live`, it draws nothing and only catches the interrupt.
    """

    def __init__(self, title: str, *, live: bool) -> None:
        self._title, self._live = title, live
        self._next = 0.0
        self.stopped = False
        """Whether somebody interrupted."""

    def __enter__(self) -> LiveLine:
        self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._live and self._next:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _stop(self, number: int, frame: object) -> None:
        self.stopped = True

    def show(self, progress: Progress) -> bool:
        """Draw, ten times a second at most; False when it is to stop."""
        now = time.monotonic()
        if self._live and now >= self._next:
            self._next = now + 0.1
            text = f"{self._title}: {count_text(progress.done)} of {count_text(progress.total)}"
            text += f", {bytes_text(progress.moved_bytes)}"
            text += f", {count_text(progress.refused)} skipped" if progress.refused else ""
            text += "".join(f", {part}" for part in progress_parts(progress))
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        return not self.stopped
