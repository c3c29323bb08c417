"""Reads logs in UTF-16, as PowerShell's `>` and some editors write them, as lines of UTF-8 with their offsets.

UTF-16 is recognized by its byte order mark, or by zeros in every other byte at the beginning. Offsets are bytes of the
file, as for any other log, and a line begins after the byte 0x0A, so that code which splits such a file into lines
without knowing its encoding finds the same offsets.
"""

from __future__ import annotations

from neuron_top.parsers.lines import LINE_LIMIT

LITTLE, BIG = "utf-16-le", "utf-16-be"
_MARKS = {b"\xff\xfe": LITTLE, b"\xfe\xff": BIG}
_ENOUGH = 8
"""Bytes at the beginning that determine the encoding."""
_MARK = "\ufeff"
UTF8_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors on Windows write before UTF-8. It is no part of the first line."""


def undecided(head: bytes) -> bool:
    """Whether more of the beginning is needed to determine the encoding."""
    if len(head) < 2:
        return True
    return len(head) < _ENOUGH and (head[:2] in _MARKS or b"\0" in head[:2] or head == UTF8_MARK[:2])


def encoding_of(head: bytes) -> str | None:
    """The encoding of a text by its first bytes; None = not UTF-16. A mark alone may be junk."""
    start = head[:_ENOUGH]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if start[:2] in _MARKS:
        return _MARKS[start[:2]] if even + odd else None
    if len(start) < 4 or min(even, odd) or max(even, odd) < len(start) // 2:
        return None
    return LITTLE if odd else BIG


def after_mark(head: bytes) -> tuple[bytes, int]:
    """The first bytes of a text without the mark before UTF-8, and where they begin."""
    text = head.removeprefix(UTF8_MARK)
    return text, len(head) - len(text)


def narrowed(line: bytes, *, is_first: bool) -> bytes:
    """A raw line as UTF-8, if it is one of a log in UTF-16; else as it is. A byte order mark is left out.

    `is_first`: of its log. On other lines, its mark proves nothing: they may be bytes that a program printed.
    """
    if b"\0" not in line:
        return line.removeprefix(UTF8_MARK)
    if is_first and line[:2] in _MARKS:
        return _decoded(line[2 : len(line) // 2 * 2], _MARKS[line[:2]])
    even, odd = line[::2].count(0), line[1::2].count(0)
    if max(even, odd) * 4 <= len(line) or min(even, odd) * 4 > max(even, odd):
        return line
    if len(line) % 2:  # half of a line end is left, in front or behind; most such logs are little-endian
        return _decoded(line[1:] if even > odd else line[:-1], LITTLE)
    return _decoded(line, BIG if even > odd else LITTLE)


class WideLines:
    """Turns bytes in any portions into whole lines of UTF-8 with their line ends, and where each begins in the file."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._line_end = "\n".encode(encoding)
        self._raw = b""
        self._position = 0
        """Where `_raw` begins in the file."""
        self._start = 0
        """Where the unfinished line begins."""
        self._searched = 0

    def take(self, data: bytes) -> list[tuple[bytes, int]]:
        """The lines that these bytes complete; a line that is too long comes in pieces."""
        raw = self._raw + data
        lines: list[tuple[bytes, int]] = []
        begin, at = 0, self._searched
        while (end := raw.find(self._line_end, at)) >= 0:
            if end % 2:  # the halves of two characters
                at = end + 1
                continue
            at = end + 2
            lines.append((_decoded(raw[begin:at], self._encoding), self._start))
            begin, self._start = at, self._position + end + raw[end:at].index(b"\n") + 1
        while len(raw) - begin >= 2 * LINE_LIMIT:
            lines.append((_decoded(raw[begin : begin + 2 * LINE_LIMIT], self._encoding), self._start))
            begin += 2 * LINE_LIMIT
        self._raw = raw[begin:]
        self._position += begin
        self._searched = max(0, len(self._raw) - 1) // 2 * 2
        return lines

    def rest(self) -> list[tuple[bytes, int]]:
        """Take out the unfinished line, at the end of the stream."""
        raw, self._raw, self._searched = self._raw, b"", 0
        return [(_decoded(raw, self._encoding), self._start)] if raw else []

    def peek(self) -> bytes:
        """The unfinished line so far, as UTF-8."""
        return _decoded(self._raw[-2 * 4096 :], self._encoding)


def _decoded(raw: bytes, encoding: str) -> bytes:
    return raw.decode(encoding, "replace").removeprefix(_MARK).encode("utf-8", "replace")
