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
from pathlib import Path

from neuron_top import settings as configuration
from neuron_top.cli.cache_commands.common import chosen_root
from neuron_top.cli.output import log_stderr, print_json, print_text
from neuron_top.errors import NothingToShow
from neuron_top.escapes import visible
from neuron_top.explain.why import Explanation
from neuron_top.ingest import run_loader
from neuron_top.ingest.miss_explainer import MissExplainer
from neuron_top.processes.log_input import standard_input_bytes
from neuron_top.run.model import Run
from neuron_top.views.miss_explanation import MissQuery

_MOST = 200


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `explain`."""
    parser.add_argument("what", metavar="MODULE|RUN", help="a module key (or part of one), a recording, or a log")
    parser.add_argument("--cache", metavar="ROOT", help="the cache to look in (default: the one in force)")
    parser.add_argument("--json", action="store_true", help="everything found, as one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Explain and print."""
    settings, _ = configuration.load()
    one = "MODULE_" in arguments.what and not Path(arguments.what).is_file()
    if one:
        misses = MissExplainer(settings, chosen_root(arguments.cache))
        told = [misses.explain(MissQuery(module=arguments.what))]
    else:
        run = run_loader.load([arguments.what], settings, standard_input_bytes(), log_stderr)
        told = _of_run(run, MissExplainer(settings, chosen_root(arguments.cache) if arguments.cache else None))
    if arguments.json:
        print_json(told[0] if one else told)
    elif len(told) == 1:
        print_text(_page(told[0]))
    else:
        print_text(
            "\n".join(f"{each.module}\n  {each.causes[0].kind}: {visible(each.causes[0].text)}" for each in told)
        )
    return 0


def _of_run(run: Run, misses: MissExplainer) -> list[Explanation]:
    told, missed = misses.of_run(run, _MOST)
    if not missed:
        raise NothingToShow("nothing missed: every graph of this run came from the cache, or none was named")
    if missed > _MOST:
        log_stderr(f"neurontop: {_MOST} of {missed} misses are explained, the longest compiles")
    return told


def _page(one: Explanation) -> str:
    lines = [f"{one.module}  ({one.state or 'no entry'} in {one.root})", ""]
    for number, cause in enumerate(one.causes, 1):
        lines.append(f"{number}. {cause.kind}: {visible(cause.text)}")
        lines += [f"   compared with {visible(cause.entry)}"] if cause.entry else []
    lines += ["", f"{one.compared} graphs were read and compared"] if one.compared else []
    return "\n".join(lines)
