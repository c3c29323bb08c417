"""What the pictures of states show: the product on files in the formats of the real tools, and the demo's recording.

`tests/dashboard/picture_inputs.py` writes the files; the web's pictures are taken of the same ones.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import msgspec

from neuron_top import settings as configuration
from neuron_top.cache import roots
from neuron_top.services.cache_listing import OtherCaches
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import Feed, live_feed
from neuron_top.settings import Settings
from tests.dashboard import picture_inputs as inputs

from . import feeds

SAMPLES, PERIOD = 12, 0.5
STALE_SECONDS = 40.0
IDLE_SECONDS = 60.0
"""After so long an idle core is an alert."""


class Opened(NamedTuple):
    """What a program is started with for a case."""

    feed: Feed
    settings: Settings
    caches: tuple[str, ...] = ()


Open = Callable[[Path], AbstractContextManager[Opened]]


class Case(NamedTuple):
    """How a state is opened, what a person reads once it is there, and which other screens are shown of it."""

    open: Open
    words: str = ""
    first: str = "overview"
    more: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name and keys of each further picture, at one size."""
    patience: float = 60.0


def settings_in(folder: Path) -> Settings:
    """Those of somebody who has set nothing."""
    return Settings(state_dir=str(folder / "state"))


def demo(share: float) -> Open:
    """The recording that ships with the package, stopped at a share of its length."""

    @contextmanager
    def case(_folder: Path) -> Iterator[Opened]:
        with demo_settings(configuration.load()[0]) as settings:
            feed = demo_feed(settings)
            feed.clock.pause()
            feed.clock.seek(feed.clock.start + (feed.clock.end - feed.clock.start) * share)
            yield Opened(feed, settings)

    return case


def logs(make: Callable[[Path], Path | list[Path]], *, silent: float = 0.0) -> Open:
    """Logs that the product follows; nobody has written to them for `silent` seconds."""

    @contextmanager
    def case(folder: Path) -> Iterator[Opened]:
        made = make(folder)
        paths = [str(path) for path in (made if isinstance(made, list) else [made])]
        if silent:
            for path in paths:
                os.utime(path, (time.time() - silent,) * 2)
        yield Opened(live_feed(settings_in(folder), paths), settings_in(folder))

    return case


def next_step(done: int) -> str:
    """The line of the step after so many, printed now."""
    *_before, line = inputs.step_lines(time.time() - done * 4.0, done + 1)
    return line


def out_of_memory(folder: Path) -> Path:
    """The same as on the web, with the lookup that a job begins with: it tells when the job began."""
    log = inputs.out_of_memory(folder)
    inputs.written(log, [inputs.hit_line(9, time.time() - 2405), log.read_text(encoding="utf-8").rstrip("\n")])
    return log


def said_now(line: str) -> str:
    """A line of a server, as it would print it now."""
    level, _day, _time, rest = line.split(" ", 3)
    return f"{level} {datetime.now(UTC):%m-%d %H:%M:%S} {rest}"


@contextmanager
def serving(folder: Path) -> Iterator[Opened]:
    """The log of a server, which goes on while it is looked at."""
    log, over = inputs.serving(folder), threading.Event()
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)

    def grow() -> None:
        for number, line in enumerate(lines[-100:]):
            if over.wait(PERIOD):
                return
            with log.open("a", encoding="utf-8") as file:
                file.write((f"{inputs.hit_line(11, time.time())}\n" if number % 6 == 0 else "") + said_now(line))

    thread = threading.Thread(target=grow, daemon=True)
    thread.start()
    yield Opened(live_feed(settings_in(folder), [str(log)]), settings_in(folder))
    over.set()
    thread.join()


