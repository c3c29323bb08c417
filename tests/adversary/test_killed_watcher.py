"""kill -9 of `neurontop run`: the job goes on to its end, and every byte it writes gets to where it went before."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from neuron_top.errors import NeuronTopError
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.adversary.attacker import LONG, mounted

PATIENCE = 240.0
LINES = 100
JOB = """
import os, sys, time
watcher = os.getppid()
open(sys.argv[1] + ".pid", "w").write(str(os.getpid()))
for number in range(int(sys.argv[2])):
    os.write(1 + number % 2 if sys.argv[3] == "both" else 1, b"line %d\\n" % number)
    time.sleep(0.05 if os.getppid() == watcher else 0.005)
open(sys.argv[1], "w").write("finished")
sys.exit(7)
"""
"""It waits for the kill, and has no reason to wait afterwards."""


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


class Attack:
    """A job under `neurontop run`, which is killed; where its output went is the test's to say."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.finished = folder, folder / "finished"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NEURONTOP_")},
            "NEURONTOP_STATE_DIR": str(folder / "state"),
            "NEURONTOP_CONFIG": os.devnull,
            "TERM": "xterm",
        }

    def command(self, *options: str, lines: int = LINES, streams: str = "one") -> list[str]:
        return [
            *(sys.executable, "-m", "neuron_top", "run", *options, "--"),
            *(sys.executable, "-c", JOB, str(self.finished), str(lines), streams),
        ]

    def runs(self) -> bool:
        """The job has said who it is."""
        return self.finished.with_suffix(".pid").exists()

    def recorded_runs(self) -> list[str]:
        """Ids of the runs that the store knows of."""
        try:
            with SqliteStore(self.folder / "state" / FILE_NAME, read_only=True) as store:
                return [run.id for run in store.runs()]
        except NeuronTopError:
            return []

    def runs_with_events(self) -> list[str]:
        """Those of which it knows more than that they began."""
        try:
            with SqliteStore(self.folder / "state" / FILE_NAME, read_only=True) as store:
                return [run.id for run in store.runs() if store.span(run.id) is not None]
        except NeuronTopError:
            return []

    def is_recorded(self) -> bool:
        """The store knows of the run."""
        return bool(self.recorded_runs())

    def relays(self) -> list[int]:
        """Processes that pass on this recording's output."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            if "output_relay.py" in " ".join(process.info["cmdline"] or []):
                with contextlib.suppress(psutil.Error, OSError):
                    if str(self.folder) in Path(f"/proc/{process.pid}/environ").read_text():
                        found.append(process.pid)
        return found

    def check(self) -> None:
        """The job ended by itself; nothing of ours is left; the recording says that it was cut off."""
        until(self.finished.exists, "the job goes on to its end")
        until(lambda: not self.relays(), "the relay ends with the output")
        done = subprocess.run(
            [sys.executable, "-m", "neuron_top", "runs", "--json"],
            env=self.environ,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        (row,) = json.loads(done.stdout)["runs"]
        assert (row["state"], row["exit_code"]) == ("cut off", None)

    def log(self) -> bytes:
        (folder,) = (self.folder / "state" / "runs").iterdir()
        return (folder / "output.log").read_bytes()


@pytest.fixture
def attack(tmp_path: Path) -> Attack:
    return Attack(tmp_path)


def numbered(count: int = LINES) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(count))


def killed_midway(program: subprocess.Popen[bytes], attack: Attack) -> None:
    until(lambda: attack.runs() and attack.is_recorded(), "the job starts")
    program.send_signal(signal.SIGKILL)
    program.wait()


@pytest.mark.parametrize("how", ["w", "a"])
def test_a_killed_watcher_leaves_the_output_in_a_file_whole(attack: Attack, how: str) -> None:
    out, err = attack.folder / "out", attack.folder / "err"
    with out.open(how) as output, err.open(how) as error:
        program = subprocess.Popen(attack.command("--plain"), env=attack.environ, stdout=output, stderr=error)
        killed_midway(program, attack)
    attack.check()
    until(lambda: out.read_bytes() == numbered(), "every line, in order, once")
    assert attack.log() == numbered()


def test_both_streams_keep_their_own_place(attack: Attack) -> None:
    out, err = attack.folder / "out", attack.folder / "err"
    with out.open("w") as output, err.open("w") as error:
        command = attack.command("--plain", streams="both")
        killed_midway(subprocess.Popen(command, env=attack.environ, stdout=output, stderr=error), attack)
    attack.check()
    wanted = numbered().splitlines(keepends=True)
    assert out.read_bytes() == b"".join(wanted[::2])
    said = [line for line in err.read_bytes().splitlines(keepends=True) if line.startswith(b"line ")]
    assert said == wanted[1::2]
    assert sorted(attack.log().splitlines()) == sorted(numbered().splitlines())


def test_a_killed_watcher_leaves_the_output_in_a_pipe_whole(attack: Attack) -> None:
    program = subprocess.Popen(
        attack.command("--plain"), env=attack.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert program.stdout is not None
    first = program.stdout.readline()
    until(attack.is_recorded, "the recording begins")
    program.send_signal(signal.SIGKILL)
    assert first + program.stdout.read() == numbered()
    program.wait()
    program.stdout.close()
    attack.check()


@pytest.mark.parametrize("mode", ["--plain", "--screen"])
def test_a_killed_watcher_leaves_the_output_on_a_terminal_whole(attack: Attack, mode: str) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        command = attack.command(mode)
        os.execve(command[0], command, attack.environ)
    shown = b""
    with reading(terminal) as so_far:
        until(lambda: mode == "--plain" or b"\x1b[?1049h" in so_far(), "it is shown")
        until(lambda: attack.runs() and attack.is_recorded(), "the job runs and is recorded")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        attack.check()
        if mode == "--plain":
            until(lambda: b"line %d\r\n" % (LINES - 1) in so_far(), "the last line on the terminal")
        shown = so_far()
    if mode == "--plain":
        ours = [line for line in shown.splitlines(keepends=True) if line.startswith(b"line ")]
        assert ours == numbered().replace(b"\n", b"\r\n").splitlines(keepends=True)
    assert attack.log() == numbered()


@contextlib.contextmanager
def reading(terminal: int) -> Iterator[Callable[[], bytes]]:
    """Take what a terminal shows while inside; gives a function for what it was so far."""
    shown, stopped = bytearray(), threading.Event()

    def read() -> None:
        while not stopped.is_set():
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown.extend(os.read(terminal, 65536))
                except OSError:  # its other side was closed
                    return

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield lambda: bytes(shown)
    finally:
        stopped.set()
        reader.join()
        os.close(terminal)


def test_a_reader_that_goes_away_afterwards_ends_the_job_as_without_us(attack: Attack) -> None:
    program = subprocess.Popen(
        attack.command("--plain", lines=100_000), env=attack.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert program.stdout is not None
    program.stdout.readline()
    program.send_signal(signal.SIGKILL)
    program.wait()
    job = int(attack.finished.with_suffix(".pid").read_text())
    program.stdout.close()
    until(lambda: not psutil.pid_exists(job), "the job ends of SIGPIPE")
    until(lambda: not attack.relays(), "the relay ends with the output")
    assert not attack.finished.exists()


def test_a_slow_reader_slows_the_job_down_and_fills_neither_memory_nor_disk(attack: Attack) -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 65536)"
    program = subprocess.Popen(
        [*attack.command("--plain")[:6], sys.executable, "-c", code],
        env=attack.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert program.stdout is not None
    program.stdout.read(1)
    (relay,) = attack.relays()
    (job,) = (child for child in psutil.Process(program.pid).children() if child.pid != relay)
    program.send_signal(signal.SIGKILL)
    program.wait()
    time.sleep(2.0)
    assert psutil.Process(relay).memory_info().rss < 64 << 20
    assert len(attack.log()) < 8 << 20
    job.kill()
    while program.stdout.read(1 << 20):
        pass
    program.stdout.close()
    until(lambda: not attack.relays(), "the relay ends with the output")


def test_a_full_disk_of_the_recording_does_not_stop_the_job(attack: Attack, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with mounted(tmp_path / "state", "size=2m") as disk, out.open("w") as output:
        program = subprocess.Popen(
            attack.command("--plain"), env=attack.environ, stdout=output, stderr=subprocess.DEVNULL
        )
        until(attack.runs, "the job starts")
        with open(disk / "filler", "wb") as filler, contextlib.suppress(OSError):
            while True:
                os.write(filler.fileno(), bytes(4096))
        program.send_signal(signal.SIGKILL)
        program.wait()
        until(attack.finished.exists, "the job goes on to its end")
        until(lambda: not attack.relays(), "the relay ends with the output")
        assert out.read_bytes() == numbered()


def test_a_full_disk_of_the_output_costs_lines_and_not_the_job(small_disk: Path, attack: Attack) -> None:
    with open(small_disk / "filler", "wb") as filler, contextlib.suppress(OSError):
        while True:
            os.write(filler.fileno(), bytes(4096))
    with open(small_disk / "out", "wb") as output:
        done = subprocess.run(
            attack.command("--plain", lines=20),
            env=attack.environ,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 7, done.stderr
    assert attack.finished.exists()
    assert b"No space left on device" in done.stderr
    assert attack.log() == numbered(20)


def test_killed_at_any_moment_nothing_is_lost_or_reported_twice(attack: Attack) -> None:
    """A job that writes without a pause, killed ever later: what arrives is what it wrote, up to its end."""
    code = "import os, sys\nfor n in range(20_000): os.write(1, b'%d\\n' % n)\nopen(sys.argv[1], 'w').write('x')"
    wanted = b"".join(b"%d\n" % number for number in range(20_000))
    for attempt in range(20 if LONG else 4):
        attack.finished.unlink(missing_ok=True)
        program = subprocess.Popen(
            [*attack.command("--plain")[:6], sys.executable, "-c", code, str(attack.finished)],
            env=attack.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert program.stdout is not None
        first = program.stdout.read(1 + attempt * 5000)
        program.send_signal(signal.SIGKILL)
        assert first + program.stdout.read() == wanted
        program.wait()
        program.stdout.close()
        until(attack.finished.exists, "the job goes on to its end")
