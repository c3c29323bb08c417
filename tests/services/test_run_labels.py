"""Names, tags, stars and notes of recordings, and their curves over one axis."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neuron_top.cli.main import main
from neuron_top.errors import FileMalformed, NothingToShow, UsageError
from neuron_top.events import AnyEvent, RunFinished, RunStarted, StepReported
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore

OLD, NEW = "20260101-000000-aaaa", "20260101-010000-bbbb"


@pytest.fixture
def service(settings: Settings) -> RunService:
    """Two recordings named `bert`, with losses."""
    with SqliteStore(settings.state_path / "neurontop.db") as store:
        for number, run in enumerate((OLD, NEW)):
            at = 1000.0 + 3600 * number
            steps: list[AnyEvent] = [
                StepReported(step=step, loss=5.0 - step - number, at=at + 10 + step, seen=at + 10 + step)
                for step in range(3)
            ]
            first = RunStarted(run=run, name="bert", at=at, seen=at)
            store.begin(first)
            store.append(run, [first, *steps, RunFinished(run=run, exit_code=0, at=at + 20, seen=at + 20)], at)
            store.finish(run, 0, at + 20)
            (settings.state_path / "runs" / run).mkdir(parents=True)
    return RunService(settings)


def test_labels_are_in_the_list_and_one_is_changed_without_the_others(service: RunService) -> None:
    service.label(OLD, new_name="tp  2", starred=True, note="a first try\n", add_tags=["sweep", "bf16", "sweep"])
    service.label(OLD, remove_tags=["bf16"])
    newest, oldest = service.rows()
    assert (newest.name, newest.starred, newest.tags, newest.note) == ("bert", False, (), "")
    assert (oldest.name, oldest.starred, oldest.tags, oldest.note) == ("tp 2", True, ("sweep",), "a first try")


def test_a_recording_is_found_by_the_name_that_it_was_given(service: RunService, settings: Settings) -> None:
    service.label(OLD, new_name="wide")
    assert service.find("wide").id == OLD
    service.label(OLD, new_name="")
    with pytest.raises(NothingToShow):
        service.find("wide")
    service.label(OLD, new_name="bert")
    assert service.find("bert").id == OLD, "a given name goes before one that was recorded"


def test_a_replay_has_the_name_that_the_recording_was_given(service: RunService) -> None:
    service.label(OLD, new_name="wide")
    feed = service.replay("wide")
    for moment in (1011.0, 1001.0):  # forwards, and back
        feed.show(moment)
        assert feed.read(lambda run, now: run.job.name) == "wide"
    feed.stop()
    other = service.replay(NEW)
    other.show(other.clock.end)
    assert other.read(lambda run, now: run.job.name) == "bert"
    other.stop()


def test_what_is_neither_a_recording_nor_a_file_is_reported_as_neither(service: RunService, tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    with pytest.raises(NothingToShow, match=r"train\.log' is a file, and no recording is called so; `neurontop runs`"):
        service.find(str(tmp_path / "train.log"))
    with pytest.raises(NothingToShow, match=r"no recording 'trian\.log', and no such file"):
        service.find("trian.log")
    with pytest.raises(NothingToShow, match="no recording 'trian'; `neurontop runs` lists"):
        service.find("trian")


def test_a_folder_and_the_beginning_of_several_are_called_so(service: RunService, tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="is a folder, and no recording is called so; name the log files in it"):
        service.find(str(tmp_path))
    begin = "20260101-0"
    assert NEW.startswith(begin)
    with pytest.raises(NothingToShow, match=f"2 recordings begin with '{begin}': .*{OLD}"):
        service.find(begin)


def test_labels_go_with_their_recording(service: RunService, settings: Settings) -> None:
    service.label(OLD, starred=True)
    service.delete(OLD)
    assert json.loads((settings.state_path / "run-labels.json").read_text()) == {}


def test_what_is_too_long_is_refused_and_nothing_is_changed(service: RunService) -> None:
    for labels in (
        {"new_name": "x" * 81},
        {"note": "x" * 2001},
        {"add_tags": ["x" * 41]},
        {"add_tags": map(str, range(21))},
    ):
        with pytest.raises(UsageError):
            service.label(OLD, **labels)  # type: ignore[arg-type]
    assert [row.tags for row in service.rows()] == [(), ()]


def test_a_file_that_cannot_be_read_is_kept_and_the_list_is_shown_without_labels(
    service: RunService, settings: Settings
) -> None:
    path = settings.state_path / "run-labels.json"
    path.write_text("{broken")
    assert len(service.rows()) == 2
    assert service.find("bert").id == NEW
    with pytest.raises(FileMalformed):
        service.label(OLD, starred=True)
    assert path.read_text() == "{broken"


def test_several_at_once_lose_no_label(service: RunService) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: service.label(OLD, add_tags=[f"t{number}"]), range(16)))
    assert sorted(service.rows()[1].tags) == sorted(f"t{number}" for number in range(16))


def test_curves_of_several_runs_begin_at_their_own_first_value(service: RunService) -> None:
    service.label(OLD, new_name="wide")
    newest, oldest = service.overlay(["last", "wide", "last"])
    assert (newest.title, oldest.title, oldest.id) == ("bert", "wide", OLD)
    assert [(value.step, value.time, value.value) for value in oldest.loss] == [
        (0, 0.0, 5.0),
        (1, 1.0, 4.0),
        (2, 2.0, 3.0),
    ]
    assert newest.loss[0].time == 0.0


def test_the_command_labels_lists_and_filters(
    service: RunService, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(settings.state_path))
    for command in (
        ["name", OLD, "wide"],
        ["tag", "wide", "sweep", "bf16"],
        ["star", "wide"],
        ["note", "wide", "slow"],
    ):
        assert main(["runs", *command]) == 0
    assert main(["runs", "tag", "wide", "bf16", "--remove"]) == 0
    capsys.readouterr()
    assert main(["runs", "--json", "--starred", "--tag", "sweep"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["id"], row["name"], row["starred"], row["tags"], row["note"]) == (OLD, "wide", True, ["sweep"], "slow")
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    assert "* wide" in listed
    assert "sweep" in listed
    assert main(["runs", "--tag", "none"]) == 3
    assert main(["runs", "tag", "wide"]) == 2
    assert main(["compare", "wide", "last"]) == 0
    assert "wide" in capsys.readouterr().out
