"""Counts the most common lines of a block all at once, without making events.

In a log of many ranks the same few messages come again and again; only timestamp and process differ. Where nobody wants
events, the beginnings of a block's lines are laid out as a table of bytes, and plain headers are found by comparing
columns, without Python code per line. Their messages are counted; later each distinct message is read once by the
ordinary reader, and its counts are multiplied. Only messages that may be counted in any order are taken, so the tally
is the same either way; tests compare the two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Any

import numpy as np

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import timestamps

_SAID = late_pattern(
    rb"(?:\[INFO\]|INFO \|\|[A-Z_]{1,40}\|\|): (?:"
    rb"Using a cached neff at [!-~]+\.neff(?:\. Exiting with a successfully compiled graph\.)?"
    rb"|Compilation Successfully Completed for [!-~]+\.pb"
    rb"|Compile cache path: [!-~]+"
    rb"|Extracting graphs \([!-~]+\) for ahead-of-time parallel compilation\. No compilation was done\.)"
)
"""Messages that may be counted in bulk: all that follows a plain header."""
_PASS = np.frombuffer(b"Compiler status PASS\n", np.uint8)
_STAND_IN = b"2026-01-01 00:00:00.000000:  1  "
_SHAPE = np.frombuffer(b"0000-00-00 00:00:00.000000:  ", np.uint8)
"""A wrapper's timestamp, column by column; 0 stands for any digit, except in the three columns that are always 0."""
_ALWAYS = np.array([column for column, sign in enumerate(_SHAPE) if sign != ord("0")] + [20, 21, 22])
_DIGITS = np.array([column for column, sign in enumerate(_SHAPE) if sign == ord("0") and column not in (20, 21, 22)])
_WORTH = 10 ** np.arange(len(_DIGITS) - 1, -1, -1, dtype=np.int64)
_PID = 12
"""Columns after the timestamp: a process id of up to ten digits, and two blanks."""
_HEAD = len(_SHAPE) + _PID
_LONGEST = 1000
"""Bytes of the longest line that is counted in bulk: it bounds the memory that _MOST messages take."""
_MOST = 4096
_Array = np.ndarray[Any, Any]


class Bulk:
    """The messages so far, and what differs from line to line: processes, first and last timestamp."""

    def __init__(self) -> None:
        self._countable: dict[bytes, bool] = {}
        """By message: whether it may be counted."""
        self.forget()

    def forget(self) -> None:
        """Drop all messages, once they have been added to the tally."""
        self.said: Counter[bytes] = Counter()
        self.pids: set[int] = set()
        self._first = self._last = 0

    @property
    def full(self) -> bool:
        """Whether there are so many messages or processes that they have to be added to the tally now."""
        return len(self.said) >= _MOST or len(self.pids) >= _MOST

    @property
    def span(self) -> tuple[float | None, float | None]:
        """First and last timestamp, seconds since the epoch."""
        return _seconds(self._first), _seconds(self._last)

    def lines(self) -> list[tuple[bytes, int]]:
        """Each message as a line with a stand-in header, and how often it came."""
        return [
            ((_STAND_IN + said if said else b"Compiler status PASS") + b"\n", times)
            for said, times in self.said.items()
        ]

    def sift(self, block: bytes, *, begins_a_line: bool) -> Sifted:
        """Take the common lines out of a block."""
        signs = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(signs == 10)
        starts = np.empty_like(ends)
        if len(ends):
            starts[0], starts[1:] = 0, ends[:-1] + 1
        if not begins_a_line:
            starts, ends = starts[1:], ends[1:]
        passes = _equal(signs, starts, ends)
        heads, words, stamps, pids = _headed(signs, starts, ends)
        said = [block[a:b] for a, b in zip(words.tolist(), ends[heads].tolist(), strict=True)]
        kept = self._judge(said)
        heads = heads[kept]
        if len(heads):
            self.pids.update(np.unique(pids[kept]).tolist())
            low, high = int(stamps[kept].min()), int(stamps[kept].max())
            self._first, self._last = min(self._first or low, low), max(self._last, high)
        taken = np.concatenate((heads, passes))
        order = np.argsort(taken, kind="stable")
        texts = [text for text, keep in zip(said, kept.tolist(), strict=True) if keep] + [b""] * len(passes)
        taken = taken[order]
        return Sifted(block, starts[taken], ends[taken] + 1, [texts[index] for index in order.tolist()])

    def _judge(self, said: list[bytes]) -> _Array:
        """Which of these messages may be counted."""
        new = set(said).difference(self._countable)
        if len(self._countable) + len(new) > 16 * _MOST:
            self._countable.clear()
            new = set(said)
        self._countable.update((text, _SAID.fullmatch(text) is not None) for text in new)
        return np.fromiter(map(self._countable.__getitem__, said), bool, len(said))


