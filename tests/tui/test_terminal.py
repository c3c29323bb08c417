"""The real program in a real terminal: opened with nothing running, walked through, left; in tmux."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: apt-get install tmux"),
]
PATIENCE = 300.0
"""Seconds; a busy machine takes ten times as long as a quiet one."""


class Tmux:
    """One tmux server of our own, with one window of 120×36."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self._environment = {
            # COLUMNS and LINES would be believed before the terminal's own size.
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("NEURON", "TMUX", "NO_COLOR", "COLUMNS", "LINES"))
        } | {
            "XDG_STATE_HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def __call__(self, *words: str) -> str:
        command = ["tmux", "-S", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True).stdout

    def open(self, command: str, **environ: str) -> None:
        words = " ".join(f"{name}={value}" for name, value in environ.items())
        started = f"env {words} {command}" if words else command
        self("new-session", "-d", "-x", "120", "-y", "36", f"{started}; echo left with $?; exec sleep 1000")

    def screen(self) -> str:
        return self("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self("send-keys", *keys)

    def until(self, *texts: str, patience: float = PATIENCE) -> str:
        """The screen once it shows all these texts, twice: a picture taken while tmux still draws is half of two."""
        deadline, in_a_row = time.monotonic() + patience, 0
        while in_a_row < 2:
            shown = self.screen()
            in_a_row = in_a_row + 1 if all(text in shown for text in texts) else 0
            assert time.monotonic() < deadline, f"{texts} did not come in {patience} s:\n{shown}"
            time.sleep(0.1)
        return shown


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    server("kill-server")


NEURONTOP = f"{sys.executable} -m neuron_top"


def test_with_a_log_that_does_not_exist_yet_it_opens_waits_and_picks_the_job_up(tmux: Tmux, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    tmux.open(f"{NEURONTOP} watch {log}")
    waiting = tmux.until("Nothing runs here yet")
    assert "neurontop run --" in waiting
    assert "IDLE" in waiting
    log.write_text("INFO: the first line\nTraceback (most recent call last):\nValueError: shapes differ\n")
    shown = tmux.until("ValueError: shapes differ")
    assert "Nothing runs here yet" not in shown


def test_keys_walk_all_screens_and_q_leaves_with_status_0(tmux: Tmux, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line n{number}\n" for number in range(500)) + "the \x1b[2J\x1b]0;bad\x07 end\n")
    tmux.open(f"{NEURONTOP} watch {log}")
    tmux.until("line n499")
    for key, text in (
        ("2", "No core reports yet"),
        ("3", "No graph yet"),
        ("6", "No recording yet"),
        ("5", "following"),
    ):
        tmux.press(key)
        tmux.until(text)
    tmux.until("the  end")  # what would have cleared the screen and named the window is left out
    assert "bad" not in tmux.screen()
    tmux.press("/")
    tmux.until("level:warning")
    tmux.press(*"line n42", "Enter")
    shown = tmux.until("line n429")
    assert "line n430" not in shown
    tmux.press("Escape")
    tmux.until("line n499")
    tmux.press("?")
    tmux.until("Keys of Logs")
    tmux.press("q")
    tmux.until("following")
    tmux("resize-window", "-x", "80", "-y", "24")
    tmux.until("line n499")
    tmux.press("q")
    assert "Traceback" not in tmux.until("left with 0")


def test_of_a_pipe_the_screen_scrolls_back_to_the_first_line_and_leaves_nothing_behind(
    tmux: Tmux, tmp_path: Path
) -> None:
    count, folder = 12_000, tmp_path / "scratch"
    folder.mkdir()
    writer = f"{sys.executable} -c 'for number in range({count}): print(\"piped line\", number)'"
    tmux.open(
        f"sh -c '{writer.replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))} | {NEURONTOP} watch -'",
        TMPDIR=str(folder),
    )
    tmux.until(f"piped line {count - 1}")
    tmux.press("5")
    tmux.until("following", f"piped line {count - 1}")
    tmux.press("g")
    tmux.until("first line", "piped line 0\n", "piped line 1\n")
    tmux.press("/")
    tmux.until("level:warning")
    tmux.press(*"line 4321", "Enter")
    tmux.until("piped line 4321")
    assert not list(folder.iterdir())
    tmux.press("q")
    tmux.until("left with 0")


def test_control_c_leaves_the_terminal_as_it_was(tmux: Tmux, tmp_path: Path) -> None:
    tmux.open(f"{NEURONTOP} watch {tmp_path / 'no.log'}")
    tmux.until("Nothing runs here yet")
    tmux.press("C-c")
    tmux.until("left with 0")


def pid_of(script: Path) -> int:
    """Of the `neurontop run` that has started this script."""
    (job,) = [
        process for process in psutil.process_iter(["cmdline"]) if (process.info["cmdline"] or [])[1:] == [str(script)]
    ]
    return int(job.ppid())


@pytest.mark.parametrize("from_outside", [False, True])
def test_ctrl_z_stops_the_view_and_its_job_and_fg_carries_both_on(
    tmux: Tmux, tmp_path: Path, *, from_outside: bool
) -> None:
    count, script = tmp_path / "count", tmp_path / "job.py"
    script.write_text(
        f"import time\nfor step in range(9999):\n    open({str(count)!r}, 'w').write(str(step))\n"
        "    print(f'step {step} loss 1.5', flush=True)\n    time.sleep(0.02)\n"
    )
    tmux.open("bash --norc --noprofile -i")
    tmux.press(f"{NEURONTOP} run --screen --name held -- {sys.executable} {script}", "Enter")
    tmux.until("● TRAINING held")
    if from_outside:
        os.kill(pid_of(script), signal.SIGTSTP)
    else:
        tmux.press("C-z")
    tmux.until("Stopped")
    before = count.read_text()
    # A screen has nothing to draw on in the background: it stops again.
    tmux.press("clear; bg; while jobs | grep -q Running; do sleep 0.1; done; echo it stopped again", "Enter")
    assert "TRAINING" not in tmux.until("it stopped again")
    assert count.read_text() == before
    tmux("resize-window", "-x", "90", "-y", "24")
    tmux.press("fg", "Enter")
    tmux.until("● TRAINING held", "? help")
    deadline = time.monotonic() + PATIENCE
    while count.read_text() == before:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    tmux.press("C-c")
    tmux.until("the job goes on")
    tmux.press("C-c")
    tmux.until("recorded")


def test_ctrl_z_says_so_where_there_is_no_shell_to_go_back_to(tmux: Tmux, tmp_path: Path) -> None:
    tmux.open(f"{NEURONTOP} watch {tmp_path / 'no.log'}")
    tmux.until("Nothing runs here yet")
    tmux.press("C-z")
    tmux.until("no shell is there to go back to", "Nothing runs here yet")
    tmux.press("q")
    tmux.until("left with 0")


@pytest.mark.parametrize("closes", [False, True])
def test_a_demo_that_is_killed_restores_the_terminal_and_removes_its_recording(
    tmux: Tmux, tmp_path: Path, *, closes: bool
) -> None:
    tmux.open(f"{NEURONTOP} demo", TMPDIR=str(tmp_path))
    tmux.until("replay")
    (folder,) = tmp_path.glob("neurontop-demo-*")
    if closes:
        tmux("new-session", "-d", "-s", "another", "sleep 1000")  # tmux itself ends with its last session
        tmux("kill-session", "-t", "0")
    else:
        (demo,) = (one for one in psutil.process_iter(["environ"]) if is_demo_in(one, tmp_path))
        demo.terminate()
        assert "replay" not in tmux.until(f"left with {128 + signal.SIGTERM}")
    deadline = time.monotonic() + PATIENCE
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def is_demo_in(process: psutil.Process, folder: Path) -> bool:
    """Whether it is the `neurontop demo` whose temporary files lie there."""
    environ = process.info["environ"] or {}
    return environ.get("TMPDIR") == str(folder) and "demo" in process.cmdline() and "env" not in process.name()
