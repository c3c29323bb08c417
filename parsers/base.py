"""Splits log lines into records, and defines the protocol of a family: the parser of one program's records.

A physical line can hold several records, since processes share the stream: the text before the first header, then one
record per header. A family reads one record at a time and keeps only what spans lines.
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
from neuron_top.parsers.json_lines import HEADING
from neuron_top.parsers.labels import LineLabels

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
"""Headers that begin a record wherever they stand: the wrapper's three forms, XLA's (C++), and the runtime's.

Not anchored: dots, progress bars and prefixes come before them, and a torn line holds several. A runtime's timestamp
without a fraction counts only if the rest of its header follows."""
OF_GLOG = ("torch/distributed", "NeuronLogging.h")
"""The sources in glog's headers that are known to begin a line; every job on several workers has one of the first."""
_GLOG = late_pattern(
    r"(?<!\S)\[?[VIWEF]\d{3,4} \d\d:\d\d:\d\d\.\d{6,9} (?:\d{1,10} )?(?:torch/distributed|NeuronLogging\.h)"
)
_BLANKS = " \t\xa0"
"""What may stand between the words of a header: two blanks, which quoting turns into one, web pages into a non-breaking
one, and editors into a tab."""
_SECOND = late_pattern(
    r"neuronxcc-[\w.+]{1,60}/MODULE_[0-9a-f+]{1,73}/[\w.]{1,40} not found in |\{'\w{1,40}': |(?:(?<!\s)\s+)?\d{1,3}%\|"
)
"""What another process may print right after a wrapper's message, without a line end between: a record of its own."""


_G1_TAGS = ("NCC_WRAPPER", "PARALLEL_COMPILE")
"""Tags of G0 and G1, whose wrapper lines share one header: their words tell the two apart, see `wrapper`."""


class RecordShape(StrEnum):
    """The kind of header that a record has."""

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
"""Dots at the start of a line that a compiler printed: not `./run.sh`, not `.gitignore`, not `...and so on`, not the
second half of a size that a terminal has wrapped (`.492GB`)."""


class Record:
    """One record of a line: its parsed header, and the text after it."""

    __slots__ = (
        "at", "generation", "header_pid", "level", "offset", "pid", "prefix", "rank", "shape", "source", "stands_alone",
        "tag", "text",
    )  # fmt: skip

    def __init__(self, text: str, offset: int, source: str = "") -> None:
        self.text = text
        self.offset = offset
        self.source = source
        self.at: float | None = None
        self.pid: int | None = None
        """The process that printed it, by the header, else by the prefix."""
        self.header_pid: int | None = None
        self.prefix = prefixes.NO_PREFIX
        self.rank: int | None = None
        self.level = LogLevel.NOTSET
        self.tag = ""
        self.generation = _UNKNOWN
        self.shape = PLAIN
        self.stands_alone = True
        """False where its events depend on earlier lines: the same text may then give other events."""


class Family(Protocol):
    """A group of lines that one program prints."""

    name: str

    @property
    def open(self) -> bool:
        """True while the next lines may belong to something that has begun: the reader then skips none."""
        raise NotImplementedError

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Events of what spans lines and ends before this record, which is no part of it; called only while `open`."""
        raise NotImplementedError

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of this record. None: it is no record of this family; an empty list: it is, but gives no event yet.

        Never raises.
        """
        raise NotImplementedError

    def flush_idle(self) -> list[AnyEvent]:
        """Events of what has begun and not ended, as far as it is known while the stream is quiet."""
        raise NotImplementedError

    def flush(self) -> list[AnyEvent]:
        """Events of what is left at the end of the stream."""
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


