"""Compile failed graphs again: now, several at a time, or on the next run of the job.

  neurontop cache retry --dry-run                 which failures, why they failed, and whether a retry can help
  neurontop cache retry --next-run --yes          move the failure marks aside; the next run compiles the graphs
  neurontop cache retry MODULE_0123               one entry, now
  neurontop cache retry --fewer-jobs              half as many at a time: when the compiler was killed for memory

Now means with the compiler that the entry's folder names: this project's local compiler, or the SDK's neuronx-cc.
What the compiler itself rejected fails again until compiler or flags change: it is explained, and tried only with
--include-deterministic. Without any file change: start the job with --retry_failed_compilation in NEURON_CC_FLAGS.

exit status: 0 all done · 1 some failed again · 2 usage · 3 no such cache or entry · 4 refused for safety ·
130 interrupted
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common, execution, options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError
from neuron_top.services.cache_reader import BackendKind, matcher
from neuron_top.services.caches import Verb
from neuron_top.views.plan_sentences import caveat_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache retry`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument(
        "--module", dest="patterns", type=named, metavar="PATTERN", action="append", help="only these modules"
    )
    parser.add_argument("--next-run", action="store_true", help="move the failure marks aside, compile nothing")
    parser.add_argument(
        "--include-deterministic",
        action="store_true",
        help="also failures that will come again: the compiler rejected the graph",
    )
    options.add_alias(parser, "--deterministic", "include_deterministic", action="store_true")
    execution.add_jobs(parser)
    execution.add_grace_period(parser)
    options.add_plan_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Plan, ask, execute."""
    service = options.service_of(arguments)
    root, text = common.root_and_entry(arguments, service, required=False)
    if not arguments.next_run and service.backend(root).kind is BackendKind.BUCKET:
        raise UsageError("a bucket's failures can only be cleared (--next-run): compiling needs a folder")
    look = service.look(root, causes=True)
    common.report_problems(look.snapshot)
    entries = look.snapshot.entries if text is None else (common.one_entry(look.snapshot, text),)
    if arguments.patterns:
        is_named = matcher(arguments.patterns)
        entries = tuple(entry for entry in entries if is_named(entry.module))
    deterministic = arguments.include_deterministic
    if arguments.next_run:
        plan = look.plan_entries(Verb.RETRY_DETERMINISTIC if deterministic else Verb.RETRY, entries)
    else:
        plan, missing = look.plan_compile(entries, deterministic=deterministic, fewer=arguments.fewer_jobs)
        for caveat in missing:
            log_stderr(f"neurontop: {caveat_text(caveat)}")
    return run_plans([plan], arguments, service)