class Sifted:
    """One block: what is left of it, and the common lines that were taken out."""

    def __init__(self, block: bytes, starts: _Array, ends: _Array, said: list[bytes]) -> None:
        begins, stops = np.concatenate(([0], ends)), np.concatenate((starts, [len(block)]))
        full = stops > begins
        begins, stops = begins[full], stops[full]
        self.rest = b"".join([block[a:b] for a, b in zip(begins.tolist(), stops.tolist(), strict=True)])
        """The other lines, in their order."""
        self._origins: list[int] = begins.tolist()
        self._places: list[int] = (np.cumsum(stops - begins) - (stops - begins)).tolist()
        self._starts: list[int] = starts.tolist()
        self._said = said

    def origin(self, place: int) -> int:
        """Where a place in `rest` lies in the block."""
        run = bisect_right(self._places, place) - 1
        return self._origins[run] + place - self._places[run]

    def place(self, origin: int) -> int:
        """The first place in `rest` that lies at or after a position in the block."""
        run = bisect_right(self._origins, origin) - 1
        if run < 0:
            return 0
        end = self._places[run + 1] if run + 1 < len(self._places) else len(self.rest)
        return min(self._places[run] + origin - self._origins[run], end)

    def count(self, said: Counter[bytes], begin: int, end: int) -> None:
        """Add the common lines between two positions of the block."""
        said.update(self._said[bisect_left(self._starts, begin) : bisect_left(self._starts, end)])


def _equal(signs: _Array, starts: _Array, ends: _Array) -> _Array:
    """Lines that are nothing but `Compiler status PASS`."""
    lines = np.flatnonzero(ends - starts == len(_PASS) - 1)
    lines = lines[signs[starts[lines]] == _PASS[0]]
    same = (signs[starts[lines][:, None] + np.arange(len(_PASS))] == _PASS).all(axis=1)
    found: _Array = lines[same]
    return found


def _headed(signs: _Array, starts: _Array, ends: _Array) -> tuple[_Array, _Array, _Array, _Array]:
    """Lines with a plain header: their numbers, where their messages begin, timestamps as numbers, processes."""
    length = ends - starts
    lines = np.flatnonzero((length > _HEAD) & (length < _LONGEST))
    first = starts[lines]
    lines = lines[(signs[first + 4] == ord("-")) & (signs[first + 26] == ord(":")) & (signs[first] == ord("2"))]
    head = signs[starts[lines][:, None] + np.arange(_HEAD)]
    values = (head - np.uint8(ord("0"))).astype(np.uint8)  # other characters wrap around to more than 9
    plain = (head[:, _ALWAYS] == _SHAPE[_ALWAYS]).all(axis=1) & (values[:, _DIGITS] < 10).all(axis=1)
    tail = head[:, len(_SHAPE) :]
    width = (values[:, len(_SHAPE) :] > 9).argmax(axis=1)
    here = np.arange(len(lines))
    plain &= (
        (width > 0)
        & (width < _PID - 1)
        & (tail[here, width] == 32)
        & (tail[here, np.minimum(width + 1, _PID - 1)] == 32)
    )
    plain &= _is_date(values)
    lines, width, values = lines[plain], width[plain], values[plain]
    stamps = values[:, _DIGITS].astype(np.int64) @ _WORTH
    digits = np.arange(_PID) < width[:, None]
    worth = np.where(digits, 10 ** np.maximum(width[:, None] - 1 - np.arange(_PID), 0), 0)
    pids = (np.where(digits, values[:, len(_SHAPE) :], 0).astype(np.int64) * worth).sum(axis=1)
    return lines, starts[lines] + len(_SHAPE) + width + 2, stamps, pids


def _is_date(values: _Array) -> _Array:
    """Dates and times that are valid in any month and year; the rest is left to the ordinary reader."""
    month, day, hour = (values[:, at] * np.uint8(10) + values[:, at + 1] for at in (5, 8, 11))
    possible: _Array = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 28) & (hour < 24)
    possible &= (values[:, 14] < 6) & (values[:, 17] < 6) & (values[:, 0] == 2)
    return possible


def _seconds(stamp: int) -> float | None:
    """The number that a timestamp's digits form → seconds since the epoch."""
    if not stamp:
        return None
    text = f"{stamp:017d}"
    date, clock = f"{text[:4]}-{text[4:6]}-{text[6:8]}", f"{text[8:10]}:{text[10:12]}:{text[12:14]}"
    return timestamps.wrapper(date, clock, f"000{text[14:]}")
