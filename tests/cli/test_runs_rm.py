"""`neurontop runs rm`: what it shows, what it refuses, what is gone afterwards."""

from __future__ import annotations

import fcntl
import io
import json
from pathlib import Path

import pytest

from neuron_top.cli.cache_commands import plan_runner
from neuron_top.cli.main import main
from neuron_top.events import RunFinished, RunStarted
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore

OLD, NEW = "20260101-000000-aaaa", "20260101-010000-bbbb"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recordings with a log each, and a file beside their folder."""
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    with SqliteStore(tmp_path / "neurontop.db") as store:
        for number, run in enumerate((OLD, NEW)):
            at = 1000.0 + 3600 * number
            began = RunStarted(run=run, name="bert", at=at, seen=at)
            store.begin(began)
            store.append(run, [began, RunFinished(run=run, exit_code=0, at=at + 20, seen=at + 20)], at)
            store.finish(run, 0, at + 20)
            (folder := tmp_path / "runs" / run).mkdir(parents=True)
            (folder / "output.log").write_bytes(b"x" * 10_000)
    (tmp_path / "somebody's").write_text("kept")
    return tmp_path


def left(state: Path) -> list[str]:
    """Recordings that are there, in the store and as folders."""
    rows = [row.id for row in RunService(Settings(state_dir=str(state))).rows()]
    assert sorted(rows) == sorted(path.name for path in (state / "runs").iterdir())
    return rows


def test_what_would_go_is_shown_and_nothing_is_done(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "rm", "last", NEW, OLD, "--dry-run"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("delete 2 recordings, ")
    assert head.endswith("; this cannot be undone")
    assert [line.split()[0] for line in lines] == [NEW, OLD], "one that is named twice goes once"
    assert "bert · completed · after 20.0 s" in lines[0]
    assert main(["runs", "rm", "last", "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [step["id"] for step in document["plan"]["steps"]] == [NEW]
    assert document["plan"]["frees"] == document["plan"]["steps"][0]["bytes"] > 10_000
    assert document["outcomes"] is None
    assert left(state) == [NEW, OLD]


def test_it_asks_and_only_yes_is_a_yes(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["runs", "rm", NEW]) == 4
    assert "pass --yes to confirm, or --dry-run to see the plan" in capsys.readouterr().err
    monkeypatch.setattr(plan_runner, "_has_terminal", lambda: True)
    for answer in ("", "n\n", "\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert main(["runs", "rm", NEW]) == 4
    assert left(state) == [NEW, OLD]
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["runs", "rm", NEW]) == 0
    out, err = capsys.readouterr()
    assert "for ever. Go on? [y/N]" in err
    assert out.splitlines()[-1].startswith(f"deleted {NEW}: ")
    assert left(state) == [OLD]


def test_several_go_with_yes_and_nothing_else_does(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "rm", OLD, NEW, "--yes", "--json"]) == 0
    outcomes = json.loads(capsys.readouterr().out)["outcomes"]
    assert [(each["id"], each["freed_bytes"] > 10_000, each["not_done"]) for each in outcomes] == [
        (OLD, True, ""),
        (NEW, True, ""),
    ]
    assert left(state) == []
    assert (state / "somebody's").read_text() == "kept"


def test_one_that_is_written_stays(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (state / "runs" / NEW / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["runs", "rm", NEW, "--yes"]) == 4
        assert "still being written" in capsys.readouterr().err
        assert main(["runs", "rm", NEW, OLD, "--yes"]) == 0
        assert f"skipped: {NEW}: it is still being written" in capsys.readouterr().out
    assert left(state) == [NEW]


def test_a_link_in_the_place_of_a_folder_is_not_followed(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = state / "elsewhere"
    (state / "runs" / OLD).rename(elsewhere)
    (state / "runs" / OLD).symlink_to(elsewhere)
    assert main(["runs", "rm", OLD, NEW, "--yes"]) == 1
    out = capsys.readouterr().out
    assert f"not deleted: {OLD}: " in out
    assert f"deleted {NEW}: " in out
    assert (elsewhere / "output.log").exists()


@pytest.mark.parametrize(("words", "status"), [([], 2), (["none"], 3), (["../somebody's"], 3), ([OLD, "none"], 3)])
def test_a_name_that_is_no_recording_deletes_nothing(state: Path, words: list[str], status: int) -> None:
    assert main(["runs", "rm", *words, "--yes"]) == status
    assert left(state) == [NEW, OLD]
