"""Zeros in front of a line: a file that was cut while its writer had it open begins with as many as it had bytes."""

from __future__ import annotations

import pytest

from neuron_top.events import StepReported
from neuron_top.ingest.advised import diagnose
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import M1, g3

STEP = b"step 7/9 loss 2.5 step_time 0.5 s\n"
HIT = g3(f"Using a cached neff at /scratch/neuronxcc-2.99.1.0+abcdef01/{M1}/model.neff").encode()
FAILURE = b"[rank3]: ValueError: the shard is empty\n"
ZEROS = (1, 100, 65536, 65600, 3_000_001)


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("before", [b"", b"a line\n"])
def test_the_line_behind_zeros_is_read_with_its_offset(zeros: int, before: bytes) -> None:
    reader = LogReader("log:x")
    events = [*reader.feed(before + bytes(zeros) + STEP), *reader.flush()]
    (step,) = [event for event in events if isinstance(event, StepReported)]
    assert (step.step, step.offset) == (7, len(before) + zeros)
    assert reader.tally.lines == 1 + bool(before)


@pytest.mark.parametrize("zeros", ZEROS)
def test_the_failure_behind_zeros_is_found_in_its_line(zeros: int) -> None:
    (cause,) = diagnose(b"a line\n" + bytes(zeros) + FAILURE, "log:x").causes
    assert (cause.text, cause.line, cause.offset, cause.ranks) == (
        "ValueError: the shard is empty",
        2,
        7 + zeros,
        (3,),
    )


@pytest.mark.parametrize("zeros", ZEROS)
def test_what_stands_behind_zeros_is_counted_in_bulk_too(zeros: int) -> None:
    reader = CountingReader("log:x", long=1)
    for data in (HIT, bytes(zeros) + HIT):
        reader.feed(data)
    reader.flush()
    assert reader.tally.as_json()["hits"] == 2
