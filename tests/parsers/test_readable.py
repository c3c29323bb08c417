"""What was given for a log: text, nothing, or no text."""

from __future__ import annotations

import random
import zlib

import pytest

from neuron_top.events.diagnosis import Unreadable
from neuron_top.parsers.readable import why_unreadable

LINES = b"\x1b[32mINFO\x1b[0m step 1 loss: 2.0\r\nstep 2 loss: 1.9\n"
JUNK = random.Random(7).randbytes(4096)


@pytest.mark.parametrize("blank", [b"", b"\n \r\n\t", b"\0" * 500])
def test_what_has_no_words_is_empty(blank: bytes) -> None:
    assert why_unreadable(blank, blank) is Unreadable.EMPTY


@pytest.mark.parametrize("junk", [JUNK, zlib.compress(LINES * 99), b"\x7fELF\x02\x01\x01\0\0\x03\0\x3e\0" * 40])
def test_what_is_no_text_is_told_from_a_log(junk: bytes) -> None:
    assert why_unreadable(junk, junk) is Unreadable.NOT_TEXT


@pytest.mark.parametrize(
    "log",
    [
        LINES,
        b"\0" * 5000 + LINES,
        LINES + b"\0" * 5000,
        LINES.decode().encode("utf-16"),
        "Verlust: größer als früher\n".encode("latin-1") * 9,
        "학습 완료, 손실 감소 중\n".encode() * 9,
        b"\x01" + LINES * 3,
    ],
    ids=["colors", "zeros in front", "zeros behind", "wide", "old encoding", "letters of elsewhere", "a stray byte"],
)
def test_text_is_text_whatever_stands_in_it(log: bytes) -> None:
    assert why_unreadable(log, log) is None


def test_a_log_whose_beginning_is_damaged_is_read_for_its_end() -> None:
    assert why_unreadable(JUNK, LINES) is None
    assert why_unreadable(LINES, JUNK) is None
