"""`neurontop run` on a terminal: the job keeps its own, and Ctrl-C there stops it once."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.cli.plain import broken
from neuron_top.ingest.recordings import is_recording


def started(arguments: list[str], folder: Path, hang_up: signal.Handlers = signal.SIG_DFL) -> tuple[int, int]:
    """Process id, and our end of its terminal; whoever runs the tests may ignore the hang-up signal (nohup)."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, hang_up)
        os.environ.update(NEURONTOP_STATE_DIR=str(folder / "state"), TERM="xterm", NEURONTOP_CONFIG=os.devnull)
        os.execv(sys.executable, [sys.executable, "-m", "neuron_top", *arguments])
    return pid, terminal


def on_a_terminal(arguments: list[str], folder: Path, keys: bytes = b"", after: bytes = b"") -> tuple[int, bytes]:
    """Exit status and all that the terminal showed; `keys` are typed once `after` was shown."""
    pid, terminal = started(arguments, folder)
    shown, deadline = b"", time.monotonic() + 240
    while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # its other side was closed
            break
        if keys and after in shown:
            os.write(terminal, keys)
            keys = b""
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, shown


@pytest.mark.parametrize("how", ["--screen", "--plain"])
def test_losing_the_terminal_ends_the_job_and_the_recording(how: str, tmp_path: Path) -> None:
    pid, terminal, _ = with_a_waiting_job(how, tmp_path, signal.SIG_DFL)
    os.close(terminal)
    assert exit_code(pid) == 128 + signal.SIGHUP
    (recording,) = (tmp_path / "state" / "runs").iterdir()
    assert not is_recording(recording)


@pytest.mark.parametrize("how", ["--screen", "--plain"])
def test_where_hang_ups_are_ignored_the_job_outlives_the_terminal_and_is_recorded_to_its_end(
    how: str, tmp_path: Path
) -> None:
    pid, terminal, job = with_a_waiting_job(how, tmp_path, signal.SIG_IGN)
    os.close(terminal)
    until(lambda: str(Path(f"/proc/{pid}/fd/1").readlink()) == os.devnull, f"{pid} lets go of its terminal")
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    os.kill(job, signal.SIGUSR1)
    assert exit_code(pid) == 7
    (recording,) = (tmp_path / "state" / "runs").iterdir()
    assert not is_recording(recording)
    assert b"the last words" in (recording / "output.log").read_bytes()


def with_a_waiting_job(how: str, folder: Path, hang_up: signal.Handlers) -> tuple[int, int, int]:
    """`neurontop run`'s process id, our end of its terminal and the job's process id, once all runs and is shown."""
    ready = folder / "ready"
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGUSR1, lambda *_: (print('the last words'), sys.exit(7)))\n"
        f"open({str(ready)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(ready)!r} + '.new', {str(ready)!r})\n"
        "while True: signal.pause()"
    )
    pid, terminal = started(["run", how, "--", sys.executable, "-c", code], folder, hang_up)
    wanted = b"neuron-top" if how == "--screen" else b""  # drawn once keys are read: before that, Ctrl-C is a signal
    shown, deadline = b"", time.monotonic() + 240
    while not (ready.exists() and wanted in shown):
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536)
    return pid, terminal, int(ready.read_text())


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.1)


def exit_code(pid: int) -> int:
    """How a child ended, once it has."""
    ended = (0, 0)

    def has_ended() -> bool:
        nonlocal ended
        ended = os.waitpid(pid, os.WNOHANG)
        return ended[0] == pid

    until(has_ended, f"{pid} ends")
    return os.waitstatus_to_exitcode(ended[1])


def test_the_screen_closes_by_itself_after_a_job_that_ends_before_it_opens(tmp_path: Path) -> None:
    status, shown = on_a_terminal(["run", "--screen", "--", sys.executable, "-c", "raise SystemExit(5)"], tmp_path)
    assert status == 5
    assert b"\x1b[?1049l" in shown


@pytest.mark.parametrize("key", [b"q", b"\x03"], ids=["q", "Ctrl-C"])
def test_leaving_the_live_view_says_that_the_job_goes_on_and_how_to_end_it(key: bytes, tmp_path: Path) -> None:
    pid, terminal, job = with_a_waiting_job("--screen", tmp_path, signal.SIG_DFL)
    os.write(terminal, key)
    shown = read_until(terminal, b"the job goes on; Ctrl-C stops it")
    assert b"\x1b[?1049l" in shown.partition(b"the job goes on")[0], "said on the screen that is gone"
    os.kill(job, 0)
    os.write(terminal, b"\x03")
    read_until(terminal, b"interrupted (SIGINT)")
    assert exit_code(pid) == 128 + signal.SIGINT
    os.close(terminal)


