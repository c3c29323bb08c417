"""Count what is in log files: compiles, cache hits, failures, lock waits, and what the runtime said.

Reads console output of training and serving jobs on AWS Neuron in every format since 2022, compiler logs
(log-neuron-cc.txt) and runtime logs, from files (plain or gzip, UTF-8 or UTF-16) or, with `-`, from standard input. A
named pipe that nobody writes to yet is waited for.

  neurontop tally train.log                      a summary for people
  neurontop tally --json train.log               the counts, one object; for several files one object per file
  kubectl logs job/train | neurontop tally -     from a pipe
  neurontop tally --check *.log                  exit status 1 if a compile failed

Counts are of occurrences: 32 ranks that use one cached graph are 32 hits, and one graph in the summary's table.
A duration is measured where the lines allow it, else an upper bound (≤) between two lines of the same process.

exit status: 0 read, whatever was in it · 1 with --check, a compile failed or a failed one was met in the cache ·
2 a file cannot be read (its name and the reason are on stderr) · 130 interrupted
"""

from __future__ import annotations

import argparse
from typing import Any

from neuron_top.cache.noatime_reader import name_text
from neuron_top.cli.output import log_stderr, print_json, print_text
from neuron_top.cli.tally_text import Summary
from neuron_top.escapes import visible
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from neuron_top.parsers.tally import Tally
from neuron_top.processes import log_input


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop tally`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="log files; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--check", action="store_true", help="exit status 1 if a compile failed")


def execute(arguments: argparse.Namespace) -> int:
    """Read all files, then print."""
    read = {name: _read(name, summarize=not arguments.json) for name in dict.fromkeys(arguments.files)}
    if arguments.json:
        counts: dict[str, Any] = {name_text(name): tally.as_json() for name, (tally, _) in read.items()}
        print_json(counts if len(read) > 1 else next(iter(counts.values())))
    else:
        print_text("\n\n".join(summary.text(visible(name), tally) for name, (tally, summary) in read.items()))
    failed = any(tally.counts["errors"] or tally.counts["failed_hits"] for tally, _ in read.values())
    return 1 if arguments.check and failed else 0


def _read(name: str, *, summarize: bool) -> tuple[Tally, Summary]:
    """Read one file to its end. Raises UsageError if that is not possible."""
    summary, reader = Summary(), (LogReader if summarize else CountingReader)(f"log:{name}")
    for data in log_input.portions(name, log_stderr, log_input.standard_input_bytes()):
        events = reader.feed(data)
        if summarize:
            summary.add(events)
    events = reader.flush()
    if summarize:
        summary.add(events)
    return reader.tally, summary
