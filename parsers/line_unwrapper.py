"""Joins lines that a terminal, a mail or a web page has wrapped at a fixed width, if that makes them whole.

Nothing marks such a break, so a line is held back only when its own text shows that it is incomplete: a module key or
a path without its end, half a phrase after a header. The lines after it are joined while they are equally wide; if the
result is not whole then, every line is returned as it came. A prefix that a launcher or a container has put in front of
each piece is taken off all but the first, and the pieces are measured without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import prefixes
from neuron_top.parsers.base import HEADER

_NARROWEST = 24
"""Characters: nothing wraps at a smaller width, so a shorter line is complete."""
_MOST_PARTS = 64
_WHOLE_ENDS = (".neff", "graph.", "graph", "PASS", ".pb", "done.", "minutes", "models.", "}", "retries.", "=35")
"""How most whole lines end: these need no further check."""
_WHOLE = {
    "Using a cached neff at": r"\.neff(?:\s*\Z|(?!\.?(?: E[a-z ]{0,42})?\Z))",
    "Got a cached failed neff at": r"recompilation|eror log: \[",
    "There was a compilation error for this graph": r"\.neff\b",
    "Call compiler with cmd:": r"model\.MODULE_[0-9a-f+]{8,73}\.hlo",
    "Compilation Successfully Completed for": r"\.pb\b",
    "Another process must be compiling": r" minutes",
    "Extracting graphs (": r"\)",
    "Failed compilation with": r"\]",
    "Compilation failed for": r" retries",
    "No candidate found under": r"MODULE_[0-9a-f]{8,64}\.",
    "Cache dir for the neff:": r"-[0-9a-f]{12}/?\Z",
    "Exiting with a successfully compiled graph": r"",
    "Current remaining items are": r"total is \d",
    "Compilation summary - Total graphs:": r"Failed: \d",
    "dynamic schedul": r"HLOs|\.\.\.\.",
    "num of tasks": r"\d\.\.",
}
"""By the phrase that a line is known by: what follows it in a whole line."""
_KNOWN_WORDS = "|".join(map(re.escape, _WHOLE))
_KNOWN = late_pattern(_KNOWN_WORDS)
_KNOWN_AT_END = late_pattern(f"(?:{_KNOWN_WORDS})$")
_BEHIND = {words: late_pattern(pattern) for words, pattern in _WHOLE.items()}
_HALF_KEY = late_pattern(
    r"\bMODULE_[0-9a-f]{0,64}(?:\+[0-9a-f]{0,7})?\Z|/M(?:O(?:D(?:U(?:LE?)?)?)?)?\Z|\[NC(?:C(?:_[A-Z]{0,5}\d{0,3})?)?\Z"
)
"""A module key or an error code that breaks off."""
_JOINED_KEY = late_pattern(
    r"MODULE_[0-9a-f]{8,64}(?:\+[0-9a-f]{8}(?![0-9a-f])|[/._])|MODULE_\d{1,3}_|/MODULE_"
    r"|\[NCC_[A-Z]{1,5}\d{2,4}\]"
)
"""Such a key joined with the next line. If this does not match, the line only happened to end in a key, and the next
line is not part of it."""
_LONGER_KEY = late_pattern(r"MODULE_[0-9a-f]{20,64}(?:\+[0-9a-f]{0,7})?")
"""A joined key that breaks off again."""
_HALF_HEADER = late_pattern(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: *\d{0,10} *"
    r"(?:[A-Z]{0,8} *|[A-Z]{1,8} *\|{1,2}[A-Z_]{0,40}\|{0,2}|\[[A-Z]{0,8}\]?)\Z"
)
_HALF_STAMP = late_pattern(r"(?<![\w-])20\d\d-(?:\d\d|[A-Z][a-z]{2})-(?:\d\d?(?: [\d:.]{0,15})?)?\Z")
_LONGEST_STAMP = 32
_DATE = late_pattern(r"\d-[A-Z][a-z]{2}-\d\d ")
"""Part of the runtime's timestamps, to rule most lines out quickly."""
_STAMP = r"\d{4}-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d\.\d{4}(?:\d\d)?"
_HALF_RUNTIME = late_pattern(
    _STAMP + r"\s*(?:\d{1,10}(?::\d{0,10})?\s*)?(?:[A-Z]{1,7}\s*(?:[A-Z]{1,10}(?P<function>:\w{0,100})?\s*)?"
    r"|\[\d{0,6}(?:\]\s*(?:\S{1,100}\s*(?:[A-Z]{1,4}\s*[A-Z]{0,5}\s*)?)?)?)?\Z"
)
"""A header of the runtime or of its collectives without any text after it."""
_RUNTIME = late_pattern(_STAMP + r"\s+(?:\d{1,10}:\d{1,10}\s+)?[A-Z]{4,7}\s+[A-Z]{2,10}:\w{1,100}\s+(?=F)")
_ALLOCATION = "Failed to alloc"


