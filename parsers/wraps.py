"""Lines that a terminal, a mail or a page has broken at a fixed width: put together again, if that makes them whole.

Nothing marks such a break, so a line is held back only when its own words say that it can't be all: a module key or
a path without its end, half a phrase behind a header. The lines behind it are joined while they are as wide; if what
comes out is not whole then, every line is given as it came.
"""

from __future__ import annotations

import re

from neuron_top.parsers.base import HEADER

_NARROWEST = 40
"""Characters; nobody wraps narrower, and short lines are only short."""
_MOST_PARTS = 64
_WHOLE_ENDS = (".neff", "graph.", "graph", "PASS", ".pb", "done.", "minutes", "models.", "}", "retries.", "=35")
"""The usual ends of whole lines: most need no further look."""
_WHOLE = {
    "Using a cached neff at": r"\.neff(?:\s*\Z|(?!\.?(?: E[a-z ]{0,42})?\Z))",
    "Got a cached failed neff at": r"recompilation|eror log: \[",
    "There was a compilation error for this graph": r"\.neff\b",
    "Call compiler with cmd:": r"model\.MODULE_[0-9a-f+]{8,29}\.hlo",
    "Compilation Successfully Completed for": r"\.pb\b",
    "Another process must be compiling": r" minutes",
    "Extracting graphs (": r"\)",
    "Failed compilation with": r"\]",
    "Compilation failed for": r" retries",
    "No candidate found under": r"MODULE_[0-9a-f]{8,20}\.",
    "Cache dir for the neff:": r"-[0-9a-f]{12}/?\Z",
    "Exiting with a successfully compiled graph": r"",
    "Current remaining items are": r"total is \d",
    "Compilation summary - Total graphs:": r"Failed: \d",
    "dynamic schedul": r"HLOs|\.\.\.\.",
    "num of tasks": r"\d\.\.",
}
"""By the words a line is known for: what stands behind them in a whole line."""
_KNOWN = re.compile("|".join(map(re.escape, _WHOLE)))
_BEHIND = {words: re.compile(pattern) for words, pattern in _WHOLE.items()}
_HALF_KEY = re.compile(
    r"\bMODULE_[0-9a-f]{0,20}(?:\+[0-9a-f]{0,7})?\Z|/M(?:O(?:D(?:U(?:LE?)?)?)?)?\Z|\[NCC_[A-Z]{0,5}\d{0,3}\Z"
)
"""A module key or an error code that breaks off."""
_JOINED_KEY = re.compile(
    r"MODULE_(?:[0-9a-f]{20}|\d{8,20})(?:\+[0-9a-f]{8}(?![0-9a-f])|[/._])|MODULE_\d{1,3}_|/MODULE_"
    r"|\[NCC_[A-Z]{1,5}\d{2,4}\]"
)
"""What it is together with its next line; behind a line that merely ends in a key stands a stranger."""
_HALF_HEADER = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: *\d{0,10} *"
    r"(?:[A-Z]{0,8}|[A-Z]{1,8} *\|{1,2}[A-Z_]{0,40}\|{0,2}|\[[A-Z]{0,8}\]?)\Z"
)
_HUB = re.compile(
    r"(?<![/\w.-])neuronxcc-[\w.+]+/MODULE_\S+ ?(?:n(?:ot? ?f?o?u?n?d? ?i?)?)?\Z"
    r"|/model\.\w+ not found in (?!.* recompiled)"
)
"""A path of the hub, not yet missed or not yet told what follows."""
_WORKER = re.compile(r"[Ww]orker \d{1,6}(?:/\w{0,10})?(?: [a-z :]{0,40}\d{0,6}(?: tasks?(?: [a-z]{0,7})?)?)?\Z")
_HEADED = re.compile(r"(?:\|\||\[(?:INFO|WARNING|ERROR|DEBUG)\]): {0,2}([^|\]]{0,60})\Z")


class Wraps:
    """Holds the lines of one broken line until it is whole, or until it can't be."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, int]] = []

    @property
    def holding(self) -> bool:
        """True while a line is held back: then no line may be skipped."""
        return bool(self._parts)

    def take(self, text: str, offset: int) -> list[tuple[str, int, int]]:
        """Lines that are ready: text, where it began, how many lines it came in."""
        if not self._parts:
            if is_whole(text):
                return [(text, offset, 1)]
            self._parts = [(text, offset)]
            return []
        width = len(self._parts[0][0])
        if len(text) > width or not text.strip() or HEADER.search(text):
            return [*self.flush(), *self.take(text, offset)]
        joined = "".join(part for part, _ in self._parts) + text
        if not _goes_on(self._parts[-1][0], text):
            return [*self.flush(), *self.take(text, offset)]
        if is_whole(joined):
            first, parts = self._parts[0][1], len(self._parts) + 1
            self._parts = []
            return [(joined, first, parts)]
        if len(text) < width or len(self._parts) >= _MOST_PARTS:
            return [*self.flush(), *self.take(text, offset)]
        self._parts.append((text, offset))
        return []

    def flush(self) -> list[tuple[str, int, int]]:
        """What is held, line by line as it came."""
        parts, self._parts = self._parts, []
        return [(text, offset, 1) for text, offset in parts]


def is_whole(text: str) -> bool:
    """Whether nothing in a line's own words says that it goes on; in doubt it is whole."""
    if text.endswith(_WHOLE_ENDS) or len(text) < _NARROWEST:
        return True
    tail = text[-120:]
    if _HALF_KEY.search(tail) or _HALF_HEADER.search(tail):
        return False
    known = list(_KNOWN.finditer(text))
    if known:
        return bool(_BEHIND[known[-1][0]].search(text, known[-1].end()))
    if _HUB.search(text):
        return False
    behind = _HEADED.search(tail)
    return behind is None or not _is_half_phrase(behind[1])


def _goes_on(before: str, text: str) -> bool:
    half = _HALF_KEY.search(before[-120:])
    return half is None or bool(_JOINED_KEY.match(half[0] + text))


def _is_half_phrase(text: str) -> bool:
    return any(words.startswith(text) for words in _WHOLE) or bool(_WORKER.match(text))
