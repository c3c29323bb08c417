"""`neurontop status` of a log that nobody recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from neuron_top.cli.main import main

HIT = "Using a cached neff at /c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "train.log"


def test_a_log_is_named_as_a_recording_is(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text(
        f"2026-03-01 10:00:00.000123:  4242  [INFO]: {HIT}\n2026-03-01 10:05:00.000123:  4242  [INFO]: {HIT}\n"
    )
    assert main(["status", str(log)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "CUT OFF train.log · no end seen; it was running after 5 m 00 s · 1 graph: 1 from the cache"
    assert main(["status", "--json", str(log)]) == 0
    assert json.loads(capsys.readouterr().out)["cache"]["hits"] == 2


def test_a_log_without_any_time_has_ended_when_its_file_was_written_last(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text(f"{HIT}\n")
    os.utime(log, (time.time() - 7200,) * 2)
    assert main(["status", str(log)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("CUT OFF train.log · no end seen; it was running · 1 graph: 1 from the cache\n")
    assert "2 h 00 m ago" in told


def test_a_log_that_failed_is_exit_status_one(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text('Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no such size\n')
    assert main(["status", str(log)]) == 1
    assert capsys.readouterr().out.startswith(
        "FAILED train.log · the program raised an error: ValueError: no such size"
    )


def test_a_pipe_that_nobody_writes_to_is_reported_as_awaited(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(log)

    def write() -> None:
        time.sleep(1.5)  # longer than a writer may take without a word
        log.write_text(f"{HIT}\n")

    writer = threading.Thread(target=write)
    writer.start()
    assert main(["status", str(log)]) == 0
    writer.join()
    told = capsys.readouterr()
    assert told.err == f"neurontop: {log}: waiting until something writes to this pipe (Ctrl-C ends)\n"
    assert "1 graph: 1 from the cache" in told.out


def test_standard_input_is_read_where_it_is_named(log: Path) -> None:
    command = [sys.executable, "-m", "neuron_top", "status", "-"]
    done = subprocess.run(command, input=f"{HIT}\n", capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "standard input" in done.stdout
    assert "1 graph: 1 from the cache" in done.stdout
    command[3] = "report"
    report = subprocess.run(command, input=f"{HIT}\n", capture_output=True, text=True, timeout=120, check=False)
    assert report.stdout.startswith("# standard input: read from a log\n")


def test_a_name_that_is_no_file_is_still_a_recording(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "no-such-run"]) == 3
    assert "'no-such-run' is not a file, and nothing was recorded yet" in capsys.readouterr().err
    assert main(["diagnose", "no-such.log"]) == 3
    assert "'no-such.log' is not a file" in capsys.readouterr().err
    for words in (["status", "last"], ["check"], ["report", "last~"], ["cache", "pin", "--run", "last"]):
        assert main(words) == 3
        said = capsys.readouterr().err
        assert said.startswith("neurontop: nothing was recorded yet")
        assert said.endswith("; `neurontop run -- <command>` makes the first recording\n")


@pytest.mark.parametrize("is_null", [False, True], ids=["empty file", "/dev/null"])
def test_nothing_is_reported_about_lines_of_a_log_that_has_none(
    log: Path, capsys: pytest.CaptureFixture[str], *, is_null: bool
) -> None:
    log.touch()
    os.utime(log, (time.time() - 7200,) * 2)
    name = os.devnull if is_null else str(log)
    assert main(["status", name]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"IDLE {Path(name).name} · the log has no line yet\n")
    assert " ago" not in told
    assert main(["status", "--json", name]) == 0
    header = json.loads(capsys.readouterr().out)["header"]
    assert (header["state"], header["last_line"], header["silent"]) == ("idle", None, None)


def test_a_line_end_in_the_name_of_a_log_is_made_visible(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = log.with_name("new\nline.log")
    place.write_text(f"{HIT}\n")
    os.utime(place, (time.time() - 7200,) * 2)
    assert main(["status", str(place)]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("CUT OFF new⏎line.log · ")
    assert [line for line in rest if line.startswith("new⏎line.log · cut off")]


def test_a_log_that_ends_in_a_wait_for_a_lock_has_not_failed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = "/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.hlo_module.pb"
    wait = f"Another process must be compiling {graph}, been waiting for:"
    log.write_text(
        f"2026-03-01 10:00:00.000123:  4242  [INFO]: {wait} 1.0 minutes\n"
        f"2026-03-01 12:00:00.000123:  4242  [INFO]: {wait} 121.0 minutes\n"
    )
    assert main(["status", str(log)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("CUT OFF train.log · no end seen; it was waiting after 2 h 00 m · ")
    assert "a lock of the cache was not released in time" in told
    assert "failed" not in told
    assert "says who holds the lock" in told


def test_the_next_step_of_a_log_that_ends_in_a_short_wait_is_to_ask_for_the_lock(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = "/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.hlo_module.pb"
    log.write_text(
        "2026-03-01 10:09:00.000123:  4242  [INFO]: Another process must be compiling "
        f"{graph}, been waiting for: 9.0 minutes\n"
    )
    assert main(["status", str(log)]) == 0
    step = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("next: "))
    assert step.startswith("next: neurontop cache show /c MODULE_12345678901234567890+e30acd3a says who")


def test_a_loss_without_a_step_is_shown_beside_the_verdict_that_has_it(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text("{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n")
    assert main(["status", str(log)]) == 0
    assert "  training     loss 2.5\n" in capsys.readouterr().out
