"""What stands before every line of a log, srun's task, the number of the line or an indentation, changes no cause."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import json

from neuron_top.diagnose.margin import NO_MARGIN, margin_of
from neuron_top.ingest.advised import diagnose
from tests.diagnose.cases import CASES, Case

MARGINS: dict[str, Callable[[int], bytes]] = {
    "the number of srun's task": lambda line: b"0: ",
    "the number of the line": lambda line: b"%6d\t" % line,
    "an editor's number of the line": lambda line: b"%4d " % line,
    "grep's number of the line": lambda line: b"%d:" % line,
    "an indentation": lambda line: b"        ",
    "the host that pdsh names": lambda line: b"node12: ",
    "a worker in brackets": lambda line: b"[worker-3] ",
    "torchrun's role and rank": lambda line: b"[brewer0]:",
    "a host and a rank in brackets": lambda line: b"[ip-10-0-0-1:0] ",
    "a host and a task before tabs": lambda line: b"node-3\t12\t",
    "a container before a bar": lambda line: b"app | ",
    "a pod and its container": lambda line: b"brew-0 main ",
    "the time and the process that foreman names": lambda line: b"10:00:00 web.1   | ",
    "GitLab's stamp and stream": lambda line: b"2026-05-02T10:00:00.%06dZ 01O " % line,
}


def has_lines_enough(case: Case) -> bool:
    """Whether a log may have a margin: not one or two lines, and not already quoted or redrawn by a progress bar."""
    printed = sum(bool(line.strip()) for line in case.log.splitlines())
    return printed >= 3 and b"\r" not in case.log and not case.log.startswith(b">")


@pytest.mark.parametrize("margin", MARGINS)
def test_a_margin_does_not_change_the_causes(margin: str) -> None:
    before, cases = MARGINS[margin], [case for case in CASES if has_lines_enough(case)]
    assert len(cases) > 500
    changed = list[str]()
    for case in cases:
        lines = case.log.splitlines(keepends=True)
        with_margin = diagnose(b"".join(before(number) + line for number, line in enumerate(lines, 1)), "log:x")
        plain = diagnose(case.log, "log:x")
        found = [[(cause.cause_class, cause.line) for cause in one.causes] for one in (with_margin, plain)]
        if found[0] != found[1] or with_margin.recovered != plain.recovered:
            changed.append(case.name)
    assert changed == []


RELAYS: dict[str, Callable[[bytes], bytes]] = {
    "a logger": b"[2026-05-02 10:00:00] [INFO] %b".__mod__,
    "a logger with a name": b"2026-05-02 10:00:00,123 - brew - INFO - %b".__mod__,
    "a level alone": b"INFO: %b".__mod__,
    "a level and a stream": b"2026-05-02 10:00:00,123 INFO stdout: %b".__mod__,
    "Prefect": b"10:00:00.123 | INFO    | Task run 'brew-0' - %b".__mod__,
    "objects of JSON": lambda line: (
        b'{"time":"2026-05-02T10:00:00Z","level":"INFO","message":%b}' % json.encode(line.decode())
    ),
}


def relayed(relay: str, log: bytes) -> bytes:
    """The log as this relay prints it."""
    return b"".join(RELAYS[relay](line) + b"\n" for line in log.splitlines())


@pytest.mark.parametrize("relay", RELAYS)
def test_a_level_before_all_lines_says_nothing_of_them(relay: str) -> None:
    log = b"ERROR: the lid is open\nstarting\n/srv/brew.sh: line 3: kettle: command not found\n"
    diagnosis = diagnose(relayed(relay, log), "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.cause_class, diagnosis.cause.line) == ("missing_dependency", 3)


@pytest.mark.parametrize("relay", RELAYS)
def test_a_late_line_shows_that_a_relay_printed_all(relay: str) -> None:
    steps = b"".join(b"step %d of 90\n" % step for step in range(90))
    frames = b'Traceback (most recent call last):\n  File "brew.py", line 3, in <module>\n    boil()\n'
    diagnosis = diagnose(relayed(relay, steps + frames + b"OSError: the kettle is cold\n"), "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (94, "OSError: the kettle is cold")


def test_a_relayed_text_may_have_several_lines() -> None:
    text = 'Traceback (most recent call last):\n  File "brew.py", line 3, in <module>\n    boil()\nOSError: it is cold'
    lines = [{"level": "INFO", "message": each} for each in ("starting", "filling", text, "stopped")]
    diagnosis = diagnose(b"\n".join(map(json.encode, lines)), "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (3, "OSError: it is cold")


@pytest.mark.parametrize("relay", RELAYS)
def test_a_program_s_own_lines_keep_their_level(relay: str) -> None:
    log = b"starting\nthe kettle was not found: Error 3, trying the pot\nerrors so far: 1\nboiling\n"
    assert not diagnose(relayed(relay, log), "log:x").failed


def test_what_a_batch_script_prints_before_its_tasks_has_no_number() -> None:
    log = b"loading modules\nstarting at noon\n" + b"".join(
        b"%d: reading shard %d\n" % (n, 9 - n) for n in (1, 0, 3, 2)
    )
    diagnosis = diagnose(log + b"2: Killed\n2: gone\n", "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text, diagnosis.cause.ranks) == (7, "Killed", (2,))


def test_a_cause_has_the_tasks_whose_number_stands_before_it() -> None:
    lines = b"reading", b"RuntimeError: the shard is empty", b"left"
    (cause,) = diagnose(b"".join(b"%d: %b\n" % (task, line) for line in lines for task in (3, 11)), "log:x").causes
    assert (cause.line, cause.ranks) == (3, (3, 11))


def test_the_lines_of_two_hosts_are_kept_apart_by_their_names() -> None:
    heading, frame, source = (
        b"Traceback (most recent call last):",
        b'  File "/srv/tea.py", line 3, in brew',
        b"    pour()",
    )
    errors = {b"node3": b"ValueError: the pot is empty", b"node12": b"ConnectionResetError: the other one left"}
    lines = [b"%b: %b" % (host, line) for line in (heading, frame, source) for host in errors]
    ends = [b"%b: %b" % (host, error) for host, error in errors.items()]
    diagnosis = diagnose(b"\n".join([*lines, *ends, b""]), "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (7, "ValueError: the pot is empty")


@pytest.mark.parametrize("name", [b"[INFO] ", b"[1234]: ", b"[rank2]: ", b"10:00:00 INFO | ", b"wandb: "])
def test_what_a_logger_or_a_tool_prints_is_no_margin(name: bytes) -> None:
    assert margin_of(b"".join(name + b"line %d\n" % number for number in range(9))).labels == ()


def test_a_program_that_numbers_some_lines_itself_has_no_margin() -> None:
    assert margin_of(b"1: first\nsecond\n3: third\n") == NO_MARGIN
    assert margin_of(b"1: alone\n2: and its neighbour\n") == NO_MARGIN
    assert margin_of(b"2: not\n5: by\n9: one\nbut of tasks\n") == NO_MARGIN


def test_a_margin_is_seen_where_the_beginning_ends_inside_one() -> None:
    line = b"[worker-3] " + b"x" * 2034 + b"\n"
    assert 8192 % len(line) < len("[worker-3] ")
    assert margin_of(line * 9) != NO_MARGIN


def test_lines_that_are_indented_less_later_lose_nothing() -> None:
    log = b"    begins\n" * 60 + b"  RuntimeError: here\n"
    diagnosis = diagnose(log, "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (61, "RuntimeError: here")


def test_a_date_behind_a_stamp_of_cloudwatch_is_no_name_of_a_stream() -> None:
    log = b"05/02/2026 10:00:00 AM ERROR 4711 [neuron-cc]: the graph is too deep\n"
    stamped = b"2026-05-02T10:00:00.123+00:00 " + log
    assert [cause.text for cause in diagnose(stamped, "log:x").causes] == [
        cause.text for cause in diagnose(log, "log:x").causes
    ]
