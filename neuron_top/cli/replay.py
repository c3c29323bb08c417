"""Play back a recording in the live view, at the pace of the original run.

    neurontop replay last --speed 10
    neurontop replay 20260214-0930          a unique prefix of an id
    neurontop replay baseline               the newest recording of that name

Keys: space pauses and resumes, [ and ] move in time, + and - change the speed. Without a terminal the final state
is printed.

exit status: 0 fine · 2 usage · 3 recording not found
"""

from __future__ import annotations

import argparse
from functools import partial

from neuron_top.cli.numbers import number_in
from neuron_top.cli.on_screen import show
from neuron_top.cli.output import print_json
from neuron_top.cli.plain import print_overview
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.cli.terminal import has_screen
from neuron_top.services.runs import RunService
from neuron_top.views.overview import overview


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `replay`."""
    parser.add_argument("run", metavar="RUN", help="id, unique prefix of one, name, or last")
    parser.add_argument(
        "--speed",
        type=number_in(0.001, 1000, "must lie between 0.001 and 1000"),
        default=1.0,
        metavar="X",
        help="recorded seconds played per second (default: 1)",
    )
    parser.add_argument("--json", action="store_true", help="print the final overview as JSON")
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play it back."""
    settings = settings_of(arguments)
    service = RunService(settings)
    if arguments.json or not has_screen():
        view = service.read_end(arguments.run, overview)
        print_json(view) if arguments.json else print_overview(view, instead_of_a_screen=True)
        return 0
    from neuron_top.services.feeds import estimator
    from neuron_top.tui.app import TopApp

    feed = service.replay(arguments.run, speed=arguments.speed)
    return show(TopApp(feed, settings, past=partial(estimator, settings)))
