"""`neurontop run` where the user may have no more threads: a sentence, and no command that goes on unwatched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.errors import LimitReached

REFUSED = "can't start new thread"
LIMITED = f"""
import sys, threading
from neuron_top.cli.main import main
start, started = threading.Thread.start, []

def limited(self):
    if len(started) == int(sys.argv[1]):
        raise RuntimeError("{REFUSED}")
    started.append(self)
    start(self)

threading.Thread.start = limited
sys.exit(main(["run", "--", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("left", [0, 2])
def test_a_command_that_cannot_be_watched_does_not_run(left: int, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(left), "sh", "-c", f"echo $$ > {pid}; exec sleep 300"],
        env={**os.environ, "NEURONTOP_STATE_DIR": str(tmp_path / "state"), "NEURONTOP_CONFIG": os.devnull},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == LimitReached.exit_code, done.stderr
    assert REFUSED in done.stderr
    assert "Traceback" not in done.stderr
    if pid.exists() and pid.read_text():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)
