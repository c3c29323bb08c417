"""Views that many browsers ask for: made once, and a costly one not all the time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuron_top.dashboard import feed_registry, view_cache
from neuron_top.dashboard.documents import comparison_of_many, report_of
from neuron_top.dashboard.feed_registry import (
    LIVE,
    MOST_RECORDINGS,
    OPEN_RECORDINGS,
    SHOWN_SECONDS,
    FeedRegistry,
)
from neuron_top.dashboard.pages import runs
from neuron_top.dashboard.view_cache import CHART_REST, LONGEST_REST, RESTS
from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.events import RunStarted
from neuron_top.ingest.recordings import store_path
from neuron_top.report import multi_compare
from neuron_top.run.model import Run
from neuron_top.services.dropped_logs import DROPPED
from neuron_top.services.jobs import PREFIX
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreUnusable
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.overlay import MOST_RUNS
from neuron_top.views.overview import overview
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed


class Clock:
    """A clock that only views move."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(feed_registry, "time", made)
    monkeypatch.setattr(view_cache, "time", made)
    return made


def counting(clock: Clock, seconds: float) -> Callable[[Run, float], int]:
    """A view that takes so long, and says how often it was made."""
    made = 0

    def view(_run: Run, _now: float) -> int:
        nonlocal made
        made += 1
        clock.now += seconds
        return made

    return view


def made_twice(feeds: FeedRegistry, *views: Callable[[Run, float], int], longest_rest: float = LONGEST_REST) -> None:
    """Each view, until what it costs is known."""
    for number in (1, 2):
        assert [feeds.cached_view(LIVE, view, longest_rest) for view in views] == [number] * len(views)
        feeds.notify()


def test_recordings_that_cannot_be_read_are_not_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "neurontop.db").write_bytes(b"no database" * 1000)
    with serving(StillFeed([]), tmp_path) as served:
        for path in ("/api/runs", "/api/runs.csv", "/api/runs.json"):
            answer = served.ask(path)
            assert answer.status == 503
            assert "neurontop.db" in answer.json["error"]
    feeds = FeedRegistry(Settings(state_dir=str(tmp_path)), StillFeed([]))
    assert (feeds.recordings(), feeds.jobs()) == ((), ())
    with pytest.raises(StoreUnusable) as problem:
        feeds.listed_recordings()
    shown = str(runs.render((), None, unreadable=str(problem.value))["runs-note"])
    assert "neurontop.db" in shown
    assert "No recording yet" not in shown


def test_a_quick_view_is_made_anew_as_soon_as_the_run_has_changed(clock: Clock) -> None:
    feeds, view = FeedRegistry(Settings(), StillFeed([])), counting(clock, 0.001)
    assert [feeds.cached_view(LIVE, view) for _ in range(2)] == [1, 1]
    feeds.notify()
    assert feeds.cached_view(LIVE, view) == 2


@pytest.mark.parametrize("kind", ["", PREFIX, DROPPED])
def test_the_name_of_a_run_that_is_not_there_is_not_kept(tmp_path: Path, kind: str) -> None:
    feeds = FeedRegistry(Settings(state_dir=str(tmp_path)), StillFeed([]))
    with pytest.raises(NeuronTopError):
        feeds.cached_view(f"{kind}no-such-run", overview)
    assert "no-such-run" not in str(vars(feeds))


@pytest.mark.parametrize("name", ["last", "last~", "named", "2026", "/etc/passwd", "/nowhere/at.all", ".."])
def test_a_recording_is_named_by_its_id_alone_and_no_file_is_looked_for(tmp_path: Path, name: str) -> None:
    """Another name means another recording once one is made, and a reader must not learn which files there are."""
    settings = Settings(state_dir=str(tmp_path))
    with SqliteStore(store_path(settings)) as store:
        for run in ("20260101-000000-aaaa", "20260101-010000-bbbb"):
            started = RunStarted(run=run, name="named", at=1.0)
            store.begin(started)
            store.append(run, [started])
    feeds = FeedRegistry(settings, StillFeed([]))
    for ask in (lambda: feeds.cached_view(name, overview), lambda: report_of(feeds, name)):
        with pytest.raises(NothingToShow) as refused:
            ask()
        assert str(refused.value) == f"no recording {name!r}; `neurontop runs` lists the recordings"
    assert report_of(feeds, "20260101-000000-aaaa").summary.run == "20260101-000000-aaaa"


@pytest.fixture
def many(tmp_path: Path, clock: Clock) -> Iterator[tuple[FeedRegistry, list[str]]]:
    """Many recordings; none is open."""
    settings = Settings(state_dir=str(tmp_path))
    runs = [f"20260101-0000{number:02}-aaaa" for number in range(MOST_RECORDINGS + 1)]
    with SqliteStore(store_path(settings)) as store:
        for run in runs:
            started = RunStarted(run=run, at=1.0)
            store.begin(started)
            store.append(run, [started])
    feeds = FeedRegistry(settings, StillFeed([]))
    yield feeds, runs
    feeds.stop()


def test_recordings_that_browsers_show_stay_open(many: tuple[FeedRegistry, list[str]], clock: Clock) -> None:
    feeds, runs = many
    shown = runs[: 2 * OPEN_RECORDINGS]
    opened = [feeds.feed(run) for run in shown]
    for _ in range(3):
        clock.now += SHOWN_SECONDS - 1
        assert [feeds.feed(run) for run in shown] == opened
    clock.now += 2
    feeds.feed(runs[-1])
    assert [feeds.feed(run) for run in shown] == opened, "all were requested within the time"


