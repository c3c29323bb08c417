"""Play a recording that comes with neurontop: a real run of four ranks, to see every screen without a job of your own.

    neurontop demo                in this terminal
    neurontop demo --web          in a browser, on http://127.0.0.1:8421/
    neurontop demo --json         its final overview

The run trained a small BERT with tensor parallelism and compiled its graphs with neurontop's own torch.compile backend:
it misses the cache, ranks wait for one another's compiles, one compiler is killed and its graph compiled again, and the
training ends well. It is played faster than it ran; space pauses, [ and ] move in time, + and - change the speed.
Nothing of this machine is shown, its caches neither, and nothing can be changed.

exit status: 0 fine · 2 an option is invalid, or the port is in use · 130 interrupted
"""

from __future__ import annotations

import argparse
from functools import partial

from neuron_top import settings as configuration
from neuron_top.cli.numbers import port
from neuron_top.cli.on_screen import show
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.cli.plain import print_overview
from neuron_top.cli.terminal import has_screen
from neuron_top.errors import UsageError
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.runs import LAST, RunService
from neuron_top.settings import Settings
from neuron_top.views.overview import overview

PORT = 8421


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `demo`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--web", action="store_true", help="serve the web dashboard instead of opening the terminal's")
    form.add_argument("--json", action="store_true", help="print the final overview as JSON")
    parser.add_argument("--port", type=port, metavar="N", help=f"with --web: TCP port (default: {PORT}); 0: a free one")


def execute(arguments: argparse.Namespace) -> int:
    """Play it."""
    if arguments.port is not None and not arguments.web:
        raise UsageError("--port needs --web: the terminal serves no pages")
    with demo_settings(configuration.load()[0]) as settings:
        if arguments.web:
            return _serve(settings, PORT if arguments.port is None else arguments.port)
        if arguments.json or not has_screen():
            view = RunService(settings).read_end(LAST, overview)
            print_json(view) if arguments.json else print_overview(view, instead_of_a_screen=True)
            return 0
        from neuron_top.services.feeds import estimator
        from neuron_top.tui.app import TopApp

        app = TopApp(demo_feed(settings), settings, past=partial(estimator, settings), caches=None, is_demo=True)
        return show(app)


def _serve(settings: Settings, number: int) -> int:
    from neuron_top.dashboard.access import rules
    from neuron_top.dashboard.server import serve

    serve(
        settings,
        demo_feed(settings),
        rules("", "", frozenset({"127.0.0.1"})),
        host="127.0.0.1",
        port=number,
        prefix="/",
        roots=None,
        shown="the demo, played",
        opened=lambda address: log_stderr(f"neurontop: {address}  (Ctrl-C ends)"),
    )
    return 0
