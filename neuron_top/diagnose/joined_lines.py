"""Splits lines that were joined into one: a web page, an issue or a log shipper has lost the line ends between them.

The text shows where a line began: a frame of a traceback, a timestamp followed by a level, a level by itself that comes
again and again. Text with only blanks in between and no such marks stays one line.
"""

from __future__ import annotations

import re
from itertools import pairwise

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_lines

_SHORTEST = 160
"""Characters that a line must have to be searched for several headers."""
_HEADER = 60
"""Characters in which the first header of a line has its level."""
_LONGEST_FRONT = 160
_FEWEST = 3
"""Headers of one kind, with blanks before them, that show that a line holds several; fewer may be quoted."""
_WORDS = 3
"""Least number of characters between two headers, since each is followed by some text."""
_FRAME = late_pattern(r"\s(?=File \"[^\"\n]{1,400}\", line \d{1,7}, in \S)")
_HEADING = f"{json_lines.HEADING}:"
_LINK = late_pattern(
    r"\s(?=Traceback \(most recent call last\):|During handling of the above exception"
    r"|The above exception was the direct cause)"
)
_EXCEPTION = late_pattern(
    r"(?:\s|(?<=[)\]}]))(?=(?:[A-Za-z_]\w{0,80}\.){0,6}[A-Za-z_]?\w{0,80}(?:Error|Exception): \S)"
)
_GLUED_EXCEPTION = late_pattern(r"(?<=[)\]}])(?=(?:[A-Za-z_]\w{0,80}\.){0,6}[A-Za-z_]\w{0,80}(?:Error|Exception): ?\S)")
"""An exception right after the source of a frame."""
_LEVELS = ("INFO", "ERROR", "WARNING", "WARN", "DEBUG", "CRITICAL", "FATAL", "NOTICE", "SEVERE", "TRACE")
_ANY_LEVEL = f"(?:{'|'.join(_LEVELS)})"
_STAMPED = late_pattern(
    r"[\[(]?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?\]?[ :|-]{1,4}"
    rf"(?:\S{{1,60}} {{1,3}}){{0,4}}?[\[(]?{_ANY_LEVEL}\b"
)
_LEVEL = late_pattern(rf"(?<!\S)(?:\[{_ANY_LEVEL}\]:? |{_ANY_LEVEL}:[\w.-]{{1,60}}:)(?=\S)")
_GLUES = ".)]}!?%*>"
"""Besides letters and digits, the characters after which a timestamp may follow without a blank."""


def parts(text: str) -> list[str]:
    """The lines that this one was made of, or the line itself."""
    result: list[str] = []
    for record in _records(text) if _has_late_level(text) else [text]:
        result += _unfolded(record) if '", line ' in record else _unglued(record)
    return result


def _has_late_level(text: str) -> bool:
    """Whether there may be a second level in a line; checked first, since the patterns for headers are slow."""
    return len(text) >= _SHORTEST and any(text.find(level, _HEADER) >= 0 for level in _LEVELS)


def _records(text: str) -> list[str]:
    """The text split at its headers."""
    for header in (_STAMPED, _LEVEL):
        found = [one for one in header.finditer(text) if _may_begin(text, one.start())]
        begins = found[:1] + [one for before, one in pairwise(found) if one.start() - before.end() >= _WORDS]
        is_many = len(begins) >= _FEWEST
        places = [one.start() for one in begins if is_many or _is_glued(text, one.start())]
        if places:
            return [piece for start, end in pairwise((0, *places, len(text))) if (piece := text[start:end]).strip()]
    return [text]


def _may_begin(text: str, start: int) -> bool:
    return not text[:start].strip() or text[start - 1].isspace() or _is_glued(text, start)


def _is_glued(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return before.isalnum() or (before != "" and before in _GLUES)


def _unglued(text: str) -> list[str]:
    """The source of a frame, and the exception right after it, if there is one."""
    return _GLUED_EXCEPTION.split(text, maxsplit=1) if text[:1].isspace() else [text]


def _unfolded(text: str) -> list[str]:
    """The lines of a traceback; text before it that looks like a header is put before each of them."""
    frames = _FRAME.split(text.lstrip())
    at = frames[0].find(_HEADING)
    is_begun = at >= 0 or frames[0].startswith('File "')
    if len(frames) < 2 or not is_begun or not _EXCEPTION.search(frames[-1]):
        return _unglued(text)
    front, heading = (frames[0][:at], frames[0][at:]) if at >= 0 else ("", frames[0])
    lines = [heading]
    for number, frame in enumerate(frames[1:], 2):
        lines += _frame(frame, is_last=number == len(frames))
    if not front.strip():
        return lines
    if len(front) <= _LONGEST_FRONT and front.rstrip().endswith((":", "]", "|", "-", ">")):
        return [front + line for line in lines]
    return [front, *lines]


def _frame(text: str, *, is_last: bool) -> list[str]:
    """A frame with its source, and what follows it at the end of its traceback."""
    frame, *links = _LINK.split(text)
    raised: list[re.Match[str]] = list(_EXCEPTION.finditer(frame)) if links or is_last else []
    if not raised:
        return [frame, *links]
    return [frame[: raised[-1].start()], frame[raised[-1].end() :], *links]
