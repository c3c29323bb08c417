"""Records of log lines, and the protocol of a family, which reads records of one program.

A physical line can hold several records, since processes share the stream: whatever stands in front of the first
header, then one record per header. A family looks at one record at a time and keeps only what spans lines.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Protocol

from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, LineMalformed, LineMarked, LogGeneration
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import prefixes, timestamps

TEXT_LIMIT = 2000
"""Characters of free text an event keeps; a compiler's argv can run to tens of thousands."""

_MOST_RECORDS = 2000
LEVELS = "INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL|FATAL|TRACE"
HEADER = late_pattern(
    r"(?P<date>\d{4}-\d\d-\d\d) (?P<clock>\d\d:\d\d:\d\d)\.(?P<digits>\d{6}):[ \t\xa0]*"
    rf"(?:(?:(?P<pid>\d{{1,10}})[ \t\xa0]+)?(?:(?P<level>{LEVELS})[ \t\xa0]+\|\|(?P<tag>[A-Z_\\]+)\|\|"
    rf"|\[(?P<bracket>{LEVELS})\]):"
    r"|(?P<xla>[IWEF]) (?=\S+:\d+\]))"
    r"|(?P<rdate>\d{4}-[A-Z][a-z]{2}-\d\d) (?P<rclock>\d\d:\d\d:\d\d)"
    r"(?:\.(?P<rdigits>\d{4}(?:\d\d)?)(?=\d{4}-[A-Z]|\D|$)"
    rf"|(?=\s+(?:\d{{1,10}}:\d{{1,10}}\s+)?(?:{LEVELS})\s+[A-Z]{{2,10}}:\w))"
)
"""Headers that begin a record wherever they stand: the wrapper's three shapes, XLA's C++ one, the runtime's.

Never anchored: dots, progress bars and prefixes stand in front, and torn lines hold several. A runtime's stamp that was
shortened to seconds counts where the rest of its header follows."""
_BLANKS = " \t\xa0"
"""Between the words of a header: quoting turns two blanks into one, pages into a fixed one, editors into a tab."""
_SECOND = late_pattern(
    r"neuronxcc-[\w.+]{1,60}/MODULE_[0-9a-f+]{1,73}/[\w.]{1,40} not found in |\{'\w{1,40}': |(?:(?<!\s)\s+)?\d{1,3}%\|"
)
"""What another process may print behind a wrapper's words without a line end between: a record of its own."""


_G1_TAGS = ("NCC_WRAPPER", "PARALLEL_COMPILE")
"""G0 and G1 share the header of their wrapper lines; the words tell them apart, see `wrapper`."""


class RecordShape(StrEnum):
    """Which header stands in front of a record."""

    PLAIN = ""
    WRAPPER = "wrapper"
    RUNTIME = "runtime"
    XLA = "xla"
    DOTS = "dots"
    """No header: the compiler's progress, a row of dots."""


# Bound once: Python 3.11 takes five times as long for a member of an enum as for a name.
PLAIN, WRAPPER, RUNTIME, XLA, DOTS = RecordShape
_UNKNOWN, _G1, _G2, _G3 = LogGeneration.UNKNOWN, LogGeneration.G1, LogGeneration.G2, LogGeneration.G3


_DOTS_LEADING = late_pattern(
    r"(\.{1,5000})(?!\d{1,6}[KMGT]?B\b)(?=\s*$|[\d(\[|%{'\"=*<]|[A-Z]|root = "
    r"|/(?:opt|usr|home|var|tmp|root|fsx|etc|mnt|data|workspace)/|\s{2,}\d)"
)
"""Dots at the start of a line that belong to a compiler: not `./run.sh`, not `.gitignore`, not `...and so on`,
not the rest of a size that a terminal has broken (`.492GB`)."""


class Record:
    """One record of a line: its header, read, and the text behind it."""

    __slots__ = (
        "at", "generation", "header_pid", "level", "offset", "pid", "rank", "shape", "source", "stands_alone", "tag",
        "text",
    )  # fmt: skip

    def __init__(self, text: str, offset: int, source: str = "") -> None:
        self.text = text
        self.offset = offset
        self.source = source
        self.at: float | None = None
        self.pid: int | None = None
        """Of the process that printed it: the header's own, else what the prefix reports."""
        self.header_pid: int | None = None
        self.rank: int | None = None
        self.level = LogLevel.NOTSET
        self.tag = ""
        self.generation = _UNKNOWN
        self.shape = PLAIN
        self.stands_alone = True
        """False where what it gives hangs on lines before it: the same text may then give something else."""


