"""Alerts acknowledged, muted and kept as history."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.errors import FileMalformed, NothingToShow
from neuron_top.run.model import Run
from neuron_top.services import alerts
from neuron_top.services.alerts import AlertAct, AlertService, chosen_keys
from neuron_top.settings import Settings
from neuron_top.views.alerts import Alert, AlertKind, Severity
from neuron_top.views.handled_alerts import NO_HISTORY, AlertHistory, alert_list, job_key, noted, without_handled
from neuron_top.views.overview import overview


def alert(key: str, severity: Severity = Severity.WARNING) -> Alert:
    return Alert(
        key=key, kind=AlertKind.IDLE_CORE, severity=severity, since=90.0, title=f"{key} is idle", evidence="0.4 %",
        next_step="look",
    )  # fmt: skip


A, B = alert("a"), alert("b")


def test_what_ended_is_kept_and_what_holds_is_not_past() -> None:
    history = noted(NO_HISTORY, "job", [A, B], 100.0)
    assert noted(history, "job", [B, A], 101.0) is history
    assert alert_list("job", [A, B], history).past == ()
    history = noted(history, "job", [B], 130.0)
    (past,) = alert_list("job", [B], history).past
    assert (past.key, past.since, past.seen, past.ended, past.title) == ("a", 90.0, 100.0, 130.0, "a is idle")


def test_one_that_flickers_was_never_away_and_one_that_comes_back_counts_again() -> None:
    history = noted(AlertHistory(acknowledged={"a": 99.0}), "job", [A], 100.0)
    flickered = noted(noted(history, "job", [], 110.0), "job", [A], 120.0)
    assert (len(flickered.past), flickered.past[0].ended, [*flickered.acknowledged]) == (1, None, ["a"])
    again = noted(noted(history, "job", [], 110.0), "job", [A], 500.0)
    assert [past.ended for past in again.past] == [110.0, None]
    assert again.acknowledged == {}


def test_the_history_has_an_end() -> None:
    history = NO_HISTORY
    for number in range(600):
        history = noted(history, "job", [alert(str(number))], float(number))
    assert len(history.past) == 500
    assert history.past[-1].key == "599"


def test_more_alerts_than_are_kept_are_noted_once_while_they_hold() -> None:
    """A job may fail to compile each of a thousand graphs."""
    found = [alert(str(number)) for number in range(1000)]
    history = noted(noted(NO_HISTORY, "job", [A], 90.0), "job", found, 100.0)
    assert noted(history, "job", found, 101.0) is history
    assert [past.key for past in history.past] == [one.key for one in found], "what ended goes first"
    ended = noted(history, "job", [], 200.0)
    assert [past.key for past in ended.past] == [one.key for one in found[500:]]


def failed_disk() -> Run:
    run = Run()
    run.apply(ev.CacheScanned(root="/c", states={"hit": 1}, size=2**20, free=2**20, at=1.0))
    return run


def test_acknowledged_and_muted_alerts_no_longer_count(tmp_path: Path) -> None:
    service, run = AlertService(Settings(state_dir=str(tmp_path))), failed_disk()
    (found,) = service.listed(run, 2.0).active
    job = job_key(run)
    for act, where in ((AlertAct.ACKNOWLEDGE, "acknowledged"), (AlertAct.MUTE, "muted"), (AlertAct.UNDO, "active")):
        history = service.act(job, act, [found.key])
        view = service.listed(run, 2.0)
        assert {name: len(getattr(view, name)) for name in ("active", "acknowledged", "muted")} == {
            "active": 0, "acknowledged": 0, "muted": 0,
        } | {where: 1}  # fmt: skip
        shown = without_handled(overview(run, 2.0), history)
        assert (len(shown.alerts), shown.alerts_handled) == ((1, 0) if act is AlertAct.UNDO else (0, 1))


def test_an_alert_is_named_by_key_or_kind(tmp_path: Path) -> None:
    view = AlertService(Settings(state_dir=str(tmp_path))).listed(failed_disk(), 2.0)
    assert chosen_keys(view, ["disk-low", "disk /c"]) == ["disk /c"]
    with pytest.raises(NothingToShow, match="no alert 'x' holds now"):
        chosen_keys(view, ["x"])


def test_each_job_has_a_file_of_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    service = AlertService(Settings(state_dir=str(tmp_path)))
    for job in ("20260101-run", "/logs/../x y.log", "machine", "..", "日本"):
        service.note(job, [alert(job)], 1.0)
        assert [past.key for past in service.history(job).past] == [job]
    files = sorted(path.name for path in tmp_path.rglob("*.json"))
    assert len(files) == 5
    assert all(path.parent == tmp_path / alerts.FOLDER for path in tmp_path.rglob("*.json"))
    service.forget("machine")
    assert service.history("machine") == NO_HISTORY


def test_only_the_newest_jobs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "MOST_JOBS", 3)
    service = AlertService(Settings(state_dir=str(tmp_path)))
    for number in range(9):
        service.note(f"job{number}", [A], 1.0)
    assert len(list(tmp_path.rglob("*.json"))) <= 4


def test_a_file_that_cannot_be_read_hides_nothing_and_is_not_written_over(tmp_path: Path) -> None:
    service = AlertService(Settings(state_dir=str(tmp_path)))
    path = tmp_path / alerts.FOLDER / "job.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert service.history("job") == NO_HISTORY
    with pytest.raises(FileMalformed):
        service.act("job", AlertAct.MUTE, ["a"])
    assert path.read_text() == "{"


def test_the_command_lists_acknowledges_and_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["run", "--plain", "--", "sh", "-c", "echo RuntimeError: out of luck; exit 3"]) == 3
    capsys.readouterr()
    assert main(["alerts"]) == 1
    assert "[job failed]" in capsys.readouterr().out
    assert main(["alerts", "ack", "job-failed"]) == 0
    assert "(acknowledged)" in capsys.readouterr().out
    assert main(["alerts", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["alerts"]
    assert [found["kind"] for found in document["acknowledged"]] == ["job-failed"]
    assert document["active"] == []
    assert main(["alerts", "undo", "job failed"]) == 0
    assert main(["alerts"]) == 1
    assert main(["alerts", "mute"]) == 2
    assert main(["alerts", "mute", "nothing"]) == 3


def test_the_alert_book_survives_json() -> None:
    history = noted(AlertHistory(muted={"x\ty": 1.0}), "job", [A], 100.0)
    assert msgspec.json.decode(msgspec.json.encode(history), type=AlertHistory) == history
