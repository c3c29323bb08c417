"""Lines that a log shipper or a structured logger has put into JSON."""

from __future__ import annotations

import json

import pytest

from neuron_top.events import ErrorRaised, LineMarked, StepReported
from neuron_top.events.levels import LogLevel
from tests.parsers.logs import only, read

TRACEBACK = 'Traceback (most recent call last):\n  File "/job/a.py", line 3, in main\n    run()\nValueError: no layer'


@pytest.mark.parametrize("front", ["", "[rank3]: ", "2026-03-04T10:00:00.123456789Z stdout F ", "[pod/train-0/a] "])
@pytest.mark.parametrize(
    ("members", "level", "text"),
    [
        ({"level": "error", "message": "cannot save"}, LogLevel.ERROR, "cannot save"),
        ({"level": "warn", "msg": "a slow disk"}, LogLevel.WARNING, "a slow disk"),
        ({"level": "fatal", "event": "no space"}, LogLevel.FATAL, "no space"),
        ({"asctime": "2026-03-04 10:00:00", "levelname": "CRITICAL", "message": "no space"}, LogLevel.CRITICAL,
         "no space"),
        ({"timestamp": "2026-03-04T10:00:00Z", "level": "ERROR", "fields": {"message": "shard 0 failed"}},
         LogLevel.ERROR, "shard 0 failed"),
    ],
)  # fmt: skip
def test_errors_and_warnings_of_structured_loggers_are_shown(
    front: str, members: dict[str, object], level: LogLevel, text: str
) -> None:
    marks = only(LineMarked, read(f"{front}{json.dumps(members)}\n"))
    assert [(mark.level, mark.text) for mark in marks] == [(level, text)]


@pytest.mark.parametrize("member", ["exc_info", "exception", "stack_trace"])
def test_a_traceback_beside_the_message_is_read(member: str) -> None:
    line = json.dumps({"level": "error", "message": "the job failed", member: TRACEBACK})
    (raised,) = only(ErrorRaised, read(f"[rank3]: {line}\n"))
    assert (raised.exception, raised.message, raised.rank) == ("ValueError", "no layer", 3)


@pytest.mark.parametrize("key", ["time", "@timestamp"])
@pytest.mark.parametrize("text", ["log", "message"])
def test_the_shippers_timestamp_dates_a_line_without_one(text: str, key: str) -> None:
    line = json.dumps({text: "step 3 loss 2.5\n", "stream": "stdout", key: "2026-03-04T10:00:00.250Z"})
    (step,) = only(StepReported, read(line + "\n"))
    assert (step.step, step.at) == (3, 1772618400.25)


@pytest.mark.parametrize(
    "members",
    [
        {"level": "info", "message": "all is well"},
        {"level": 50, "message": "a number is no level"},
        {"event": "error", "message": "loading"},
        {"log": "loading\n", "stream": "stderr", "level": "error"},
    ],
)
def test_other_objects_are_no_errors(members: dict[str, object]) -> None:
    assert read(json.dumps(members) + "\n") == []


def test_a_level_that_is_in_the_message_too_is_shown_once() -> None:
    (mark,) = read(json.dumps({"level": "warning", "message": "ERROR: cannot save"}) + "\n")
    assert isinstance(mark, LineMarked)
    assert (mark.level, mark.text) == (LogLevel.ERROR, "cannot save")
