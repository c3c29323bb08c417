"""Learns the prefix that a launcher or a log service puts before each line of a traceback, and takes it off.

Its heading shows it: what stands before the heading is the prefix of every line, or not. It may have any form, unlike
a label that is taken off every line (`parsers/labels.py`), and it names the stream of the line (`Statement.host`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from neuron_top.diagnose.statement import Statement
from neuron_top.late_pattern import late_pattern

LONGEST_PREFIX = 160
"""Characters."""
_MOST_PREFIXES = 64
_RANK = late_pattern(r"(?<!\w)\[(?:rank|default)?(\d{1,6})\]|(?i:\brank)\W{0,2}(\d{1,6})\b")
"""A number in brackets behind a name, `python[4711]`, is that of its process."""
_STAMP = late_pattern(r"(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")


class _Prefix(NamedTuple):
    """One prefix; its pattern accepts any timestamp in it."""

    pattern: re.Pattern[str]
    rank: int | None


class LearnedPrefixes:
    """The prefixes that headings have shown, a bounded number."""

    def __init__(self) -> None:
        self._prefixes: dict[str, _Prefix] = {}

    def learn(self, front: str, rank: int | None, statement: Statement) -> None:
        """Remember the prefix of a heading or a frame, and remove it."""
        host = _STAMP.sub("#", front)
        if host not in self._prefixes:
            if len(self._prefixes) >= _MOST_PREFIXES:
                self._prefixes.clear()
            stamped = map(re.escape, _STAMP.split(front))
            self._prefixes[host] = _Prefix(re.compile(_STAMP.pattern.join(stamped)), rank)
        statement.text, statement.host = statement.text[len(front) :], host
        statement.rank = rank if statement.rank is None else statement.rank

    def remove(self, statement: Statement) -> None:
        """Remove the prefix of a line of a traceback."""
        for host, prefix in self._prefixes.items():
            found = prefix.pattern.match(statement.text)
            if found is not None:
                body = statement.text[found.end() :]
                statement.indented, statement.text, statement.host = body[:1].isspace(), body.strip(), host
                statement.indent = len(body) - len(body.lstrip())
                statement.rank = prefix.rank if statement.rank is None else statement.rank
                return

    def clear(self) -> None:
        """Forget all."""
        self._prefixes.clear()


def rank_in(front: str) -> int | None:
    """The rank that such a prefix names."""
    found = _RANK.search(front)
    return int(found[1] or found[2]) if found else None
