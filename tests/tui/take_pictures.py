"""Pictures of the screens for the documentation, of the demo's recording: `python -m tests.tui.take_pictures FOLDER`.

With `--states` every state of `picture_states.py` instead, or those that are named, at three sizes and in two themes.

The recording is replayed without a terminal, stopped at `--at` (a share of its length), and each screen is written as
an SVG. The Cache screen shows the cache of this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from textual.pilot import Pilot

from neuron_top import settings as configuration
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import estimator
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS

from .picture_states import Case, cases

SIZE = (112, 30)
SIZES = ((120, 40), (80, 24), (200, 60))
"""Of the states; further screens of a state are shown at the first one, dark."""
THEMES = ("light", "dark")
WORK = Path("/tmp/jobs")
"""Where the files of a state lie: its name stands in the pictures."""


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


async def take_states(folder: Path, names: Sequence[str]) -> None:
    """Every state at every size, light and dark."""
    for name, case in cases(names).items():
        with folder_of_files() as files, case.open(files) as opened:
            app = TopApp(opened.feed, opened.settings, case.first, caches=opened.caches)
            async with app.run_test(size=SIZES[0]) as pilot:
                await until(app, pilot, case)
                for theme in THEMES:
                    app.use_theme(theme)
                    for size in reversed(SIZES):
                        await pilot.resize_terminal(*size)
                        await at_rest(app, pilot, 3)
                        write(app, folder / f"{name}-{size[0]}x{size[1]}-{theme}.svg")
                for label, keys in case.more:
                    await pilot.press(*keys)
                    await at_rest(app, pilot, 5)
                    write(app, folder / f"{name}-{label}-{SIZES[0][0]}x{SIZES[0][1]}-dark.svg")
                    app.go(case.first)


@contextmanager
def folder_of_files() -> Iterator[Path]:
    """WORK, as long as a state is shown. Raises FileExistsError where somebody has such a folder."""
    WORK.mkdir()
    try:
        yield WORK
    finally:
        shutil.rmtree(WORK, ignore_errors=True)  # noqa: TID251 (we have just made it)


async def until(app: TopApp, pilot: Pilot[int], case: Case) -> None:
    """Until the screen says what it is about. Raises TimeoutError."""
    end = time.monotonic() + case.patience
    while case.words not in app.export_screenshot().replace("&#160;", " "):
        if time.monotonic() > end:
            raise TimeoutError(f"never said {case.words!r}")
        await at_rest(app, pilot, 2)
    await at_rest(app, pilot, 12)


async def at_rest(app: TopApp, pilot: Pilot[int], looks: int = 10) -> None:
    """Until what is read in threads has come and the replay has been played up to its moment."""
    for _ in range(looks):
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
    parser.add_argument("names", nargs="*", metavar="STATE", help="with --states: only these")
    parser.add_argument("--states", action="store_true", help="every state, at three sizes")
    arguments = parser.parse_intermixed_args()
    os.environ["COLORTERM"] = "truecolor"  # not the palette of the terminal that they are taken in
    arguments.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(
        take_states(arguments.folder, arguments.names) if arguments.states else take(arguments.folder, arguments.at)
    )


if __name__ == "__main__":
    main()
