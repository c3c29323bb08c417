"""`neuron_parallel_compile`: trial run, list of graphs, workers, counters, JSON report, totals. G1 to G3.

The list and the report span lines, and other processes write into them, so both are read line by line and only the
position in them is kept. Counters describe the whole cache folder, the totals this run alone; neither is derived from
the other.
"""

from __future__ import annotations

import re

from neuron_top.events import (
    AnyEvent,
    GraphReported,
    GraphsListed,
    QueueCounted,
    SummaryReported,
    TrialRunStarted,
    WorkerFailed,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths
from neuron_top.parsers.base import PLAIN, WRAPPER, Record, clip, common, malformed

NAME = "parallel_compile"
_N = r"(\d{1,15})"
_COUNTERS = late_pattern(
    rf"Current remaining items are {_N}, locked are {_N}, failed are {_N}, done are {_N}, total is {_N}"
)
_COUNTERS_BEGIN = "Current remaining items are"
_TRIAL = late_pattern(r"Running trial run|(?:Running cmd:|executing trial run cmd:) *(.*)")
_LIST = late_pattern(r"(?:New graph list from script(?: \d{1,15})?:|master grab hlos to compile:) *(.*)")
_WORKER_START = late_pattern(
    rf"[Ww]orker (\S{{1,40}}) (?:start(?:s|ing) dynamic schedul\w* (?:on|for) {_N}|get {_N} tasks \(num_hlos )"
)
_WORKER_ON = late_pattern(r"[Ww]orker \S{1,40} start (?:its assigned tasks|to steal \(\d{1,15}\) from others)")
"""Lines that add nothing: they come with the one that says how many graphs a worker was assigned, or between its start
and its end."""
_WORKER_END = late_pattern(
    rf"[Ww]orker (\S{{1,40}}) (?:finished with num of tasks {_N}|completed: {_N} tasks? compiled)"
)
_WORKER_FAILED = late_pattern(
    r"(?:[Ss]ub-?process|Process) (\d{1,15}) (?:got exception|encountered error|failed compilation): *(.*)"
    r"|parallel compilation with neuronx-cc exited with error\.? *(.*)"
)
_TOTALS = late_pattern(rf"Total (graphs|successful compilations|failed compilations): {_N}")
_SUMMARY = late_pattern(rf"Compilation summary - Total graphs: {_N}, Success: {_N}, Failed: {_N}")
_SHORT_SUMMARY = late_pattern(rf"Compilation summary: {_N}/{_N} failed, {_N} succeeded")
"""G3 prints its summary once more in these words."""
_TOKEN = late_pattern(
    r"\"((?:[^\"\\]|\\.){1,1000})\"\s*:\s*(?:(\{)|\"([^\"]{0,200})\"|(-?\d[\d.eE+-]{0,30}|true|false|null)|(\[))|(\})"
)
_REPORT_LINE = late_pattern(r"\s*(?:\"[^\"]*\"\s*:\s*(?:[{\[]|\"[^\"]*\"|[\w.+-]+)?|[{}\]])")
_HEADLESS = late_pattern(r"\s*\"(?:compilation_(?:summary|report)|[^\"]{1,1000}/MODULE_[^\"]{1,200}\.pb)\"\s*:\s*\{")
"""A line that only the report has: its first lines may be lost, or only part of it was quoted."""
_WORDS = late_pattern(
    r"Total |ompilation summary|[Ww]orker |ubprocess |sub-process |Process |trial run"
    r"|Running cmd|graph list|master grab|exited with error"
)
"""Every line except the counters' holds one of these; checked before the slower patterns."""
_MOST_PATHS = 100_000
_PATIENCE = 200
"""Foreign lines inside a report before it is given up; other processes may write into it."""
_PATIENCE_HEADLESS = 3
"""The same for a part of a report, whose end cannot be determined."""


class ParallelCompileLines:
    """Reads the lines of the tool, parent and workers."""

    name = NAME

    def __init__(self) -> None:
        self._list: tuple[Record, list[str]] | None = None
        self._report: _Report | None = None
        self._totals: dict[int | None, _Totals] = {}
        self._said: set[tuple[int | None, int, int]] = set()

    @property
    def open(self) -> bool:
        """True inside a list or a report."""
        return self._list is not None or self._report is not None

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """The list of graphs, if this record is not one of its lines."""
        if self._list is None or _is_listed(record) or not (record.shape or record.text.strip()):
            return []
        return self._close_list()

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if record.shape is PLAIN and self.open:
            inside = self._inside(record)
            if inside is not None:
                return inside
        return self._read(record)

    def flush_idle(self) -> list[AnyEvent]:
        """Lists and totals are reported when they are complete."""
        return []

    def flush(self) -> list[AnyEvent]:
        """A list, a report or totals cut by the end of the stream."""
        events = self._close_list()
        self._report = None
        for totals in self._totals.values():
            events += totals.event()
        self._totals.clear()
        return events

    def _inside(self, record: Record) -> list[AnyEvent] | None:
        """Lines without a header that go on with a list or a report."""
        text = record.text
        if self._list is not None and _is_listed(record):
            if len(self._list[1]) < _MOST_PATHS:
                self._list[1].append(clip(text))
            return []
        if self._report is None:
            return None
        if not _REPORT_LINE.match(text):
            self._report.foreign += 1
            if self._report.foreign > self._report.patience:
                self._report = None
            return None
        return self._read_report(self._report, text)

    def _read_report(self, report: _Report, text: str) -> list[AnyEvent]:
        events = report.take(text)
        if report.depth <= 0:
            self._report = None
            if report.seconds is not None:
                self._seconds_of(report)
        return events

    def _seconds_of(self, report: _Report) -> None:
        self._totals.setdefault(report.record.pid, _Totals(report.record)).seconds = report.seconds

    def _read(self, record: Record) -> list[AnyEvent] | None:
        text = record.text
        if record.shape is WRAPPER and text.startswith("{"):
            self._report = _Report(record)
            return self._read_report(self._report, text)
        if record.shape is PLAIN and self._report is None and _HEADLESS.match(text):
            self._report = _Report(record, _PATIENCE_HEADLESS)
            return self._read_report(self._report, text)
        if _COUNTERS_BEGIN in text:
            return _counted(record)
        if _WORDS.search(text) is None:
            return None
        found = _LIST.search(text)
        if found:
            self._list = (record, [clip(path) for path in re.findall(r"[^\s\[\],']+", found[1])[:_MOST_PATHS]])
            return []
        for read in (self._totals_of, _worker, _trial):
            events = read(record)
            if events is not None:
                return events
        return None

    def _close_list(self) -> list[AnyEvent]:
        if self._list is None:
            return []
        record, found = self._list
        self._list = None
        return [GraphsListed(**common(record), paths=tuple(found))]

    def _totals_of(self, record: Record) -> list[AnyEvent] | None:
        """Events of a line of a summary, which depends on the other lines of it; None for any other line."""
        events = self._summary_of(record)
        if events is not None:
            record.stands_alone = False
        return events

    def _summary_of(self, record: Record) -> list[AnyEvent] | None:
        summary = _SUMMARY.search(record.text)
        if summary:
            total, success, failed = (int(part) for part in summary.groups())
            self._said.discard((record.pid, total, failed))
            return self._summed(record, total, success, failed)
        summary = _SHORT_SUMMARY.search(record.text)
        if summary:
            failed, total, success = (int(part) for part in summary.groups())
            return self._summed(record, total, success, failed)
        events: list[AnyEvent] = []
        found = None
        for found in _TOTALS.finditer(record.text):
            events += self._add_total(record, found[1], int(found[2]))
        return events if found else None

    def _summed(self, record: Record, total: int, success: int, failed: int) -> list[AnyEvent]:
        """G3's summary in one line, unless this process has just printed the same."""
        said = (record.pid, total, failed)
        if said in self._said:
            self._said.discard(said)
            return []
        if len(self._said) < _MOST_PATHS:
            self._said.add(said)
        seconds = self._totals.pop(record.pid, _Totals(record)).seconds
        return [SummaryReported(**common(record), total=total, success=success, failed=failed, seconds=seconds)]

    def _add_total(self, record: Record, what: str, count: int) -> list[AnyEvent]:
        totals = self._totals.get(record.pid)
        if what == "graphs":
            seconds = totals.seconds if totals else None
            events = totals.event() if totals else []
            self._totals[record.pid] = totals = _Totals(record)
            totals.total, totals.seconds = count, seconds
            return events
        if totals is None or totals.total is None:
            return []  # G3 repeats a number of its one-line summary
        if what == "successful compilations":
            totals.successful = count
            return []
        totals.failed = count
        return self._totals.pop(record.pid).event()


class _Totals:
    """The three lines of one summary, as far as they came."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.total: int | None = None
        self.successful: int | None = None
        self.failed: int | None = None
        self.seconds: float | None = None

    def event(self) -> list[AnyEvent]:
        if self.total is None:
            return []
        return [
            SummaryReported(
                **common(self.record),
                total=self.total,
                success=self.successful,
                failed=self.failed,
                seconds=self.seconds,
            )
        ]


class _Report:
    """Walks the JSON report by its tokens, so that foreign lines in it and lost line ends do no harm."""

    def __init__(self, record: Record, patience: int = _PATIENCE) -> None:
        self.record = record
        self.patience = patience
        self.depth = 1
        self.foreign = 0
        self.seconds: float | None = None
        self._path: str | None = None
        self._fields: dict[str, str] = {}

    def take(self, text: str) -> list[AnyEvent]:
        """Events of the entries that end in this text."""
        events: list[AnyEvent] = []
        for key, opened, quoted, plain, listed, closed in _TOKEN.findall(text):
            if closed:
                events += self._closed()
            elif opened:
                self.depth += 1
                if "/" in key:
                    self._path, self._fields = key, {}
            elif not listed:
                self._field(key, quoted or plain)
        return events

    def _field(self, key: str, value: str) -> None:
        if self._path is not None:
            self._fields[key] = value
        elif key == "compilation_time":
            self.seconds = _decimal(value)

    def _closed(self) -> list[AnyEvent]:
        self.depth -= 1
        path, self._path = self._path, None
        if path is None:
            return []
        status, retry = self._fields.get("status", ""), self._fields.get("retry", "")
        return [
            GraphReported(
                **common(self.record),
                path=clip(path),
                module=paths.module_in(path),
                status=clip(status),
                ok={"true": True, "SUCCESS": True, "false": False}.get(status, None if not status else False),
                retry=int(retry) if retry.isdecimal() and len(retry) < 10 else 0,
                seconds=_decimal(self._fields.get("compile_time", "")),
            )
        ]


def _is_listed(record: Record) -> bool:
    """A path alone on an indented line."""
    text = record.text
    return record.shape is PLAIN and text[:1].isspace() and len(text.split()) == 1 and "MODULE_" in text


def _decimal(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _counted(record: Record) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    for found in _COUNTERS.finditer(record.text):
        remaining, locked, failed, done, total = (int(part) for part in found.groups())
        events.append(
            QueueCounted(**common(record), remaining=remaining, locked=locked, failed=failed, done=done, total=total)
        )
    return events or [malformed(NAME, record, "counters cut or changed")]


def _worker(record: Record) -> list[AnyEvent] | None:
    text = record.text
    found = _WORKER_START.search(text)
    if found:
        return [WorkerStarted(**common(record), worker=clip(found[1]), items=int(found[2] or found[3]))]
    if _WORKER_ON.search(text):
        return []
    found = _WORKER_END.search(text)
    if found:
        return [WorkerFinished(**common(record), worker=clip(found[1]), tasks=int(found[2] or found[3]))]
    found = _WORKER_FAILED.search(text)
    if found:
        return [WorkerFailed(**common(record), worker=found[1] or "", message=clip(found[2] or found[3] or ""))]
    return None


def _trial(record: Record) -> list[AnyEvent] | None:
    found = _TRIAL.search(record.text)
    return [TrialRunStarted(**common(record), command=clip(found[1] or ""))] if found else None