def _begun(words: str) -> str:
    """A pattern for every beginning of some words, from nothing to all of them."""
    pattern = ""
    for letter in reversed(words):
        pattern = f"(?:{re.escape(letter)}{pattern})?"
    return pattern


_HALF_ALLOCATION = late_pattern(
    _begun(_ALLOCATION)
    + rf"|{_ALLOCATION} {_begun('DEVICE memory: ')}"
    + rf"|{_ALLOCATION}(?:at?|ate ?{_begun('aligned')}|ate aligned .{{0,300}}(?<!bytes))"
    + rf"|{_ALLOCATION}ate [\d.]{{1,20}} ?[KMGT]?B? ?(?:\((?:[^)]{{0,150}}|[^)]{{0,150}}\) ?(?:on? ?)?"
    + r"(?:N|ND ?\d{0,4} ?(?:: ?(?:N|NC ?)?)?)?))?"
)
"""The runtime's message about an allocation that failed, broken off."""
_MAYBE_HALF = late_pattern(r"\bNC ?\d{1,3}\Z|DEVICE memory: \d{1,15}\Z")
_REST_OF_NUMBER = late_pattern(r"\d{1,15}(?:, current utilization:)?\s*\Z")
_ARGV = late_pattern(r"(?:compiler with cmd:|Failed compilation with) ?\[\s*(?=['\"]|\Z)")
_ARGUMENT = late_pattern(r"\s+['\"]")
_HUB = late_pattern(
    r"(?<![/\w.-])neuronxcc-[\w.+]+/MODULE_\S+ ?(?:n(?:ot? ?f?o?u?n?d? ?i?)?)?\Z"
    r"|/model\.\w+ not found in (?!.* recompiled)"
)
"""The hub's message about a file that it does not hold, broken off before or after `not found in`."""
_WORKER = late_pattern(
    r"[Ww]orker \d{1,6}(?:/\w{0,10})?(?: [a-z :]{0,40}\d{0,6}(?: t?a?s?k?s?(?: [a-z]{0,7})?)?)?\Z"
    r"|[Ww](?:o(?:r(?:k(?:er? ?)?)?)?)?\Z"
)
_HEADED = late_pattern(r"(?:\|\||\[(?:INFO|WARNING|ERROR|DEBUG)\]): {0,2}([^|\]]{0,60})\Z")


