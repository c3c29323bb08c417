"""Recognizes a program's last words: a line that elsewhere may mean anything, but as the last one of a log in which
nothing else failed is why the program ended."""

from __future__ import annotations

from neuron_top.diagnose.ending import LastLine
from neuron_top.diagnose.margin import Margin
from neuron_top.diagnose.no_failures import is_noise
from neuron_top.diagnose.statements import statements
from neuron_top.late_pattern import late_pattern

_LONGEST = 400
"""Characters of such a line."""
_SYSTEM_ERROR = late_pattern(
    r"(?:^|: )(?:Permission denied|No such file or directory|Connection refused|Address already in use"
    r"|Operation not permitted|Is a directory|Not a directory|Text file busy|Argument list too long|No route to host"
    r"|Read-only file system|Input/output error|Device or resource busy|Exec format error)\.?$"
)
"""The words of the C library for an error, behind the program and what it was about."""
_GIVES_UP = late_pattern(
    r"(?i)^(?:aborting|exiting|quitting|giving up|gave up)\b"
    r"(?!.{0,300}\b(?:success\w*|normal\w*|grace\w*|clean\w*|done|complet\w*|finish\w*|signal|request\w*|user|shut\w*"
    r"|(?:code|status):? 0)\b)\W{1,3}\w+(?:\W+\w+){2,}"
    r"|\b(?:invalid|unknown|unsupported|missing|cannot|must|wrong|not (?!needed|necessary|required))\b.{0,300}"
    r"[\w'\")\]][.!;,:] {1,2}(?:aborting|exiting|quitting|giving up)(?: now)?[.!]{0,3}$"
)
"""How it says that it ends, before or behind the reason."""
_REFUSES = late_pattern(
    r"(?i)^(?:(?:invalid|unknown|unsupported|missing|not enough|insufficient|no such) [a-z_-]{2,40}\b"
    r"|you must (?:set|provide|specify|pass|give|supply|accept|log in|have)\b|access to .{1,200}\bis restricted\b)"
    r"(?!.{0,300}(?:[:=] {0,2}(?:[\d.,]+ ?%?|\[.*\]|\{.*\}|none)|\b(?:ignor|skipp)\w+)$)"
)
"""How it begins to say what it does not accept; numbers behind it are a statistic."""
_ABSENT = late_pattern(
    r"(?i)^(?!.{0,300}\b(?:creat|delay|download|skip|ignor|instead|will be)\w*)(?:\S+ ){1,20}(?:does not exist"
    r"|is not (?:installed|supported|defined|a directory|a file|executable|readable|writable)|is already in use"
    r"|is required|(?:is|was) denied)[.!]?$"
)
_PYTHONS = late_pattern(
    r"^(?:(?:list|tuple|string|pop) index out of range|division by zero|maximum recursion depth exceeded"
    r"|'\w{1,80}' object (?:has no attribute '|is not (?:callable|iterable|subscriptable)$).{0,80})$"
)
"""Messages of Python's exceptions, without their names."""
_WORDS = (_SYSTEM_ERROR, _GIVES_UP, _REFUSES, _ABSENT, _PYTHONS)


def states_reason(raw: bytes, last: LastLine, margin: Margin) -> bool:
    """Whether the last line of a log, read as it stands there, says why its program ended; `margin` is the log's."""
    said = list(statements(margin.split(raw).line, last.number, last.offset))
    if len(raw) > _LONGEST or not said:
        return False
    statement = said[-1]
    if statement.level.is_mild or statement.indented or is_noise(statement):
        return False
    return any(words.search(statement.text) for words in _WORDS)
