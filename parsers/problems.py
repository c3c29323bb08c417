"""Tracebacks, workers that a launcher reports dead, and warnings or errors that no other family reads.

A traceback is named by its last line; several ranks print theirs into one stream, distinguished by their prefix.
"""

from __future__ import annotations

import re

from neuron_top.events import AnyEvent, ErrorRaised, WorkerDied
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_lines, logfmt
from neuron_top.parsers.base import PLAIN, WRAPPER, XLA, Record, clip, common, marked

NAME = "problems"
_EXCEPTION = late_pattern(
    r"((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z]\w{1,80}|(?:[A-Za-z_]\w{0,80}\.){1,12}(?:[a-z]{0,20}error|timeout))"
    r"(?:: (.*)|:?\s*)$",
    re.DOTALL,
)
"""Those of old modules are in lower case: `socket.gaierror`, `socket.timeout`, `struct.error`, `zlib.error`."""
_MOST_TRACEBACK_LINES = 400
"""Lines after the heading of a traceback, others between them too, after which its exception is no longer expected."""
_DEATH = late_pattern(r"failed \(exitcode: (-?\d{1,6})\) local_rank: (\d{1,6}) \(pid: (\d{1,10})\)")
_RANK = late_pattern(r"\s+rank\s*: (\d{1,6})")
_EXIT = late_pattern(r"\s+exitcode\s*: (-?\d{1,6}) \(pid: (\d{1,10})\)")
_SIGNAL = late_pattern(r"died with <Signals\.(SIG[A-Z0-9]{1,10}): \d{1,3}>|Signal \d{1,3} \((SIG[A-Z0-9]{1,10})\)")
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    4: "SIGILL",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
_LEVEL = late_pattern(
    r"[\s.]{0,20}(?:\[[\w .:,/-]{1,80}\]\s?|\d{4}-\d\d-\d\d[ T][\d:.,]{5,20}\s(?:-\s)?|[\w.-]{1,60}(?: - |: )){0,3}"
    r"\[?(?P<level>ERROR|WARNING|WARN|CRITICAL|FATAL)(?=[\s:\]-])[\]:\s-]{0,10}(?P<text>.*)"
)
_GLOG = late_pattern(r"(?P<level>[WEF])\d{4} \d\d:\d\d:\d\d\.\d{3,9}\s+\d{1,10} (?P<text>\S{1,300}:\d{1,6}\] ?.*)")
_LOGFMT = "level="
_PYTHON_WARNING = late_pattern(r":\d{1,7}: (\w{0,60}Warning: .*)")
_BARE_ERROR = late_pattern(r"((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception)): (.*)")


_COPIES = late_pattern(r"\s*\[repeated \d{1,9}x across [^\]]{1,60}\].*$")
"""Ray's remark on copies of a line that it left out."""


class Problems:
    """Reads what no other family knows: it is the last in the table."""

    name = NAME

    def __init__(self) -> None:
        self._frames: dict[int | None, int] = {}
        """By rank inside a traceback, how many more lines may be part of it."""
        self._indents: dict[int | None, str] = {}
        """By rank inside a traceback, the blanks before its heading: test runners indent what they captured."""
        self._root_cause = False
        self._rank: int | None = None
        self._report_left = 0

    @property
    def open(self) -> bool:
        """True inside a traceback or a launcher's report."""
        return bool(self._frames) or self._report_left > 0

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Nothing is kept that other lines would complete."""
        return []

    def flush_idle(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []

    def flush(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if "[repeated " in record.text:
            record.text = _COPIES.sub("", record.text)
        if record.shape is XLA:
            return [marked(record, record.level, record.text)] if record.level is not LogLevel.INFO else None
        if record.shape is WRAPPER:
            return _headed(record)
        if record.shape is not PLAIN:
            return None
        if json_lines.HEADING in record.text:
            if len(self._frames) < 4096:
                self._frames[record.rank] = _MOST_TRACEBACK_LINES
                self._indents[record.rank] = record.text[: len(record.text) - len(record.text.lstrip())]
            return []
        if record.rank in self._frames:
            inside = self._traceback(record)
            if inside is not None:
                return inside
        return self._death(record) or _marked(record)

    def _traceback(self, record: Record) -> list[AnyEvent] | None:
        """A line inside a traceback: frames are indented, the exception is not."""
        text = record.text.removeprefix(self._indents[record.rank])
        is_frame = text[:1].isspace() or not text.strip()
        raised = None if is_frame else _EXCEPTION.match(text)
        self._frames[record.rank] -= 1
        if raised is not None or self._frames[record.rank] <= 0:
            del self._frames[record.rank], self._indents[record.rank]
        if raised is not None:
            return [ErrorRaised(**common(record), exception=clip(raised[1]), message=clip(raised[2] or ""))]
        return [] if is_frame and text.strip() else None

    def _death(self, record: Record) -> list[AnyEvent] | None:
        """torchrun: a line when a worker fails, and a report with ranks at the end."""
        text = record.text
        died = _DEATH.search(text)
        if died:
            record.pid = int(died[3])
            return [_died(record, int(died[1]), None, first=False)]
        if "Root Cause (first observed failure)" in text or text.startswith(("Failures:", "FAILED")):
            self._root_cause = "Root Cause" in text
            self._report_left = 200
            return []
        if self._report_left:
            return self._report(record)
        signal = _SIGNAL.search(text)
        if signal and "died with" in text and "Command '" in text:
            return [marked(record, LogLevel.ERROR, text)]  # a compiler that a worker had started
        if signal and "died with" in text:
            return [WorkerDied(**common(record), signal=signal[1] or signal[2])]
        return None

    def _report(self, record: Record) -> list[AnyEvent] | None:
        self._report_left -= 1
        rank = _RANK.match(record.text)
        if rank:
            self._rank = int(rank[1])
            return []
        ended = _EXIT.match(record.text)
        if ended:
            record.pid = int(ended[2])
            return [_died(record, int(ended[1]), self._rank, first=self._root_cause)]
        return None


def _died(record: Record, exit_code: int, rank: int | None, *, first: bool) -> WorkerDied:
    fields = common(record) | {"rank": rank if rank is not None else record.rank}
    return WorkerDied(**fields, exit_code=exit_code, signal=_SIGNALS.get(-exit_code, ""), first=first)


def _headed(record: Record) -> list[AnyEvent] | None:
    """A wrapper line whose words nobody knows: a person should see its warnings and errors."""
    if record.level.is_marked:
        return [marked(record, record.level, record.text)]
    return None


def _marked(record: Record) -> list[AnyEvent] | None:
    text = record.text[:3000]
    found = _GLOG.match(text.lstrip()) or _LEVEL.match(text)
    if found:
        return [marked(record, LogLevel.named(found["level"]), found["text"])]
    line = logfmt.read(text) if _LOGFMT in text else None
    if line is not None and line.words and LogLevel.named(line.level).is_marked:
        return [marked(record, LogLevel.named(line.level), line.words)]
    if record.level.is_marked:
        return [marked(record, record.level, text)]
    found = _PYTHON_WARNING.search(text)
    if found:
        return [marked(record, LogLevel.WARNING, found[1])]
    found = _BARE_ERROR.match(text)
    return [marked(record, LogLevel.ERROR, text)] if found else None