def records(text: str, offset: int, source: str = "", labels: LineLabels | None = None) -> list[Record]:
    """The records of one segment of a line, from which ANSI codes have been removed. `labels`: those that lines before
    it have shown; it may show one more."""
    if text.startswith("{") and "20" not in text:  # neither a prefix nor dots begin like this, and no header follows
        return [Record(text, offset, source)]
    first = HEADER.match(text)
    if first is not None and text.count(":", first.end()) < 2:  # nothing in front, no second header
        return _apart(_headed(first, text[first.end() :].lstrip(_BLANKS), offset, source))
    split = prefixes.split if labels is None else labels.split
    prefix, body = split(text)
    result: list[Record] = []
    dots, body = _split_dots(body)
    while dots and len(result) < _MOST_RECORDS:  # MPI puts its prefix in front of every single dot
        result.append(_bare("." * dots, prefix, offset, source, DOTS))
        again, body = split(body)
        prefix = prefix if again is prefixes.NO_PREFIX else again
        dots, body = _split_dots(body)
    found = list(HEADER.finditer(body)) if "20" in body else []
    lead = body[: found[0].start()] if found else body
    if labels is not None and not result:
        front = lead if found else _front(lead)
        if front is not None and labels.learn(front, text[: len(text) - len(body)]):
            return records(text, offset, source, labels)
    if lead.strip() or not (found or result):
        result.append(_bare(lead, prefix, offset, source))
    for index, header in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(body)
        record = _headed(header, body[header.end() : end].lstrip(_BLANKS), offset, source)
        record.prefix, record.rank = prefix, prefix.rank
        record.pid = prefix.pid if record.pid is None else record.pid
        result += _apart(record)
    return result


def _front(text: str) -> str | None:
    """What stands in front of the heading of a traceback, or of a header of PyTorch's or TorchNeuron's; None where
    there is neither."""
    front, heading, _ = text.partition(HEADING)
    if heading:
        return front
    found = _GLOG.search(text) if any(words in text for words in OF_GLOG) else None
    return None if found is None else text[: found.start()]


def _apart(record: Record) -> list[Record]:
    """The record; if it is a wrapper's, also the one that another process printed right after it."""
    text = record.text
    if record.shape is not WRAPPER or not ("not found in" in text or "{'" in text or "%|" in text):
        return [record]
    found = _SECOND.search(text, 1)
    if found is None or "['" in text[: found.start()]:  # an argv is quoted text
        return [record]
    record.text = text[: found.start()]
    second = Record(text[found.start() :], record.offset, record.source)
    second.prefix, second.rank, second.pid = record.prefix, record.rank, record.pid
    return [record, second]


def _bare(text: str, prefix: prefixes.Prefix, offset: int, source: str, shape: RecordShape = PLAIN) -> Record:
    record = Record(text, offset, source)
    record.prefix = prefix
    record.rank, record.pid, record.level = prefix.rank, prefix.pid, prefix.level
    record.shape = shape
    if record.rank is None:
        record.rank = prefixes.rank_behind_a_stamp(text)
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
    """The number of dots that the text begins with, and the rest of it."""
    bare = text.lstrip()
    if not bare.startswith("."):
        return 0, text
    found = _DOTS_LEADING.match(bare)
    if found is None or (bare is not text and bare.strip(". \t")):
        return 0, text
    return len(found[1]), bare[found.end() :]


def clip(text: str) -> str:
    """Free text for an event: at most TEXT_LIMIT characters of it, with control characters made visible."""
    text = text.strip()
    return visible(text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…")


def common(record: Record) -> dict[str, Any]:
    """The fields that every event of a log line has, taken from its record."""
    return {"at": record.at, "source": record.source, "offset": record.offset, "pid": record.pid, "rank": record.rank}


def marked(record: Record, level: LogLevel, text: str) -> LineMarked:
    """The event for a warning or an error that no other event stands for."""
    return LineMarked(**common(record), level=level, text=clip(text))


def malformed(family: str, record: Record, reason: str) -> LineMalformed:
    """The event for a broken line of this family."""
    return LineMalformed(**common(record), family=family, text=clip(record.text), reason=reason)
