"""What stands before every line of a log, srun's task, the number of the line or an indentation, changes no cause."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neuron_top.diagnose.margin import margin_of
from neuron_top.ingest.advised import diagnose
from tests.diagnose.cases import CASES, Case

MARGINS: dict[str, Callable[[int], bytes]] = {
    "the number of srun's task": lambda line: b"0: ",
    "the number of the line": lambda line: b"%6d\t" % line,
    "an editor's number of the line": lambda line: b"%4d " % line,
    "grep's number of the line": lambda line: b"%d:" % line,
    "an indentation": lambda line: b"        ",
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


def test_a_program_that_numbers_some_lines_itself_has_no_margin() -> None:
    assert margin_of(b"1: first\nsecond\n3: third\n").label is None
    assert margin_of(b"1: alone\n2: and its neighbour\n").label is None
    assert margin_of(b"2: not\n5: by\n9: one\nbut of tasks\n").label is None


def test_lines_that_are_indented_less_later_lose_nothing() -> None:
    log = b"    begins\n" * 60 + b"  RuntimeError: here\n"
    diagnosis = diagnose(log, "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (61, "RuntimeError: here")
