"""`neurontop watch --json` and `--plain` as a pipe sees them: real processes on a growing log, stdin, a recording."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = (sys.executable, "-m", "neuron_top")
PATIENCE = 240.0
"""Seconds; a busy machine takes ten times as long as a quiet one."""
MODULES = [f"MODULE_{number}{'0' * 18}+e30acd3a" for number in (11, 12, 13)]
FOLDER = "/c/neuronxcc-2.21.33363.0+82129205"


def log_lines() -> list[str]:
    """Two hits and ten steps."""
    hits = [
        f"2025-03-01 10:00:0{at}.000123:  4242  [INFO]: Using a cached neff at {FOLDER}/{module}/model.neff"
        for at, module in enumerate(MODULES[:2])
    ]
    return [*hits, *(f"step {step}/10 loss {20.0 / step:.3f} step_time 0.5 s" for step in range(1, 11))]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEURON")}
    return kept | {"NEURONTOP_STATE_DIR": str(tmp_path / "state"), "NEURONTOP_CONFIG": os.devnull}


class Watching:
    """A running `neurontop watch`; its lines as they come."""

    def __init__(self, environ: dict[str, str], *words: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "watch", *words], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._came:
                self.lines.append(line)
                self._came.notify_all()

    def until(self, reported: Callable[[str], bool]) -> str:
        """The first line for which this holds."""
        with self._came:
            assert self._came.wait_for(lambda: any(reported(line) for line in self.lines), PATIENCE), self.lines[-5:]
        return next(line for line in self.lines if reported(line))

    def interrupted(self) -> int:
        """Its exit status after Ctrl-C, once everything it wrote has been read."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status


@contextmanager
def watching(environ: dict[str, str], *words: str) -> Iterator[Watching]:
    running = Watching(environ, *words)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        for stream in (running.process.stdout, running.process.stderr):
            if stream is not None:
                stream.close()


