"""Put two runs, or two caches, side by side: what differs, in environment, time, graphs, memory and loss.

A and B are recordings, log files, or the folders of two compile caches.

  neurontop compare tp1 tp2 -o tp.html           did tensor parallelism lower memory per core, and at what cost?
  neurontop compare tp1 tp2 tp4 -o tp.html       several runs in one picture, against the first
  neurontop compare old.log new.log              Markdown: environment first, metrics, graphs
  neurontop compare /data/cache-a /data/cache-b
  neurontop compare last~ last --max-slowdown 0.1 --max-memory-growth 0.05     exit status 1 when B is worse

`last~` is the recording before the last. Changes are (B − A) ÷ A.

exit status: 0 compared · 1 a threshold is crossed, or one is given and the command recorded as B did not end well (one
reason a line on stderr) · 2 usage · 3 nothing of that name
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neuron_top import settings as configuration
from neuron_top.cli.output import json_text, log_stderr
from neuron_top.cli.report import add_output, chosen_format, write
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.ingest import run_loader
from neuron_top.ingest.recordings import store_path
from neuron_top.settings import Settings
from neuron_top.store.sqlite import Store
from neuron_top.units import percent_text
from neuron_top.views.compare import CacheComparison, Comparison, compare, compare_caches
from neuron_top.views.gate import end
from neuron_top.views.multi_compare import MultiComparison, multi_compare
from neuron_top.views.report import Report, report

_BEFORE_LAST = "last~"


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `compare`."""
    parser.add_argument("a", metavar="A", help="a recording, a log file or a cache folder")
    parser.add_argument("b", metavar="B", help="what to compare it with")
    parser.add_argument("more", metavar="C", nargs="*", help="further runs: one picture of all, against the first")
    parser.add_argument("--max-slowdown", type=float, metavar="X", help="how much slower B's steps may be, as 0.1")
    parser.add_argument("--max-compile-growth", type=float, metavar="X", help="the same for time spent compiling")
    parser.add_argument("--max-memory-growth", type=float, metavar="X", help="the same for peak memory per core")
    add_output(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Compare, write, judge."""
    settings, _ = configuration.load()
    view: Comparison | CacheComparison | MultiComparison
    reasons: list[str] = []
    folders = [Path(name).is_dir() for name in (arguments.a, arguments.b)]
    if arguments.more:
        if any(Path(name).is_dir() for name in (arguments.a, arguments.b, *arguments.more)):
            raise UsageError("more than two: runs only, not caches")
        view = multi_compare([_report(name, settings) for name in (arguments.a, arguments.b, *arguments.more)])
    elif any(folders):
        if not all(folders):
            raise UsageError("compare two runs or two caches, not one of each")
        view = _caches(arguments.a, arguments.b, settings)
    else:
        newer = _report(arguments.b, settings)
        view = compare(_report(arguments.a, settings), newer)
        reasons = _crossed(view, newer, arguments)
    write(_render(view, chosen_format(arguments)), arguments.output)
    for reason in reasons:
        log_stderr(reason)
    return 1 if reasons else 0


def _report(name: str, settings: Settings) -> Report:
    run = run_loader.load([_before_last(settings) if name == _BEFORE_LAST else name], settings, tell=log_stderr)
    return report(run, run_loader.end_of(run))


def _before_last(settings: Settings) -> str:
    if store_path(settings).exists():
        with Store(store_path(settings), read_only=True) as store:
            newest = store.runs(limit=2)
            if len(newest) == 2:
                return newest[1].id
    raise NothingToShow("there is no recording before the last")


def _caches(a: str, b: str, settings: Settings) -> CacheComparison:
    from neuron_top.cache.scan.catalog import open_root

    return compare_caches(open_root(a, settings.state_path), open_root(b, settings.state_path))


def _render(view: Comparison | CacheComparison | MultiComparison, form: str) -> str:
    if form == "json":
        return json_text(view, indent=2) + "\n"
    from neuron_top.report import comparison
    from neuron_top.report import multi_compare as drawn

    if isinstance(view, MultiComparison):
        return drawn.html(view) if form == "html" else drawn.markdown(view)
    return comparison.html(view) if form == "html" else comparison.markdown(view)


def _crossed(view: Comparison, newer: Report, arguments: argparse.Namespace) -> list[str]:
    known = {one.name: one.change for one in view.metrics} | {
        f"memory {one.kind}": one.change for one in view.memory
    }  # fmt: skip
    limits = (
        (arguments.max_slowdown, "step_seconds", "time per step"),
        (arguments.max_compile_growth, "compile_wall", "time spent compiling"),
        (arguments.max_memory_growth, "memory total", "peak memory per core"),
    )
    asked = any(limit is not None for limit, _, _ in limits)
    found = [verdict.reason for verdict in end(newer) if asked and not verdict.passed]
    for limit, name, what in limits:
        if limit is None:
            continue
        change = known.get(name)
        if change is None:
            found.append(f"{what}: not known of both")
        elif change > limit:
            found.append(f"{what}: grew by {percent_text(change)}, allowed is {percent_text(limit)}")
    return found
