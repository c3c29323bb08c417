"""The progress display: one bar on a terminal, few lines elsewhere."""

from __future__ import annotations

import errno
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.cli.compile_screen import ProgressScreen, live_lines, plain_line
from neuron_top.compile.parallel.compile_queue import QueueProgress, Running

MODULE = "MODULE_" + "a" * 20 + "+d7517139"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def progress(done: int = 0, elapsed: float = 0.0, **fields) -> QueueProgress:
    return QueueProgress(total=12, done=done, failed=1, left=9 - done, running_count=2, elapsed=elapsed, **fields)


def test_a_line_says_all_counts_elapsed_time_and_estimate():
    line = plain_line(progress(done=5, elapsed=42.0, remaining=70.0))
    assert line == ("neurontop: 6 of 12 graphs: 5 done, 2 running, 1 failed, 4 left, 42.0 s, about 1 m 10 s to go")


def test_an_unknown_total_is_not_shown_as_zero():
    unknown = QueueProgress(total=None, done=3, failed=0, left=None, running_count=1, elapsed=1.0)
    assert plain_line(unknown) == "neurontop: 3 of — graphs: 3 done, 1 running, 0 failed, — left, 1.0 s"


def test_without_a_terminal_a_line_is_printed_when_a_graph_ends_and_every_half_minute():
    stream = io.StringIO()
    screen = ProgressScreen(stream)
    for elapsed in range(100):
        screen.show(progress(done=elapsed // 50, elapsed=float(elapsed)))
    assert [line.rsplit(", ", 1)[1] for line in stream.getvalue().splitlines()] == [
        "0 ms",
        "30.0 s",
        "50.0 s",
        "1 m 20 s",
    ]
    assert "\x1b" not in stream.getvalue()


def test_on_a_terminal_other_lines_stay_above_the_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    screen = ProgressScreen(stream)
    screen.show(progress(running=(Running(MODULE, 0, 3.0),)))
    screen.above("Compiler status PASS\n")
    screen.close()
    painted = rendered(stream.getvalue())
    assert painted[0] == "Compiler status PASS"
    assert "0 done, 2 running" in painted[1]
    assert painted[2].strip().startswith("worker 0")
    assert len([line for line in painted if line]) == 3


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_reader_that_is_gone_ends_no_compile(kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    """`neurontop compile … 2>&1 | head` ended with the first line, and with status 0 as if all had been compiled."""
    monkeypatch.setenv("TERM", "xterm")

    def gone(*_: object) -> int:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    stream = kind()
    monkeypatch.setattr(stream, "write", gone)
    monkeypatch.setattr(stream, "flush", gone)
    screen = ProgressScreen(stream)
    screen.show(progress(done=1))
    screen.above("Compiler status PASS\n")
    screen.show(progress(done=2))
    screen.close()


def rendered(text: str) -> list[str]:
    """What a terminal shows for the few sequences that the bar uses."""
    lines, row = [""], 0
    while text:
        if text.startswith("\x1b["):
            end = next(place for place, letter in enumerate(text[2:], 2) if letter.isalpha())
            if text[end] == "A":
                row -= int(text[2:end])
            else:
                del lines[row + 1 :]
                lines[row] = ""
            text = text[end + 1 :]
        elif text[0] == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
            text = text[1:]
        elif text[0] == "\r":
            text = text[1:]
        else:
            lines[row] += text[0]
            text = text[1:]
    return lines


@given(st.integers(20, 200), st.integers(0, 12), st.booleans(), st.lists(st.integers(0, 5), max_size=20))
def test_no_line_of_the_bar_is_wider_than_the_terminal(width, done, ascii_only, workers):
    running = tuple(Running(MODULE, worker, 1e5, retries=worker) for worker in workers)
    for line in live_lines(
        progress(done=done, running=running, remaining=1e6, held_back="memory"), width, ascii_only=ascii_only
    ):
        assert len(line) < max(width, 21)
        assert not ascii_only or line.isascii()
