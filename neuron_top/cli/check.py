"""A gate for continuous integration: exit status 1, and a reason a line, when a run breaks a threshold.

RUN is a recording (id, beginning of one, name; default: the last), or log files of one run.

  neurontop check last --max-failed 0 --min-hit-rate 0.9 --max-compile-share 0.2
  neurontop check train.log --max-failed 0 --max-late 0
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
import os

from neuron_top import settings as configuration
from neuron_top.amounts import parse_bytes
from neuron_top.cli.output import log_stderr, print_json, print_text
from neuron_top.errors import UsageError
from neuron_top.ingest import run_loader
from neuron_top.processes.log_input import standard_input_bytes
from neuron_top.settings import Settings
from neuron_top.units import bytes_text
from neuron_top.views.gate import RULES, Verdict, end, judge
from neuron_top.views.metric import Provenance
from neuron_top.views.report import Report, report


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `check`: one per rule."""
    parser.add_argument("names", nargs="*", metavar="RUN|LOG", help="a recording or log files of one run (last)")
    for rule in RULES:
        parser.add_argument(f"--{rule.option}", type=_number, metavar="N", help=rule.text)
    parser.add_argument("--max-size", metavar="SIZE", help="size of the cache given with --cache, as 200GB")
    parser.add_argument("--cache", metavar="ROOT", help="a compile cache: for --max-size and what it knows of graphs")
    parser.add_argument("--allow-unknown", action="store_true", help="what is not known breaks no threshold")
    parser.add_argument("--markdown", action="store_true", help="a summary for job pages instead of plain lines")
    parser.add_argument("--json", action="store_true", help="all verdicts as one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Judge and print."""
    settings, _ = configuration.load()
    if arguments.max_size is not None and arguments.cache is None:
        raise UsageError("--max-size needs --cache ROOT: which cache is meant?")
    limits = {rule.option: value for rule in RULES if (value := _asked(arguments, rule.option)) is not None}
    if not limits and arguments.max_size is None:
        limits = {"max-failed": 0.0}
    run = run_loader.load(arguments.names or ["last"], settings, standard_input_bytes(), log_stderr)
    memory = run_loader.memory(run, settings, arguments.cache)
    view = report(run, run_loader.end_of(run), memory=memory)
    verdicts = (*end(view), *judge(view, limits, allow_unknown=arguments.allow_unknown))
    if arguments.max_size is not None:
        verdicts += (_size(arguments.cache, parse_bytes(arguments.max_size), settings),)
    _print(arguments, view, verdicts)
    return 1 if any(not one.passed for one in verdicts) else 0


def _asked(arguments: argparse.Namespace, option: str) -> float | None:
    value: float | None = getattr(arguments, option.replace("-", "_"))
    return value


def _size(root: str, limit: int, settings: Settings) -> Verdict:
    from neuron_top.cache.scan.catalog import sums

    taken = sums(os.path.realpath(root), settings.state_path).totals.all.bytes
    reason = f"size of the cache: {bytes_text(taken)}, allowed is at most {bytes_text(limit)}"
    return Verdict(option="max-size", what="size of the cache", value=taken, unit="bytes",
                   provenance=Provenance.MEASURED, limit=limit, passed=taken <= limit, reason=reason)  # fmt: skip


def _print(arguments: argparse.Namespace, view: Report, verdicts: tuple[Verdict, ...]) -> None:
    if arguments.json:
        print_json({"run": view.title, "passed": all(one.passed for one in verdicts), "verdicts": verdicts})
    elif arguments.markdown:
        from neuron_top.report.markdown import gate

        print_text(gate(view, verdicts))
    else:
        for one in verdicts:
            if not one.passed:
                print_text(one.reason)


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e12:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value
