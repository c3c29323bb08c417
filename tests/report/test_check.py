"""The gate: which thresholds break, how it says so, and its exit status."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest

from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.gate import RULES, judge
from neuron_top.views.report import report
from tests.parsers.logs import M1, g3
from tests.report.samples import T0, made, sample, stepped

LOG = """\
2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at /c/neuronxcc-2.21.33363.0+82129205/\
MODULE_12345678901234567890+e30acd3a/model.neff
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    place = tmp_path / "train.log"
    place.write_text(LOG)
    return str(place)


@pytest.mark.parametrize(
    ("option", "kept", "broken"),
    [
        ("max-failed", 1, 0),
        ("min-hit-rate", 0.0, 0.5),
        ("max-compile-share", 0.5, 0.4),
        ("max-compile-seconds", 50, 40),
        ("max-misses", 10, 1),
        ("max-late-compiles", 5, 1),
        ("max-wait-seconds", 60, 5),
        ("min-throughput", 10, 11),
        ("max-wall-seconds", 100, 99),
    ],
)
def test_a_threshold_is_kept_on_one_side_and_broken_on_the_other(option: str, kept: float, broken: float) -> None:
    view = report(sample(), 0.0)
    (good,) = judge(view, {option: kept})
    (bad,) = judge(view, {option: broken})
    assert (good.passed, bad.passed) == (True, False)


@pytest.mark.parametrize(
    ("option", "threshold", "said"),
    [
        ("--max-compile-share", "20", "must lie between 0 and 1"),
        ("--min-hit-rate", "90", "must lie between 0 and 1"),
        ("--max-misses", "-1", "must be 0 or more"),
        ("--max-misses", "nan", "must be 0 or more"),
        ("--max-misses", "few", "'few' is not a number"),
    ],
)
def test_a_threshold_that_means_nothing_is_refused(
    log: str, capsys: pytest.CaptureFixture[str], option: str, threshold: str, said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", log, option, threshold])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_every_rule_reads_figures_that_exist() -> None:
    names = {one.name for one in report(sample(), 0.0).metrics}
    assert {name for rule in RULES for name in rule.metrics} <= names


def test_a_compiler_that_failed_without_naming_a_graph_breaks_the_gate_too() -> None:
    view = report(made([ev.CompilerExited(code=70, at=T0 + 5)]), 0.0)
    (verdict,) = judge(view, {"max-failed": 0})
    assert not verdict.passed
    assert verdict.reason.startswith("compiler errors that name no graph: 1")
    assert "exit status 70" in view.headline[-1]


def test_what_is_not_known_breaks_its_threshold_unless_allowed() -> None:
    view = report(made(), 0.0)
    assert not judge(view, {"min-hit-rate": 0.5})[0].passed
    assert judge(view, {"min-hit-rate": 0.5}, allow_unknown=True)[0].passed


def test_reasons_stand_one_on_a_line_and_the_status_is_one(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", log, "--max-failed", "0", "--min-hit-rate", "0.9"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["check", log, "--max-failed", "0", "--min-throughput", "5", "--max-step-seconds", "1"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_without_a_threshold_a_line_on_stderr_says_so(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", log]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        "no threshold was given: only whether the job failed is checked (exit status 1 if it did, or has not ended)"
        in err
    )


def test_a_job_page_gets_markdown_and_a_program_json(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", log, "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("## ✅")
    assert main(["check", log, "--min-throughput", "5", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is False
    assert [verdict["option"] for verdict in found["verdicts"]] == ["diagnosis", "min-throughput"]


FAILED = g3(f"Failed compilation with ['neuronx-cc', 'model.{M1}.hlo_module.pb']:", level="ERROR") + (
    "2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported\n[libneuronxla 9.9.1+ab]\n"
)


def test_a_job_that_failed_breaks_the_gate_with_its_cause_first(
    tmp_path: Path, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = tmp_path / "failed.log"
    failed.write_text(LOG + FAILED)
    assert main(["check", str(failed)]) == 1
    reason = "the job: failed: the compiler rejected a graph: [NCC_EVRF031] the sort is not supported (line 3)"
    assert capsys.readouterr().out.splitlines() == [reason]
    assert main(["check", log, str(failed), "--json", "--max-failed", "9"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["passed"], document["diagnosis"]["causes"][0]["source"]) == (False, f"log:{failed}")
    assert [(each["option"], each["passed"]) for each in document["verdicts"]] == [
        ("diagnosis", False),
        ("max-failed", True),
    ]
    assert main(["check", str(failed), "--markdown"]) == 1
    assert f"| **broken** | the job | {reason} |" in capsys.readouterr().out


def test_a_job_that_died_of_no_compile_fails_the_gate_and_one_that_recovered_passes(
    tmp_path: Path, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.log"
    job.write_text(LOG + "ValueError: the batch is empty\n")
    assert main(["check", str(job)]) == 1
    assert "ValueError: the batch is empty" in capsys.readouterr().out
    job.write_text(FAILED + g3(f"Compilation Successfully Completed for model.{M1}.hlo_module.pb"))
    assert main(["check", str(job)]) == 0
    assert main(["check", str(job), "--max-failed", "0"]) == 1


def test_a_log_without_a_line_does_not_pass(tmp_path: Path, log: str, capsys: pytest.CaptureFixture[str]) -> None:
    (empty := tmp_path / "empty.log").touch()
    assert main(["check", str(empty), "--max-failed", "0"]) == 1
    assert "the log holds no line" in capsys.readouterr().out
    assert main(["check", str(empty), "--max-failed", "0", "--allow-unknown"]) == 0
    assert main(["check", str(empty), log, "--max-failed", "0"]) == 0
    assert main(["check", str(empty)]) == 1  # the job may never have begun, or another file was meant
    assert main(["check", str(empty), "--allow-unknown"]) == 0


def test_a_job_that_has_not_ended_passes_neither_check_nor_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    run = "20260101-000000-aaaa"
    began = ev.RunStarted(run=run, name="job", at=T0, seen=T0)
    with SqliteStore(tmp_path / "neurontop.db") as store:
        store.begin(began)
        store.append(run, [began, *stepped(1, 5)], T0)
    folder = tmp_path / "runs" / run
    folder.mkdir(parents=True)
    with (folder / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reason = "the job has not ended (training): run this check again when it has"
        for options in ([], ["--max-failed", "0"], ["--max-failed", "0", "--allow-unknown"]):
            assert main(["check", run, *options]) == 1
            assert capsys.readouterr().out.splitlines() == [reason]
        assert main(["compare", run, run, "--max-slowdown", "9"]) == 1
        assert reason in capsys.readouterr().err
    assert main(["check", run]) == 1
    assert "the run was cut off: its recorder died" in capsys.readouterr().out


def test_the_size_of_a_cache_is_a_threshold_too(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.builders import neff, write_entry

    write_entry(tmp_path / "cache", {"model.neff": neff()})
    assert main(["check", log, "--cache", str(tmp_path / "cache"), "--max-size", "1GB"]) == 0
    assert main(["check", log, "--cache", str(tmp_path / "cache"), "--max-size", "1"]) == 1
    assert "size of the cache" in capsys.readouterr().out
    assert main(["check", log, "--max-size", "1"]) == 2


def test_the_spelling_of_the_first_release_is_taken_and_not_shown(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", log, "--max-late", "0", "--allow-unknown", "--json"]) == 0
    _, verdict = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["option"], verdict["limit"]) == ("max-late-compiles", 0)
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert "--max-late " not in capsys.readouterr().out
