"""A cause that the log does not state is called a guess before it is named, on every screen that shows it."""

from __future__ import annotations

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.ingest.advised import diagnose
from neuron_top.store.records import RunRecord
from neuron_top.views.diagnosis import describe, diagnosis_view, headline, one_line
from neuron_top.views.runs import run_row

GUESS = f"perhaps {describe(CauseClass.HOST_OOM)}: Killed"


def killed() -> Diagnosis:
    """A worker that something ended with SIGKILL: the kernel for memory, or a person."""
    return diagnose(b"step 3 loss 2.5\nKilled\n", "log")


def test_the_first_words_of_a_title_call_a_guess_a_guess() -> None:
    shown = headline(killed(), over=True)
    assert shown is not None
    assert shown.reason == f"{GUESS} (line 2)"
    assert one_line(killed()) == f"failed: {GUESS} (line 2)"


def test_a_verdict_that_calls_it_a_guess_does_not_repeat_that_behind_the_line() -> None:
    view = diagnosis_view(killed())
    assert view.verdict == f"failed: perhaps {describe(CauseClass.HOST_OOM)}"
    assert view.certainty == ""


def test_what_is_likely_or_certain_is_named_without_it() -> None:
    (cause,) = killed().causes
    for confidence, certainty in ((Confidence.MEDIUM, "likely"), (Confidence.HIGH, "")):
        sure = msgspec.structs.replace(killed(), causes=(msgspec.structs.replace(cause, confidence=confidence),))
        view = diagnosis_view(sure)
        assert view.verdict == f"failed: {describe(CauseClass.HOST_OOM)}"
        assert view.certainty == certainty


def test_the_list_of_recordings_says_so_too() -> None:
    summary = msgspec.json.encode({"state": "failed", "diagnosis": killed()}).decode()
    record = RunRecord(
        id="a", node="n", name="", command=(), directory="/", pid=None, started=1.0, finished=2.0, exit_code=1,
        touched=2.0, events=1, bytes=1, folder="a", summary=summary,
    )  # fmt: skip
    assert run_row(record, 9.0, recorder_alive=False).reason == GUESS
