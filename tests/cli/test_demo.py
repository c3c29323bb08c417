"""`neurontop demo`: the recording that ships is a real run with what it promises, and plays on every front end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import neuron_top
from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.layout import run_options
from neuron_top.dashboard.pages import cache
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.runs import LAST, RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS
from neuron_top.views.entries import NO_CACHES
from tests.actions.caches import entry
from tests.dashboard.test_pages import words_of
from tests.tui.test_fleet import text_of

MOST_BYTES = 3 * 1024**2


def made_cache(folder: Path) -> Path:
    """A cache of one entry, as this machine may have."""
    entry(folder / "cache", 1)
    return folder / "cache"


def test_a_port_without_a_server_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--port", "9000"]) == 2
    assert capsys.readouterr().err == "neurontop: --port needs --web: the terminal serves no pages\n"


def test_the_recording_holds_what_the_help_promises() -> None:
    with demo_settings(Settings()) as settings:
        run = RunService(settings).load(LAST)
    assert run.job.exit_code == 0
    workers = [worker for graph in run.compiles.graphs.values() for worker in graph.workers.values()]
    assert {run.rank_of(worker) for worker in workers} == {0, 1, 2, 3}
    assert sum(len(worker.waits) for worker in workers) >= 4
    attempts = [attempt for worker in workers for attempt in worker.attempts]
    assert [attempt.cause for attempt in attempts].count(ev.CompileCause.RETRIED) == 1  # killed, and compiled again
    assert all(graph.state != "failed" for graph in run.compiles.graphs.values())
    assert run.training.reports >= 20
    assert run.cores.cores


def test_nothing_of_the_demo_is_called_live_on_the_web() -> None:
    with demo_settings(Settings()) as settings:
        feed = demo_feed(settings)
        feed.show(feed.clock.end)
        feeds = FeedRegistry(settings, feed, "the demo, played")
        assert feeds.pulse(LIVE)[1:] == ("replay", "replay")
        assert run_options((), (), live=feeds.live_name)[0]["label"] == "the demo, played"
        feed.stop()


def test_the_demo_shows_what_its_job_printed() -> None:
    with demo_settings(Settings()) as settings:
        feed = demo_feed(settings)
        feed.show(feed.clock.end)
        assert any("(0, 59) step_loss" in line.text for line in feed.log_tail(100))
        feed.stop()


def test_the_recording_is_small_and_reports_nothing_of_whose_machine_made_it(tmp_path: Path) -> None:
    demo = Path(neuron_top.__file__).parent / "assets" / "demo"
    assert sum(path.stat().st_size for path in demo.rglob("*")) < MOST_BYTES
    with demo_settings(Settings()) as settings, SqliteStore(settings.state_path / FILE_NAME, read_only=True) as store:
        run = store.runs()[0]
        reported = b"\n".join(ev.encode(event) for event in store.replay(run.id))
        output = (settings.state_path / "runs" / run.id / "output.log").read_bytes()
    assert run.node == "demo"
    assert not re.findall(rb"/(?:home|root|work|Users)/[\w./-]*", reported + output)


def test_the_state_folder_of_the_user_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["header"]["name"] == "demo"
    assert not (tmp_path / "of-no-user" / "state").exists()


async def test_every_screen_is_there_at_once() -> None:
    with demo_settings(Settings()) as settings:
        feed = demo_feed(settings)
        assert feed.clock.start < feed.clock.now < feed.clock.end
        app = TopApp(feed, settings)
        async with app.run_test(size=(120, 40)) as pilot:
            feed.clock.seek(feed.clock.end)
            for spec in SCREENS:
                await pilot.press(spec.key)
                await pilot.pause(0.2)
        assert feed.read(lambda run, now: len(run.compiles.graphs)) > 0
        feed.stop()


async def test_the_cache_screen_shows_no_cache_of_this_machine_and_offers_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(made_cache(tmp_path)))
    with demo_settings(Settings()) as settings:
        app = TopApp(demo_feed(settings), settings, caches=None)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("4")
            shown = ""
            for _ in range(50):
                await pilot.pause(0.1)
                shown = text_of(app)
                if NO_CACHES[0] in shown:
                    break
        assert NO_CACHES[0] in shown
        assert "evict" not in shown
        assert str(tmp_path) not in shown


def test_the_cache_page_shows_no_cache_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(made_cache(tmp_path)))
    with demo_settings(Settings()) as settings:
        caches = DashboardCaches(settings, None)
        caches.use([str(tmp_path)])
        view = caches.table(fresh=True)
        assert (view.roots, view.rows, caches.trash) == ((), (), ())
        page = cache.render(view, [], (), [], DARK)
        assert NO_CACHES[0] in words_of(page["cache-summary"])
        assert DashboardCaches(settings, ()).table(fresh=True).rows, "which a server of this machine lists"


def test_the_page_is_served_and_changes_nothing() -> None:
    command = [sys.executable, "-m", "neuron_top", "demo", "--web", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None
            with urllib.request.urlopen(address[0] + "api/overview") as answer:
                assert json.loads(answer.read())["header"]["name"] == "demo"
        finally:
            server.terminate()
