"""Pictures of fleets of 4, 64 and 1,000 nodes: `python -m tests.fleet.take_pictures FOLDER [COUNT …] [--kept]`.

A real PostgreSQL is filled as agents would fill it (`synthetic_fleet.py`). The terminal's screens are written as SVG at
three sizes, the web's page as WebP at three widths. With `--kept` only what the documentation shows.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from neuron_top.settings import Settings
from neuron_top.store.fleet_records import HeartbeatSteps, NodeNow
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.migration import migrate
from neuron_top.tui.app import TopApp
from tests.bench.synthetic_fleet import fill
from tests.dashboard.browser import Watched, chromium
from tests.dashboard.served import Served, serving
from tests.dashboard.take_pictures import as_webp
from tests.servers.postgresql import running
from tests.tui.feeds import StillFeed
from tests.tui.take_pictures import write

COUNTS = (4, 64, 1000)
SIZES = ((80, 24), (120, 40), (200, 60))
WIDTHS = (390, 1440, 2560)
SCREENS = {
    "fleet": (),
    "memory": ("m",),
    "node": ("enter",),
    "ranks": ("r",),
    "phases": ("p",),
    "different": ("D",),
}
KEPT = {("fleet", (120, 40)), ("fleet", (80, 24)), ("fleet", (200, 60)), ("ranks", (120, 40)), ("node", (120, 40))}
SETTLED = 4.0
"""Seconds: the database is asked each second, and some pages more seldom."""
STEPS = list(range(1181, 1201))


def filled(url: str, count: int) -> list[NodeNow]:
    """Nodes that report what they do, and how long each of the last steps of their rank took."""
    chance = random.Random(count)
    with Database(url, prepared=False) as database:
        migrate(database)
    with FleetStore(url) as store:
        fill(store, count)
        found = [one for job in store.jobs() for one in store.now(job.run, cores=True)]
    reports = []
    for rank, now in enumerate(found):
        usual = now.step_seconds
        seconds = [chance.gauss(usual, 0.03) for _ in STEPS] if usual is not None else []
        reports.append(msgspec.structs.replace(now, steps=[HeartbeatSteps(rank=rank, steps=STEPS, seconds=seconds)]))
    return reports


def beat(url: str, reports: Iterable[NodeNow]) -> None:
    """All report themselves once more, as agents do each few seconds."""
    with FleetStore(url) as store:
        for one in reports:
            store.beat(one)


async def take_screens(
    url: str, reports: list[NodeNow], label: str, folder: Path, wanted: Iterable[tuple[str, tuple[int, int]]]
) -> None:
    """The screen of the fleet and what opens from it."""
    for name, size in wanted:
        beat(url, reports)
        app = TopApp(StillFeed(), Settings(store=url))
        async with app.run_test(size=size) as pilot:
            await pilot.press("7")
            await pilot.pause(SETTLED)
            await pilot.press(*SCREENS[name])
            await pilot.pause(SETTLED)
            write(app, folder / f"{name}-{label}-{size[0]}x{size[1]}.svg")


def photograph(browser: Any, served: Served, target: Path, width: int, *, whole: bool) -> None:
    """The page of the fleet once its cells are drawn; what the browser complained of is printed."""
    seen = Watched(browser, viewport={"width": width, "height": 900}, color_scheme="dark")
    seen.page.goto(f"{served.address}fleet")
    seen.page.wait_for_selector("#fleet-cells .js-plotly-plot")
    seen.until("#fleet-summary", "node")
    seen.page.wait_for_timeout(4000)
    if whole:  # a chart is filled when it comes into view
        for place in range(0, seen.page.evaluate("document.documentElement.scrollHeight"), 600):
            seen.page.evaluate("place => window.scrollTo(0, place)", place)
            seen.page.wait_for_timeout(400)
        seen.page.evaluate("window.scrollTo(0, 0)")
    target.write_bytes(as_webp(seen.page, whole=whole))
    wide = seen.page.evaluate("document.documentElement.scrollWidth")
    print(target, *seen.complaints, *([f"{wide} pixels wide"] if wide > width else []), flush=True)
    seen.page.close()


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("counts", nargs="*", type=int, metavar="COUNT", default=COUNTS)
    parser.add_argument("--kept", action="store_true", help="only the pictures that the documentation shows")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    every = [(name, size) for name in SCREENS for size in SIZES]
    wanted = [one for one in every if one in KEPT or not arguments.kept]
    with running() as server, tempfile.TemporaryDirectory() as state:
        urls = {count: server.url(server.new_database()) for count in arguments.counts}
        reports = dict[int, list[NodeNow]]()
        for count, url in urls.items():
            reports[count] = filled(url, count)
            asyncio.run(take_screens(url, reports[count], str(count), folder, wanted))
        with chromium() as browser:
            for count, url in urls.items():
                with serving(StillFeed(), Path(state) / str(count), store=url) as served:
                    for width in WIDTHS:
                        beat(url, reports[count])
                        target = folder / f"web-{count}-{width}.webp"
                        photograph(browser, served, target, width, whole=not arguments.kept)


if __name__ == "__main__":
    main()
