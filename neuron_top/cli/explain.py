"""Say why a graph was not found in the compile cache: what differs from the nearest entries, the likeliest first.

  neurontop explain MODULE_176283691422090868+f7f529f3
  neurontop explain last                         every miss of the last recording, one line each
  neurontop explain train.log --cache /data/neuron-cache --json

Told are: another compiler or PyTorch version; flags (added, removed, changed, order only, a log path only, target);
the form of key another client writes; batch size, sequence length, dtype, model size, number of layers, numbers
folded into the graph (a learning rate), world size, operators and results that came or went; another root; an entry
that was evicted (by whom, when), that failed, or that newer clients cannot see. Graphs are compared by structure:
operators, shapes and constants. When nothing is near, it says so.

exit status: 0 explained · 2 usage · 3 no such cache, entry or recording
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from neuron_top import settings as configuration
from neuron_top.cache import catalogue, roots
from neuron_top.cache.snapshot import Snapshot
from neuron_top.cli.cache_commands.common import chosen_root
from neuron_top.cli.output import narrate, print_json
from neuron_top.errors import NothingToShow
from neuron_top.explain.why import Explanation, explain
from neuron_top.parsers.escapes import visible
from neuron_top.pipeline import afterwards
from neuron_top.run.model import Run
from neuron_top.settings import Settings

_MOST = 200


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `explain`."""
    parser.add_argument("what", metavar="MODULE|RUN", help="a module key (or part of one), a recording, or a log")
    parser.add_argument("--cache", metavar="ROOT", help="the cache to look in (default: the one in force)")
    parser.add_argument("--json", action="store_true", help="everything found, as one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Explain and print."""
    settings, _ = configuration.load()
    if "MODULE_" in arguments.what and not Path(arguments.what).is_file():
        snapshot = catalogue.open_root(chosen_root(arguments.cache), settings.state_path)
        told = [explain(arguments.what, snapshot, others=_others(snapshot.root, settings))]
    else:
        told = _of_run(afterwards.load([arguments.what], settings, sys.stdin.buffer), arguments.cache, settings)
    if arguments.json:
        print_json(told[0] if "MODULE_" in arguments.what and len(told) == 1 else told)
    elif len(told) == 1:
        print(_page(told[0]))
    else:
        print("\n".join(f"{one.module}\n  {one.causes[0].kind}: {visible(one.causes[0].text)}" for one in told))
    return 0


def _of_run(run: Run, root: str | None, settings: Settings) -> list[Explanation]:
    missed = [one.graph for one in run.compiles.digests() if (one.misses or one.failures_met) and one.graph.module]
    if not missed:
        raise NothingToShow("nothing missed: every graph of this run came from the cache, or none was named")
    named = root or next((path for path in reversed(run.compiles.cache_paths) if Path(path).is_dir()), None)
    snapshot = catalogue.open_root(chosen_root(named), settings.state_path)
    if len(missed) > _MOST:
        narrate(f"neurontop: the first {_MOST} of {len(missed)} misses are explained")
    others = _others(snapshot.root, settings)
    return [explain(graph.module or "", snapshot, others=others) for graph in missed[:_MOST]]


def _others(root: str, settings: Settings) -> list[Snapshot]:
    """Other Neuron caches of this machine, at most three."""
    found: list[Snapshot] = []
    for other in roots.find():
        if other.kind == roots.NEURON and other.exists and os.path.realpath(other.path) != root and len(found) < 3:
            found.append(catalogue.open_root(other.path, settings.state_path))
    return found


def _page(one: Explanation) -> str:
    lines = [f"{one.module}  ({one.state or 'no entry'} in {one.root})", ""]
    for number, cause in enumerate(one.causes, 1):
        lines.append(f"{number}. {cause.kind}: {visible(cause.text)}")
        lines += [f"   compared with {visible(cause.entry)}"] if cause.entry else []
    lines += ["", f"{one.compared} graphs were read and compared"] if one.compared else []
    return "\n".join(lines)
