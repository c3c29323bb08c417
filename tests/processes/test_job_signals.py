"""Signals that are meant for us reach the job, all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROUNDS = 40
PROGRAM = """
import os, signal, subprocess, sys, threading, time
from neuron_top.processes.job_signals import signals_passed_on
from neuron_top.processes.launch import Job

signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # what a script starts in the background ignores it
came, late = [], 0
job = Job([sys.executable, "-c", "import time; time.sleep(600)"], dict(os.environ, NEURONTOP_RUN="twice"), shown=False)
job.signal = came.append

def send():
    global late
    for _ in range(int(sys.argv[1])):
        before, deadline = len(came), time.monotonic() + 2
        subprocess.run(["/bin/sh", "-c", f"kill -QUIT {os.getpid()}; kill -TERM {os.getpid()}"], check=True)
        while len(came) < before + 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        late += len(came) < before + 2
    os.kill(job.pid, 9)

for _ in range(6):
    threading.Thread(target=lambda: [time.sleep(0.0005) for _ in iter(int, 1)], daemon=True).start()
with signals_passed_on(job, print, lambda: None, resize=False):
    job.start()
    threading.Thread(target=job.pump, args=(lambda _stream, _data: None,), daemon=True).start()
    sender = threading.Thread(target=send)
    sender.start()
    job.wait()
    sender.join()
print(late)
"""


def test_a_signal_right_behind_another_one_is_passed_on_too(tmp_path: Path) -> None:
    program = tmp_path / "twice.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")