def test_the_live_view_is_drawn_where_standard_error_goes_to_a_file(tmp_path: Path) -> None:
    """`2>/dev/null` keeps warnings away, not the screen."""
    log = tmp_path / "train.log"
    log.write_text("step 1 loss: 4.2\n")
    told = tmp_path / "told"
    command = f"exec {sys.executable} -m neuron_top watch {log} 2> {told}"
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(NEURONTOP_STATE_DIR=str(tmp_path), TERM="xterm", NEURONTOP_CONFIG=os.devnull)
        os.execv("/bin/sh", ["sh", "-c", command])
    shown = read_until(terminal, b"neuron-top")
    os.write(terminal, b"q")
    read_until(terminal, b"\x1b[?1049l")
    assert exit_code(pid) == 0
    os.close(terminal)
    assert b"\x1b[?1049h" in shown
    assert told.read_bytes() == b""


def test_after_a_job_that_ended_in_the_live_view_nothing_is_said_to_go_on(tmp_path: Path) -> None:
    _status, shown = on_a_terminal(["run", "--screen", "--", sys.executable, "-c", "print('all')"], tmp_path)
    assert b"\x1b[?1049l" in shown
    assert b"goes on" not in shown


def read_until(terminal: int, wanted: bytes) -> bytes:
    shown, deadline = b"", time.monotonic() + 120
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536)
    return shown


def test_the_job_sees_the_terminal_that_we_have(tmp_path: Path) -> None:
    code = "import sys, os; print([os.isatty(n) for n in range(3)]); sys.stdout.write('\\x1b[1mbold\\x1b[0m\\n')"
    status, shown = on_a_terminal(["run", "--plain", "--", sys.executable, "-c", code], tmp_path)
    assert status == 0
    assert b"[True, True, True]\r\n" in shown
    assert b"\x1b[1mbold\x1b[0m\r\n" in shown


def test_ctrl_c_on_the_terminal_interrupts_the_job(tmp_path: Path) -> None:
    code = "import signal; print('ready', flush=True); signal.pause()"
    status, shown = on_a_terminal(
        ["run", "--plain", "--", sys.executable, "-c", code], tmp_path, keys=b"\x03", after=b"ready"
    )
    assert status == 130
    assert b"KeyboardInterrupt" in shown
    assert b"interrupted (SIGINT)" in shown


@pytest.mark.parametrize("how", ["--plain", "--screen"])
def test_ctrl_z_stops_the_job_with_us_and_fg_and_bg_carry_both_on(how: str, tmp_path: Path) -> None:
    ready, worker = tmp_path / "ready", "import signal; signal.pause()"
    code = (
        "import os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))\n"
        f"child = subprocess.Popen([sys.executable, '-c', {worker!r}], start_new_session=True)\n"
        f"open({str(ready)!r} + '.new', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(ready)!r} + '.new', {str(ready)!r})\n"
        "try:\n  while True: signal.pause()\nfinally: child.kill()"
    )
    script = tmp_path / "job.py"
    script.write_text(code)
    shell, terminal = in_a_shell(tmp_path, f"{sys.executable} -m neuron_top run {how} -- {sys.executable} {script}")
    until(ready.exists, "the job runs")
    job, child = map(int, ready.read_text().split())
    if how == "--screen":
        read_until(terminal, b"\x1b[?1049h")
        os.write(terminal, b"q")
        read_until(terminal, b"the job goes on")
    shown = b""
    for order in (b"fg\n", b"bg\n"):
        os.write(terminal, b"\x1a")
        until(lambda: are_stopped(job, child), "all of the job is stopped")
        shown += read_until(terminal, b"Stopped")
        os.write(terminal, order)
        until(lambda: not are_stopped(job) and not are_stopped(child), "all of it goes on")
    os.kill(job, signal.SIGUSR1)
    os.write(terminal, b"wait %1; echo ended with $?\n")
    shown += read_until(terminal, b"ended with 7")
    assert b"\x1b[?1049h" not in shown, "a view that was closed came back"
    os.write(terminal, b"exit\n")
    exit_code(shell)
    os.close(terminal)


