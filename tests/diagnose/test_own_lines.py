"""A log that `neurontop run` wrote to beside its job: what it repeats is no cause, no step and no end of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from neuron_top.events import CompileFailed, StepReported
from neuron_top.ingest.advised import diagnose
from neuron_top.parsers.own_lines import is_own
from neuron_top.parsers.reader import LogReader
from neuron_top.views.diagnosis import one_line
from tests.parsers.logs import M1, g3

SUMMARY = """
neurontop: {reason}
neurontop: train: failed (exit status 1)
  wall time    2.0 s
  compile time none
  cache        0 hits, 0 misses, 0 failures
  lock waits   0
  last step    7, loss 0.4, 13 samples/s
  peak memory  core 0: 2.9 MiB
  recorded     /state/runs/20260101-100000-abcd
  next         neurontop report 20260101-100000-abcd · neurontop replay 20260101-100000-abcd
"""


def of(log: str, reason: str = "failed: the log does not state why; its last line: working (line 1)") -> str:
    return one_line(diagnose((log + SUMMARY.format(reason=reason)).encode(), "log"))


def test_the_line_that_states_the_cause_is_no_cause() -> None:
    assert of("working\n") == (
        "failed: perhaps the program raised an error: neurontop: train: failed (exit status 1) (line 4)"
    )


def test_the_cause_is_the_jobs_own_line_and_the_only_one() -> None:
    log = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n    f()\nValueError: bad batch\n'
    reason = "failed: the program raised an error: ValueError: bad batch (line 4, likely)"
    found = diagnose((log + SUMMARY.format(reason=reason)).encode(), "log")
    assert [cause.text for cause in found.causes] == ["ValueError: bad batch"]


def test_a_message_that_the_log_ends_in_does_not_go_on_with_the_summary() -> None:
    log = "Failed compilation with ['neuronx-cc', 'compile',\n\nneurontop: sh: completed\n  wall time    1.0 s\n"
    (cause,) = diagnose(log.encode(), "log").causes
    assert cause.text.startswith("Failed compilation with")


def test_the_last_step_in_the_summary_shows_no_job_that_went_on() -> None:
    log = "step 7 loss 0.4\nERROR: something is wrong\n"
    assert of(log) == one_line(diagnose(log.encode(), "log"))
    progress = "neurontop: 00:00:12 training · step 7, loss 0.4, 13 samples/s\n"
    assert of(log + 9 * progress) == one_line(diagnose(log.encode(), "log"))


def test_an_alert_repeats_what_the_job_said() -> None:
    log = "working\nRuntimeError: no device\n"
    alert = "2026-01-01T10:00:00.000000Z neurontop: error: job failed: RuntimeError: no device\n"
    alone = diagnose(log.encode(), "log")
    assert [cause.text for cause in diagnose((log + alert).encode(), "log").causes] == [
        cause.text for cause in alone.causes
    ]


def test_an_error_of_our_own_is_still_a_cause() -> None:
    found = diagnose(b"starting\nneurontop: cannot start 'torchrum': command not found\n", "log")
    assert [cause.line for cause in found.causes] == [2]


def test_what_it_repeats_is_counted_once() -> None:
    failed = g3(
        f"Failed compilation with ['neuronx-cc', 'compile', '/t/{M1}.hlo.pb']: 2025-03-01T10:00:00Z broken",
        level="ERROR",
    )
    alert = f"neurontop: error: compile failed: {failed.strip()}\n"
    log = failed + alert + "step 7 loss 0.4\n" + SUMMARY.format(reason=f"failed: the compiler rejected it: {failed}")
    reader = LogReader("log")
    events = [*reader.feed(log.encode()), *reader.flush()]
    assert sum(isinstance(event, StepReported) for event in events) == 1
    assert sum(isinstance(event, CompileFailed) for event in events) == 1


def test_every_line_that_run_prints_is_known_as_ours(tmp_path: Path) -> None:
    steps = "for i in range(4): print(f'step {i} loss 0.{i}', flush=True); time.sleep(0.4)"
    code = f"import time\n{steps}\nraise ValueError(1)"
    environ = {**os.environ, "NEURONTOP_STATE_DIR": str(tmp_path), "NEURONTOP_CONFIG": os.devnull}
    command = [sys.executable, "-m", "neuron_top", "run", "--", sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )
    ours = done.stderr[done.stderr.index("neurontop: ") :].splitlines()
    last = max(number for number, line in enumerate(ours) if line.startswith("ValueError"))
    assert all(is_own(line) for line in ours[last + 1 :] if line), ours
    merged = tmp_path / "merged.log"
    merged.write_text(done.stdout + done.stderr)
    asked = [sys.executable, "-m", "neuron_top", "status", "--json", str(merged)]
    status = subprocess.run(asked, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert json.loads(status.stdout)["training"]["losses"] == [0.0, 0.1, 0.2, 0.3]
