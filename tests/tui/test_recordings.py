"""Recordings on their screen, with a real store: two jobs were really recorded; they are compared, and one deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot

from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.runs import RunsScreen
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.tui.widgets.page import Page

from . import feeds

JOB = "for step in range(1, 6): print(f'step {step}/5 loss {LOSS / step} step_time 0.5 s')"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with two recordings, `first` and `second`."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("NEURON")}
    environ |= {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    for name, loss in (("first", "10.0"), ("second", "20.0")):
        job = [sys.executable, "-c", JOB.replace("LOSS", loss)]
        done = subprocess.run(
            [sys.executable, "-m", "neuron_top", "run", "--plain", "--name", name, "--", *job],
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return tmp_path / "neuron-top"


async def settled(app: TopApp, pilot: Pilot[int]) -> None:
    """Until rows and answers that were read in threads have come."""
    app.draw()
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


async def test_a_log_that_stands_still_is_not_shown_under_another_recording(state: Path) -> None:
    app = TopApp(feeds.StillFeed(), Settings(state_dir=str(state)), first="runs")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        runs = app.screen
        assert isinstance(runs, RunsScreen)
        shown = set()
        for row in list(runs.table.order.rows):
            app.play(row.id)
            app.playback.seek(3600.0)
            app.go("logs")
            await settled(app, pilot)
            view = app.screen.query_one(LogView)
            assert view.following
            for _wait in range(400):
                if view.lines:
                    break
                await pilot.pause(0.02)
            shown.add(tuple(line.text for line in view.lines))
            await pilot.press("up", "up")
            assert not view.following
        assert len(shown) == 2


async def test_two_recordings_are_marked_compared_and_one_is_deleted_after_asking(state: Path) -> None:
    settings = Settings(state_dir=str(state))
    app = TopApp(feeds.StillFeed(), settings, first="runs")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        assert {row.name for row in screen.table.order.rows} == {"first", "second"}
        await pilot.press("down", "space", "up", "c")
        assert app.screen is screen, "one recording alone was compared"
        await pilot.press("down", "c")
        await settled(app, pilot)
        reported = app.screen.query_one(Page).text
        assert "first" in reported, reported
        assert "second" in reported, reported
        assert "Metrics" in reported, reported
        await pilot.press("escape")
        doomed = screen.table.order.current
        assert doomed is not None
        await pilot.press("d", "right", "enter")
        await settled(app, pilot)
        await settled(app, pilot)
        assert [row.id for row in screen.table.order.rows] == [row.id for row in RunService(settings).rows()]
        assert doomed.id not in [row.id for row in screen.table.order.rows]
    assert not Path(doomed.folder).exists()
    with SqliteStore(state / "neurontop.db", read_only=True) as store:
        assert doomed.id not in [record.id for record in store.runs()]
