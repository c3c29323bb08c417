"""`neurontop check` of runs that did not end well: whatever was measured, no gate lets them through."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.views.gate import DIAGNOSIS, END
from tests.adversary.test_killed_watcher import Attack, numbered, until

LOG = b"step 1\n"


@pytest.fixture
def attack(tmp_path: Path) -> Attack:
    return Attack(tmp_path)


def neurontop(attack: Attack, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "neuron_top", *arguments], env=attack.environ, capture_output=True, check=False
    )


def recorded(attack: Attack, code: str, name: str = "it") -> None:
    neurontop(attack, "run", "--plain", "--name", name, "--", sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit(7)", b"failed (exit status 7)"),
        ("import os; os.kill(os.getpid(), 9)", b"killed (signal 9)"),
    ],
)
def test_the_gate_names_the_cause_of_a_failed_run(attack: Attack, code: str, words: bytes) -> None:
    recorded(attack, code)
    done = neurontop(attack, "check")
    assert (done.returncode, done.stdout.count(b"\n")) == (1, 2)
    assert done.stdout.startswith(b"the job: failed")
    assert words in done.stdout
    assert neurontop(attack, "check", "last", "--max-wall-seconds", "1000", "--allow-unknown").returncode == 1
    found = json.loads(neurontop(attack, "check", "--json").stdout)
    assert found["passed"] is False
    assert [(one["option"], one["passed"]) for one in found["verdicts"]] == [(DIAGNOSIS, False), (END, False)]
    assert b"exit status" in neurontop(attack, "check", "--markdown").stdout


def test_a_run_that_ended_well_passes(attack: Attack) -> None:
    recorded(attack, "print('step 1')")
    assert neurontop(attack, "check").returncode == 0
    job, end = json.loads(neurontop(attack, "check", "--json").stdout)["verdicts"]
    assert (job["option"], job["passed"]) == (DIAGNOSIS, True)
    assert (end["option"], end["value"], end["passed"]) == (END, 0, True)


def test_a_run_that_was_cut_off_is_reported_as_such_everywhere(attack: Attack) -> None:
    recorded(attack, "print('step 1')", "before")
    with (attack.folder / "out").open("wb") as out:
        program = subprocess.Popen(attack.command("--plain"), env=attack.environ, stdout=out, stderr=out)
        until(lambda: attack.runs() and len(attack.runs_with_events()) == 2, "the recording begins, with a time")
        program.send_signal(signal.SIGKILL)
        program.wait()
    for arguments in (("check",), ("check", "--allow-unknown"), ("check", "--max-wall-seconds", "1e6")):
        done = neurontop(attack, *arguments)
        assert (done.returncode, done.stdout.count(b"\n")) == (1, 1), done
        assert b"cut off" in done.stdout
    found = json.loads(neurontop(attack, "check", "--json").stdout)
    assert [(each["option"], each["value"]) for each in found["verdicts"]] == [(DIAGNOSIS, 0), (END, None)]
    status = neurontop(attack, "status", "last", "--json")
    header = json.loads(status.stdout)["header"]
    assert (status.returncode, header["state"], header["active"], header["finished"]) == (1, "cut off", False, None)
    assert b"was cut off" in neurontop(attack, "report", "last").stdout
    assert json.loads(neurontop(attack, "replay", "last", "--json").stdout)["header"]["state"] == "cut off"
    compared = neurontop(attack, "compare", "before", "last", "--max-slowdown", "100")
    assert compared.returncode == 1
    assert b"cut off" in compared.stderr
    until(attack.finished.exists, "the job goes on to its end")
    until(
        lambda: (attack.folder / "out").read_bytes().count(b"\nline ") + 1 >= numbered().count(b"\n"), "its last line"
    )


def test_a_run_that_goes_on_passes_no_gate(attack: Attack) -> None:
    code = (
        "import subprocess, sys, time\n"
        "def check(): return subprocess.run([sys.executable, '-m', 'neuron_top', 'check'], capture_output=True)\n"
        "while (done := check()).returncode == 3: time.sleep(0.1)\n"
        "print(done.returncode, done.stdout)"
    )
    done = neurontop(attack, "run", "--plain", "--", sys.executable, "-c", code)
    assert done.stdout.startswith(b"1 b'the job has not ended (running): ")


def test_logs_do_not_report_how_a_command_ended(attack: Attack) -> None:
    log = attack.folder / "train.log"
    log.write_bytes(LOG)
    done = neurontop(attack, "check", str(log), "--json", "--allow-unknown")
    assert END not in [one["option"] for one in json.loads(done.stdout)["verdicts"]]
