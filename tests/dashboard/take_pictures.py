"""Pictures of the pages: `python -m tests.dashboard.take_pictures FOLDER [CASE …] [--kept]`.

Every case is served by the real server, opened in a real browser, and photographed whole at four widths, dark and
light, as WebP. With `--kept` only what the documentation shows: of further pages fewer sizes. What is
shown is the recording of the demo, or files that `picture_inputs.py` writes in the formats of the real tools.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from neuron_top import settings as configuration
from neuron_top.cli.serve import shown_name
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import live_feed
from neuron_top.settings import Settings
from tests.dashboard import picture_inputs as inputs
from tests.dashboard.browser import Watched, chromium
from tests.dashboard.served import Served, serving
from tests.tui.feeds import StillFeed
from tests.tui.picture_states import no_other_caches

WIDTHS = (390, 768, 1440, 2560)
THEMES = ("dark", "light")
KEPT_FURTHER = ((390, "dark"), (768, "light"), (1440, "dark"))
"""Of a case's pages after the first, what the documentation shows."""
QUALITY = 75
"""Of WebP: letters stay sharp, and a picture weighs a third of its PNG."""
SETTLED_MS = 2500
"""After all charts are there: plotly's transitions and the grids' rows."""
DRAWN_AGAIN_MS = 1200
"""For charts that come into sight: longer than a page waits between two updates."""
KEEP_LISTS = """() => document.querySelectorAll('.lines').forEach((one) => {
    one.style.maxHeight = getComputedStyle(one).maxHeight; })"""
SHOWN_FOLDER = Path("/var/tmp/llama-70b")
"""Where the caches of the pictures are while they are taken: their paths stand in the pictures."""
SAMPLES, PERIOD = 12, 0.5
DRAWN = """() => document.querySelector('#connection.up') &&
    [...document.querySelectorAll('#page .dash-graph')].every((one) => one.querySelector('.js-plotly-plot')) &&
    (!/(compile|cache|runs)$/.test(location.pathname) || document.querySelector('#page .ag-header-cell'))"""

Opened = Callable[[Path], Any]


class Case(NamedTuple):
    """What is served, and which of its pages are photographed."""

    open: Opened
    pages: tuple[str, ...] = ("",)
    words: str = ""
    """What the first page says once all is read."""
    act: Callable[[Any], None] | None = None
    """What a person does before the picture is taken."""


def demo(share: float) -> Opened:
    """The recording that ships with the package, stopped at a share of its length."""

    @contextmanager
    def case(_state: Path) -> Iterator[Served]:
        with demo_settings(configuration.load()[0]) as settings:
            feed: Any = demo_feed(settings)
            with serving(feed, Path(settings.state_dir)) as served:
                feed.clock.pause()
                feed.clock.seek(feed.clock.start + (feed.clock.end - feed.clock.start) * share)
                served.feeds.live_name = "the demo, played"  # as `neurontop demo --web` calls it
                yield served

    return case


def logs(make: Callable[[Path], Path | list[Path]]) -> Opened:
    """Logs that the product follows."""

    @contextmanager
    def case(state: Path) -> Iterator[Served]:
        folder = state / "jobs"
        folder.mkdir()
        made = make(folder)
        paths = [str(path) for path in (made if isinstance(made, list) else [made])]
        with following(state, paths) as served:
            yield served

    return case


def devices(cores: int, stale: float = 0.0) -> Opened:
    """A job that trains, and neuron-monitor's records of so many cores, which come while the page is open.

    `stale`: seconds after the last of them at which the page is looked at.
    """

    @contextmanager
    def case(state: Path) -> Iterator[Served]:
        folder = state / "jobs"
        folder.mkdir()
        log, capture, over = inputs.training(folder), folder / "monitor.jsonl", threading.Event()
        capture.write_bytes(inputs.telemetry(cores, 0))

        def grow() -> None:
            second = 0
            while not over.wait(PERIOD) and (not stale or second < SAMPLES):
                second += 1
                with capture.open("ab") as file:
                    file.write(inputs.telemetry(cores, second))

        thread = threading.Thread(target=grow, daemon=True)
        with following(state, [str(log), str(capture)]) as served:
            thread.start()
            over.wait(SAMPLES * PERIOD + stale)
            yield served
            over.set()
            thread.join()

    return case


def caches(entries: int) -> Opened:
    """A cache of so many entries, where nothing runs."""

    @contextmanager
    def case(state: Path) -> Iterator[Served]:
        SHOWN_FOLDER.mkdir()  # somebody's own is not touched: this fails where it is there
        try:
            root = SHOWN_FOLDER / "neuron-compile-cache"
            inputs.cache(root, entries)
            with (
                no_other_caches(),
                serving(StillFeed(now=time.time()), state / "state", roots=(str(root),)) as served,
            ):
                yield served
        finally:
            shutil.rmtree(SHOWN_FOLDER)  # noqa: TID251 (a folder of this script)

    return case


def plan_an_eviction(page: Any) -> None:
    """Mark every entry that is shown, and look at the plan."""
    page.check("#cache-everything input")
    page.click("#cache-evict")
    page.locator("#cache-plans", has_text="before → after").wait_for(state="attached")  # what it holds lies in a drawer


