"""One line of a log by its place: what stood where an event came from."""

from __future__ import annotations

import os

from neuron_top.ingest.log_line import readable

_LONGEST_LINE = 16_384


def line_at(source: str, offset: int) -> str:
    """The line of a log (`log:<path>`) that begins at `offset`, made readable; "" when the file is gone."""
    kind, _, path = source.partition(":")
    if kind != "log":
        return ""
    try:
        with open(path, "rb") as file:
            data = os.pread(file.fileno(), _LONGEST_LINE, offset)
    except OSError:
        return ""
    return readable(source, offset, data.partition(b"\n")[0]).text
