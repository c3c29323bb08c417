"""Recordings as every front end asks for them."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path

import pytest

from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.events import AnyEvent, RunFinished, RunStarted, StepReported
from neuron_top.ingest import run_loader
from neuron_top.ingest.recordings import BEFORE_LAST, find_labeled
from neuron_top.run.state import JobState
from neuron_top.services.runs import LAST, RunService, first_local_root
from neuron_top.services.status import status
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.overview import overview


@pytest.fixture
def service(settings: Settings) -> RunService:
    """Two recordings, an hour apart, of three steps each."""
    with SqliteStore(settings.state_path / "neurontop.db") as store:
        for number, run in enumerate(("20260101-000000-aaaa", "20260101-010000-bbbb")):
            began = 1000.0 + 3600 * number
            steps: list[AnyEvent] = [StepReported(step=step, at=began + step, seen=began + step) for step in range(3)]
            first = RunStarted(run=run, name="demo", at=began, seen=began)
            store.begin(first)
            store.append(run, [first, *steps, RunFinished(run=run, exit_code=0, at=began + 9, seen=began + 9)], began)
            store.finish(run, 0, began + 9)
            (settings.state_path / "runs" / run).mkdir(parents=True)
    return RunService(settings)


def test_rows_come_newest_first_and_no_more_than_asked(service: RunService) -> None:
    assert [row.id for row in service.rows()] == ["20260101-010000-bbbb", "20260101-000000-aaaa"]
    assert [row.id for row in service.rows(limit=1)] == ["20260101-010000-bbbb"]
    assert service.count() == 2


def test_the_size_of_a_recording_is_what_deleting_it_frees(service: RunService, settings: Settings) -> None:
    before = service.find(LAST).bytes
    (settings.state_path / "runs" / "20260101-010000-bbbb" / "output.log").write_bytes(b"x" * 100_000)
    row = service.rows()[0]
    assert row.bytes >= before + 100_000
    assert service.label(LAST, starred=True).bytes == row.bytes
    assert service.delete(row.id) == row.bytes


def test_a_recording_without_an_end_is_unfinished_whether_it_runs_or_its_recorder_died(
    service: RunService, settings: Settings
) -> None:
    assert service.unfinished() == ()
    with SqliteStore(settings.state_path / "neurontop.db") as store:
        for run in ("20260101-020000-cccc", "20260101-030000-dddd"):
            store.begin(RunStarted(run=run, at=9000.0, seen=9000.0))
            (settings.state_path / "runs" / run).mkdir()
    with (settings.state_path / "runs" / "20260101-020000-cccc" / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        states = {row.id: row.state for row in service.unfinished()}
    assert states == {"20260101-030000-dddd": JobState.CUT_OFF, "20260101-020000-cccc": JobState.RUNNING}


@pytest.mark.parametrize(
    ("name", "run"),
    [
        (LAST, "bbbb"),
        (BEFORE_LAST, "aaaa"),
        ("20260101-00", "aaaa"),
        ("demo", "bbbb"),
        ("20260101-000000-aaaa", "aaaa"),
    ],
)
def test_a_recording_is_found_by_id_prefix_name_and_place(service: RunService, name: str, run: str) -> None:
    assert service.find(name).id.endswith(run)


@pytest.mark.parametrize("name", ["none", "20260101"])
def test_what_names_none_or_several_is_not_found_and_says_what_lists_them(service: RunService, name: str) -> None:
    with pytest.raises(NothingToShow, match="neurontop runs"):
        service.find(name)


def test_an_empty_name_is_no_recording_and_not_the_last(service: RunService, settings: Settings) -> None:
    for ask in (lambda: service.find(""), lambda: status(settings, "")):
        with pytest.raises(NothingToShow, match=r"^no recording ''"):
            ask()


def test_without_a_recording_the_message_says_how_to_make_one(settings: Settings) -> None:
    service = RunService(settings)
    assert (service.rows(), service.count(), service.was_used, service.in_progress()) == ((), 0, False, None)
    with pytest.raises(NothingToShow, match="neurontop run -- <command>"):
        service.load(LAST)


def test_there_is_none_before_the_only_recording(service: RunService) -> None:
    service.delete("20260101-000000-aaaa")
    with pytest.raises(NothingToShow, match="before the last"):
        service.find(BEFORE_LAST)


def test_the_one_before_the_last_is_known_wherever_a_recording_is_named(
    service: RunService, settings: Settings
) -> None:
    assert run_loader.load([BEFORE_LAST], settings).job.run == "20260101-000000-aaaa"
    assert service.label(BEFORE_LAST, starred=True).id == "20260101-000000-aaaa"
    with SqliteStore(settings.state_path / "neurontop.db", read_only=True) as store:
        assert find_labeled(store, BEFORE_LAST, settings.state_path).id == "20260101-000000-aaaa"


def test_the_end_of_a_recording_is_read_as_its_front_ends_show_it(service: RunService) -> None:
    assert service.load(LAST).training.step == 2
    view = service.read_end(LAST, overview)
    assert (view.training.step, view.header.exit_code, view.header.elapsed) == (2, 0, 9.0)


def test_an_opened_recording_stands_at_its_end_and_a_replay_at_its_beginning(service: RunService) -> None:
    opened, replayed = service.open("20260101-010000-bbbb"), service.replay("demo", speed=4.0)
    assert (opened.clock.paused, opened.clock.now) == (True, opened.clock.end)  # type: ignore[attr-defined]
    assert (replayed.clock.paused, replayed.clock.speed) == (False, 4.0)


def test_a_recording_that_is_being_made_is_followed_and_not_deleted(
    service: RunService, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = "20260101-010000-bbbb"
    opened = SqliteStore.batches
    monkeypatch.setattr(SqliteStore, "batches", lambda *words: time.sleep(0.2) or opened(*words))
    with (settings.state_path / "runs" / run / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert service.in_progress() == run
        followed = service.open(run)
        assert not hasattr(followed, "clock")
        followed.start(lambda: None)
        assert followed.read(lambda seen, now: seen.training.step) == 2, "nobody sees it before it was read"
        followed.stop()
        with pytest.raises(RefusedForSafety, match="still being written"):
            service.delete(run)
    assert service.delete(run) >= 0
    assert [row.id for row in service.rows()] == ["20260101-000000-aaaa"]


def test_the_first_root_that_is_a_folder_here_is_found_whatever_logs_name_before_it(tmp_path: Path) -> None:
    """Paths of another machine may be such as cannot be looked at here: too long, or in a folder of another user."""
    named = (f"/{'x' * 300}/cache", "/a\0b", str(tmp_path / "no"), str(tmp_path), "/")
    assert first_local_root(named) == str(tmp_path)
    assert first_local_root(named[:3]) is None
