"""Compare runs, or two caches: environment, time, graphs, memory and loss.

A and B are recordings, log files, or two compile-cache folders.

  neurontop compare tp1 tp2 -o tp.html           did tensor parallelism lower memory per core, and at what cost?
  neurontop compare tp1 tp2 tp4 -o tp.html       several runs in one report, against the first
  neurontop compare old.log new.log              Markdown
  neurontop compare /data/cache-a /data/cache-b
  neurontop compare last~ last --max-slowdown 0.1 --max-memory-growth 0.05     exit status 1 if B is worse

`last~` is the recording before the last. Changes are (B − A) ÷ A.

exit status: 0 compared · 1 a threshold is exceeded, or one is given and the command of B did not end well (reasons on
stderr, one per line) · 2 usage · 3 not found
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neuron_top.cli.documents import add_output, chosen_format, render, write
from neuron_top.cli.numbers import number_in
from neuron_top.cli.output import log_stderr
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import UsageError
from neuron_top.services.reports import Compared, ReportService
from neuron_top.views.compare import compare
from neuron_top.views.gate import GROWTH_RULES, growth_reasons

_GROWTH = number_in(-1, 1e12, "must be -1 or more; 0.1 is a tenth more")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `compare`."""
    parser.add_argument("a", metavar="A", help="recording, log file or cache folder")
    parser.add_argument("b", metavar="B", help="recording, log file or cache folder to compare with A")
    parser.add_argument("more", metavar="C", nargs="*", help="further runs, compared with A in one report")
    for rule in GROWTH_RULES:
        parser.add_argument(f"--{rule.option}", type=_GROWTH, metavar="X", help=rule.text)
    add_output(parser)
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Compare, write, judge."""
    form, settings = chosen_format(arguments), settings_of(arguments)
    service = ReportService(settings, log_stderr)
    view: Compared
    reasons: tuple[str, ...] = ()
    names = (arguments.a, arguments.b, *arguments.more)
    if "-" in names:
        raise UsageError("compare does not read standard input (-); name a file")
    are_caches = [Path(name).is_dir() for name in names]
    limits = _limits(arguments)
    if limits and (len(names) > 2 or any(are_caches)):
        raise UsageError(f"--{next(iter(limits))} judges one run by another: name two runs")
    if len(names) > 2:
        if any(are_caches):
            raise UsageError("two caches can be compared, not more; name runs, or two caches")
        view = service.compare_many(names)
    elif any(are_caches):
        if not all(are_caches):
            run = next(name for name, is_cache in zip(names, are_caches, strict=True) if not is_cache)
            raise UsageError(
                f"{run!r} is no folder, and a run cannot be compared with a cache; name two runs or two caches"
            )
        view = service.compare_caches(*names)
    else:
        older, newer = service.plain(arguments.a), service.plain(arguments.b)
        view = compare(older, newer)
        reasons = growth_reasons(view, newer, limits)
    write(render(view, form), form, arguments.output)
    for reason in reasons:
        log_stderr(reason)
    return 1 if reasons else 0


def _limits(arguments: argparse.Namespace) -> dict[str, float]:
    asked = {rule.option: getattr(arguments, rule.option.replace("-", "_")) for rule in GROWTH_RULES}
    return {option: limit for option, limit in asked.items() if limit is not None}
