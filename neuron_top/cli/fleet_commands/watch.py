"""Open the terminal program on the screen of the fleet.

    neurontop fleet watch
    neurontop fleet watch --store postgresql://db.example/neurontop

The other screens show this machine, as `neurontop` does.

exit status: 0 left · 2 no database is named, or there is no terminal
"""

from __future__ import annotations

import argparse

from neuron_top.cli.on_screen import disable_gc, show
from neuron_top.cli.setting_options import add_prometheus, add_store, settings_of
from neuron_top.cli.terminal import has_screen
from neuron_top.errors import UsageError
from neuron_top.services.fleet_database import check_named


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet watch`."""
    add_store(parser, of_fleet=True)
    add_prometheus(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Show it."""
    settings = settings_of(arguments)
    check_named(settings)
    if not has_screen():
        raise UsageError("the screen needs a terminal; `neurontop fleet nodes` and `fleet jobs` print lines")
    disable_gc()
    from neuron_top.services.feeds import live_feed
    from neuron_top.tui.app import TopApp

    return show(TopApp(live_feed(settings), settings, "fleet", state_folder=settings.state_path))
