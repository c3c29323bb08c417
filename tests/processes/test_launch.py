"""A job under `Job` behaves as from the shell: bytes, streams, exit status, signals."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from neuron_top.processes.launch import RUN_VARIABLE, CommandNotStarted, Job, shell_status

PYTHON = sys.executable
PATIENCE = 240.0
"""Seconds; a busy machine takes ten times as long as a quiet one."""


class Watched:
    """A job with its output collected per stream. `pause`: seconds that each portion takes its reader."""

    def __init__(self, code: str, run: str, pause: float = 0.0) -> None:
        self._pause = pause
        self.output: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self.grew = threading.Condition()
        self.job = Job([PYTHON, "-u", "-c", code], {**os.environ, RUN_VARIABLE: run}, shown=False)
        self.job.start()
        self._thread = threading.Thread(target=self.job.pump, args=(self._take,))
        self._thread.start()

    def _take(self, stream: str, data: bytes) -> None:
        time.sleep(self._pause)
        with self.grew:
            self.output[stream] += data
            self.grew.notify_all()

    def wait_for(self, text: bytes) -> None:
        with self.grew:
            assert self.grew.wait_for(
                lambda: text in self.output["stdout"] + self.output["stderr"], timeout=PATIENCE
            ), self.output

    def end(self) -> int:
        code = self.job.wait()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return code


@pytest.fixture
def run_name(tmp_path: Path) -> Iterator[str]:
    name = f"test-{tmp_path.name}-{os.getpid()}"
    yield name
    left = Job(["true"], {RUN_VARIABLE: name}).processes()
    for process in left:
        process.kill()
    assert not left, f"the test left processes behind: {left}"


def test_bytes_arrive_unchanged_and_the_streams_stay_apart(run_name: str) -> None:
    watched = Watched(
        "import sys; sys.stdout.buffer.write(bytes(range(256)) * 1000); sys.stderr.buffer.write(b'a\\r\\nb')", run_name
    )
    assert watched.end() == 0
    assert watched.output == {"stdout": bytes(range(256)) * 1000, "stderr": b"a\r\nb"}


def test_the_exit_status_is_the_commands_own(run_name: str) -> None:
    assert Watched("raise SystemExit(7)", run_name).end() == 7


def test_death_by_a_signal_is_reported_as_a_shell_reports_it(run_name: str) -> None:
    code = Watched("import os; os.kill(os.getpid(), 9)", run_name).end()
    assert (code, shell_status(code)) == (-9, 137)


def test_a_missing_command_is_127() -> None:
    with pytest.raises(CommandNotStarted, match="no-such-command-anywhere") as raised:
        Job(["no-such-command-anywhere"], dict(os.environ)).start()
    assert raised.value.exit_code == 127


def test_a_file_that_may_not_be_run_is_126(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("echo hi")
    with pytest.raises(CommandNotStarted) as raised:
        Job([str(tmp_path / "script")], dict(os.environ)).start()
    assert raised.value.exit_code == 126


def test_a_script_without_a_shebang_runs_as_in_a_shell(tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text("exit 9\n")
    script.chmod(0o755)
    job = Job([str(script)], dict(os.environ), shown=False)
    job.start()
    job.pump(lambda _stream, _data: None)
    assert job.wait() == 9


def test_a_signal_reaches_the_job_and_is_remembered(run_name: str) -> None:
    watched = Watched(
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saving'), sys.exit(5)))\n"
        "print('ready'); signal.pause()",
        run_name,
    )
    watched.wait_for(b"ready")
    watched.job.signal(signal.SIGTERM)
    assert watched.end() == 5
    assert b"saving" in watched.output["stdout"]
    assert watched.job.interrupted_by == "SIGTERM"


def test_processes_in_sessions_of_their_own_are_found_and_ended(run_name: str) -> None:
    # The child ignores the friendly signal that the pump sends to whatever a killed command leaves.
    deaf = "import os, signal; signal.signal(15, signal.SIG_IGN); print(os.getpid(), flush=True); signal.pause()"
    watched = Watched(
        "import subprocess, sys, os\n"
        f"child = subprocess.Popen([sys.executable, '-c', {deaf!r}], start_new_session=True, stdout=subprocess.PIPE)\n"
        "print(child.stdout.readline().decode()); os.kill(os.getpid(), 9)",
        run_name,
    )
    watched.wait_for(b"\n")
    child = int(watched.output["stdout"])
    watched.job.wait()
    assert watched.job.end_rest(grace=0.1) == [child]
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    assert watched.end() == -9


@pytest.mark.parametrize("first_words", ["pass", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_a_busy_worker_whose_launcher_was_killed_does_not_hold_us_up(run_name: str, first_words: str) -> None:
    busy = f"{first_words}\nwhile True: print('step', flush=True)"
    watched = Watched(
        "import signal, subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {busy!r}], start_new_session=True)\n"
        "signal.pause()",
        run_name,
    )
    watched.wait_for(b"step")
    watched.job.signal(signal.SIGKILL)
    assert watched.end() == -9
    watched.job.end_rest()
    psutil.wait_procs(watched.job.processes(), timeout=PATIENCE)  # killed, but perhaps not gone yet
    assert watched.job.processes() == []


def test_a_daemon_that_keeps_the_pipe_open_does_not_hold_us_up(run_name: str) -> None:
    watched = Watched(
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], start_new_session=True)\n"
        "print('done')",
        run_name,
    )
    assert watched.end() == 0
    assert watched.output["stdout"] == b"done\n"
    assert len(watched.job.end_rest(grace=10.0)) == 1


def test_a_command_that_cannot_be_started_for_want_of_descriptors_holds_none() -> None:
    """Whichever of the pipes, sockets and processes cannot be made: what was made before is closed."""
    held = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    before, free = len(held), os.dup(0)
    os.close(free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ended = set()
    for more in range(24 + max(held) - free):  # tests before this one may hold some behind the first that is free
        job = Job([sys.executable, "-c", "pass"], dict(os.environ), shown=False)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, hard))
        try:
            job.start()
        except CommandNotStarted as problem:
            ended.add(str(problem).partition(": ")[2])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if job.started:
            job.pump(lambda stream, data: None)
            assert job.wait() == 0
            break
        assert len(list(Path("/proc/self/fd").iterdir())) == before, f"with {more} descriptors"
    assert job.started
    assert ended == {"Too many open files"}


@pytest.mark.parametrize("pause", ["time.sleep(0.05)", "pass"], ids=["now and then", "always"])
def test_a_process_left_behind_that_never_is_quiet_does_not_hold_us_up(
    run_name: str, pause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_top.processes.launch._LONGEST_REST_SECONDS", 0.5)
    chatty = f"import time\nprint('left', flush=True)\nwhile True: print('and on', flush=True); {pause}"
    watched = Watched(
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {chatty!r}], start_new_session=True)\n"
        "time.sleep(0.2); print('x' * 30000); sys.stdout.write('its last words\\n'); sys.exit(3)",
        run_name,
    )
    assert watched.end() == 3
    assert watched.job.left_processes
    assert b"its last words\n" in watched.output["stdout"]  # one write, so that nothing stands within the line
    assert watched.job.ended is not None
    assert time.time() - watched.job.ended >= 0.5, "the time of the end is the command's"
    (left,) = watched.job.processes()
    with pytest.raises(psutil.TimeoutExpired):
        left.wait(0.3)
    watched.job.end_rest()


def test_the_end_of_the_output_is_read_though_a_process_left_behind_goes_on_and_the_reader_is_slow(
    run_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_top.processes.launch._LONGEST_REST_SECONDS", 0.1)
    chatty = "import time\nwhile True: print('and on', flush=True); time.sleep(0.5)"
    watched = Watched(
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {chatty!r}], start_new_session=True)\n"
        "import time\nfor number in range(200): sys.stdout.write(f'line {number}\\n'); time.sleep(0.001)",
        run_name,
        pause=0.02,
    )
    assert watched.end() == 0
    assert b"line 199\n" in watched.output["stdout"]
    assert watched.job.end_rest()


def test_the_environment_gains_nothing_but_what_was_given(run_name: str) -> None:
    watched = Watched("import os, json; print(json.dumps(dict(os.environ)))", run_name)
    watched.end()
    theirs = json.loads(watched.output["stdout"])
    assert {name: value for name, value in theirs.items() if name != "LC_CTYPE"} == {
        name: value for name, value in {**os.environ, RUN_VARIABLE: run_name}.items() if name != "LC_CTYPE"
    }
