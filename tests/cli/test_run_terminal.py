"""`neurontop run` on a terminal: the job keeps its own, and Ctrl-C there stops it once."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from neuron_top.pipeline.recordings import is_recording


def started(arguments: list[str], folder: Path) -> tuple[int, int]:
    """Process id, and our end of its terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(
            NEURONTOP_STATE_DIR=str(folder / "state"), TERM="xterm", NEURONTOP_CONFIG=str(folder / "none")
        )
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
    ready = tmp_path / "ready"
    code = f"import signal; open({str(ready)!r}, 'w').close(); signal.pause()"
    pid, terminal = started(["run", how, "--", sys.executable, "-c", code], tmp_path)
    wanted = b"\x1b[?1049h" if how == "--screen" else b""
    shown, deadline = b"", time.monotonic() + 240
    while not (ready.exists() and wanted in shown):
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536)
    os.close(terminal)
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        assert time.monotonic() < deadline, Path(f"/proc/{pid}/stat").read_text()
        time.sleep(0.1)
    assert os.waitstatus_to_exitcode(ended[1]) == 128 + signal.SIGHUP
    (recording,) = (tmp_path / "state" / "runs").iterdir()
    assert not is_recording(recording)


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
