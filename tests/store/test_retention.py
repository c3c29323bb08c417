"""Retention: the oldest finished go, running and newest stay, and nothing outside the recordings is touched."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.errors import RefusedForSafety
from neuron_top.events import OutputGrew, RunStarted
from neuron_top.store.records import RunRecord
from neuron_top.store.retention import CLOCK_SECONDS, delete, enforce, folder_of, recorder_alive, surplus
from neuron_top.store.sqlite import FILE_NAME, SqliteStore


def record(number: int, *, size: int = 0, alive: bool = False) -> RunRecord:
    return RunRecord(
        f"r{number}",
        "",
        "",
        (),
        "",
        1 if alive else None,
        float(number),
        None if alive else 9.0,
        0,
        float(number),
        0,
        size,
        "",
        "",
    )


def recorded(state: Path, count: int, *, pid: int | None = None, touched: float | None = None) -> SqliteStore:
    store = SqliteStore(state / FILE_NAME)
    for number in range(count):
        store.begin(RunStarted(run=f"r{number}", at=float(number)), pid=pid)
        store.append(f"r{number}", [OutputGrew(path="/log", end=1)], touched)
        if pid is None:
            store.finish(f"r{number}", 0, number + 0.5)
        folder = folder_of(state, f"r{number}")
        folder.mkdir(parents=True)
        (folder / "output.log").write_bytes(b"x" * 10_000)
    return store


def nobody(folder: Path) -> bool:
    """No process records anywhere."""
    return False


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=12), st.integers(1, 5), st.integers(1, 300))
def test_the_oldest_finished_recordings_go_until_the_limits_hold(
    runs: list[tuple[int, bool]], keep_runs: int, keep_bytes: int
) -> None:
    records = [record(number, size=size, alive=alive) for number, (size, alive) in enumerate(runs)]
    going = surplus(records, lambda one: one.bytes, keep_runs, keep_bytes, alive=lambda one: one.open)
    kept = [one for one in records if one not in going]
    assert not any(one.open for one in going)
    assert not records or records[-1] in kept  # the newest always stays
    removable = [one for one in kept if not one.open and one is not records[-1]]
    if removable:  # something finished was kept besides the newest: then all limits hold
        assert len(kept) <= keep_runs
        assert sum(one.bytes for one in kept) <= keep_bytes
        assert not going or max(one.started for one in going) < min(one.started for one in removable)
    if going:  # and what went last would have broken them
        last = going[-1]
        assert len(kept) + 1 > keep_runs or sum(one.bytes for one in kept) + last.bytes > keep_bytes


def test_rows_and_folders_go_together(tmp_path: Path):
    with recorded(tmp_path, 5) as store:
        dropped = enforce(store, tmp_path, keep_runs=2, keep_bytes=1 << 30, is_recording=nobody)
        assert [one.id for one in dropped] == ["r0", "r1", "r2"]
        assert all(one.freed_bytes >= 10_000 for one in dropped)
        assert [one.id for one in store.runs()] == ["r4", "r3"]
        assert list(store.replay("r0")) == []
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["r3", "r4"]


def test_the_byte_limit_counts_the_folders(tmp_path: Path):
    with recorded(tmp_path, 4) as store:
        assert [one.id for one in enforce(store, tmp_path, keep_runs=99, keep_bytes=30_000, is_recording=nobody)] == [
            "r0",
            "r1",
        ]


def test_a_running_recording_never_goes(tmp_path: Path):
    with recorded(tmp_path, 3, pid=os.getpid(), touched=time.time()) as store:
        assert enforce(store, tmp_path, keep_runs=1, keep_bytes=1, is_recording=nobody) == []
        with pytest.raises(RefusedForSafety, match="still being written"):
            delete(store, tmp_path, "r0")


def test_a_recording_goes_whose_recorder_died_and_left_its_process_id_to_another(tmp_path: Path):
    before = psutil.Process().create_time() - 2 * CLOCK_SECONDS
    with recorded(tmp_path, 3, pid=os.getpid(), touched=before) as store:
        delete(store, tmp_path, "r0")
        dropped = enforce(store, tmp_path, keep_runs=1, keep_bytes=1, is_recording=nobody)
        assert [one.id for one in dropped] == ["r1"]


def test_a_recording_of_another_container_whose_process_id_means_nothing_here_never_goes(tmp_path: Path):
    with recorded(tmp_path, 3, pid=2**22 + 1) as store:
        going_on = folder_of(tmp_path, "r0")
        dropped = enforce(store, tmp_path, keep_runs=1, keep_bytes=1, is_recording=lambda folder: folder == going_on)
        assert [one.id for one in dropped] == ["r1"]


def test_a_recording_whose_recorder_died_is_not_running():
    assert not recorder_alive(RunRecord("r", "", "", (), "", 2**22 + 1, 1.0, None, None, 1.0, 0, 0, "", ""))


@pytest.mark.parametrize("name", ["", ".", "..", "../elsewhere", "/etc", "a/b"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str):
    with recorded(tmp_path, 1) as store, pytest.raises(RefusedForSafety):
        delete(store, tmp_path, name)


def test_a_linked_folder_is_not_followed(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep")
    with recorded(tmp_path / "state", 1) as store:
        (tmp_path / "state" / "runs" / "linked").symlink_to(outside)
        with pytest.raises(RefusedForSafety, match="link"):
            delete(store, tmp_path / "state", "linked")
    assert (outside / "precious").read_text() == "keep"
