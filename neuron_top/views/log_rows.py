"""Arranges log lines in columns (time, who, component, message), and equal ones as one row with a count.

The parts in front of a message are recognized by their form, whichever program wrote them: stamps, ranks and processes,
levels, components. A text without any of them is a message as a whole, with its indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, Protocol, TypeVar

from neuron_top.events.levels import LineLevel

NEAR = 32
"""A line joins an equal one at most this many rows above it, as lines further away are from another moment."""
_MOST_PIECES = 10
_ROUGH = (LineLevel.WARNING, LineLevel.ERROR)
"""Levels at which lines that differ only in numbers count as alike."""
_ROUGH_WORDS = ("WARN", "ERROR", "CRITICAL", "FATAL")

_LEVEL = r"(?:DEBUG|INFO|USER|WARN(?:ING)?|ERROR|CRITICAL|FATAL|TRACE)"
_STAMP = re.compile(
    r"\s*\[?(?:(?:\d{4}[-/](?P<day>(?:\d\d|[A-Z][a-z]{2})[-/]\d\d)|\d\d/\d\d/\d{4}"
    r"|(?P<short>\d\d-\d\d|[A-Z][a-z]{2} [ \d]\d))[T ,]{1,2})?"
    r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?: ?[AP]M\b)?(?:Z|[+-]\d\d:?\d\d)?(?: std(?:out|err) [FP])?"
    r"(?:\]|:(?=\s)|(?=\s)|$)[\s:]*(?:>> )?"
    r"|\s*\[(?P<name>[\w.]{1,80}) (?P<inner>\d\d:\d\d:\d\d)\]\s*"
    r"|(?:LOG )?[A-Z][a-z]{2} (?P<named>[A-Z][a-z]{2} [ \d]\d) (?P<asctime>\d\d:\d\d:\d\d) \d{4}(?: - |\s|$)"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PROCESS = re.compile(
    r"\s*(?:"
    r"\[(?:rank|default)?(?P<rank>\d{1,6})\]:\s?(?!\Z)"  # alone on its line it numbers the failures that torchrun lists
    r"|\[rank(?P<bare>\d{1,6})\]\s"
    r"|\[\d{1,3},(?P<mpi>\d{1,6})\]<std(?:out|err)>:\s?"
    r"|\[(?P<pod>pod/[^\]\s]{1,300})\]\s"
    r"|\((?:(?P<actor>\w[\w.:-]{0,80}) )?(?:rank=(?P<of>\d{1,6}) )?pid=\d{1,10}(?:, ip=[\w.:]{1,60})?\)\s?"
    rf"|(?:\[?{_LEVEL} ?\]?\s+)?PyProcess\s+(?:-\s+)?(?P<worker>W-\d{{1,9}})-[\w.-]{{1,80}}?-std(?:out|err):\s?"
    r"|(?P<box>[\w.-]{1,60}-\d{1,4})\s+\|\s"
    r"|(?P<task>\d{1,5}): (?=\d{4}-\d\d-\d\d )"
    r")"
)
_NUMBERS = re.compile(
    rf"\d{{1,10}}:\d{{1,10}}\s+(?:\[\d{{1,4}}\] )?|\d{{1,10}}\s+(?=\[?{_LEVEL}\b)"
    r"|\d{1,10} (?:\([\w/]{1,40}\) )?(?=\[[\w.]{1,80}\]: )"
)
"""Processes and threads behind a stamp."""
_LEVELS = re.compile(
    rf"(?P<level>\[{_LEVEL}\]|{_LEVEL})(?:(?P<colon>:)(?=\S)|[:|]?\s+)|(?P<letter>[DIWEF]) (?=\S+:\d+\])"
)
_COMPONENT = re.compile(
    r"\|\|(?P<bars>\w{1,60})\|\|:\s*"
    r"|\[(?P<boxed>[A-Za-z_][\w./-]{0,120}(?::\d{1,6})?)\]:?\s"
    r"|(?P<place>[\w./-]{1,200}\.\w{1,4}:\d{1,6})[\]:]\s?"
    r"|(?P<driver>[A-Z][A-Z0-9]{1,9}:\w{1,80})\s+"
    rf"|(?:[^|]{{1,200}}?:\d{{1,6}} )?(?P<network>CCOM|NCCL) (?:{_LEVEL}) "
    rf"|- (?P<dashed>[\w.]{{1,80}}) - (?:{_LEVEL}) - "
    rf"|(?P<plain>[A-Za-z_][\w.]{{1,80}})\s+(?={_LEVEL}\s)"
)
_LOGGER = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,80}):")
_WIDE = re.compile(r"(?<=\S) {3,}(?=\S)")
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+")


class ReadLine(Protocol):
    """A line as a screen gets it: control characters made visible."""

    @property
    def text(self) -> str:
        """All of it."""

    @property
    def level(self) -> LineLevel:
        """How much it matters."""

    @property
    def rank(self) -> int | None:
        """The rank that wrote it."""


L = TypeVar("L", bound=ReadLine)


class LogColumns(NamedTuple):
    """A line in columns; empty what it does not say."""

    time: str
    """As it is written there, hours to seconds."""
    who: str
    """`r7` for a rank, else the name of the process."""
    component: str
    message: str

    @property
    def begins(self) -> bool:
        """It has something in front of its message: a line without it may belong to the one above."""
        return bool(self.time or self.component)


class LogRow(NamedTuple, Generic[L]):
    """Equal lines, the first one standing for them."""

    line: L
    columns: LogColumns
    times: int = 1
    last: L | None = None
    """The newest, where there are several."""
    who: tuple[str, ...] = ()
    """Everybody who wrote it."""
    varies: bool = False
    """The lines differ in numbers."""

    @property
    def count_text(self) -> str:
        """` × 104`, or that they are only alike; "" for a single line."""
        if self.times == 1:
            return ""
        return f"× {self.times:,} alike" if self.varies else f"× {self.times:,}"

    @property
    def who_text(self) -> str:
        """Who wrote it: one by name, several by their number."""
        return self.columns.who if len(self.who) <= 1 else f"{len(self.who)} ×"


class SplitLine(NamedTuple):
    """A line in columns, with what decides how it is grouped with others."""

    columns: LogColumns
    key: tuple[str, str, str]
    """What equal lines have in common: warnings and errors may differ in numbers."""
    begins: bool
    """It stands for itself: lines below it that do not may belong to it."""
    day: str
    """`Nov 28`, however it is written there; "" where it is not, or where month and day could be either."""


def columns(line: ReadLine) -> LogColumns:
    """A line in columns."""
    return split_line(line).columns


def split_line(line: ReadLine) -> SplitLine:
    """A line in columns, with what it has in common with equal ones."""
    split = _split(line.text, line.level)
    if line.rank is None:
        return split
    return split._replace(columns=split.columns._replace(who=f"r{line.rank}"))


class LogRows(NamedTuple, Generic[L]):
    """Rows, and where each line went."""

    rows: list[LogRow[L]]
    of_line: list[int]
    """By index of a line, the index of its row."""


def single(lines: Sequence[L]) -> LogRows[L]:
    """A row for each line."""
    return LogRows([LogRow(line, columns(line)) for line in lines], list(range(len(lines))))


def grouped(lines: Iterable[L]) -> LogRows[L]:
    """Equal lines as one row, where the first of them stood.

    A line that begins with a stamp or a component, or is a warning or an error, joins an equal one near above it,
    whoever wrote it. The lines below it, which belong to it, join those below that one for as long as they are equal.
    Any other line joins only the row right above, so that tracebacks keep their order. Warnings and errors that differ
    in numbers alone are alike.
    """
    rows: list[LogRow[L]] = []
    keys: list[tuple[str, str, str]] = []
    of_line: list[int] = []
    at: dict[tuple[str, str, str], int] = {}
    following: int | None = None
    for line in lines:
        split, key, begins, _ = split_line(line)
        if not begins and following is not None and following < len(rows) and keys[following] == key:
            index = following
        else:
            index = at.get(key, -NEAR - 1)
            if not split.message or len(rows) - index > (NEAR if begins else 1):
                index = at[key] = len(rows)
        if index == len(rows):
            rows.append(LogRow(line, split))
            keys.append(key)
            following = None
        else:
            rows[index] = _joined(rows[index], line, split)
            following = index + 1
        of_line.append(index)
    return LogRows(rows, of_line)


def _joined(row: LogRow[L], line: L, split: LogColumns) -> LogRow[L]:
    known = row.who or (row.columns.who,)
    who = known if split.who in known else (*known, split.who)
    varies = row.varies or split.message != row.columns.message
    return LogRow(row.line, row.columns, row.times + 1, line, who, varies)


@lru_cache(maxsize=8192)
def _split(text: str, level: LineLevel) -> SplitLine:
    split, day = _columns(text, level in _ROUGH)
    rough = level in _ROUGH or split.message.startswith(_ROUGH_WORDS)
    message = _DIGITS.sub("#", split.message) if rough else split.message
    return SplitLine(split, (split.component, level, message), split.begins or level in _ROUGH, day)


def _columns(text: str, has_level: bool) -> tuple[LogColumns, str]:
    """(a line in columns, its day)."""
    time = who = component = kept = day = ""
    at, dated = 0, False
    for _ in range(_MOST_PIECES):
        if found := _PROCESS.match(text, at):
            who = _who(found) or who
        elif not time and (found := _STAMP.match(text, at)):
            time = found["clock"] or found["inner"] or found["asctime"]
            day = _day(found["day"] or found["short"] or found["named"] or "")
            component = found["name"] or component
            dated = True
        elif dated and not component and (found := _NUMBERS.match(text, at)):
            pass
        elif (found := _LEVELS.match(text, at)) and _is_front(found, dated):
            kept = "" if _may_go(found, has_level) else f"{(found['level'] or found['letter']).strip('[]')} "
            at, dated = found.end(), True
            if found["colon"] and not component and (named := _LOGGER.match(text, at)):
                component, at = named["name"], named.end()
            continue
        elif dated and not component and (found := _COMPONENT.match(text, at)):
            component = _short(next(value for value in found.groups() if value))
        else:
            break
        at = found.end()
    message = text[at:]
    if dated and "|" not in message:
        message = _WIDE.sub("  ", message)
    return LogColumns(time, who, component, kept + (message.lstrip() if component or kept else message)), day


def _day(written: str) -> str:
    """`Nov 28` of `11-28`, `11/28`, `Nov-28` or `Nov  8`; "" of what is no day."""
    month, day = written[:-3], written[-2:].lstrip(" 0")
    if month.isdigit():
        month = _MONTHS[int(month) - 1] if 0 < int(month) <= len(_MONTHS) else ""
    return f"{month} {day}" if month in _MONTHS and day else ""


def _is_front(found: re.Match[str], dated: bool) -> bool:
    """Whether a level belongs to what stands in front of a message: behind a stamp, or before a name or a stamp."""
    text, end = found.string, found.end()
    return dated or found["colon"] is not None or bool(_STAMP.match(text, end) or _COMPONENT.match(text, end))


def _may_go(found: re.Match[str], has_level: bool) -> bool:
    """Whether a level need not be read: it is an ordinary one, or a sign beside the line reports it."""
    return has_level or (found["level"] or found["letter"]).strip("[]") in ("DEBUG", "INFO", "USER", "TRACE", "D", "I")


def _who(found: re.Match[str]) -> str:
    rank = found["rank"] or found["bare"] or found["mpi"] or found["of"] or found["task"]
    pod = (found["pod"] or "").removeprefix("pod/").partition("/")[0]
    return f"r{int(rank)}" if rank else found["actor"] or found["worker"] or pod or found["box"] or ""


def _short(name: str) -> str:
    """A component without the folders of its file."""
    return name.rpartition("/")[2] or name
