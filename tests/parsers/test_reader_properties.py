"""Whatever bytes come, in whatever portions: no exception, the same events, nothing that moves a cursor."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import encode
from neuron_top.parsers import families, lines
from neuron_top.parsers.reader import LogReader
from tests.fuzz import invariants
from tests.parsers.logs import read

WORDS = st.sampled_from(
    [
        *families.KEYWORDS,
        b"\n",
        b"\r",
        b"\x1b[31m",
        b".",
        b"..",
        b" ",
        b"{",
        b"}",
        b"{'loss': ",
        b"[rank1]: ",
        b"2026-03-04 10:00:00.000123:  41  [INFO]: ",
        b"2026-03-04 10:00:00.000123:  41  ERROR ||NEURON_CC_WRAPPER||: ",
        b"2026-Mar-04 10:00:00.0123 7:8 ERROR  TDRV:f  ",
        b"Using a cached neff at ",
        b"Failed compilation with ['a']:",
        b"/c/neuronxcc-2.1.0.0+ab12/MODULE_11112222333344445555+0a1b2c3d/model.neff",
        b"Traceback (most recent call last):",
        b"Failed to allocate 1.000GB (usage: tensors) on ND 0:NC 0",
        b"* total: 2.000GB",
        b"\\_NC 4 | 1.0GB |",
        b"\xff\xfe",
        b"Metric: CompileTime",
        b"  TotalSamples: 3",
        "█▋".encode(),
        b"12/100 [00:01<00:02, 3.1it/s]",
        b" 9%|",
    ]
)
LOG = st.one_of(st.lists(WORDS, max_size=60).map(b"".join), st.binary(max_size=400))


@given(LOG, st.lists(st.integers(1, 50), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_portions_do_not_matter(data: bytes, sizes: list[int]) -> None:
    invariants.check(data, sizes)


@given(LOG, st.sampled_from(["utf-8", "utf-16-le"]), st.integers(1, 1 << 40))
@settings(max_examples=100, deadline=None)
def test_an_event_is_made_with_its_source_and_the_place_it_has_in_the_file(
    data: bytes, encoding: str, start: int
) -> None:
    if encoding != "utf-8":
        data = b"\xff\xfe" + data.decode("utf-8", "replace").encode(encoding)
    plain, moved = LogReader("log:x"), LogReader("log:x", offset=start)
    events = [*plain.feed(data), *plain.flush()]
    assert all(event.source == "log:x" and event.offset is not None for event in events)
    assert [*moved.feed(data), *moved.flush()] == [
        msgspec.structs.replace(event, offset=event.offset + start) for event in events if event.offset is not None
    ]


@given(LOG, st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_blocks_of_a_splitter_give_the_events_that_portions_give(data: bytes, size: int) -> None:
    portions, blocks, splitter = LogReader("log:x"), LogReader("log:x"), lines.LineSplitter()
    events = [
        event for at in range(0, len(data), size) for event in blocks.feed_block(splitter.take(data[at : at + size]))
    ]
    events += [*blocks.feed_block(splitter.rest()), *blocks.flush()]
    assert events == [*portions.feed(data), *portions.flush()]
    assert blocks.tally.as_json() == portions.tally.as_json()
    assert splitter.offset == len(data)


@given(LOG)
@settings(max_examples=100, deadline=None)
def test_a_moment_of_quiet_before_the_end_changes_no_count(data: bytes) -> None:
    data += b"\n"
    quiet, plain = LogReader("log:x"), LogReader("log:x")
    reported = [*quiet.feed(data), *quiet.flush_idle(), *quiet.flush_idle(), *quiet.flush()]
    assert sorted(map(encode, reported)) == sorted(map(encode, [*plain.feed(data), *plain.flush()]))
    assert quiet.tally.as_json() == plain.tally.as_json()


@given(st.binary(max_size=300), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_lines_longer_than_the_limit_are_cut_at_the_same_places(data: bytes, size: int) -> None:
    whole, pieces = lines.LineSplitter(8), lines.LineSplitter(8)
    given_whole = whole.take(data) + whole.rest()
    given_pieces = b"".join(pieces.take(data[at : at + size]) for at in range(0, len(data), size)) + pieces.rest()
    assert given_whole == given_pieces == data


def test_a_line_without_end_stays_bounded() -> None:
    reader = LogReader("log:x")
    for _ in range(64):
        reader.feed(b"x" * 65_536)
    assert len(reader._buffer.peek()) < lines.LINE_LIMIT


def test_a_bar_of_a_megabyte_without_a_line_end_gives_its_steps() -> None:
    assert len(read(b"\r 10%|## | 1/10 [00:01<00:09, 1.00it/s]" * 30_000)) > 29_900  # some are cut by the limit
