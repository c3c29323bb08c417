"""Lines of ours between those of a job: at line starts only, and not kept back for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from neuron_top.cli.plain import PlainProgress
from neuron_top.processes.streams import PATIENCE_SECONDS, SharedStreams

ONE_PLACE = r"""
import os, sys
from neuron_top.processes.launch import Job
lines = "import os, sys; os.write(1, b'half a '); sys.stdin.readline(); os.write(2, b'line\\n'); sys.stdin.readline()"
job = Job([sys.executable, "-c", lines], dict(os.environ))
told, given = [], os.pipe()
os.dup2(given[0], 0)

def look(stream, data):
    with job.between_lines(2) as before:
        told.append(before)
    os.write(given[1], b"go on\n")

job.start()
job.pump(look)
print(told)
"""


class Clock:
    """Seconds, moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def stream() -> Iterator[int]:
    """A descriptor of its own place."""
    ends = os.pipe()
    yield ends[1]
    for end in ends:
        os.close(end)


def asked(streams: SharedStreams, number: int) -> str | None:
    with streams.between_lines(number) as before:
        return before


def passed(streams: SharedStreams, number: int, data: bytes) -> None:
    with streams.passing(number, data):
        pass


def test_a_line_of_ours_waits_for_the_end_of_the_jobs_line(stream: int) -> None:
    streams = SharedStreams()
    assert asked(streams, stream) == ""
    passed(streams, stream, b"step 3, loss ")
    assert asked(streams, stream) is None
    passed(streams, stream, b"0.5\n")
    assert asked(streams, stream) == ""


def test_a_bar_that_never_ends_its_line_keeps_nothing_back_for_ever(stream: int) -> None:
    clock = Clock()
    streams = SharedStreams(clock)
    passed(streams, stream, b"\r 10%|#")
    assert asked(streams, stream) is None
    clock.now += PATIENCE_SECONDS
    assert asked(streams, stream) == "\n"
    assert asked(streams, stream) == ""
    passed(streams, stream, b"\r 20%|##")
    assert asked(streams, stream) is None


def test_a_half_line_elsewhere_keeps_nothing_back(stream: int) -> None:
    streams = SharedStreams()
    passed(streams, stream, b"half")
    with open(os.devnull, "wb") as other:
        assert asked(streams, other.fileno()) == ""


def test_two_streams_that_lead_to_one_place_are_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONE_PLACE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.stdout == "half a line\n[None, '']\n"


def test_a_line_that_could_not_be_printed_is_printed_at_the_next_look() -> None:
    from neuron_top.run.model import Run
    from neuron_top.views.overview import overview

    answers, said = [False, True], []
    progress = PlainProgress(lambda line: said.append(line) or answers.pop(0))  # type: ignore[func-returns-value]
    view = overview(Run(), 0.0)
    for _ in range(3):
        progress.show(view)
    assert len(said) == 2
