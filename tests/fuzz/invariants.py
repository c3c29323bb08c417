"""What must hold for any bytes: shared by the property tests and the fuzzers."""

from __future__ import annotations

import json

from neuron_top.events import decode, encode
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader


def read(data: bytes, sizes: list[int]) -> tuple[list[bytes], str, list[str]]:
    """Encoded events, counts and samples of the data, fed in portions of these sizes."""
    reader = LogReader("log:fuzz")
    events, position, index = [], 0, 0
    while position < len(data):
        size = sizes[index % len(sizes)]
        events += reader.feed(data[position : position + size])
        position, index = position + size, index + 1
    events += reader.flush()
    return [encode(event) for event in events], json.dumps(reader.tally.as_json()), reader.tally.unknown_samples


def _counted(data: bytes, sizes: list[int]) -> str:
    """The counts alone, which may be taken in bulk."""
    reader = CountingReader("log:fuzz", long=0)
    position = index = 0
    while position < len(data):
        size = sizes[index % len(sizes)]
        reader.feed(data[position : position + size])
        position, index = position + size, index + 1
    reader.flush()
    return json.dumps(reader.tally.as_json())


def check(data: bytes, sizes: list[int]) -> None:
    """Same events however cut, same counts in bulk; every event can be stored and read back; no text moves a cursor."""
    whole = read(data, [max(1, len(data))])
    assert read(data, sizes) == whole
    assert json.loads(_counted(data, sizes)) == json.loads(whole[1])
    for line in whole[0]:
        assert encode(decode(line)) == line
        printable(json.loads(line))
    assert all(sample.isprintable() for sample in whole[2])


def printable(value: object) -> None:
    """No text anywhere in a plain value can move a cursor."""
    if isinstance(value, str):
        assert value.isprintable(), value
    elif isinstance(value, dict):
        for key, inner in value.items():
            printable(key)
            printable(inner)
    elif isinstance(value, list):
        for inner in value:
            printable(inner)
