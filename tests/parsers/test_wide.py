"""Logs in UTF-16: the same counts and events as in UTF-8, at the places that the lines have in the file."""

from __future__ import annotations

import random

import pytest

from neuron_top.events import encode
from neuron_top.ingest.log_line import readable
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import FOLDER, M1, g3

ENCODINGS = {
    "little, marked": ("utf-16-le", b"\xff\xfe"),
    "big, marked": ("utf-16-be", b"\xfe\xff"),
    "little": ("utf-16-le", b""),
    "big": ("utf-16-be", b""),
}
LOG = (
    g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
    + "..Compiler status PASS\nein Wort: größer 🙂 …\r\n"
    + "".join(g3(f"Compilation Successfully Completed for model.{M1}.hlo_module.pb") for _ in range(40))
    + "x" * 300_000
    + "\n"
    + g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
    + "....."
)


def _read(portions: list[bytes], reader: LogReader | None = None) -> tuple[list[dict[str, object]], dict[str, object]]:
    reader = reader or LogReader("log:x")
    events = [event for portion in portions for event in reader.feed(portion)] + reader.flush()
    tally = reader.tally.as_json()
    return [
        {"event": encode(event).replace(b'"offset":%d' % (event.offset or 0), b""), "at": event.offset}
        for event in events
    ], tally


def _portions(data: bytes, sizes: list[int]) -> list[bytes]:
    portions, at = [], 0
    while at < len(data):
        portions.append(data[at : at + sizes[len(portions) % len(sizes)]])
        at += len(portions[-1])
    return portions


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_log_in_utf_16_gives_the_same_events_and_counts(name: str) -> None:
    encoding, mark = ENCODINGS[name]
    raw = mark + LOG.encode(encoding)
    plain, counts = _read([LOG.encode()])
    chance = random.Random(name)
    for portions in ([raw], _portions(raw, [1]), _portions(raw, [chance.randrange(1, 900) for _ in range(97)])):
        events, wide = _read(portions)
        assert wide == counts
        assert [each["event"] for each in events] == [each["event"] for each in plain]
    assert _read([raw], CountingReader("log:x", long=0))[1] == counts


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_places_are_those_of_lines_cut_behind_each_line_end(name: str) -> None:
    encoding, mark = ENCODINGS[name]
    raw = mark + LOG.encode(encoding)
    starts = {0} | {at + 1 for at, byte in enumerate(raw) if byte == 10}
    events, _ = _read([raw])
    assert {each["at"] for each in events} <= starts
    lines = raw.split(b"\n")
    assert readable("log:x", 0, lines[0]).text == LOG.split("\n")[0]
    assert readable("log:x", 0, lines[1]).text == "..Compiler status PASS"


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_mark_before_utf_8_is_no_part_of_the_first_line(size: int) -> None:
    line = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff").encode()
    marked = b"\xef\xbb\xbf" + line
    events, counts = _read(_portions(marked, [size]))
    assert counts["hits"] == 1
    assert [each["at"] for each in events] == [3]
    assert readable("log:x", 0, marked).text == readable("log:x", 0, line).text


def test_the_unfinished_line_is_shown() -> None:
    reader = LogReader("log:x")
    reader.feed(b"\xff\xfe" + "one\n...".encode("utf-16-le"))
    assert reader.pending == "..."


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\xff\xfe", b"\0", b"\0\0\0\0\0\0\0\0", b"x", b"\xfe\xff\xfe\xff\xfe\xff"]
)
def test_beginnings_that_only_look_like_it_are_read_as_they_are(data: bytes) -> None:
    line = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff").encode()
    _, counts = _read([data + b"\n" + line] if data else [line])
    assert counts["hits"] == 1
    _read([data])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_very_short_log_is_read_too(encoding: str) -> None:
    _, counts = _read([".\n".encode(encoding)])
    assert counts["lines"] == 1


def test_a_line_of_bytes_that_begin_like_a_mark_is_not_drawn_as_utf_16() -> None:
    junk = b"\xff\xfe\x01\x02\0 dump of a buffer"
    assert readable("log:x", 4096, junk).text.endswith("dump of a buffer")
    marked = b"\xff\xfe" + "größer als 漢字漢字漢字漢字漢字漢字\r".encode("utf-16-le")
    assert readable("log:x", 0, marked).text == "größer als 漢字漢字漢字漢字漢字漢字"
    appended = b"\xff\xfe" + "second file\r".encode("utf-16-le")
    assert readable("log:x", 4096, appended).text == "second file"
