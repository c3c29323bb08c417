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

import msgspec

from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.retry import for_memory, plan_retry
from neuron_top.cache.model.entry import FAILURES, Entry
from neuron_top.cli.cache_commands import acting, carrying, common
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache retry`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument("--module", dest="patterns", metavar="PATTERN", action="append", help="only these modules")
    parser.add_argument("--next-run", action="store_true", help="move the failure marks aside, compile nothing")
    parser.add_argument("--deterministic", action="store_true", help="also what is bound to fail again")
    carrying.add_jobs(parser)
    carrying.add_drain(parser)
    acting.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, carry out."""
    given, text = common.root_and_entry(arguments, required=False, buckets=True)
    root = acting.root_meant(given)
    snapshot, context = acting.look(root, arguments, with_logs=True)
    entries = snapshot.entries if text is None else (common.one_entry(snapshot, text),)
    entries = tuple(entry for entry in entries if _named(entry, arguments.patterns))
    if arguments.next_run:
        plan = plan_retry(entries, root, context, deterministic=arguments.deterministic)
    elif root.startswith("s3://"):
        raise UsageError("in a bucket failures can be forgotten (--next-run); compiling needs a folder")
    else:
        carrying.jobs(arguments)  # a wrong number is said before anything else
        plan = _compiled_here(entries, root, context, arguments)
    return acting.settle([plan], arguments)


def _compiled_here(entries: tuple[Entry, ...], root: str, context: PlanContext, arguments: argparse.Namespace) -> Plan:
    from neuron_top.actions.execution.compilers import compilers_for

    compilers, missing = compilers_for(root, (entry.path for entry in entries if entry.state in FAILURES))
    for problem in missing:
        log_stderr(f"neurontop: {problem}")
    folders = {compiler.directory() for compiler in compilers.values()}
    plan = plan_retry(entries, root, context, deterministic=arguments.deterministic, compilers=folders)
    if not arguments.fewer_jobs and for_memory(plan):
        hint = "a compiler was killed, probably for memory: --fewer-jobs compiles half as many at a time"
        plan = msgspec.structs.replace(plan, caveats=(*plan.caveats, hint))
    return plan


def _named(entry: Entry, patterns: list[str] | None) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(entry.module, pattern) for pattern in patterns)
