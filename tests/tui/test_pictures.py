"""Every screen in every state at three sizes, compared cell by cell with the pictures in __snapshots__.

A changed picture is looked at, then accepted with `pytest tests/tui/test_pictures.py --snapshot-update`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from textual.pilot import Pilot

from neuron_top import events as ev
from neuron_top.events.levels import LineLevel
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp

from . import feeds

SIZES = ((80, 24), (120, 40), (200, 60))
S = feeds.START


def waiting() -> feeds.StillFeed:
    """Nothing runs: sources said what they found."""
    return feeds.StillFeed(
        [
            ev.SourceUnavailable(
                name="neuron-monitor", reason="not on the PATH; on a Neuron instance install it", at=S
            ),
            ev.SourceAvailable(name="workers", detail="worker processes are looked for by their environment", at=S),
            ev.HostSampled(cpu=0.1, memory_used=9 * 1024**3, memory_total=24 * 1024**3, at=S),
        ],
        now=S + 3,
    )


def stale() -> feeds.StillFeed:
    """A job whose telemetry stopped a minute ago."""
    return feeds.StillFeed([*feeds.job(), *feeds.samples(4, 30), *feeds.steps(20)], now=S + 95, lines=feeds.LINES)


def ended(code: int) -> Callable[[], feeds.StillFeed]:
    """A job that has ended so."""
    end = ev.RunFinished(run="20260921-101500-bert", exit_code=code, at=S + 60, node="trn1")
    events = [*feeds.job(), *feeds.workers(50), *feeds.steps(45), end]
    return lambda: feeds.StillFeed(events, now=S + 300, lines=feeds.LINES)


def hostile() -> feeds.StillFeed:
    """A job whose names and lines carry escape sequences, wide characters and direction overrides."""
    evil = "\x1b[2J\x1b]0;title\x07 日本語 \u202egnp.exe"
    start = ev.RunStarted(run="x", name=evil, command=(evil,), at=S)
    sample = ev.CoreSample(core=0, utilization=0.5, memory=2**30, process=evil, pid=1)
    return feeds.StillFeed(
        [start, ev.CoresSampled(kind=ev.CoreKind.LOCAL, cores=(sample,), at=S), ev.CacheHit(module=evil, at=S)],
        now=S + 1,
        lines=[feeds.LogLine(source="job", offset=0, text=evil, level=LineLevel.ERROR)],
    )


STATES: dict[str, Callable[[], feeds.StillFeed]] = {
    "waiting": waiting,
    "live": feeds.full,
    "live-32-cores": lambda: feeds.full(32),
    "stale": stale,
    "finished": ended(0),
    "failed": ended(1),
    "killed": ended(-9),
    "hostile": hostile,
    "failed-log": feeds.failed_log,
    "recovered-log": lambda: feeds.failed_log(failed=False),
}


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One time zone, one locale, colors on: whatever the machine has."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def come_to_rest(pilot: Pilot[int]) -> None:
    """Until the view was read and what is looked up in threads has come."""
    app = pilot.app
    assert isinstance(app, TopApp)
    app.draw()
    await app.workers.wait_for_complete()
    await pilot.pause()
    app.draw()
    await pilot.pause()


def app_on(feed: feeds.StillFeed, first: str = "overview", filled: bool = True, **settings: object) -> TopApp:
    services = feeds.StillServices(feeds.recordings(), feeds.catalog()) if filled else feeds.StillServices()
    return TopApp(feed, Settings(**settings), first=first, services=services)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES)
def test_overview(snap_compare: Callable[..., bool], state: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_on(STATES[state]()), terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("place", ["cores", "compile", "cache", "logs", "runs"])
def test_screen(snap_compare: Callable[..., bool], place: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_on(feeds.full(), place), terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
def test_cache_beside_pytorchs_own(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    services = feeds.StillServices((), feeds.catalog_beside_inductor())
    app = TopApp(feeds.full(), Settings(), first="cache", services=services)
    assert snap_compare(app, terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("place", ["cores", "compile", "cache", "logs", "runs"])
def test_screen_with_nothing_to_show(snap_compare: Callable[..., bool], place: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_on(waiting(), place, filled=False), terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", ["stale", "failed"])
@pytest.mark.parametrize("place", ["cores", "compile", "logs"])
def test_screen_of_the_job(snap_compare: Callable[..., bool], place: str, state: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_on(STATES[state](), place), terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("place", ["cache", "runs"])
def test_screen_that_cannot_be_filled(snap_compare: Callable[..., bool], place: str, size: tuple[int, int]) -> None:
    app = TopApp(feeds.full(), Settings(), first=place, services=feeds.UnreadableServices())
    assert snap_compare(app, terminal_size=size, run_before=come_to_rest)


@pytest.mark.parametrize("place", ["cores", "compile", "cache"])
def test_page_of_one_row(snap_compare: Callable[..., bool], place: str) -> None:
    async def open_one(pilot: Pilot[int]) -> None:
        await come_to_rest(pilot)
        await pilot.press("down", "down", "down", "down", "enter")
        await come_to_rest(pilot)

    assert snap_compare(app_on(feeds.full(), place), terminal_size=(120, 40), run_before=open_one)


@pytest.mark.parametrize("place", ["overview", "logs"])
def test_help(snap_compare: Callable[..., bool], place: str) -> None:
    async def ask(pilot: Pilot[int]) -> None:
        await come_to_rest(pilot)
        await pilot.press("question_mark")

    assert snap_compare(app_on(feeds.full(), place), terminal_size=(120, 40), run_before=ask)


@pytest.mark.parametrize("theme", ["light", "high-contrast"])
def test_theme(snap_compare: Callable[..., bool], theme: str) -> None:
    assert snap_compare(app_on(feeds.full(), theme=theme), terminal_size=(120, 40), run_before=come_to_rest)


def test_ascii(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on(feeds.full(), ascii=True), terminal_size=(120, 40), run_before=come_to_rest)


def test_no_color(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_on(feeds.full()), terminal_size=(120, 40), run_before=come_to_rest)
