"""What a run's time went into: a report of a recording, or of console logs and traces that nobody recorded.

RUN is a recording (its id, the beginning of one, its name, or `last`). LOG is console output of a job, plain or
gzip, or what PyTorch wrote into a folder of TORCH_TRACE; several are taken for one run (the ranks of it); `-` is
standard input.

  neurontop report last -o report.html           one HTML file that opens offline
  neurontop report train.log --format md         Markdown, for a pull request or a terminal
  neurontop report rank*.log --format json | jq 'metrics[] | {name, value, provenance}'
  neurontop report traces/dedicated_log_torch_trace_*.log -o report.html
  neurontop report last --cache /data/neuron-cache --price 21.5 -o report.html

Every number says how it is known: measured, counted, at most (a bound between two log lines), computed from those,
or estimated. The cache adds what it knows of the graphs: flags, sizes, compile times, and why each miss was one;
a recording names its own, for logs give --cache. The format follows the name given with -o; without both it is
Markdown.

exit status: 0 written · 2 a file cannot be read or written · 3 no such recording
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from neuron_top import settings as configuration
from neuron_top.cli.output import json_text, log_stderr
from neuron_top.errors import UsageError
from neuron_top.ingest import run_loader
from neuron_top.ingest.miss_explainer import MissExplainer, first_here
from neuron_top.processes.log_input import standard_input_bytes
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import roots
from neuron_top.views.report import Report, report
from neuron_top.views.report_metrics import Prices

MISSES_EXPLAINED = 25
FORMATS = ("html", "md", "json")
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `report`."""
    parser.add_argument("names", nargs="+", metavar="RUN|LOG", help="a recording, or log files of one run; - is stdin")
    parser.add_argument("--cache", metavar="ROOT", help="a compile cache to look the graphs up in")
    parser.add_argument("--price", type=_price, metavar="AMOUNT", help="what an hour of the machine costs")
    parser.add_argument("--currency", default="$", help="the sign of the price ($)")
    add_output(parser)


def add_output(parser: argparse.ArgumentParser) -> None:
    """The options that say in which form and where to."""
    parser.add_argument(
        "--format", choices=FORMATS, help="html, md or json (default: by the name given with -o, or md)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, all at once; default: standard output")


def execute(arguments: argparse.Namespace) -> int:
    """Make it and write it."""
    settings, _ = configuration.load()
    view = gathered(arguments, settings)
    write(render(view, chosen_format(arguments)), arguments.output)
    return 0


def gathered(arguments: argparse.Namespace, settings: Settings) -> Report:
    """The report that the arguments ask for."""
    run = run_loader.load(arguments.names, settings, standard_input_bytes(), log_stderr)
    prices = Prices(per_hour=arguments.price, currency=arguments.currency) if arguments.price is not None else None
    cache = arguments.cache or (first_here(roots(run)) if run.job.run else None)
    memory = run_loader.memory(run, settings, cache)
    told = MissExplainer(settings, cache).of_run(run, MISSES_EXPLAINED)[0] if cache is not None else ()
    misses = [(one.module, f"{one.causes[0].kind}: {one.causes[0].text}") for one in told]
    return report(run, run_loader.end_of(run), memory=memory, prices=prices, misses=misses)


def chosen_format(arguments: argparse.Namespace) -> str:
    """As asked for, else by the name of the file, else Markdown."""
    suffix = Path(arguments.output).suffix.lower() if arguments.output else ""
    return str(arguments.format or _SUFFIXES.get(suffix, "md"))


def render(view: Report, form: str) -> str:
    """The report in one of FORMATS."""
    if form == "html":
        from neuron_top.report.html import html

        return html(view)
    if form == "md":
        from neuron_top.report.markdown import markdown

        return markdown(view)
    return json_text(view, indent=2) + "\n"


def write(text: str, path: str | None) -> None:
    """To standard output, or to a file that is there whole or not at all. Raises UsageError."""
    if path is None:
        sys.stdout.write(text)
        return
    place = Path(path)
    # Two that write the same do not meet, and in a shared folder nobody can put a link where we write.
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}.partial")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
        beside.replace(place)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {problem.strerror or problem}") from None
    log_stderr(f"neurontop: wrote {path}")


def _price(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError("must be an amount of money, 0 or more")
    return value
