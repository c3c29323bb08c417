"""`neurontop diagnose` as a user runs it, and the same answer in `tally`."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.cli.cache_commands import SUBCOMMANDS
from neuron_top.cli.main import COMMANDS, main
from neuron_top.views import cause_advice
from tests.parsers.logs import M1, g3

FAILED = (
    "noise\n"
    + g3(f"Failed compilation with ['neuronx-cc', 'model.{M1}.hlo_module.pb']:", level="ERROR")
    + "2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported\n[libneuronxla 9.9.1+ab]\n"
    + "RuntimeError: engine is gone\n"
)
FINE = g3(f"Using a cached neff at /scratch/neuronxcc-2.99.1.0+abcdef01/{M1}/model.neff")


def neurontop(*arguments: str, stdin: str = "", home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    environ = dict(os.environ) if home is None else {**os.environ, "NEURONTOP_STATE_DIR": str(home)}
    command = [sys.executable, "-m", "neuron_top", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, env=environ)


def test_the_reason_is_the_first_thing_shown(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    result = neurontop("diagnose", str(log))
    assert result.returncode == 1
    first, _, where, text = result.stdout.splitlines()[:4]
    assert first == f"{log}: failed: the compiler rejected a graph"
    assert where == "line 3"
    assert text.strip() == "[NCC_EVRF031] the sort is not supported"
    assert "next\n" in result.stdout


def test_of_a_long_line_begin_and_end_are_shown_around_a_mark(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    command = "Command '['neuronx-cc', " + "'--option-of-some-length', " * 40 + "'a.pb']'"
    context = f"a step {'of many words ' * 12}is the last"
    log.write_text(f"{context}\nRuntimeError: {command} returned non-zero exit status 70.\n")
    _, _, _, *quoted = neurontop("diagnose", str(log)).stdout.splitlines()
    wrapped = " ".join(line.strip() for line in quoted[: quoted.index("")])
    before, cause = quoted[quoted.index("") + 1 :][:2]
    assert max(map(len, quoted)) <= 120
    for shown, begin in ((wrapped, "RuntimeError: C"), (before, "  1  a step "), (cause, "> 2  RuntimeError: C")):
        assert (shown[: len(begin)], shown.count("…")) == (begin, 1)
        assert shown.endswith(("is the last", "returned non-zero exit status 70."))


def test_an_answer_is_broken_between_words_on_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.log").write_text(
        "ImportError: libneuron.so.2: cannot open shared object file: No such file or directory, and many words more\n"
        "RuntimeError: the loader of the training data ended, because all of its worker processes had ended before\n"
    )
    for command in ("diagnose", "check"):
        monkeypatch.setenv("COLUMNS", "60")
        main([command, "job.log"])
        piped = capsys.readouterr().out
        with monkeypatch.context() as patched:
            patched.setattr(sys.stdout, "isatty", lambda: True)
            main([command, "job.log"])
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 60 < max(map(len, piped.splitlines()))
        assert "many words more" in " ".join(shown.split())


def test_the_document_has_exactly_the_published_keys(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    document = json.loads(neurontop("diagnose", "--json", str(log)).stdout)
    assert list(document) == ["failed", "recovered", "job_ended", "causes"]
    assert (document["failed"], document["recovered"], document["job_ended"]) == (True, False, "failed")
    cause = document["causes"][0]
    assert list(cause) == [
        "class",
        "line",
        "offset",
        "source",
        "text",
        "count",
        "ranks",
        "confidence",
        "advice",
        "evidence",
    ]
    assert (cause["class"], cause["line"], cause["source"]) == ("compile_error", 3, f"log:{log}")
    assert FAILED.encode()[cause["offset"] :].startswith(b"2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031]")
    assert [set(line) for line in cause["evidence"]] == [{"line", "text"}] * len(cause["evidence"])
    assert [line["line"] for line in cause["evidence"]] == [1, 2, 4, 5]


def test_several_logs_give_one_diagnosis_each_and_a_failure_of_any_is_the_exit_status(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.log.gz", tmp_path / "good.log"
    bad.write_bytes(gzip.compress(FAILED.encode()))
    good.write_text(FINE)
    result = neurontop("diagnose", "--json", str(bad), str(good))
    assert result.returncode == 1
    assert {name: each["failed"] for name, each in json.loads(result.stdout).items()} == {
        str(bad): True,
        str(good): False,
    }


def test_standard_input_without_a_failure_is_exit_status_0() -> None:
    result = neurontop("diagnose", "-", stdin=FINE)
    assert (result.returncode, result.stdout) == (0, "standard input: no failure; the log just stops\n")


def test_an_empty_log_is_called_empty_and_is_exit_status_2() -> None:
    result = neurontop("diagnose", "-", stdin="")
    assert result.returncode == 2
    assert result.stdout.startswith("standard input: the log is empty: nothing says how the job went\n\nnext\n")


def test_what_is_no_text_is_called_so_and_is_exit_status_2_unless_another_log_failed(tmp_path: Path) -> None:
    junk, bad = tmp_path / "weights.bin", tmp_path / "bad.log"
    junk.write_bytes(bytes(range(256)) * 16)
    bad.write_text(FAILED)
    result = neurontop("diagnose", str(junk))
    assert result.returncode == 2
    assert result.stdout.startswith(f"{junk}: this is no text: it cannot be read as a log\n")
    both = neurontop("diagnose", "--json", str(junk), str(bad))
    assert both.returncode == 1
    assert {name: each.get("unreadable") for name, each in json.loads(both.stdout).items()} == {
        str(junk): "not_text",
        str(bad): None,
    }


def test_a_recovered_failure_is_reported_and_is_no_failure() -> None:
    passed = FAILED.replace("RuntimeError: engine is gone\n", "") + g3(
        f"Compilation Successfully Completed for model.{M1}.hlo_module.pb"
    )
    result = neurontop("diagnose", "-", stdin=passed)
    assert result.returncode == 0
    assert result.stdout.startswith("standard input: recovered: the compiler rejected a graph")


def test_the_last_recording_is_diagnosed_with_its_exit_code(tmp_path: Path) -> None:
    command = "print('loading'); raise SystemExit(3)"
    assert neurontop("run", "--plain", "--", sys.executable, "-c", command, home=tmp_path).returncode == 3
    result = neurontop("diagnose", "--json", "last", home=tmp_path)
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert (document["failed"], document["job_ended"]) == (True, "failed")
    assert document["causes"][0]["text"] == "loading"
    assert document["causes"][0]["confidence"] == "low"
    assert "exit code 3" in document["causes"][0]["advice"]


def test_of_a_folder_it_is_said_to_name_the_logs_in_it(tmp_path: Path) -> None:
    result = neurontop("diagnose", "tests", home=tmp_path / "state")
    assert result.returncode == 3
    assert "'tests' is a folder (name the log files in it), and nothing was recorded yet" in result.stderr


def test_a_name_of_nothing_is_exit_status_3_and_a_file_that_is_not_there_2(tmp_path: Path) -> None:
    assert neurontop("diagnose", "nothing", home=tmp_path).returncode == 3
    assert neurontop("diagnose", f"{tmp_path}/none.log", home=tmp_path).returncode in (2, 3)


def test_the_logs_that_can_be_read_are_diagnosed_beside_names_that_cannot(tmp_path: Path) -> None:
    good, bad, damaged = tmp_path / "good.log", tmp_path / "bad.log", tmp_path / "old.log.gz"
    good.write_text(FINE)
    bad.write_text(FAILED)
    damaged.write_bytes(b"\x1f\x8bno more")
    result = neurontop("diagnose", "nothing", str(good), str(damaged), home=tmp_path)
    assert (result.returncode, result.stdout) == (3, f"{good}: no failure; the log just stops\n")
    assert ["nothing" in line for line in result.stderr.splitlines()] == [True, False]
    assert f"cannot read {damaged}: " in result.stderr
    result = neurontop("diagnose", "--json", str(damaged), str(bad), home=tmp_path)
    assert (result.returncode, list(json.loads(result.stdout))) == (1, [str(bad)])


def test_the_status_of_a_recording_begins_with_the_cause_and_carries_the_diagnosis(tmp_path: Path) -> None:
    command = f"print({FAILED!r}, end=''); raise SystemExit(1)"
    neurontop("run", "--plain", "--", sys.executable, "-c", command, home=tmp_path)
    result = neurontop("status", "last", home=tmp_path)
    assert result.returncode == 1
    first = result.stdout.splitlines()[0]
    cause = "the compiler rejected a graph: [NCC_EVRF031] the sort is not supported (line 3)"
    assert first.startswith(f"FAILED python · {cause} · after ")
    document = json.loads(neurontop("status", "last", "--json", home=tmp_path).stdout)
    assert document["diagnosis"] == json.loads(neurontop("diagnose", "--json", "last", home=tmp_path).stdout)


def test_the_summary_at_the_end_of_a_run_begins_with_the_cause(tmp_path: Path) -> None:
    command = f"print({FAILED!r}, end=''); raise SystemExit(5)"
    result = neurontop("run", "--plain", "--name", "it", "--", sys.executable, "-c", command, home=tmp_path)
    assert result.returncode == 5
    lines = result.stderr.splitlines()
    blank, reason, _ = lines[(end := lines.index("neurontop: it: failed (exit status 5)")) - 2 : end + 1]
    assert blank == ""
    assert (
        reason == "neurontop: failed: the compiler rejected a graph: [NCC_EVRF031] the sort is not supported (line 3)"
    )
    fine = neurontop("run", "--plain", "--name", "fine", "--", sys.executable, "-c", "print(1)", home=tmp_path)
    assert "\n\nneurontop: fine: completed\n" in f"\n{fine.stderr}"


def test_the_status_of_a_job_that_ended_well_begins_with_its_name_and_has_no_cause(tmp_path: Path) -> None:
    neurontop("run", "--plain", "--name", "fine", "--", sys.executable, "-c", "print('step 1')", home=tmp_path)
    result = neurontop("status", "last", home=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("COMPLETED fine · ")
    diagnosis = json.loads(neurontop("status", "last", "--json", home=tmp_path).stdout)["diagnosis"]
    assert (diagnosis["failed"], diagnosis["job_ended"], diagnosis["causes"]) == (False, "finished", [])


def test_the_tally_carries_the_same_diagnosis_and_its_check_exits_by_it(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    alone = json.loads(neurontop("diagnose", "--json", str(log)).stdout)
    assert json.loads(neurontop("tally", "--json", str(log)).stdout)["diagnosis"] == alone
    assert neurontop("tally", "--check", str(log)).returncode == 1
    log.write_text("ValueError: no compile failed here, yet the job did\n")
    assert neurontop("tally", "--check", "--json", str(log)).returncode == 1
    log.write_text(FINE)
    assert neurontop("tally", "--check", str(log)).returncode == 0


def test_every_command_that_an_advice_names_exists() -> None:
    advice = [*cause_advice.OF_CLASSES.values(), *cause_advice.OF_ROWS.values(), *cause_advice.REMARKS.values()]
    named = re.findall(r"neurontop (\w+)(?: ([a-z][a-z-]*))?", "\n".join(advice))
    cache_commands = {row.name for row in SUBCOMMANDS}
    assert {command for command, _ in named} <= {row.name for row in COMMANDS}
    assert {word for command, word in named if command == "cache"} <= cache_commands
    assert ("cache", "retry") in named


def test_a_log_that_ends_in_a_wait_names_the_entry_and_the_commands_and_is_exit_status_0(tmp_path: Path) -> None:
    line = g3(
        f"Another process must be compiling /c/neuronxcc-2.99.1.0+abcdef01/{M1}/model.hlo_module.pb, "
        "been waiting for: 12.0 minutes"
    )
    result = neurontop("diagnose", "-", stdin=line)
    assert result.returncode == 0
    first, _, where, *_ = result.stdout.splitlines()
    assert first == f"standard input: no failure; the log ends in a wait for another process's compile of {M1}"
    assert where.startswith("line 1, waited 12 m 00 s by then, since ")
    advice = " ".join(result.stdout.split())
    assert f"neurontop cache show /c {M1}" in advice
    assert f"neurontop cache unlock --dry-run /c {M1}" in advice
    document = json.loads(neurontop("diagnose", "--json", "-", stdin=line).stdout)
    assert (document["failed"], document["last_wait"]["module"]) == (False, M1)
