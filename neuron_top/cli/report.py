"""Report where a run's time went, from a recording or from plain console logs and traces.

RUN is a recording: an id, a unique prefix of one, a name, or `last`. LOG is the console output of a job, plain or
compressed, or a file that PyTorch wrote to TORCH_TRACE; several logs are read as one run (its ranks); `-` is standard
input.

  neurontop report last -o report.html           one self-contained HTML file
  neurontop report train.log --format md         Markdown, for a pull request or a terminal
  neurontop report rank*.log --format json | jq '.metrics[] | {name, value, provenance}'
  neurontop report traces/dedicated_log_torch_trace_*.log -o report.html
  neurontop report last --cache /data/neuron-cache --price 21.5 -o report.html

The first section is the answer of `neurontop diagnose`: whether the job failed, why, and what to do next.

Every number states its provenance: measured, counted, at most (a bound between two log lines), computed from those,
or estimated. The compile cache adds flags, sizes and compile times of the graphs, and the cause of each miss: the cache
that the recording used, or the one given with --cache. The format follows the suffix of -o (default: Markdown).

For a job of a fleet (--store) it includes what `neurontop fleet blame` prints: who compiled, who waited, what it cost.

exit status: 0 written · 2 a file cannot be read or written · 3 recording not found
"""

from __future__ import annotations

import argparse

from neuron_top.cli.documents import add_output, chosen_format, render, write
from neuron_top.cli.numbers import number_in
from neuron_top.cli.output import log_stderr, standard_input_bytes
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.services.reports import ReportService
from neuron_top.views.report_metrics import Prices


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `report`."""
    parser.add_argument("names", nargs="+", metavar="RUN|LOG", help="recording, or log files of one run; - is stdin")
    parser.add_argument("--cache", metavar="ROOT", help="compile cache to look the graphs up in")
    price = number_in(0, 1e9, "must be an amount of money, 0 or more")
    parser.add_argument("--price", type=price, metavar="AMOUNT", help="price of the machine per hour")
    parser.add_argument("--currency", default="$", help="currency symbol ($)")
    add_output(parser)
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Make it and write it."""
    form, settings = chosen_format(arguments), settings_of(arguments)
    service = ReportService(settings, log_stderr)
    prices = Prices(per_hour=arguments.price, currency=arguments.currency) if arguments.price is not None else None
    run, diagnosis = service.load_diagnosed(arguments.names, standard_input_bytes())
    blame = service.blame(arguments.names)
    view = service.full(run, cache=arguments.cache or None, prices=prices, diagnosis=diagnosis, blame=blame)
    write(render(view, form), form, arguments.output)
    return 0