def devices(cores: int, *, stale: bool = False) -> Open:
    """A job that trains, and neuron-monitor's records of so many cores; both grow while they are looked at."""

    @contextmanager
    def case(folder: Path) -> Iterator[Opened]:
        log, capture, over = inputs.training(folder), folder / "monitor.jsonl", threading.Event()
        capture.write_bytes(inputs.telemetry(cores, 0))

        def grow() -> None:
            second = 0
            while not over.wait(PERIOD) and (not stale or second < SAMPLES):
                with log.open("a", encoding="utf-8") as file:
                    file.write(f"{inputs.hit_line(9, time.time())}\n" if second % 6 == 0 else "")
                    file.write(next_step(inputs.STEPS + second) + "\n")
                second += 1
                with capture.open("ab") as file:
                    file.write(inputs.telemetry(cores, second))

        thread = threading.Thread(target=grow, daemon=True)
        thread.start()
        yield Opened(live_feed(settings_in(folder), [str(log), str(capture)]), settings_in(folder))
        over.set()
        thread.join()

    return case


@contextmanager
def no_other_caches() -> Iterator[None]:
    """The caches of the machine on which pictures are taken are not shown."""

    def named_ones(named: Iterable[str] = ()) -> list[roots.Root]:
        return [one for one in roots_of_all(named=named) if one.path in named]

    roots_of_all = roots.find
    with patch.object(roots, "find", named_ones), patch.object(OtherCaches, "look", lambda self: ()):
        yield


def cache(entries: int) -> Open:
    """A cache on disk of so many entries, where nothing runs."""

    @contextmanager
    def case(folder: Path) -> Iterator[Opened]:
        root = folder / "neuron-compile-cache"
        inputs.cache(root, entries)
        with no_other_caches():
            yield Opened(feeds.StillFeed(now=time.time()), settings_in(folder), (str(root),))

    return case


@contextmanager
def idle(_folder: Path) -> Iterator[Opened]:
    """Nothing runs; the demo was recorded before."""
    with demo_settings(configuration.load()[0]) as settings:
        yield Opened(feeds.StillFeed(now=time.time()), msgspec.structs.replace(settings))


def cases(names: Sequence[str] = ()) -> dict[str, Case]:
    """The named ones, or all."""
    found = {
        "demo-compiling": Case(demo(0.3), "COMPILING", more=(("compile", ("3",)), ("cores", ("2",)))),
        "demo-training": Case(
            demo(0.97),
            "TRAINING",
            more=(("graph", ("3", "down", "enter", "w")), ("logs", ("5",)), ("cores", ("2",)), ("ranks", ("r",))),
        ),
        "training-2-cores": Case(devices(2), "TRAINING"),
        "training-32-cores": Case(devices(32), "TRAINING", more=(("cores", ("2",)),)),
        "training-128-cores": Case(
            devices(128), "idle", patience=IDLE_SECONDS + 60, more=(("cores", ("2",)), ("alerts", ("a",)))
        ),
        "compile-only": Case(logs(inputs.compile_only), "COMPILING", more=(("compile", ("3",)),)),
        "serving": Case(serving, "SERVING"),
        "failed-memory": Case(logs(out_of_memory, silent=1900), "FAILED", more=(("logs", ("5",)),)),
        "failed-compile": Case(logs(inputs.compiler_failure, silent=1800), "FAILED", more=(("compile", ("3",)),)),
        "failed-script": Case(logs(inputs.script_error, silent=1800), "FAILED"),
        "finished": Case(logs(inputs.finished), "COMPLETED"),
        "idle": Case(idle, "neurontop"),
        "stale-telemetry": Case(devices(2, stale=True), "no data for", patience=STALE_SECONDS + 60),
        "several-jobs": Case(logs(inputs.several), "Jobs", more=(("list", ("J",)),)),
        "cache-0": Case(cache(0), "No compile cache entry", "cache"),
        "cache-400": Case(
            cache(400), "400 entries", "cache", more=(("space", ("b",)), ("entry", ("down", "down", "enter")))
        ),
        "cache-50000": Case(cache(50_000), "50,000 entries", "cache", patience=300),
    }
    return {name: found[name] for name in names} if names else found
