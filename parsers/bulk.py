"""Counting without events: the commonest lines, taken whole from the raw bytes.

A log of many ranks says the same few things again and again; only stamp and process differ. Where nobody wants
events, such a line is recognised by one pattern and its words are counted; later each distinct wording is read once
by the ordinary reader and its counts are multiplied. Only wordings whose counts add up in any order are taken, so the
tally is the same either way; tests hold the two against each other.
"""

from __future__ import annotations

import re

from neuron_top.parsers import timestamps
from neuron_top.parsers.tally import Tally

_DATE = rb"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
_CLOCK = rb"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
_SAID = (
    rb"Using a cached neff at [!-~]+(?: Exiting with a successfully compiled graph\.)?"
    rb"|Compilation Successfully Completed for [!-~]+"
    rb"|Compile cache path: [!-~]+"
    rb"|Extracting graphs \([!-~]+\) for ahead-of-time parallel compilation\. No compilation was done\."
)
_LINE = re.compile(
    rb"(?:(" + _DATE + rb" " + _CLOCK + rb"\.000\d{3}):  (\d{1,10})  "
    rb"((?:\[INFO\]|INFO \|\|[A-Z_]{1,40}\|\|): (?:" + _SAID + rb"))"
    rb"|Compiler status PASS|\{'loss': -?[\d.]{1,20}(?:, '[a-z_/]{1,40}': -?[\d.e-]{1,24}){0,30}\})\n"
)
_MOST = 4096
_STAND_IN = b"2026-01-01 00:00:00.000000:  1  "


class Bulk:
    """Wordings met so far, and what differs from line to line: processes, first and last stamp."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._said: dict[bytes | None, int] = {}
        self._pids: set[bytes] = set()
        self._first = self._last = b""

    @property
    def full(self) -> bool:
        """Time to settle."""
        return len(self._said) >= _MOST or len(self._pids) >= _MOST

    def take(self, block: bytes, position: int) -> int:
        """Count the line at `position` if it is one of these; returns where the next begins, 0 for any other line."""
        found = _LINE.match(block, position)
        if found is None:
            return 0
        stamp, pid, said = found.groups()
        if stamp is None:
            said = b"PASS" if block[position] == 0x43 else None  # a C; a dictionary counts nothing
        else:
            self._pids.add(pid)
            if stamp > self._last:
                self._last = stamp
            if stamp < self._first or not self._first:
                self._first = stamp
        self._said[said] = self._said.get(said, 0) + 1
        return found.end()

    def lines(self) -> list[tuple[bytes, int]]:
        """Each wording as a line that stands for all of its kind, and how many there were."""
        return [(_line(said), count) for said, count in self._said.items()]

    def settle(self, tally: Tally) -> None:
        """Give what differed, and forget everything."""
        tally.span(_seconds(self._first), _seconds(self._last), [int(pid) for pid in self._pids])
        self._clear()


def _line(said: bytes | None) -> bytes:
    if said is None:
        return b"{'loss': 1.0}\n"
    return b"Compiler status PASS\n" if said == b"PASS" else _STAND_IN + said + b"\n"


def _seconds(stamp: bytes) -> float | None:
    text = stamp.decode()
    return timestamps.wrapper(text[:10], text[11:19], text[20:]) if text else None