def test_of_recordings_that_nobody_shows_the_last_stay_open(many: tuple[FeedRegistry, list[str]], clock: Clock) -> None:
    feeds, runs = many
    left = runs[: 2 * OPEN_RECORDINGS]
    before = {run: feeds.feed(run) for run in left}
    clock.now += SHOWN_SECONDS + 1

    async def look_at_the_live_run() -> None:
        await feeds.opened(LIVE)

    asyncio.run(look_at_the_live_run())
    until = time.monotonic() + 60
    while threads_of_replays() > OPEN_RECORDINGS and time.monotonic() < until:
        time.sleep(0.01)
    assert [run for run in left[::-1] if feeds.feed(run) is before[run]] == left[: OPEN_RECORDINGS - 1 : -1]


def test_no_more_recordings_are_open_than_there_is_memory_for(many: tuple[FeedRegistry, list[str]]) -> None:
    feeds, runs = many
    opened = [feeds.feed(run) for run in runs]
    assert threads_of_replays() == MOST_RECORDINGS
    assert feeds.feed(runs[-1]) is opened[-1]
    assert feeds.feed(runs[0]) is not opened[0]


def test_a_comparison_says_that_it_leaves_runs_out(many: tuple[FeedRegistry, list[str]]) -> None:
    feeds, runs = many
    whole, part = comparison_of_many(feeds, runs[:MOST_RUNS]), comparison_of_many(feeds, runs[: MOST_RUNS + 2])
    assert len(whole.rows) == len(part.rows) == MOST_RUNS
    assert part.answer[1:] == whole.answer
    assert part.answer[0].startswith("Only the first 8 of the 10 runs are compared here")
    assert part.answer[0] in multi_compare.html(part)


def threads_of_replays() -> int:
    """How many recordings are open."""
    return sum(thread.name == "replay" for thread in threading.enumerate())


@pytest.mark.parametrize(("seconds", "rest"), [(0.1, RESTS * 0.1), (30.0, LONGEST_REST)])
def test_a_costly_view_rests_though_the_run_changes(clock: Clock, seconds: float, rest: float) -> None:
    feeds, view = FeedRegistry(Settings(), StillFeed([])), counting(clock, seconds)
    made_twice(feeds, view)
    clock.now += rest - 0.01
    assert feeds.cached_view(LIVE, view) == 2
    clock.now += 0.02
    assert feeds.cached_view(LIVE, view) == 3


def test_one_hiccup_makes_no_view_costly(clock: Clock) -> None:
    took = iter((0.001, 5.0, 0.001, 5.0, 5.0))
    made = 0

    def view(_run: Run, _now: float) -> int:
        nonlocal made
        made += 1
        clock.now += next(took)
        return made

    feeds = FeedRegistry(Settings(), StillFeed([]))
    for number in range(1, 6):
        assert feeds.cached_view(LIVE, view) == number
        feeds.notify()
    assert feeds.cached_view(LIVE, view) == 5, "twice in a row it took long"


def test_a_chart_may_rest_longer_than_figures(clock: Clock) -> None:
    feeds, chart = FeedRegistry(Settings(), StillFeed([])), counting(clock, 5.0)
    made_twice(feeds, chart, longest_rest=CHART_REST)
    clock.now += CHART_REST - 0.01
    assert feeds.cached_view(LIVE, chart, CHART_REST) == 2
    clock.now += 0.02
    assert feeds.cached_view(LIVE, chart, CHART_REST) == 3


def test_figures_do_not_rest_for_what_charts_cost(clock: Clock) -> None:
    feeds, chart, figures = FeedRegistry(Settings(), StillFeed([])), counting(clock, 0.2), counting(clock, 0.001)
    made_twice(feeds, chart, longest_rest=CHART_REST)
    made_twice(feeds, figures)
    assert feeds.cached_view(LIVE, figures) == 3
    assert feeds.cached_view(LIVE, chart, CHART_REST) == 2


def test_views_of_a_run_rest_for_what_all_of_them_took_as_long_as_all_are_looked_at(clock: Clock) -> None:
    feeds, one, other = FeedRegistry(Settings(), StillFeed([])), counting(clock, 0.04), counting(clock, 0.04)
    made_twice(feeds, one, other)
    clock.now += 2 * RESTS * 0.04 - 0.01
    assert feeds.cached_view(LIVE, other) == 2
    clock.now += 2 * LONGEST_REST  # nobody asks for `one` any more
    assert feeds.cached_view(LIVE, other) == 3
    feeds.notify()
    assert feeds.cached_view(LIVE, other) == 4


def test_who_asks_while_a_view_is_made_gets_the_one_before(clock: Clock) -> None:
    feeds = FeedRegistry(Settings(), StillFeed([]))
    began, go, made = threading.Event(), threading.Event(), list[int]()

    def view(_run: Run, _now: float) -> int:
        made.append(len(made) + 1)
        if len(made) == 2:
            began.set()
            go.wait(60)
        return made[-1]

    assert feeds.cached_view(LIVE, view) == 1
    feeds.notify()
    found = list[int]()
    other = threading.Thread(target=lambda: found.append(feeds.cached_view(LIVE, view)))
    other.start()
    assert began.wait(60)
    assert feeds.cached_view(LIVE, view) == 1
    go.set()
    other.join(60)
    assert found == [2]
    assert feeds.cached_view(LIVE, view) == 2
    assert made == [1, 2]
