"""Count compiles, cache hits, failures, lock waits and runtime errors in log files.

Reads console output of training and serving jobs on AWS Neuron in every format since 2022, compiler logs
(log-neuron-cc.txt) and runtime logs, from files (plain or compressed, UTF-8 or UTF-16) or, with `-`, from standard
input.

  neurontop tally train.log                      a summary
  neurontop tally --json train.log               the counts as JSON; of several files by name
  kubectl logs job/train | neurontop tally -     from a pipe
  neurontop tally --check *.log                  exit status 1 if the job failed

Occurrences are counted: 32 ranks that use one cached graph are 32 hits, and one row in the table of graphs.
A duration is measured where the lines allow it, else an upper bound (≤) between two lines of the same process.

`neurontop diagnose` says why a job failed; `"diagnosis"` in the JSON is its answer, and --check exits by it.

exit status: 0 read · 1 with --check: the job failed (and did not recover) ·
2 a file cannot be read (it is named on stderr; the others are counted) · 130 interrupted
"""

from __future__ import annotations

import argparse

from neuron_top.cli.names import read_each
from neuron_top.cli.output import log_stderr, print_json_of, print_text, standard_input_bytes, storable_name
from neuron_top.escapes import visible
from neuron_top.services.tally import TallyService


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop tally`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="log files; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument(
        "--check", action="store_true", help="exit status 1 if the job failed, as `neurontop diagnose` judges"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Read all files that can be read, then print."""
    service = TallyService(log_stderr, standard_input_bytes())
    if arguments.json:
        counts, unread = read_each(arguments.files, service.counts)
        print_json_of({storable_name(name): each for name, each in counts.items()}, arguments.files)
        failed = any(each["diagnosis"].failed for each in counts.values())
    else:
        from neuron_top.cli.tally_text import tally_text

        views, unread = read_each(arguments.files, service.rows)
        if views:
            print_text("\n\n".join(tally_text(visible(name), view) for name, view in views.items()))
        failed = any(view.diagnosis.failed for view in views.values())
    return 1 if arguments.check and failed else unread