class Family(Protocol):
    """A group of lines that one program prints."""

    name: str

    @property
    def open(self) -> bool:
        """True while the lines to come may belong to something begun: then the reader skips none."""
        raise NotImplementedError

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Events of what spanned lines and does not go on with this record; only asked while `open`."""
        raise NotImplementedError

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of this record; None = not ours, an empty list = ours, more to come. Never raises."""
        raise NotImplementedError

    def flush_idle(self) -> list[AnyEvent]:
        """What can be known of something begun, now that the stream is quiet, though it has not ended."""
        raise NotImplementedError

    def flush(self) -> list[AnyEvent]:
        """What is left at the end of the stream."""
        raise NotImplementedError


class LineFamily:
    """Base of families whose lines each stand alone."""

    open = False

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Nothing spans lines here."""
        return []

    def flush_idle(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []

    def flush(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []


def records(text: str, offset: int, source: str = "") -> list[Record]:
    """The records of one segment of a line, ANSI codes already gone."""
    if text.startswith("{") and "20" not in text:  # no prefix and no dots begin so, and no header follows
        return [Record(text, offset, source)]
    first = HEADER.match(text)
    if first is not None and text.count(":", first.end()) < 2:  # nothing in front, no second header
        return _apart(_headed(first, text[first.end() :].lstrip(_BLANKS), offset, source))
    prefix, body = prefixes.split(text)
    result: list[Record] = []
    dots, body = _split_dots(body)
    while dots and len(result) < _MOST_RECORDS:  # MPI puts its prefix in front of every single dot
        result.append(_bare("." * dots, prefix, offset, source, DOTS))
        again, body = prefixes.split(body)
        prefix = prefix if again is prefixes.NO_PREFIX else again
        dots, body = _split_dots(body)
    found = list(HEADER.finditer(body)) if "20" in body else []
    lead = body[: found[0].start()] if found else body
    if lead.strip() or not (found or result):
        result.append(_bare(lead, prefix, offset, source))
    for index, header in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(body)
        record = _headed(header, body[header.end() : end].lstrip(_BLANKS), offset, source)
        record.rank = prefix.rank
        record.pid = prefix.pid if record.pid is None else record.pid
        result += _apart(record)
    return result


def _apart(record: Record) -> list[Record]:
    """A wrapper's record, and what another process printed behind it."""
    text = record.text
    if record.shape is not WRAPPER or not ("not found in" in text or "{'" in text or "%|" in text):
        return [record]
    found = _SECOND.search(text, 1)
    if found is None or "['" in text[: found.start()]:  # an argv is quoted text
        return [record]
    record.text = text[: found.start()]
    second = Record(text[found.start() :], record.offset, record.source)
    second.rank, second.pid = record.rank, record.pid
    return [record, second]


def _bare(text: str, prefix: prefixes.Prefix, offset: int, source: str, shape: RecordShape = PLAIN) -> Record:
    record = Record(text, offset, source)
    record.rank, record.pid, record.level = prefix.rank, prefix.pid, prefix.level
    record.shape = shape
    return record


def _headed(header: re.Match[str], text: str, offset: int, source: str) -> Record:
    record = Record(text, offset, source)
    date, clock, digits, pid, level, tag, bracket, xla, rdate, rclock, rdigits = header.groups()
    if rdate:
        record.shape = RUNTIME
        record.at = timestamps.runtime(rdate, rclock, rdigits)
    elif xla:
        record.shape, record.level = XLA, LogLevel.named(xla)
        record.at = timestamps.microseconds(date, clock, digits)
    else:
        record.shape = WRAPPER
        record.at = timestamps.wrapper(date, clock, digits)
        record.pid = record.header_pid = int(pid) if pid else None
        record.level = LogLevel.named(level or bracket)
        # Markdown puts a backslash before an underscore.
        record.tag = tag.replace("\\", "") if tag else f"[{bracket}]"
        if bracket:
            record.generation = _G3
        else:
            record.generation = _G2 if pid and tag not in _G1_TAGS else _G1
    return record


def _split_dots(text: str) -> tuple[int, str]:
    """How many dots lead the text, and the rest of it."""
    bare = text.lstrip()
    if not bare.startswith("."):
        return 0, text
    found = _DOTS_LEADING.match(bare)
    if found is None or (bare is not text and bare.strip(". \t")):
        return 0, text
    return len(found[1]), bare[found.end() :]


def clip(text: str) -> str:
    """Free text for an event: safe to show, bounded."""
    text = text.strip()
    return visible(text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…")


def common(record: Record) -> dict[str, Any]:
    """The fields every event of a log line has: an event is stamped with them here, where it is made."""
    return {"at": record.at, "source": record.source, "offset": record.offset, "pid": record.pid, "rank": record.rank}


def marked(record: Record, level: LogLevel, text: str) -> LineMarked:
    """The event for a warning or an error that stands for nothing else."""
    return LineMarked(**common(record), level=level, text=clip(text))


def malformed(family: str, record: Record, reason: str) -> LineMalformed:
    """The event for a line that is this family's and broken."""
    return LineMalformed(**common(record), family=family, text=clip(record.text), reason=reason)
