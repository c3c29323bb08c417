"""What is said of a log that ends in a wait for another process's compile."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.diagnose import Diagnosis, LastWait
from neuron_top.ingest.advised import diagnose
from neuron_top.ingest.log_diagnosis import LogDiagnosis
from neuron_top.views.diagnosis import diagnosis_view

MODULE = "MODULE_11112222333344445555+0a1b2c3d"
ROOT = "/fsx/cache"
OTHERS = "loading the tokenizer\n"


def wait(minutes: float, *, module: str = MODULE, root: str = ROOT, head: str = "") -> str:
    """A line that reports a wait, printed that many minutes after ten o'clock."""
    head = head or f"2026-05-02 10:{int(minutes) % 60:02d}:30.000100:  4711  [INFO]: "
    return (
        f"{head}Another process must be compiling {root}/neuronxcc-2.99.1.0+abcdef01/{module}/model.hlo_module.pb, "
        f"been waiting for: {minutes} minutes\n"
    )


def last_wait(log: str) -> LastWait:
    """The wait that is reported of this log."""
    found = diagnose(log.encode(), "log:x").last_wait
    assert isinstance(found, LastWait)
    return found


def test_the_wait_is_that_of_the_last_line_that_reports_one() -> None:
    log = OTHERS + wait(1.0) + wait(2.0) + wait(34.0)
    found = last_wait(log)
    assert (found.line, found.root, found.module, found.minutes) == (4, ROOT, MODULE, 34.0)
    assert log.encode()[found.offset :].startswith(b"2026-05-02 10:34:30")
    assert found.since == last_wait(wait(1.0)).since
    assert not found.is_own


def test_what_another_process_prints_behind_it_does_not_end_the_wait() -> None:
    assert last_wait(wait(3.0) + 20 * OTHERS).minutes == 3.0


@pytest.mark.parametrize(
    "behind",
    [
        f"2026-05-02 10:40:00.000100:  4711  [INFO]: Using a cached neff at {ROOT}/{MODULE}/model.neff\n",
        "{'loss': 2.0}\n",
        "Training finished\n",
        61 * OTHERS,
    ],
    ids=["a hit", "a step", "success", "many lines"],
)
def test_a_wait_that_has_ended_is_not_reported(behind: str) -> None:
    assert diagnose((wait(3.0) + behind).encode(), "log:x").last_wait is msgspec.UNSET


def test_a_failure_is_reported_and_no_wait() -> None:
    diagnosis = diagnose((wait(3.0) + "Traceback (most recent call last):\nKeyError: 'a'\n").encode(), "log:x")
    assert diagnosis.failed
    assert diagnosis.last_wait is msgspec.UNSET


def test_no_last_wait_is_sent_of_a_log_until_it_has_ended() -> None:
    now = 0.0
    log, sent = LogDiagnosis("log:x", lambda: now), []
    for minute in range(1, 4):
        now += 60.0
        sent += log.take(wait(float(minute)).encode())
    assert [event.diagnosis for event in sent] == [Diagnosis()]
    assert [event.diagnosis.last_wait.minutes for event in log.end(b"")] == [3.0]


def test_a_compile_that_began_in_the_same_log_is_called_its_own() -> None:
    start = (
        "2026-05-02 10:00:01.000100:  4711  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile "
        f"/tmp/x/model.{MODULE}.hlo_module.pb --output /tmp/x/model.{MODULE}.neff\n"
    )
    found = last_wait(start + wait(3.0))
    assert found.is_own
    assert "began in the same log" in found.advice
    assert "began in the same log" not in last_wait(wait(3.0)).advice


def test_the_advice_has_the_commands_for_the_entry() -> None:
    advice = last_wait(wait(3.0)).advice
    assert f"neurontop cache show {ROOT} {MODULE} " in advice
    assert f"neurontop cache unlock --dry-run {ROOT} {MODULE} " in advice


def test_a_folder_of_a_log_is_quoted_in_commands() -> None:
    assert "neurontop cache show '/fsx/$(reboot)' MODULE" in last_wait(wait(3.0, root="/fsx/$(reboot)")).advice


def test_a_line_that_names_no_module_gets_the_list_of_locks() -> None:
    found = last_wait(wait(3.0, module="graph_7"))
    assert (found.module, found.root) == ("", ROOT)
    assert found.advice.startswith(f"neurontop cache unlock --dry-run {ROOT} lists")


def test_a_line_without_a_time_says_only_how_long() -> None:
    assert last_wait(wait(3.0, head="INFO: ")).since is None


def test_a_wait_since_before_the_calendar_has_no_beginning() -> None:
    start = f"Call compiler with cmd: neuronx-cc compile /tmp/x/model.{MODULE}.hlo_module.pb\n"
    old = "0100-05-02 10:00:00.000100:  4711  [INFO]: "
    assert last_wait(start + wait(999999999.0, head=old)).since is None


def test_the_view_says_for_what_and_since_when() -> None:
    view = diagnosis_view(diagnose((wait(1.0) + wait(34.0)).encode(), "log:x"))
    assert view.verdict == f"no failure; the log ends in a wait for another process's compile of {MODULE}"
    assert view.where == "line 2, waited 34 m 00 s by then, since 2026-05-02 10:00 by the log's clock"
    assert not view.failed


def test_a_recording_that_goes_on_is_not_said_to_end() -> None:
    view = diagnosis_view(diagnose(wait(1.0).encode(), "log:x"), goes_on=True)
    assert view.verdict == f"no failure so far; the job waits for another process's compile of {MODULE}"
