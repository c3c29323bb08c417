"""Compile failed graphs again: now, several at a time, or on the next run of the job.

  neurontop cache retry --dry-run                 which failures, why they failed, and whether a retry can help
  neurontop cache retry --next-run --yes          move the failure marks aside; the next run compiles the graphs
  neurontop cache retry MODULE_0123               one entry, now
  neurontop cache retry --fewer-jobs              half as many at a time: when the compiler was killed for memory

Now means with the compiler that the entry's folder names: this project's local compiler, or the SDK's neuronx-cc.
What the compiler itself rejected fails again until compiler or flags change: it is explained, and tried only with
--deterministic. Without any file change: start the job with --retry_failed_compilation in NEURON_CC_FLAGS.

exit status: 0 all done · 1 some failed again · 3 no such cache or entry · 4 refused for safety · 130 interrupted
"""

from __future__ import annotations

import argparse
import fnmatch
import os
from collections.abc import Callable

import msgspec

from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.retry import plan_retry
from neuron_top.cache.entry import Entry
from neuron_top.cli.cache_commands import acting, common
from neuron_top.cli.output import narrate
from neuron_top.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache retry`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument("--module", dest="patterns", metavar="PATTERN", action="append", help="only these modules")
    parser.add_argument("--next-run", action="store_true", help="move the failure marks aside, compile nothing")
    parser.add_argument("--deterministic", action="store_true", help="also what is bound to fail again")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="compiles side by side, at most (default: cores)")
    parser.add_argument("--fewer-jobs", action="store_true", help="half as many, for compilers killed for memory")
    acting.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, carry out."""
    given, text = common.root_and_entry(arguments, required=False)
    root = acting.local_root(given)
    snapshot, around = acting.look(root, arguments)
    entries = snapshot.entries if text is None else (common.one_entry(snapshot, text),)
    entries = tuple(entry for entry in entries if _named(entry, arguments.patterns))
    if arguments.next_run:
        plan = plan_retry(entries, root, around, deterministic=arguments.deterministic)
        return acting.settle([plan], arguments)
    from neuron_top.actions import compile_now

    compilers, missing = compile_now.compilers_here(snapshot)
    for problem in missing:
        narrate(f"neurontop: {problem}")
    folders = {compiler.directory() for compiler in compilers.values()}
    plan = plan_retry(entries, root, around, deterministic=arguments.deterministic, compilers=folders)
    if not arguments.fewer_jobs and any("killed" in step.reason for step in plan.steps):
        hint = "a compiler was killed, probably for memory: --fewer-jobs compiles half as many at a time"
        plan = msgspec.structs.replace(plan, caveats=(*plan.caveats, hint))

    def carry(wanted: Plan, watch: Callable[[Progress], bool]) -> Outcome:
        from neuron_top.cli.compile_screen import AboveScreen, ProgressScreen
        from neuron_top.compile import log_lines
        from neuron_top.compile.parallel_lines import ParallelLog

        screen = ProgressScreen()
        log = ParallelLog(form=log_lines.generation(), level="ERROR", stream=AboveScreen(screen))
        try:
            return compile_now.compile_now(
                wanted, acting.trash_of(root, arguments), compilers, jobs=_jobs(arguments), log=log, show=screen.show,
                read_only=arguments.read_only,
            )  # fmt: skip
        finally:
            screen.close()

    return acting.settle([plan], arguments, carry)


def _named(entry: Entry, patterns: list[str] | None) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(entry.module, pattern) for pattern in patterns)


def _jobs(arguments: argparse.Namespace) -> int:
    jobs = arguments.jobs if arguments.jobs is not None else len(os.sched_getaffinity(0))
    if jobs < 1:
        raise UsageError(f"--jobs must be at least 1, is {jobs}")
    return max(1, int(jobs) // 2) if arguments.fewer_jobs else int(jobs)
