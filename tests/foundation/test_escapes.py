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
    "code",
    ["\x1b[31m", "\x1b[2J", "\x1b[?25l", "\x1b]0;title\x07", "\x1b]8;;x\x1b\\", "\x1b[38;5;1m", "#033[A",
     "\x1b(B\x1b[m", "\x1b=", "\x1b7", "\x1b8", "\x1bc", "\x1b%G"],
)  # fmt: skip
def test_sequences_are_dropped_whole(code: str) -> None:
    assert strip_ansi(f"a{code}b") == "ab"


@pytest.mark.parametrize("escape", ["", "^[", "\\x1b", "\\033", "\\e", "\\u001b", "\\\\u001b", "␛", "\ufffd"])
@pytest.mark.parametrize(
    ("on", "off"),
    [("[36m", "[0m"), ("[1;36m", "[0;0m"), ("[2m[36m", "[0m"), ("[1m[31m", "[22m[39m"), ("[32m", "[m")],
)
def test_colors_as_text_are_dropped_where_they_end_on_the_same_line(escape: str, on: str, off: str) -> None:
    on, off = on.replace("[", escape + "["), off.replace("[", escape + "[")
    assert strip_ansi(f"{on}(Worker pid=7){off} [INFO] words") == "(Worker pid=7) [INFO] words"


@pytest.mark.parametrize(
    "text",
    [
        "took [12m 30s]",
        "[0m 12s]",
        "[0m12.5s] of [35m 0s]",
        "rate(x[5m])",
        "length [m]",
        "[mpiexec@n1] [0] ready",
        "[main] [m1] ready",
    ],
)
def test_durations_names_and_units_in_brackets_are_no_colors(text: str) -> None:
    assert strip_ansi(text) == text
