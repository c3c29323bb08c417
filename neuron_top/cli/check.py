"""A gate for continuous integration: exit status 1, and a reason a line, when a run breaks a threshold.

RUN is a recording (id, beginning of one, name; default: the last), or log files of one run.

  neurontop check last --max-failed 0 --min-hit-rate 0.9 --max-compile-share 0.2
  neurontop check train.log --max-failed 0 --max-late-compiles 0
  neurontop check --cache /data/neuron-cache --max-size 200GB     the last run, and the cache's size
  neurontop check --max-failed 0 --markdown >> "$GITHUB_STEP_SUMMARY"

Without any threshold it is --max-failed 0. A recording whose command ended with another status than 0, or that was cut
off before its end (its recorder died), is a finding whatever the thresholds are; logs do not tell how it ended. A
figure that is not known of the run breaks its threshold, unless --allow-unknown: a gate that passes because nothing was
measured guards nothing.

exit status: 0 all kept · 1 at least one broken, or a run that did not end well · 2 usage · 3 no such recording
"""

from __future__ import annotations

import argparse

from neuron_top import settings as configuration
from neuron_top.amounts import parse_bytes
from neuron_top.cli.output import log_stderr, print_json, print_text, standard_input_bytes
from neuron_top.errors import UsageError
from neuron_top.services import reports
from neuron_top.services.runs import LAST
from neuron_top.views.gate import RULES


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `check`: one per rule."""
    parser.add_argument("names", nargs="*", metavar="RUN|LOG", help="a recording or log files of one run (last)")
    for rule in RULES:
        parser.add_argument(f"--{rule.option}", type=_number, metavar="N", help=rule.text)
    parser.add_argument("--max-late", dest="max_late_compiles", type=_number, help=argparse.SUPPRESS)
    parser.add_argument("--max-size", metavar="SIZE", help="size of the cache given with --cache, as 200GB")
    parser.add_argument("--cache", metavar="ROOT", help="a compile cache: for --max-size and what it knows of graphs")
    parser.add_argument("--allow-unknown", action="store_true", help="what is not known breaks no threshold")
    parser.add_argument("--markdown", action="store_true", help="a summary for job pages instead of plain lines")
    parser.add_argument("--json", action="store_true", help="all verdicts as one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Judge and print."""
    settings, _ = configuration.load()
    if arguments.max_size is not None and arguments.cache is None:
        raise UsageError("--max-size needs --cache ROOT: specify the cache to measure")
    asked = {rule.option: getattr(arguments, rule.option.replace("-", "_")) for rule in RULES}
    limits = {option: value for option, value in asked.items() if value is not None}
    if not limits and arguments.max_size is None:
        limits = {"max-failed": 0.0}
    checked = reports.ReportService(settings, log_stderr).check(
        arguments.names or [LAST],
        limits,
        standard_input_bytes(),
        cache=arguments.cache,
        max_bytes=None if arguments.max_size is None else parse_bytes(arguments.max_size),
        allow_unknown=arguments.allow_unknown,
    )
    if arguments.json:
        print_json({"run": checked.report.title, "passed": checked.passed, "verdicts": checked.verdicts})
    elif arguments.markdown:
        print_text(reports.check_markdown(checked))
    else:
        for verdict in checked.verdicts:
            if not verdict.passed:
                print_text(verdict.reason)
    return 0 if checked.passed else 1


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e12:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value
