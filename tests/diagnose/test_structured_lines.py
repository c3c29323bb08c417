"""Lines of structured loggers, by themselves, behind a prefix and in the object of a container's log."""

from __future__ import annotations

import json

import pytest

from neuron_top.events.diagnosis import CauseClass
from neuron_top.ingest.advised import diagnose

LINE = json.dumps({"level": "error", "ts": 1792845296.5, "msg": "could not list devices", "error": "no such file"})
KLOG = 'E1024 12:34:56.789012     812 kubelet.go:42] "could not list devices" err="no such file"'


@pytest.mark.parametrize(
    "line", [LINE, f"[pod/plugin-x/main] {LINE}", json.dumps({"log": f"{LINE}\n", "stream": "stderr"})]
)
def test_the_error_of_a_tool_in_go_is_the_cause_whatever_is_around_it(line: str) -> None:
    cause = diagnose(f"starting\n{line}\n".encode(), "log:x", 1).cause
    assert cause is not None
    assert (cause.text, cause.cause_class) == ("could not list devices: no such file", CauseClass.TOOL_ERROR)


@pytest.mark.parametrize("prefix", ["", "kubelet[812]: ", "Oct 24 12:34:56 trn1 kubelet[812]: "])
def test_an_error_in_klog_is_the_cause_behind_the_name_of_its_daemon(prefix: str) -> None:
    cause = diagnose(f"starting\n{prefix}{KLOG}\n".encode(), "log:x", 1).cause
    assert cause is not None
    assert (cause.text, cause.cause_class) == (
        '"could not list devices" err="no such file"', CauseClass.TOOL_ERROR,
    )  # fmt: skip


def test_the_cause_in_a_list_of_cloudwatchs_events_is_named_without_what_is_around_it() -> None:
    lines = [
        "starting",
        "Traceback (most recent call last):",
        '  File "/job/a.py", line 3, in f',
        "ValueError: no mesh\x1b[0m",
    ]
    events = [{"timestamp": 1, "message": line, "ingestionTime": 2} for line in lines]
    cause = diagnose(json.dumps({"events": events}, indent=4).encode(), "log:x", 1).cause
    assert cause is not None
    assert (cause.text, cause.line) == ("ValueError: no mesh", 20)
