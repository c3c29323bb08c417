"""Check a run, for CI: prints why it failed, one line per exceeded threshold, and exits with status 1.

RUN is a recording (id, unique prefix of one, name; default: last), or log files of one run.

  neurontop check train.log                                      did the job fail? why?
  neurontop check last --max-failed 0 --min-hit-rate 0.9 --max-compile-share 0.2
  neurontop check train.log --max-failed 0 --max-late-compiles 0
  neurontop check --cache /data/neuron-cache --max-size 200GB     the last run, and the size of a cache
  neurontop check --max-failed 0 --markdown >> "$GITHUB_STEP_SUMMARY"

A job that failed never passes, and the line that says so names the cause, as `neurontop diagnose` does; a failed
compile that it overcame counts only against --max-failed. A recording whose command failed, whose recorder died
before its end, or whose job has not ended yet never passes either; logs do not say how a command ended. A log without a
line never passes, and a metric that is unknown exceeds its threshold, unless --allow-unknown is given. Without a
threshold only whether the job failed is checked, and a line on stderr says so.

exit status: 0 passed · 1 the job failed or has not ended, a log is empty, or a threshold is exceeded · 2 usage
· 3 recording not found
"""

from __future__ import annotations

import argparse

from neuron_top.amounts import parse_bytes
from neuron_top.cli.numbers import number_in
from neuron_top.cli.output import broken_text, log_stderr, print_json, print_text, standard_input_bytes
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import UsageError
from neuron_top.services import reports
from neuron_top.services.runs import LAST
from neuron_top.views.gate import RULES

NO_THRESHOLD = (
    "neurontop: no threshold was given: only whether the job failed is checked (exit status 1 if it did, or has not "
    "ended); neurontop check --help lists the thresholds"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `check`: one per rule."""
    parser.add_argument(
        "names", nargs="*", metavar="RUN|LOG", help="recording, or log files of one run (default: last)"
    )
    for rule in RULES:
        bounds = "must lie between 0 and 1" if rule.most == 1 else "must be 0 or more"
        number = number_in(0, rule.most, bounds)
        parser.add_argument(f"--{rule.option}", type=number, metavar="N", help=rule.text)
        if rule.option == "max-late-compiles":
            parser.add_argument("--max-late", dest="max_late_compiles", type=number, help=argparse.SUPPRESS)
    parser.add_argument("--max-size", metavar="SIZE", help="size of the cache given with --cache, such as 200GB")
    parser.add_argument(
        "--cache", metavar="ROOT", help="compile cache, for --max-size and for what it knows of the graphs"
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help="let metrics pass that are unknown, and logs without a line"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a Markdown summary, for CI job pages")
    form.add_argument("--json", action="store_true", help="print all verdicts as one JSON document")
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Judge and print."""
    settings = settings_of(arguments)
    if arguments.max_size is not None and arguments.cache is None:
        raise UsageError("--max-size needs --cache ROOT: specify the cache to measure")
    asked = {rule.option: getattr(arguments, rule.option.replace("-", "_")) for rule in RULES}
    limits = {option: value for option, value in asked.items() if value is not None}
    checked = reports.ReportService(settings, log_stderr).check(
        arguments.names or [LAST],
        limits,
        standard_input_bytes(),
        cache=arguments.cache,
        max_bytes=None if arguments.max_size is None else parse_bytes(arguments.max_size),
        allow_unknown=arguments.allow_unknown,
    )
    if not limits and arguments.max_size is None:
        log_stderr(NO_THRESHOLD)
    if arguments.json:
        print_json(
            {
                "run": checked.report.title,
                "passed": checked.passed,
                "diagnosis": checked.diagnosis,
                "verdicts": checked.verdicts,
            }
        )
    elif arguments.markdown:
        print_text(reports.check_markdown(checked))
    else:
        for verdict in checked.verdicts:
            if not verdict.passed:
                print_text(broken_text(verdict.reason, 2, 0))
    return 0 if checked.passed else 1
