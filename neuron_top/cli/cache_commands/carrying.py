"""Which hand carries a plan out: made just now, saved days ago, or interrupted, the plan itself says what is needed."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from neuron_top.actions.execution.copy_targets import CopyTarget, LocalCopyTarget
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.amounts import parse_seconds
from neuron_top.cli.cache_commands import common
from neuron_top.cli.cache_commands.live_line import LiveLine
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError
from neuron_top.escapes import visible
from neuron_top.services.caches import action_of

DRAIN = "60s"
"""Default of --drain."""


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """How many compiles at a time."""
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="compiles side by side, at most (default: cores)")
    parser.add_argument("--fewer-jobs", action="store_true", help="half as many, for compilers killed for memory")


def add_drain(parser: argparse.ArgumentParser) -> None:
    """How long S3's readers get."""
    parser.add_argument(
        "--drain", metavar="AGE", default=DRAIN,
        help="S3: wait so long between the marks and the rest (default: 60s; the slowest download)",
    )  # fmt: skip


def carried_out(plan: Plan, arguments: argparse.Namespace) -> Outcome:
    """Carry `plan` out, with progress where a person looks on. Raises RefusedForSafety."""
    own_screen = plan.verb == "compile"
    with LiveLine(action_of(plan.verb).title, live=sys.stderr.isatty() and not own_screen) as line:
        if plan.verb == "compile":
            return _compiled(plan, arguments, line)
        if plan.verb == "copy":
            return _copied(plan, arguments, line)
        if plan.root.startswith("s3://"):
            return _done_in_bucket(plan, arguments, line)
        trash = Trash(plan.root, arguments.trash)
        outcome = execute(plan, trash, read_only=arguments.read_only, watch=line.show)
    for remark in trash.remarks:
        log_stderr(f"neurontop: {visible(remark)}")
    return outcome


def _compiled(plan: Plan, arguments: argparse.Namespace, line: LiveLine) -> Outcome:
    from neuron_top.actions.execution.compile_now import compile_now
    from neuron_top.actions.execution.compilers import compilers_for
    from neuron_top.cli.compile_screen import AboveScreen, ProgressScreen
    from neuron_top.compile.parallel.compile_queue import Progress
    from neuron_top.compile.parallel.lines import ParallelLog
    from neuron_top.compile.wrapper import log_lines

    compilers, _ = compilers_for(plan.root, (step.path for step in plan.steps), soon=True)
    screen = ProgressScreen()
    log = ParallelLog(form=log_lines.generation(), level="ERROR", stream=AboveScreen(screen))

    def watch(progress: Progress) -> bool:
        screen.show(progress)
        return not line.stopped

    try:
        return compile_now(plan, Trash(plan.root, arguments.trash), compilers, jobs=jobs(arguments), log=log,
                           watch=watch, read_only=arguments.read_only)  # fmt: skip
    finally:
        screen.close()


def jobs(arguments: argparse.Namespace) -> int:
    """How many compiles at a time. Raises UsageError."""
    wanted = arguments.jobs if arguments.jobs is not None else len(os.sched_getaffinity(0))
    if wanted < 1:
        raise UsageError(f"--jobs must be at least 1, is {wanted}")
    return max(1, int(wanted) // 2) if arguments.fewer_jobs else int(wanted)


def _copied(plan: Plan, arguments: argparse.Namespace, line: LiveLine) -> Outcome:
    from neuron_top.actions.execution import copy as copies

    with shelf(plan.root) as source, shelf(plan.target) as target:
        return copies.copy(
            plan, source, target, journal_at(plan.target, arguments.trash), line.show, read_only=arguments.read_only
        )


def _done_in_bucket(plan: Plan, arguments: argparse.Namespace, line: LiveLine) -> Outcome:
    from neuron_top.actions.execution import s3 as s3_executor
    from neuron_top.actions.journal.s3_journal import BucketJournal
    from neuron_top.cache import s3

    bucket = s3.connect(plan.root)
    if s3_executor.takes_marks(plan):
        log_stderr(f"neurontop: the marks go first; then {arguments.drain} for downloads under way, then the rest")
    return s3_executor.execute(
        plan, bucket, BucketJournal(bucket.url, common.state_path()), read_only=arguments.read_only,
        drain_seconds=parse_seconds(arguments.drain), watch=line.show,
    )  # fmt: skip


@contextlib.contextmanager
def shelf(place: str) -> Iterator[CopyTarget]:
    """A root to copy from or to: a folder or an `s3://` URL."""
    if place.startswith("s3://"):
        from neuron_top.actions.execution.s3_copy_target import S3CopyTarget
        from neuron_top.cache import s3

        yield S3CopyTarget(s3.connect(place))
    else:
        yield LocalCopyTarget(Path(place))


def journal_at(place: str, trash: Path | None = None) -> Trash:
    """The journal of a root of either kind."""
    if place.startswith("s3://"):
        from neuron_top.actions.journal.s3_journal import BucketJournal

        return BucketJournal(place, common.state_path())
    return Trash(place, trash)
