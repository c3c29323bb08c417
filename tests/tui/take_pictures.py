"""Pictures of the screens for the documentation, of the demo's recording: `python -m tests.tui.take_pictures FOLDER`.

The recording is replayed without a terminal, stopped at `--at` (a share of its length), and each screen is written as
an SVG. The Cache screen shows the cache of this machine.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from textual.pilot import Pilot

from neuron_top import settings as configuration
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import estimator
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS

SIZE = (112, 30)


async def take(folder: Path, at: float) -> None:
    """One picture per screen, and one of a graph's page."""
    with demo_settings(configuration.load()[0]) as settings:
        feed = demo_feed(settings)
        app = TopApp(feed, settings, past=lambda: estimator(settings))
        async with app.run_test(size=SIZE) as pilot:
            feed.clock.pause()
            feed.clock.seek(feed.clock.start + (feed.clock.end - feed.clock.start) * at)
            for spec in SCREENS:
                await pilot.press(spec.key)
                await at_rest(app, pilot)
                write(app, folder / f"{spec.name}.svg")
            await pilot.press("3", "down", "enter", "w")
            await at_rest(app, pilot)
            write(app, folder / "graph.svg")


async def at_rest(app: TopApp, pilot: Pilot[int]) -> None:
    """Until what is read in threads has come and the replay has been played up to its moment."""
    for _ in range(10):
        app.draw()
        await app.workers.wait_for_complete()
        await pilot.pause(0.3)


def write(app: TopApp, path: Path) -> None:
    """The screen as it is, without the window frame's title."""
    path.write_text(app.export_screenshot(title="neurontop"), encoding="utf-8")
    print(path)


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at", type=float, default=0.97)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(arguments.folder, arguments.at))


if __name__ == "__main__":
    main()
