"""Errors that nothing else stands for, and lines at level error that are none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neuron_top.events import ErrorRaised, LineMarked
from neuron_top.events.levels import LogLevel
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import only, read


def test_a_copy_that_ray_left_out_is_no_new_error() -> None:
    remark = " [repeated 15x across cluster] (Ray deduplicates logs by default.)"
    text = "".join(
        f'(Worker pid={pid}) Traceback (most recent call last):\n(Worker pid={pid})   File "a.py", line 1\n'
        f"(Worker pid={pid}) ValueError: empty shard{tail}\n"
        for pid, tail in ((7, ""), (8, remark))
    )
    assert [(event.exception, event.message) for event in only(ErrorRaised, read(text))] == [
        ("ValueError", "empty shard")
    ] * 2


@pytest.mark.parametrize(
    "head", ["2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]", "01/21/2026 05:41:13 AM ERROR [neuron-cc]"]
)
def test_of_a_compilers_banner_only_what_went_wrong_is_an_error(head: str) -> None:
    said = (
        "*********",
        "An Internal Compiler Error has occurred",
        "Error message:  loop nest 12 has no order",
        "Error class:    RuntimeError",
        "Version information:",
        "  NeuronX Compiler version 2.99.1.0",
        "Type: <class 'AssertionError'>",
        '  File "driver/Job.py", line 344, in driver.Job.run',
    )
    text = "".join(f"{head}: {each}\n" for each in said)
    assert [event.text for event in only(LineMarked, read(text))] == [
        "An Internal Compiler Error has occurred",
        "Error message:  loop nest 12 has no order",
    ]


@pytest.mark.parametrize("name", ["socket.gaierror", "socket.timeout", "struct.error", "torch.cuda.OutOfMemoryError"])
def test_an_exception_with_its_module_may_be_in_lower_case(name: str) -> None:
    text = f'Traceback (most recent call last):\n  File "a.py", line 1, in main\n{name}: it went wrong\n'
    assert [(event.exception, event.message) for event in only(ErrorRaised, read(text))] == [(name, "it went wrong")]


@pytest.mark.parametrize("line", ["train.log: written", "step.errors: 0", "error: none"])
def test_a_line_between_the_frames_of_a_traceback_is_no_exception_of_such_a_name(line: str) -> None:
    text = f'Traceback (most recent call last):\n  File "a.py", line 1, in main\n{line}\nValueError: it went wrong\n'
    raised = [event.exception for event in only(ErrorRaised, read(text))]
    assert raised == ["ValueError"], line


@pytest.mark.parametrize("indent", ["    ", "        ", "\t"])
def test_a_traceback_that_a_test_runner_indented_is_named_by_its_last_line(indent: str) -> None:
    lines = ("Traceback (most recent call last):", '  File "a.py", line 1, in f', "    ValueError()", "ValueError: odd")
    text = "".join(f"{indent}{line}\n" for line in lines)
    assert [(event.exception, event.message) for event in only(ErrorRaised, read(text + text))] == [
        ("ValueError", "odd")
    ] * 2


def test_a_traceback_whose_exception_is_not_recognized_is_given_up_after_some_lines() -> None:
    reader = LogReader("log:train.log")
    reader.feed(
        b'Traceback (most recent call last):\n  File "a.py", line 1, in main\ngaierror [Errno -2] no such host\n'
    )
    assert reader.spanning
    reader.feed(b"nothing of interest\n" * 500)
    assert not reader.spanning


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        (
            "E1024 12:34:56.789012       1 plugin.go:42] could not register: no such socket",
            LogLevel.ERROR,
            "plugin.go:42] could not register: no such socket",
        ),
        ("W1024 12:34:56.789012 1 server.go:7] device 3 is slow", LogLevel.WARNING, "server.go:7] device 3 is slow"),
        ("F1024 12:34:56.789012 1 main.go:9] no devices", LogLevel.FATAL, "main.go:9] no devices"),
        (
            'time="2026-10-24T12:34:56Z" level=error msg="could not list devices" error="no such file"',
            LogLevel.ERROR,
            "could not list devices: no such file",
        ),
        ('level=warning msg="a \\"slow\\" device"', LogLevel.WARNING, 'a "slow" device'),
        ("ts=2026-10-24T12:34:56Z caller=main.go:7 level=fatal err=EOF", LogLevel.FATAL, "EOF"),
        ('[pod/device-plugin-x/main] time="2026-10-24T12:34:56Z" level=panic msg=gone', LogLevel.CRITICAL, "gone"),
    ],
)
def test_warnings_and_errors_of_the_device_plugin_are_marked(line: str, level: LogLevel, text: str) -> None:
    assert [(event.level, event.text) for event in only(LineMarked, read(f"{line}\n"))] == [(level, text)]


@pytest.mark.parametrize(
    "line",
    [
        "I1024 12:34:56.789012       1 plugin.go:42] registered",
        'time="2026-10-24T12:34:56Z" level=info msg="error count is 0"',
        'starting neuron-monitor --log-level=error reason="asked for"',
        "level=error",
        "main.go:42 +0x1d",
    ],
)
def test_what_the_device_plugin_prints_besides_is_not_marked(line: str) -> None:
    assert only(LineMarked, read(f"{line}\n")) == []


NO_DEVICES = '"msg":"could not list devices","error":"no \\"such\\" file"'


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        (
            f'{{"level":"error","ts":1792845296.5,{NO_DEVICES}}}',
            LogLevel.ERROR,
            'could not list devices: no "such" file',
        ),
        (
            f'{{{NO_DEVICES}, "level": "warning", "time": "2026-10-24T12:34:56.500Z"}}',
            LogLevel.WARNING,
            'could not list devices: no "such" file',
        ),
        ('{"time":"2026-10-24T12:34:56.500Z","level":"FATAL","msg":"gone"}', LogLevel.FATAL, "gone"),
        ('[pod/plugin-x/main] {"level":"dpanic","ts":1792845296.5,"msg":"gone"}', LogLevel.CRITICAL, "gone"),
        ('{"log":"{\\"level\\":\\"error\\",\\"ts\\":1792845296.5,\\"msg\\":\\"gone\\"}\\n"}', LogLevel.ERROR, "gone"),
    ],
)
def test_warnings_and_errors_in_json_are_marked_with_their_own_time(line: str, level: LogLevel, text: str) -> None:
    at = datetime(2026, 10, 24, 12, 34, 56, 500_000, tzinfo=UTC).timestamp()
    assert [(one.level, one.text, one.at) for one in only(LineMarked, read(f"{line}\n"))] == [(level, text, at)]


@pytest.mark.parametrize(
    "line",
    [
        '{"level":"info","ts":1792845296.5,"msg":"no device has failed"}',
        '{"level":"error"}',
        '{"level":30,"msg":"gone","state":"error"}',
        'the answer was {"level":"error","msg":"gone"}',
        '{"level":"error","ts":1e400,"msg":"gone',
    ],
)
def test_other_json_is_not_marked(line: str) -> None:
    assert only(LineMarked, read(f"{line}\n")) == []


def test_what_a_structured_logger_passes_on_is_read_as_if_it_stood_alone() -> None:
    said = "2026-10-24 12:34:56.000789:  4711  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc']"
    (alone,), (passed_on,) = read(f"{said}\n"), read(f'{{"level":"error","msg":"{said}"}}\n')
    assert passed_on == alone


def test_a_daemon_before_klogs_header_is_its_process() -> None:
    (event,) = only(LineMarked, read('kubelet[812]: E1024 12:34:56.789012     812 kubelet.go:42] "no devices"\n'))
    assert (event.level, event.text, event.pid) == (LogLevel.ERROR, 'kubelet.go:42] "no devices"', 812)


def test_a_line_in_logfmt_has_its_own_time() -> None:
    event = only(LineMarked, read('time="2026-10-24T12:34:56Z" level=error msg="no devices"\n'))[0]
    assert event.at == datetime(2026, 10, 24, 12, 34, 56, tzinfo=UTC).timestamp()
