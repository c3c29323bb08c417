"""What holds for any log: the portions do not matter, junk does no harm, memory stays small."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neuron_top.diagnose
from neuron_top.diagnose import Cause, Diagnosis
from neuron_top.diagnose.advice import LAST_LINE, TORN_TRACEBACK
from neuron_top.diagnose.diagnoser import Diagnoser
from neuron_top.diagnose.recognizers import CASCADES, DEATHS, ROWS
from neuron_top.ingest.advised import AdvisedDiagnoser, diagnose
from neuron_top.views.cause_advice import OF_ROWS
from tests.corpus import CORPUS
from tests.diagnose.cases import CASES, Case

LOGS = sorted((CORPUS / "logs").glob("*.log"))
LINES = [line for case in CASES for line in case.log.splitlines(keepends=True)]


def in_portions(data: bytes, sizes: list[int]) -> Diagnosis:
    diagnoser, position, index = AdvisedDiagnoser("log:x"), 0, 0
    while position < len(data):
        size = sizes[index % len(sizes)]
        diagnoser.feed(data[position : position + size])
        position, index = position + size, index + 1
    diagnoser.flush()
    return diagnoser.diagnosis()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_portions_of_a_log_do_not_change_its_diagnosis(case: Case) -> None:
    whole = diagnose(case.log, "log:x")
    assert in_portions(case.log, [1]) == whole
    assert in_portions(case.log, [7, 300, 2]) == whole


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem[:30])
def test_the_portions_of_a_real_log_do_not_change_its_diagnosis(path) -> None:
    data = path.read_bytes()
    chance = random.Random(path.name)
    sizes = [chance.randrange(1, 4000) for _ in range(97)]
    assert in_portions(data, sizes) == diagnose(data, "log:x")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_log_that_is_still_written_is_diagnosed_at_each_line_as_if_it_ended_there(case: Case) -> None:
    live, written = AdvisedDiagnoser("log:x"), b""
    for line in case.log.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        live.feed(line)
        written += line
        ended = diagnose(written, "log:x")
        if [cause.advice for cause in ended.causes] in ([OF_ROWS[TORN_TRACEBACK]], [OF_ROWS[LAST_LINE]]):
            assert not live.so_far().failed
        else:
            assert live.so_far() == ended
    live.feed(case.log[len(written) :])
    live.flush()
    assert live.diagnosis() == diagnose(case.log, "log:x")


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_a_log_in_utf_16_is_diagnosed_like_any_other(case: Case) -> None:
    wide = diagnose(("\ufeff" + case.log.decode()).encode("utf-16-le"), "log:x")
    narrow = diagnose(case.log, "log:x")
    assert [(cause.cause_class, cause.line, cause.text) for cause in wide.causes] == [
        (cause.cause_class, cause.line, cause.text) for cause in narrow.causes
    ]


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_a_byte_order_mark_changes_nothing(case: Case) -> None:
    marked, plain = diagnose(b"\xef\xbb\xbf" + case.log, "log:x"), diagnose(case.log, "log:x")
    assert [(cause.cause_class, cause.line, cause.text, cause.evidence) for cause in marked.causes] == [
        (cause.cause_class, cause.line, cause.text, cause.evidence) for cause in plain.causes
    ]
    assert [cause.offset for cause in marked.causes] == [cause.offset + 3 for cause in plain.causes]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=80)), max_size=60))
def test_any_lines_in_any_order_give_a_diagnosis_that_is_sound(lines: list[bytes]) -> None:
    data = b"".join(lines)
    diagnosis = diagnose(data, "log:x")
    assert not (diagnosis.failed and diagnosis.recovered)
    assert diagnosis.failed == bool(diagnosis.causes) or diagnosis.recovered
    for cause in diagnosis.causes:
        assert 1 <= cause.line <= data.count(b"\n") + 1
        before = data[: cause.offset].rstrip(b"\0").removesuffix(b"\xef\xbb\xbf")
        assert not before or before.endswith(b"\n")
        assert data.count(b"\n", 0, cause.offset) == cause.line - 1
        assert cause.count >= 1
        assert cause.advice
        assert cause.text.isprintable()
    assert msgspec.json.decode(msgspec.json.encode(diagnosis), type=Diagnosis) == diagnosis


def test_what_is_kept_of_a_log_of_nothing_but_different_errors_is_bounded() -> None:
    diagnoser = Diagnoser("log:x")
    for number in range(3000):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        diagnoser.feed(f"ERROR:{word}:cannot {word} the {word}\n".encode())
    diagnoser.flush()
    assert len(diagnoser._failures.findings.all) <= 300
    assert len(diagnoser.diagnosis().diagnosis.causes) <= 20


def test_copies_by_many_ranks_are_one_cause_with_its_ranks() -> None:
    log = "".join(f"[rank{rank}]: ValueError: shard {rank} is empty\n" for rank in range(64)).encode()
    (cause,) = diagnose(log, "log:x").causes
    assert isinstance(cause, Cause)
    assert (cause.line, cause.count, cause.ranks) == (1, 64, tuple(range(64)))


def test_every_row_of_the_table_can_be_reached_by_its_words() -> None:
    """A pattern that matches a line without any of its words would never be tried on it."""
    rows = {row.name: row for row in (*ROWS, *DEATHS, *CASCADES)}
    assert len(rows) == len((*ROWS, *DEATHS, *CASCADES))
    for row in rows.values():
        assert row.words
        assert all(word == word.lower() for word in row.words)
        re.compile(row.pattern)
    for case in CASES:
        for row in rows.values():
            for line in case.log.splitlines():
                if row.matches(line.decode()):
                    assert any(word in line.lower() for word in row.words), (row.name, line)


@pytest.mark.parametrize("end", ["\n", ""])
def test_what_the_runtime_prints_for_its_support_is_a_failure_only_where_it_says_so(end: str) -> None:
    header = "2026-Mar-04 10:00:00.123456  4711:4712  ERROR  TDRV:ht_insert                   "
    assert not diagnose(f"{header}Duplicate entry key: 77{end}".encode(), "log:x").causes
    (cause,) = diagnose(f"{header}Duplicate entry key: 77\n{header}Failure: no room{end}".encode(), "log:x").causes
    assert (cause.line, cause.text) == (2, "Failure: no room")


_ANY_WORD_THEN_ANYTHING = re.compile(r"(?:\\[wS]|\[[^\]]{1,20}\])[*+]\??(?:\.|\(\?[a-z:!=]{1,4}\.)[*+{]")
"""A run of any length, and then any characters: a search tries each end of the run from each of its beginnings."""


def test_no_pattern_follows_a_run_of_any_length_by_any_characters() -> None:
    """Somebody else wrote the log: a line in which one word repeats must not cost seconds. One such pattern took ten
    for a line of 6,000 characters."""
    patterns = {row.name: row.pattern for row in (*ROWS, *DEATHS, *CASCADES)}
    for module in pkgutil.walk_packages(neuron_top.diagnose.__path__, "neuron_top.diagnose."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if hasattr(value, "fullmatch") and isinstance(getattr(value, "pattern", None), str):
                patterns[f"{module.name}.{name}"] = value.pattern
    assert len(patterns) > 300
    assert _ANY_WORD_THEN_ANYTHING.search(r"nrt_load\w*.{0,80}fail")
    assert [name for name, text in patterns.items() if _ANY_WORD_THEN_ANYTHING.search(text)] == []


def test_a_first_line_that_is_indented_alone_means_the_same_in_any_portions() -> None:
    log = b"   signal 11\n" + b"step\n" * 70
    live = AdvisedDiagnoser("log:x")
    for line in log.splitlines(keepends=True)[:30]:
        live.feed(line)
    assert live.so_far() == diagnose(b"   signal 11\n" + b"step\n" * 29, "log:x")
    assert in_portions(log, [1]) == in_portions(log, [13, 400]) == diagnose(log, "log:x")
    assert in_portions(log[:40], [1]) == diagnose(log[:40], "log:x")


def test_frames_of_a_stack_are_read_once_however_many_ranks_print_them_with_their_own_addresses() -> None:
    diagnoser = Diagnoser("log:x")
    for rank in range(50):
        diagnoser.feed(f"[rank{rank}]: RuntimeError: the device is gone\n".encode())
        for frame in range(20):
            address = 0x7F0A00000000 + rank * 0xABC000 + frame
            diagnoser.feed(f"frame #{frame}: c10::Error::raise() + 0x2f (0x{address:x} in /lib/libc10.so)\n".encode())
    diagnoser.flush()
    assert sum(b"frame #" in shape for shape in diagnoser._shapes) == 20
