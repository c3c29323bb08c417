"""Two streams become one log of whole lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.processes.interleave import PATIENCE, Interleaver

PIECES = st.lists(st.tuples(st.sampled_from(("stdout", "stderr")), st.binary(min_size=1, max_size=6)), max_size=30)


@given(PIECES)
def test_nothing_is_lost_doubled_or_reordered_within_a_stream(pieces: list[tuple[str, bytes]]) -> None:
    lines = Interleaver()
    given_bytes = {"stdout": b"", "stderr": b""}
    log = b""
    for stream, data in pieces:
        given_bytes[stream] += data
        log += lines.feed(stream, data, 0.0)
    log += lines.flush()
    assert sorted(log) == sorted(given_bytes["stdout"] + given_bytes["stderr"])


@given(st.lists(st.tuples(st.sampled_from("oe"), st.binary(min_size=1, max_size=4)), max_size=30))
def test_a_line_is_never_cut_in_two_by_the_other_stream(pieces: list[tuple[str, bytes]]) -> None:
    lines = Interleaver()
    log = b""
    whole = {"o": b"", "e": b""}
    for stream, data in pieces:
        tagged = data.replace(b"\x00", b"x")
        whole[stream] += tagged
        log += lines.feed(stream, tagged, 0.0)
    expected = [line for text in whole.values() for line in text.split(b"\n")[:-1]]
    assert sorted(log.split(b"\n")[:-1]) == sorted(expected)


def test_dots_without_an_end_go_out_after_a_while() -> None:
    lines = Interleaver()
    assert lines.feed("stderr", b"...", 10.0) == b""
    assert lines.overdue(10.0 + PATIENCE / 2) == b""
    assert lines.overdue(10.0 + PATIENCE) == b"..."
    assert lines.feed("stderr", b".\n", 11.0) == b".\n"