def test_json_lines_follow_a_log_that_is_written_and_end_with_the_last_state(
    environ: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    lines = log_lines()
    with watching(environ, "--json", str(log)) as running, log.open("w") as out:
        out.write("\n".join(lines[:2]) + "\n")
        out.flush()
        running.until(lambda line: json.loads(line)["cache"]["graphs_hit"] == 2)
        out.write("\n".join(lines[2:]) + "\n")
        out.flush()
        running.until(lambda line: json.loads(line)["training"]["step"] == 10)
        assert running.interrupted() == 130
    last = json.loads(running.lines[-1])
    assert (last["training"]["step"], last["training"]["total_steps"], last["training"]["loss"]) == (10, 10, 2.0)
    assert (last["cache"]["hits"], last["cache"]["misses"], last["compile"]["hit"]) == (2, 0, 2)


def test_json_lines_of_named_views_say_which_view_they_are(environ: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("\n".join(log_lines()) + "\n")
    with watching(environ, "--json", "--view", "compile", "--view", "cores", str(log)) as running:
        reported = json.loads(running.until(lambda line: json.loads(line)["view"] == "compile" and MODULES[0] in line))
        running.until(lambda line: json.loads(line)["view"] == "cores")
        assert running.interrupted() == 130
    assert [row["module"] for row in reported["data"]["rows"]] == MODULES[:2]
    assert {row["state"] for row in reported["data"]["rows"]} == {"hit"}


def test_a_view_without_json_is_refused(environ: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "watch", "--view", "compile", str(tmp_path / "x.log")],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "--json" in done.stderr


def test_plain_lines_of_standard_input_end_with_it_and_carry_no_escapes(environ: dict[str, str]) -> None:
    failed = "ERROR:Neuron:\x1b[31mrank 3\x1b[0m died\n"
    done = subprocess.run(
        [*PROGRAM, "watch", "--plain", "-"],
        env=environ,
        input="\n".join(log_lines()) + "\n" + failed,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    last = done.stdout.splitlines()[-1]
    assert "graphs: 2 from the cache" in last
    assert "step 10/10, loss 2" in last


def test_plain_says_of_which_logs_nothing_can_be_read_yet(environ: dict[str, str], tmp_path: Path) -> None:
    missing, pipe = tmp_path / "later.log", tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [*PROGRAM, "watch", "--plain", str(missing), str(pipe)], env=environ, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout)
        awaited = {"no such file yet": str(missing), "nothing was written to this pipe yet": str(pipe)}
        while awaited:
            line = next(lines)
            awaited = {words: path for words, path in awaited.items() if words not in line or path not in line}
        process.terminate()


def test_plain_says_of_a_folder_without_a_log_that_it_waits_for_one(environ: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    with watching(environ, "--plain", str(folder)) as running:
        running.until(lambda line: line == "waiting for a job\n")
        (folder / "train.log").write_text("\n".join(log_lines()) + "\n")
        running.until(lambda line: "step 10/10, loss 2" in line)
    assert f"those that come are read: {folder}" in running.lines[0]
    assert running.lines[1] == "waiting for a job\n"


def test_a_state_that_is_printed_once_waits_for_no_path(environ: dict[str, str], tmp_path: Path) -> None:
    log, missing = tmp_path / "train.log", tmp_path / "later.log"
    log.write_text("\n".join(log_lines()) + "\n")

    def watched(*paths: Path) -> subprocess.CompletedProcess[str]:
        command = [*PROGRAM, "watch", *map(str, paths)]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False)

    assert watched(log).returncode == 0
    dangling = tmp_path / "latest.log"
    dangling.symlink_to(missing)
    assert watched(dangling).returncode == 3
    for paths, is_shown in (((missing,), False), ((log, missing), True)):
        done = watched(*paths)
        assert (done.returncode, "2 from the cache" in done.stdout) == (3, is_shown)
        assert f"{missing}: no such file or folder; --plain and --json wait for it" in done.stderr


def test_a_file_that_cannot_be_read_is_named_beside_the_state_of_the_others(
    environ: dict[str, str], tmp_path: Path
) -> None:
    log, damaged, folder = tmp_path / "train.log", tmp_path / "old.log.gz", tmp_path / "logs"
    log.write_text("\n".join(log_lines()) + "\n")
    damaged.write_bytes(b"\x1f\x8bno more")
    folder.mkdir()

    def watched(*paths: Path) -> tuple[int, str, str]:
        words = [*PROGRAM, "watch", *map(str, paths)]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    assert watched(damaged)[:2] == (2, "")
    status, shown, remarks = watched(log, damaged)
    assert (status, "2 from the cache" in shown, "old.log.gz" in shown) == (2, True, False)
    assert f"cannot read {damaged}: " in remarks
    status, shown, remarks = watched(folder)
    assert (status, "no log in this folder yet" in remarks, str(folder) in remarks) == (0, True, True)


def test_a_next_step_of_a_job_that_goes_on_comes_with_what_it_is_about(environ: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text('Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no such size\n')
    done = subprocess.run(
        [*PROGRAM, "watch", str(log)], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    _state, cause, step, *_ = done.stdout.splitlines()
    assert cause.startswith("so far failed: the program raised an error: ValueError: no such size")
    assert step.startswith("next: ")


def test_plain_reports_an_alert_on_a_line_of_its_own(environ: dict[str, str]) -> None:
    wait = "2025-03-01 10:00:00.000123:  4242  [INFO]: Another process must be compiling "
    wait += f"{FOLDER}/{MODULES[2]}/model.neff been waiting for: 61.0 minutes\n"
    done = subprocess.run(
        [*PROGRAM, "watch", "--plain", "-"],
        env=environ,
        input=wait,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert any(line.startswith("error: stale lock: ") for line in done.stdout.splitlines()), done.stdout


def test_the_log_of_a_recording_streams_what_the_recording_holds(environ: dict[str, str], tmp_path: Path) -> None:
    job = [sys.executable, "-c", f"print({chr(10).join(log_lines())!r})"]
    done = subprocess.run(
        [*PROGRAM, "run", "--plain", "--", *job],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder = next((tmp_path / "state" / "runs").iterdir())
    with watching(environ, "--json", str(folder / "output.log")) as running:
        running.until(lambda line: json.loads(line)["training"]["step"] == 10)
        assert running.interrupted() == 130
    replayed = subprocess.run(
        [*PROGRAM, "replay", "last", "--json"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    streamed, recorded = json.loads(running.lines[-1]), json.loads(replayed.stdout)
    for card, facts in (("cache", ("hits", "misses", "graphs_hit")), ("training", ("step", "total_steps", "loss"))):
        assert [streamed[card][fact] for fact in facts] == [recorded[card][fact] for fact in facts]
