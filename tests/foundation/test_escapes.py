"""What a log holds never reaches a terminal as a command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.escapes import strip_ansi, visible


@given(st.text())
def test_whatever_comes_only_printable_text_goes(text: str) -> None:
    assert visible(text).isprintable()


@given(st.text().filter(str.isprintable))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\tb\x00", "a b␀"), ("a\nb", "a⏎b"), ("\x9b2J", "\\u009b2J"), ("a\u202eb", "a\\u202eb"), ("a\u00a0b", "a b")],
)
def test_what_cannot_be_printed_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "code", ["\x1b[31m", "\x1b[2J", "\x1b[?25l", "\x1b]0;title\x07", "\x1b]8;;x\x1b\\", "\x1b[38;5;1m", "#033[A"]
)
def test_sequences_are_dropped_whole(code: str) -> None:
    assert strip_ansi(f"a{code}b") == "ab"
