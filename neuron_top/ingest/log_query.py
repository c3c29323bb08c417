"""Selects log lines by words, a regular expression, source, rank, level and family.

    level:error rank:3 family:compile source:worker !dots /step \\d+00 / out of memory

All terms must match; `!` negates one. `level:warning` keeps warnings and worse. A term between slashes is a regular
expression of RE2; other words are searched literally. Case is ignored.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

from neuron_top.errors import UsageError
from neuron_top.escapes import ANSI_COLOR
from neuron_top.events.levels import LineLevel
from neuron_top.filters import check_filter, expression
from neuron_top.ingest.log_line import LineSubject, LogLine
from neuron_top.views.log_rows import columns

_TERM = re.compile(r"""(!?)(?:/((?:[^/\\]|\\.)+)/|(source|rank|level|family):(\S+)|(\S+))""")

Keep = Callable[[LogLine], bool]


class LogQuery:
    """A parsed query; `problem` says why it is invalid, "" if it is not. An invalid query keeps no line."""

    def __init__(self, text: str = "", only: str | None = None) -> None:
        """`only`: the one source to look at."""
        self.text, self.only = text.strip(), only
        self.problem = ""
        self.marked = False
        """Only lines that gave events can match, so that others need not be made readable."""
        self._needles: list[bytes] = []
        try:
            check_filter(self.text)
            terms = list(_TERM.finditer(self.text))
            check_filter(self.text, len(terms), sum(match[2] is not None for match in terms))
            self._terms = [self._term(match) for match in terms]
        except UsageError as problem:
            self.problem, self._terms = str(problem), [lambda _line: False]

    def __bool__(self) -> bool:
        return bool(self._terms) or self.only is not None

    def keep(self, line: LogLine) -> bool:
        """Whether a line is wanted."""
        return self.only in (None, line.source) and all(term(line) for term in self._terms)

    def reads(self, source: str) -> bool:
        """Whether a source can hold lines that are wanted."""
        return not self.problem and self.only in (None, source)

    def at_least(self, level: LineLevel) -> LogQuery:
        """The same query, limited to lines of this level and worse."""
        if level is LineLevel.PLAIN:
            return self
        worse = copy.copy(self)
        worse.text, worse.marked = f"level:{level} {self.text}", True
        worse._terms = [_field("level", level), *self._terms]
        return worse

    def possible(self, block: bytes) -> bool:
        """Whether any line of these bytes may be wanted; quick, so that gigabytes can be searched.

        Bytes with zeros may be text in UTF-16, in which words stand with zeros in between; a word may have a color
        inside, which is not shown, also one that was written as text.
        """
        folded = (ANSI_COLOR.sub(b"", block) if b"\x1b" in block else block).lower()
        return all(needle in folded for needle in self._needles) or b"\0" in block or b"[0m" in folded

    def _term(self, match: re.Match[str]) -> Keep:
        keep: Keep
        banned, pattern, field, value, word = match.groups()
        if pattern is not None:
            matches = expression(pattern)
            keep = lambda line: matches(line.text)  # noqa: E731 (three small predicates side by side)
        elif field is not None:
            keep = _field(field, value.casefold())
            levels = LineLevel.EVENT.and_worse()
            self.marked |= not banned and (field == "family" or (field == "level" and value.casefold() in levels))
        else:
            folded = word.casefold()
            keep = lambda line: folded in line.text.casefold() or folded in line.source.casefold()  # noqa: E731
        return (lambda line: not keep(line)) if banned else keep

    def within(self, source: str) -> LogQuery:
        """The query for the lines of one source: words that are in the source's name need not be in its lines."""
        narrowed = copy.copy(self)
        narrowed._needles = [
            word.encode()
            for banned, _expression, _field, _value, word in (match.groups() for match in _TERM.finditer(self.text))
            if word and not banned and word.isascii() and word.isprintable() and word.lower() not in source.casefold()
            for word in (word.lower(),)
        ]
        return narrowed


def _field(field: str, value: str) -> Keep:
    if field == "source":
        return lambda line: value in line.source.casefold()
    if field == "rank":
        return lambda line: _is_of_rank(line, value)
    names = [name for name in (LineSubject if field == "family" else LineLevel) if name]
    if value not in names:
        raise UsageError(f"{field}:{value} names no {field}: write {', '.join(names)}")
    if field == "family":
        return lambda line: line.family == value
    wanted = LineLevel(value).and_worse()
    return lambda line: line.level in wanted


def _is_of_rank(line: LogLine, rank: str) -> bool:
    """Whether a rank wrote a line, by its prefix, or by what screens show in the column of who wrote it."""
    if line.rank is not None:
        return str(line.rank) == rank
    return rank in line.text and columns(line).who == f"r{rank}"
