"""Pictures of the screens for the documentation, of the demo's recording: `python -m tests.tui.take_pictures FOLDER`.

With `--states` the overview and the cache in every state instead, at three sizes and in two themes: the demo's real
recording where it has the state, else events of `feeds.py`.

The recording is replayed without a terminal, stopped at `--at` (a share of its length), and each screen is written as
an SVG. The Cache screen shows the cache of this machine.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import msgspec
from textual.pilot import Pilot

from neuron_top import events as ev
from neuron_top import settings as configuration
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import estimator
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS
from neuron_top.views.entries import EntryTable

from . import feeds

SIZE = (112, 30)
S = feeds.START


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


def states() -> dict[str, tuple[str, Callable[[], feeds.StillFeed]]]:
    """Name → first screen and feed of every state that the demo's recording does not have."""
    end = ev.RunFinished(run="20260921-101500-bert", exit_code=0, at=S + 60, node="trn1")
    killed = msgspec.structs.replace(end, exit_code=-9)
    trained = [*feeds.job(), *feeds.workers(50), *feeds.steps(45)]
    serving = [
        ev.StepReported(throughput=900.0 + 7 * (second % 13), throughput_unit="tokens/s", at=S + second)
        for second in range(60)
    ]

    def training(cores: int) -> feeds.StillFeed:
        events = [*feeds.job(), *feeds.samples(cores, 46, per_device=8 if cores > 32 else 2), *feeds.steps(45)]
        return feeds.StillFeed(events, now=S + 46, lines=feeds.LINES * 4)

    return {
        "training-2-cores": ("overview", lambda: training(2)),
        "training-32-cores": ("overview", lambda: training(32)),
        "training-128-cores": ("overview", lambda: training(128)),
        "compile-only": ("overview", lambda: feeds.StillFeed([*feeds.job(), *feeds.compiles()], now=S + 50)),
        "serving": ("overview", lambda: feeds.StillFeed(serving, now=S + 60, lines=feeds.LINES)),
        "failed-compile": ("overview", feeds.failed_log),
        "failed-killed": ("overview", lambda: feeds.StillFeed([*trained, killed], now=S + 300, lines=feeds.LINES)),
        "finished": ("overview", lambda: feeds.StillFeed([*trained, end], now=S + 300, lines=feeds.LINES)),
        "idle": ("overview", lambda: feeds.StillFeed(now=S + 3)),
        "stale-telemetry": ("overview", lambda: feeds.StillFeed([*feeds.job(), *feeds.samples(4, 30)], now=S + 95)),
        "cache-0": ("cache", feeds.StillFeed),
        "cache-400": ("cache", feeds.StillFeed),
        "cache-50000": ("cache", feeds.StillFeed),
    }


def entries(count: int) -> EntryTable:
    """So many entries of two compilers."""
    table = feeds.catalog()
    rows = [
        msgspec.structs.replace(row, key=f"{row.key}{number}", module=feeds.module(number), bytes=row.bytes + number)
        for number, row in zip(range(count), cycle(table.rows), strict=False)
    ]
    return msgspec.structs.replace(table, rows=tuple(rows))


async def take_states(folder: Path) -> None:
    """Every state at every size, and at one size in the light theme."""
    for theme, sizes in (("dark", ((80, 24), (120, 40), (200, 60))), ("light", ((120, 40),))):
        for size in sizes:
            label = f"{size[0]}x{size[1]}-{theme}"
            for name, (first, feed) in states().items():
                kind, _, count = name.rpartition("-")
                table = entries(int(count)) if kind == "cache" else feeds.catalog()
                services = feeds.StillServices(feeds.recordings(), table)
                app = TopApp(feed(), Settings(theme=theme), first=first, services=services)
                async with app.run_test(size=size) as pilot:
                    await at_rest(app, pilot, 13 if name == "idle" else 3)
                    write(app, folder / f"{name}-{label}.svg")
            for name, share in (("demo-compiling", 0.3), ("demo-training", 0.97)):
                with demo_settings(msgspec.structs.replace(configuration.load()[0], theme=theme)) as settings:
                    replayed = demo_feed(settings)
                    app = TopApp(replayed, settings)
                    async with app.run_test(size=size) as pilot:
                        replayed.clock.pause()
                        replayed.clock.seek(replayed.clock.start + (replayed.clock.end - replayed.clock.start) * share)
                        await at_rest(app, pilot)
                        write(app, folder / f"{name}-{label}.svg")


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
    parser.add_argument("--states", action="store_true", help="the overview and the cache in every state")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_states(arguments.folder) if arguments.states else take(arguments.folder, arguments.at))


if __name__ == "__main__":
    main()