def in_a_shell(folder: Path, command: str) -> tuple[int, int]:
    """A shell with job control that was given a command: its process id, and our end of its terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(NEURONTOP_STATE_DIR=str(folder / "state"), TERM="xterm", NEURONTOP_CONFIG=os.devnull)
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    os.write(terminal, f"stty -echo; {command}\n".encode())
    return pid, terminal


def are_stopped(*pids: int) -> bool:
    return all(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T" for pid in pids)


def test_where_no_shell_could_carry_it_on_ctrl_z_does_not_stop_the_job(tmp_path: Path) -> None:
    pid, terminal, job = with_a_waiting_job("--plain", tmp_path, signal.SIG_DFL)
    os.write(terminal, b"\x1a")
    os.write(terminal, b"\x03")
    read_until(terminal, b"interrupted (SIGINT)")
    assert not Path(f"/proc/{job}").exists()
    assert exit_code(pid) == 128 + signal.SIGINT
    os.close(terminal)


def test_in_the_background_of_a_shell_lines_are_printed_and_nothing_is_drawn(tmp_path: Path) -> None:
    for name in ("run -- echo said", "demo", "watch /dev/null"):
        shown = in_the_background(name, tmp_path)
        assert b"\x1b[?1049h" not in shown, name
        assert b"ended with 0" in shown, name


def test_a_terminal_without_screens_says_so_and_prints_lines_that_fit(tmp_path: Path) -> None:
    for name in ("demo", "watch /dev/null"):
        shown = shell_shows(f"{sys.executable} -m neuron_top {name}", tmp_path, TERM="dumb", COLUMNS="70")
        assert b"TERM=dumb names a terminal without screens: the state is printed once" in shown, name
        assert b"\x1b[?1049h" not in shown, name
        lines = shown.decode().split("printed once\r\n")[1].splitlines()
        assert len(lines) > 3
        assert max(map(len, lines)) <= 70


def in_the_background(arguments: str, folder: Path) -> bytes:
    """What a terminal shows of a command that a shell starts with `&`."""
    return shell_shows(f"{sys.executable} -m neuron_top {arguments} & wait %1", folder, TERM="xterm")


def shell_shows(command: str, folder: Path, **environment: str) -> bytes:
    """What a terminal shows of a command line of a shell."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(NEURONTOP_STATE_DIR=str(folder / "state"), NEURONTOP_CONFIG=os.devnull)
        os.environ.update(environment)
        os.execvp("bash", ["bash", "--norc", "-mc", f"{command}; echo ended with $?"])
    shown, deadline = b"", time.monotonic() + 60
    while b"ended with" not in shown and time.monotonic() < deadline and select.select([terminal], [], [], 60)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown


def test_the_summary_is_broken_between_words_below_its_values_and_commands_stay_whole() -> None:
    row = f"  {'PyTorch':<13}4 compiles in 39.1 s with tracing, 4 graphs by the back end neurontop; 2 recompiles"
    first, second = broken(row, 80)
    assert first.startswith("  PyTorch      4 compiles in ")
    assert second.startswith(" " * 15)
    assert [*first.split(), *second.split()] == row.split()
    assert max(map(len, (first, second))) <= 80
    assert broken(row, 120) == [row]
    run = "20261128-213532-cc52"
    both = f"  {'next':<13}neurontop report {run} · neurontop replay {run}"
    assert broken(both, 80) == [f"  {'next':<13}neurontop report {run}", f"{'':15}neurontop replay {run}"]
    assert broken("neurontop: failed: " + "word " * 30, 80)[1].startswith("  word")


def test_on_a_terminal_no_word_of_the_summary_is_cut_in_two(tmp_path: Path) -> None:
    code = "raise ValueError('the batch of step forty-one has labels that are beyond the vocabulary of the model')"
    status, shown = on_a_terminal(["run", "--plain", "--", sys.executable, "-c", code], tmp_path)
    assert status == 1
    ours = shown.decode().partition("neurontop: failed")[2].replace("\r", "").split("\n")
    assert all(len(line) <= 80 for line in ours[1:] if "/" not in line), "a path is longer than a line, and whole"
    assert "vocabulary" in " ".join(ours)
