"""The last lines of a recorded log at a moment of its past: the file up to where it had grown by then."""

from __future__ import annotations

import os
from collections.abc import Mapping

from neuron_top.pipeline.feed import LogLine
from neuron_top.pipeline.lines import readable

_BYTES_PER_LINE = 300


def last_lines(
    ends: Mapping[str, int],
    marks: Mapping[tuple[str, int | None], str],
    count: int,
    source: str | None = None,
) -> list[LogLine]:
    """`ends`: how far each file had grown. `marks`: levels by (source, offset). Files that are gone give no lines."""
    lines: list[LogLine] = []
    for path, end in ends.items():
        name = f"log:{path}"
        if source in (None, name):
            lines.extend(
                readable(name, offset, text, marks.get((name, offset), ""))
                for offset, text in _lines_before(path, end, count)
            )
    return lines[-count:] if count > 0 else []


def _lines_before(path: str, end: int, count: int) -> list[tuple[int, bytes]]:
    wanted = count * _BYTES_PER_LINE
    try:
        with open(path, "rb") as file:
            start = max(0, end - wanted)
            data = os.pread(file.fileno(), end - start, start)
    except OSError:
        return []
    if start:
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    found: list[tuple[int, bytes]] = []
    for line in data.split(b"\n"):
        found.append((start, line))
        start += len(line) + 1
    if found and not found[-1][1]:
        found.pop()
    return found[-count:]
