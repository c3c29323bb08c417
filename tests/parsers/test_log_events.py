"""What `aws logs get-log-events` prints: one JSON document over many lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CompileFailed,
    CompilerPassed,
    CompilerProgress,
    ErrorRaised,
    GraphReported,
)
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import FOLDER, M1, g3, only, read

BEGIN = 1_772_600_767_000
LINES = [
    *(f"line {number} of the job" for number in range(40)),
    *g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff").splitlines(),
    "\x1b[34m....\x1b[0m",
    "Compiler status PASS",
    *g3(f"Failed compilation with ['neuronx-cc', '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR").splitlines(),
    "too many teapots",
    "[libneuronxla 9.9.9+ff]",
    *g3("{").splitlines(),
    '    "compilation_report": {',
    '        "/c/MODULE_11112222333344445555+0a1b2c3d/model.hlo_module.pb": {',
    '            "status": true',
    "        }",
    "    }",
    "}",
    "Traceback (most recent call last):",
    '  File "/job/a.py", line 3, in main',
    "ValueError: größer",
]


def document(lines: list[str], indent: int = 4) -> str:
    events = [
        {"logStreamName": "s", "timestamp": BEGIN + number, "message": line, "ingestionTime": BEGIN, "eventId": "3"}
        for number, line in enumerate(lines)
    ]
    return json.dumps({"events": events, "nextForwardToken": "f/3"}, indent=indent) + "\n"


def without_place(events: list[AnyEvent]) -> list[dict[str, Any]]:
    left_out = ("at", "offset")
    return [{f: getattr(event, f) for f in event.__struct_fields__ if f not in left_out} for event in events]


@pytest.mark.parametrize("indent", [2, 4])
def test_messages_are_read_as_if_they_stood_alone(indent: int) -> None:
    events = read(document(LINES, indent))
    assert without_place(events) == without_place(read("\n".join(LINES) + "\n"))
    for kind in (CacheHit, CompilerProgress, CompilerPassed, CompileFailed, GraphReported):
        assert len(only(kind, events)) == 1
    assert only(CompileFailed, events)[0].message == "too many teapots"
    (raised,) = only(ErrorRaised, events)
    assert (raised.message, raised.at) == ("größer", (BEGIN + len(LINES) - 1) / 1000)


def test_portions_and_counting_give_the_same() -> None:
    data = document(LINES).encode()
    whole, single = LogReader("log:x"), LogReader("log:x")
    events = whole.feed(data) + whole.flush()
    assert [event for index in range(len(data)) for event in single.feed(data[index : index + 1])] == events
    counting = CountingReader("log:x")
    counting.feed(data)
    counting.flush()
    assert counting.tally.as_json() == whole.tally.as_json()


def test_a_containers_log_inside_a_message_is_read() -> None:
    line = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
    inside = [
        json.dumps({"log": each, "stream": "stdout", "kubernetes": {"pod_name": "p"}})
        for each in (line, "\x1b[1m...\x1b[0m")
    ]
    events = read(document(inside))
    assert (only(CacheHit, events)[0].module, only(CompilerProgress, events)[0].dots) == (M1, 3)


def test_a_list_of_the_same_name_in_a_configuration_hides_no_line() -> None:
    hit = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
    assert len(only(CacheHit, read(f'{{\n  "events": [\n    "a",\n    {hit}    "b"\n  ],\n  "lr": 1\n}}\n{hit}'))) == 2
