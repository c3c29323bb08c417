"""Explain why a graph missed the compile cache: what differs from the nearest entries, the likeliest cause first.

  neurontop explain MODULE_176283691422090868+f7f529f3
  neurontop explain 85d891c5                     a part of a key, as screens show it
  neurontop explain last                         every miss of the last recording
  neurontop explain train.log --cache /data/neuron-cache --json

Detects: another compiler or PyTorch version; flags (added, removed, changed, order or spelling only, a log path only,
target); another client's form of key; batch size, sequence length, dtype, model size, number of layers, constants
folded into the graph (such as a learning rate), world size, added or removed operators and results; another cache
root; an entry that was evicted (by whom, when), that failed, or that newer clients cannot see. Graphs are compared by
structure: operators, shapes and constants.

exit status: 0 explained · 2 usage, or several graphs match · 3 cache, entry or recording not found, or nothing missed
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from neuron_top.cli.output import broken_text, log_stderr, print_json, print_text, standard_input_bytes
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import NothingToShow
from neuron_top.escapes import visible
from neuron_top.services.cache_reader import CacheReader
from neuron_top.services.misses import MissDocument, MissService
from neuron_top.services.reports import ReportService
from neuron_top.settings import Settings
from neuron_top.units import counted

_MOST = 200
_PART = re.compile(r"[0-9a-f]{4,64}(\+[0-9a-f]{0,8})?")
"""What a part of a key looks like."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `explain`."""
    parser.add_argument("what", metavar="MODULE|RUN", help="module key (or part of one), recording, or log")
    parser.add_argument("--cache", metavar="ROOT", help="cache to look in (default: the one in force)")
    parser.add_argument("--json", action="store_true", help="print all causes as one JSON document")
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Explain and print."""
    settings = settings_of(arguments)
    if "MODULE_" in arguments.what and not Path(arguments.what).is_file():
        explanation = _of_module(arguments, settings)
        _print(explanation, arguments)
        return 0 if explanation.is_known else NothingToShow.exit_code
    try:
        explanations = _of_run(arguments, settings)
    except NothingToShow as problem:
        # Screens show keys without MODULE_: what names no recording may be a part of one.
        if not _PART.fullmatch(arguments.what):
            raise
        explanation = _of_module(arguments, settings)
        if not explanation.is_known:
            raise NothingToShow(f"{problem}; and no key in {explanation.root} has such a part") from None
        _print(explanation, arguments)
        return 0
    if not explanations:
        if arguments.json:
            print_json([])
        raise NothingToShow("nothing missed: every graph of this run came from the cache, or none was named")
    if arguments.json:
        print_json(explanations)
    elif len(explanations) == 1:
        print_text(_page(explanations[0]))
    else:
        print_text("\n".join(_lines(each) for each in explanations))
    return 0


def _of_module(arguments: argparse.Namespace, settings: Settings) -> MissDocument:
    root = CacheReader(settings).resolve(arguments.cache, folder=True)
    return MissService(settings, root).explain_module(arguments.what)


def _print(explanation: MissDocument, arguments: argparse.Namespace) -> None:
    print_json(explanation) if arguments.json else print_text(_page(explanation))


def _of_run(arguments: argparse.Namespace, settings: Settings) -> list[MissDocument]:
    run = ReportService(settings, log_stderr).load([arguments.what], standard_input_bytes())
    root = CacheReader(settings).resolve(arguments.cache, folder=True) if arguments.cache else None
    explanations, missed = MissService(settings, root).explain_run(run, _MOST)
    if missed > _MOST:
        log_stderr(f"neurontop: explained {_MOST} of {missed} misses, those with the longest compiles")
    return explanations


def _lines(explanation: MissDocument) -> str:
    cause = explanation.causes[0]
    return f"{explanation.module}\n  {broken_text(f'{cause.kind}: {visible(cause.text)}', 2)}"


def _page(explanation: MissDocument) -> str:
    lines = [f"{explanation.module}  ({explanation.state or 'no entry'} in {explanation.root})", ""]
    for number, cause in enumerate(explanation.causes, 1):
        lines.append(broken_text(f"{number}. {cause.kind}: {visible(cause.text)}", 3, 0))
        lines += [f"   {broken_text(f'compared with {visible(cause.entry)}', 3)}"] if cause.entry else []
    compared = counted(explanation.compared, "graph was", "graphs were")
    lines += ["", f"{compared} read and compared"] if explanation.compared else []
    return "\n".join(lines)