@contextmanager
def idle(state: Path) -> Iterator[Served]:
    """A server beside which nothing runs."""
    with serving(StillFeed(now=time.time()), state / "state") as served:
        yield served


@contextmanager
def following(state: Path, paths: Sequence[str]) -> Iterator[Served]:
    """The product on files, once it has read them."""
    feed: Any = live_feed(Settings(state_dir=str(state / "state")), paths)
    with serving(feed, state / "state") as served:
        served.feeds.live_name = shown_name(paths, "")
        yield served


CASES: dict[str, Case] = {
    "replay": Case(demo(0.97), ("", "cores", "compile", "logs", "runs")),
    "replay-compiling": Case(demo(0.3)),
    "training-2-cores": Case(devices(2), words="TRAINING"),
    "training-32-cores": Case(devices(32), ("", "cores"), "TRAINING"),
    "training-128-cores": Case(devices(128), ("", "cores"), "TRAINING"),
    "compile-only": Case(logs(inputs.compile_only), ("", "compile"), "COMPILING"),
    "serving": Case(logs(inputs.serving), words="SERVING"),
    "failed-memory": Case(logs(inputs.out_of_memory), ("", "cores", "logs"), "FAILED"),
    "failed-compile": Case(logs(inputs.compiler_failure), ("", "compile"), "FAILED"),
    "failed-script": Case(logs(inputs.script_error), words="FAILED"),
    "finished": Case(logs(inputs.finished), words="COMPLETED"),
    "idle": Case(idle),
    "stale-telemetry": Case(devices(2, 40.0), ("", "cores"), "TRAINING"),
    "several-jobs": Case(logs(inputs.several)),
    "cache-0": Case(caches(0), ("cache",)),
    "cache-400": Case(caches(400), ("cache",)),
    "cache-400-plan": Case(caches(400), ("cache",), act=plan_an_eviction),
    "cache-50000": Case(caches(50_000), ("cache",)),
}


def photograph(browser: Any, served: Served, case: Case, path: str, width: int, theme: str, target: Path) -> None:
    """One page as one picture; what a browser complained of is said."""
    seen = Watched(browser, viewport={"width": width, "height": 900}, color_scheme=theme)
    seen.page.goto(f"{served.address}{path}")
    if case.words and not path:
        seen.until("#live-reason", case.words)
    seen.page.wait_for_function(DRAWN)
    if case.act is not None:
        case.act(seen.page)
    seen.page.wait_for_timeout(SETTLED_MS)
    if case.act is None:
        show_all(seen.page, width)
    wide = seen.page.evaluate("document.documentElement.scrollWidth")
    target.write_bytes(as_webp(seen.page, whole=case.act is None))
    print(target, *seen.complaints, *([f"{wide} pixels wide"] if wide > width else []), flush=True)
    seen.page.close()


def show_all(page: Any, width: int) -> None:
    """Make the window as high as the page, since a chart out of sight keeps old values; lists keep their height."""
    page.evaluate(KEEP_LISTS)
    page.set_viewport_size({"width": width, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.wait_for_timeout(DRAWN_AGAIN_MS)


def as_webp(page: Any, *, whole: bool) -> bytes:
    """What the page shows, or all of it: Playwright itself writes PNG and JPEG only."""
    session = page.context.new_cdp_session(page)
    asked: dict[str, Any] = {"format": "webp", "quality": QUALITY}
    size = session.send("Page.getLayoutMetrics")["cssContentSize"]
    if whole and size["height"] > page.viewport_size["height"]:  # else a grid may be left blank
        asked |= {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
    return base64.b64decode(session.send("Page.captureScreenshot", asked)["data"])


def take(folder: Path, names: Sequence[str], looks: Sequence[tuple[int, str]], only: str | None, *, kept: bool) -> None:
    """All pictures of these cases."""
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        for name in names:
            state = Path(tempfile.mkdtemp(prefix="neurontop-pictures-"))
            case = CASES[name]
            try:
                with case.open(state) as served:
                    for page in case.pages if only is None else (only,):
                        for width, theme in looks:
                            if not kept or page == case.pages[0] or (width, theme) in KEPT_FURTHER:
                                target = folder / f"{name}-{page or 'overview'}-{width}-{theme}.webp"
                                photograph(browser, served, case, page, width, theme, target)
            finally:
                shutil.rmtree(state, ignore_errors=True)  # noqa: TID251 (a folder of this script)


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--width", action="append", type=int, default=[], metavar="PIXELS")
    parser.add_argument("--theme", action="append", choices=THEMES, default=[])
    parser.add_argument(
        "--page", help='the only page to take, such as cache; "" is the overview; default: a case\'s own'
    )
    parser.add_argument("--kept", action="store_true", help="only the pictures that the documentation shows")
    arguments = parser.parse_intermixed_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    take(
        arguments.folder,
        arguments.cases or list(CASES),
        [(width, theme) for width in arguments.width or WIDTHS for theme in arguments.theme or THEMES],
        arguments.page,
        kept=arguments.kept,
    )


if __name__ == "__main__":
    main()