class LineUnwrapper:
    """Holds the pieces of one wrapped line until it is whole, or cannot become whole."""

    def __init__(self, split: Callable[[str], tuple[prefixes.Prefix, str]] = prefixes.split) -> None:
        """`split` takes the prefix off a line, as `prefixes.split` does."""
        self._split = split
        self._held: list[tuple[str, int]] = []
        """The pieces as they came, and where they began."""
        self._joined = ""
        self._is_whole = False
        self._width = 0
        """Of the pieces, without their prefix where each has one."""
        self._prefix = prefixes.NO_PREFIX

    @property
    def holding(self) -> bool:
        """True while a line is held back: then no line may be skipped."""
        return bool(self._held)

    def take(self, text: str, offset: int) -> list[tuple[str, int, int]]:
        """Add a line; returns the lines that are ready: text, where it began, how many physical lines it came in."""
        if not self._held:
            if is_whole(text):
                return [(text, offset, 1)]
            self._prefix, _ = self._split(text)
            self._held, self._joined, self._width = [(text, offset)], text, len(text)
            return []
        piece, width = self._piece(text)
        if not piece.strip() or HEADER.search(piece) or (piece is not text and not self._same_process(text)):
            return [*self.flush(), *self.take(text, offset)]
        joined = self._join(piece, width)
        if joined is None:
            return [*self.flush(), *self.take(text, offset)]
        whole = is_whole(joined, joined=True)
        wide = len(piece) == width
        if not whole and not (len(self._held) < _MOST_PARTS and (wide or _half_allocation(joined) or _in_argv(joined))):
            return [*self.flush(), *self.take(text, offset)]
        self._held.append((text, offset))
        self._joined, self._is_whole = joined, whole
        # The digits of a number may go on after a piece that fills its line.
        return self.flush() if whole and not (wide and _ends_in_a_number(joined)) else []

    def flush(self) -> list[tuple[str, int, int]]:
        """Return what is held: the line if it is whole, else the pieces as they came."""
        held, self._held = self._held, []
        if self._is_whole:
            self._is_whole = False
            return [(self._joined, held[0][1], len(held))]
        return [(text, offset, 1) for text, offset in held]

    def _piece(self, text: str) -> tuple[str, int]:
        """A line without the prefix that every piece has, and the width of the pieces without it."""
        if self._prefix is prefixes.NO_PREFIX:
            return text, self._width
        prefix, body = self._split(text)
        if prefix is prefixes.NO_PREFIX:
            return text, self._width
        return body, len(self._split(self._held[0][0])[1])

    def _same_process(self, text: str) -> bool:
        prefix, _ = self._split(text)
        return (prefix.rank, prefix.pid) == (self._prefix.rank, self._prefix.pid)

    def _join(self, piece: str, width: int) -> str | None:
        """The held text joined with the next piece; None where the piece cannot belong to it."""
        if not _goes_on(self._joined, piece):
            return None
        if _in_argv(self._joined) and _ARGUMENT.match(piece):
            return f"{self._joined} {piece.strip()}"
        if len(piece) <= width:
            return self._joined + piece
        # Broken at a blank, or the blanks at the end of the first piece were dropped: the widths say nothing then.
        return f"{self._joined} {piece.lstrip()}" if _ends_in_a_word(self._joined) else None


def is_whole(text: str, *, joined: bool = False) -> bool:
    """Whether a line shows no sign of being cut off; in doubt it is whole."""
    if text.endswith(_WHOLE_ENDS) or len(text) < _NARROWEST:
        return True
    tail = text[-120:]
    if _HALF_KEY.search(tail) or _HALF_HEADER.search(tail) or _HALF_STAMP.search(text[-_LONGEST_STAMP:]):
        return False
    if (_DATE.search(text) or _ALLOCATION in text) and (
        _half_runtime(text) or (not joined and _ends_in_a_number(text))
    ):
        return False
    known = list(_KNOWN.finditer(text))
    if known:
        return bool(_BEHIND[known[-1][0]].search(text, known[-1].end()))
    if _HUB.search(text):
        return False
    behind = _HEADED.search(tail)
    return behind is None or not _is_half_phrase(behind[1])


def _half_runtime(text: str) -> bool:
    """Whether a line breaks off in a header of the runtime, or in its message about a failed allocation."""
    return bool(_HALF_RUNTIME.search(text[-300:])) or _half_allocation(text)


def _half_allocation(text: str) -> bool:
    headers = list(_RUNTIME.finditer(text[-600:]))
    if headers:
        return bool(_HALF_ALLOCATION.fullmatch(text[-600:], headers[-1].end()))
    body = text.lstrip()
    return body.startswith(_ALLOCATION) and bool(_HALF_ALLOCATION.fullmatch(body))


def _ends_in_a_number(text: str) -> bool:
    """Whether a line about a failed allocation ends in a number, of which digits may be missing."""
    return _ALLOCATION in text and _MAYBE_HALF.search(text[-40:]) is not None


def _in_argv(text: str) -> bool:
    """Whether a compiler's command line has begun and not ended: people put each argument on a line of its own."""
    opened = _ARGV.search(text)
    return opened is not None and "]" not in text[opened.end() :]


def _ends_in_a_word(text: str) -> bool:
    """Whether a broken line may have been broken between two words, in a header or in a phrase."""
    runtime = _HALF_RUNTIME.search(text[-300:])
    if runtime is not None:
        return bool(runtime["function"])
    return _half_allocation(text) or bool(_KNOWN_AT_END.search(text))


def _goes_on(before: str, text: str) -> bool:
    if _ends_in_a_number(before):
        return _REST_OF_NUMBER.match(text) is not None
    half = _HALF_KEY.search(before[-120:])
    return half is None or bool(_JOINED_KEY.match(half[0] + text) or _LONGER_KEY.fullmatch(half[0] + text))


def _is_half_phrase(text: str) -> bool:
    return any(words.startswith(text) for words in _WHOLE) or bool(_WORKER.match(text))
