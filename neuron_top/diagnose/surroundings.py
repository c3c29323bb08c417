"""Keeps the lines around each finding, as its evidence, and the end of what was read so far."""

from __future__ import annotations

from typing import NamedTuple

from neuron_top.diagnose.findings import Finding, evidence
from neuron_top.escapes import strip_ansi
from neuron_top.parsers.lines import LINE_LIMIT

_BEFORE, _BEHIND = 3, 5
"""Lines that are kept: enough for the last frame of a traceback, and for the beginning of a table that follows."""
_TAIL_BYTES = 64 << 10
_LONGEST = 2000


class _Wanted(NamedTuple):
    """Lines after a finding that are still to come, down to `last`."""

    finding: Finding
    last: int


class Surroundings:
    """Takes these lines while a log is read, block by block."""

    def __init__(self) -> None:
        self.tail = b""
        """The end of what was read before the block."""
        self._wanted: list[_Wanted] = []

    def begin(self, block: bytes, first_line: int) -> None:
        """Take from a new block the lines that findings of earlier ones still want."""
        if self._wanted:
            self._take_behind(block, 0, first_line)

    def end(self, block: bytes) -> None:
        """Keep the end of a block that was read."""
        kept = block if len(block) >= _TAIL_BYTES else self.tail + block
        self.tail = kept[-_TAIL_BYTES:]

    def add(self, finding: Finding, block: bytes, offset: int) -> None:
        """Keep the lines around a new finding; it may have been stated some lines before the block at this offset."""
        near = self.tail + block
        position = finding.offset - offset + len(self.tail)
        if position < 0:
            return
        _keep_before(finding, near, position)
        self._wanted.append(_Wanted(finding, finding.line + _BEHIND))
        end = near.find(b"\n", position)
        self._take_behind(near, len(near) if end < 0 else end + 1, finding.line + 1)

    def add_so_far(self, finding: Finding, offset: int) -> None:
        """Keep the lines around a finding in what was read so far, up to this offset, without waiting for more."""
        position = finding.offset - offset + len(self.tail)
        _keep_before(finding, self.tail, position)
        behind = self.tail[max(0, position) :].split(b"\n")[1 : 1 + _BEHIND]
        for line, raw in enumerate(behind, finding.line + 1):
            _keep(finding, line, raw)

    def _take_behind(self, block: bytes, position: int, line: int) -> None:
        wanted = self._wanted
        for _ in range(_BEHIND):
            if position >= len(block) or not wanted:
                break
            end = block.find(b"\n", position)
            end = len(block) if end < 0 else end
            for finding, last in wanted:
                if finding.line < line <= last:
                    _keep(finding, line, block[position:end])
            line, position = line + 1, end + 1
        self._wanted = [one for one in wanted if one.last >= line]


def _keep_before(finding: Finding, near: bytes, position: int) -> None:
    """Keep the lines before a finding, which stands at this position of `near`."""
    front = near[max(0, position - 2 * LINE_LIMIT) : max(0, position)]
    before = front.rsplit(b"\n", _BEFORE + 1)[:-1][-_BEFORE:]
    for line, raw in enumerate(before, finding.line - len(before)):
        _keep(finding, line, raw)


def _keep(finding: Finding, line: int, raw: bytes) -> None:
    text = strip_ansi(raw[:_LONGEST].decode("utf-8", "replace"))
    if text.strip() and all(one.line != line for one in finding.evidence):
        finding.evidence.append(evidence(line, text))
