"""TorchNeuron, the native back end (SDK 2.33): its own log lines, and the failures that its exceptions report.

    [Neuron] [LEVEL] [<file>.cpp:<line>] <text> <name>= <value> …

That follows PyTorch's `[W721 09:54:58.837126036 NeuronLogging.h:103] Warning: ` whatever the level, with ANSI colors,
Ray's prefix, and sometimes twice in one line. Locks and failures come at every log level; lookups and compiles only at
TORCH_NEURONX_LOG_LEVEL=3, where one hit is reported by up to three lines and one failure by up to three more.

A graph has two names: its id, and the key of its artifact in the cache (32 hex digits, also the lock's name). Lines
that hold both show which belong together; events carry the cache's key as soon as it is known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CacheMissed,
    CompileCompleted,
    CompileFailed,
    CompilerStageFinished,
    CompileStarted,
    GraphMeasured,
    LockWaited,
    LogGeneration,
)
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import Record, clip, common, marked
from neuron_top.parsers.failure_signs import ERROR_CODE

_MARK = late_pattern(
    r"(?:\((?P<actor>\w[\w.:-]{0,80}) (?:rank=\d{1,6} )?pid=(?P<pid>\d{1,10})(?:, ip=[\w.:]{1,60})?\) ?)?"
    r"(?:\[(?P<stamp>[IWEF]\d{3,4} [\d:.]{8,20}) [\w.]{1,40}:\d{1,6}\] (?:\w{1,12}: )?)?"
    r"\[Neuron\] \[(?P<level>[A-Z]{4,10})\]\s*(?:\[(?P<place>[^\]\s]{1,200}:\d{1,6})\]\s*)?"
)
_END = late_pattern(r"\s*\(function \w{1,40}\)\s*\Z")
"""PyTorch adds the name of the C++ function that warned."""
_VALUE = late_pattern(
    r"(?<![\w])(key|cache_key|persistent_key|path|lock_path|elapsed_seconds|delay_ms)=\s*([^\s]{1,400})"
    r"|for key:\s*([^\s]{1,400})"
)
_ERROR = late_pattern(r"\berror=\s*(.*)", re.DOTALL)
_KEY = late_pattern(r"[0-9a-f]{32}\Z")
_GRAPH = late_pattern(r"[0-9a-f]{16,64}:[0-9a-f]{16,64}\Z")
_LOCK = late_pattern(r"([0-9a-f]{32})\.lock\Z")
_RAISED = "Compilation error occurred on Neuron"
_FAILED_FOR = late_pattern(r"Compilation failed for cache key '([^']{1,400})': ?(.*)", re.DOTALL)
_COMPILED = late_pattern(r"\bCompiled HLO ([0-9a-f]{32}) in (\d{1,7}(?:\.\d{1,6})?) ?s\b")
_GAUGE = late_pattern(r"^vllm_neuron[:_]compilation_time_seconds\{([^}]{0,1000})\} ([0-9.eE+]{1,30})\b")
_LABEL = late_pattern(r'(\w{1,60})="([^"]{0,200})"')
_MESSAGE = late_pattern(r'error message="?(COMPILATION FAILED:.*|NRT EXECUTION FAILED.*)', re.DOTALL)
_FAILED = late_pattern(r"COMPILATION FAILED:\s*")
_GRAPH_OF_FAILURE = late_pattern(r"neff cache key=\s*(\S{1,400})")
_OTHERS = late_pattern(r"Note: |python stack trace=|Traceback \(|During handling|The above exception|\[rank\d")
"""Lines after a failure that are no part of its message."""
_MOST_MESSAGE_LINES = 8
_MOST_BETWEEN = 200
"""Lines of other processes between a failure and the name of its graph."""
_REMEMBERED = 4096
_WAIT_REPORT_SECONDS = 60.0
"""Seconds of a wait after which it is reported again: at log level 3 each second has a line."""

Worker = tuple[int | None, int | None]
"""Process and rank, as far as a line reports them."""


class _Line(NamedTuple):
    """One message of the back end."""

    record: Record
    level: LogLevel
    text: str
    stamp: str
    values: dict[str, str]

    @property
    def worker(self) -> Worker:
        return self.record.pid, self.record.rank


class _Failure:
    """A failed compile whose message or graph may still come."""

    def __init__(self, record: Record, message: str | None, graph: str | None) -> None:
        self.record, self.graph = record, graph
        self.lines = [message] if message is not None else []
        self.between = 0

    @property
    def closed(self) -> bool:
        """The message is complete: its closing quote was seen, or it is long enough."""
        if self.graph is not None:
            return True
        return bool(self.lines) and (self.lines[-1].rstrip().endswith('"') or len(self.lines) >= _MOST_MESSAGE_LINES)

    @property
    def message(self) -> str:
        return _FAILED.sub("", "\n".join(self.lines), count=1).strip().removesuffix('"')


class TorchNeuronLines:
    """Reads the lines of TorchNeuron; keeps a failure until its graph is named."""

    name = "torch-neuron"

    def __init__(self) -> None:
        self._failure: _Failure | None = None
        self._keys: dict[str, str] = {}
        """Graph's id → its key in the cache."""
        self._reported_by: dict[tuple[Worker, str], frozenset[str]] = {}
        """By lookup and outcome, the phrases of the lines that have reported it: several lines report the same."""
        self._failed: dict[tuple[Worker, str], None] = {}
        """Failures reported: the log, the exception and what quotes it are one failure."""
        self._served: dict[tuple[Worker, str], None] = {}
        """Graphs that another process compiled while this one waited: no compile of its own ends."""
        self._gauges: dict[str, float] = {}
        """Seconds that vLLM-Neuron's gauge showed last, by its labels."""
        self._waits: dict[tuple[Worker, str], float] = {}
        """Seconds of each wait that goes on, reported or not."""

    @property
    def open(self) -> bool:
        """True while the message or the graph of a failure may follow."""
        return self._failure is not None

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """The failure, if this record is not part of what reports it."""
        failure = self._failure
        if failure is None or self._continues(failure, record):
            return []
        if (record.pid, record.rank) != (failure.record.pid, failure.record.rank) and failure.between < _MOST_BETWEEN:
            failure.between += 1
            return []
        return self.flush()

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        text = record.text
        if "[Neuron] [" in text:
            record.stands_alone = False
            return [event for line in _lines(record) for event in self._read(line)]
        if self._failure is not None and self._continues(self._failure, record):
            return self._take(self._failure, record)
        if _RAISED in text or "error message=" in text:
            return self._raised(record)
        if (failed := _FAILED_FOR.search(text)) is not None:
            record.stands_alone = False
            return self._failed_once(record, failed[1], failed[2]) or None
        return self._compiled(record) or self._gauged(record) or self._bare(record)

    def flush_idle(self) -> list[AnyEvent]:
        """The failure, which should be shown without waiting for its graph."""
        return self.flush()

    def flush(self) -> list[AnyEvent]:
        """The failure that was kept."""
        failure, self._failure = self._failure, None
        return [] if failure is None else self._failed_once(failure.record, failure.graph, failure.message)

    # --- failures, as exceptions print them ---

    def _continues(self, failure: _Failure, record: Record) -> bool:
        same = (record.pid, record.rank) == (failure.record.pid, failure.record.rank)
        if record.shape or not same or failure.graph is not None or _OTHERS.match(record.text.strip()):
            return False
        return not failure.closed or _GRAPH_OF_FAILURE.search(record.text) is not None

    def _take(self, failure: _Failure, record: Record) -> list[AnyEvent]:
        record.stands_alone = False
        graph = _GRAPH_OF_FAILURE.search(record.text)
        if graph is not None:
            self._failure = None
            return self._failed_once(failure.record, graph[1], failure.message)
        if record.text.strip():
            found = _MESSAGE.search(record.text)
            failure.lines.append(found[1] if found else record.text.strip())
        return []

    def _raised(self, record: Record) -> list[AnyEvent] | None:
        """An exception of the back end. Its first line is also left to the family that reads tracebacks."""
        found = _MESSAGE.search(record.text)
        record.stands_alone = False
        if found is not None and found[1].startswith("NRT"):
            return None if "occurred on Neuron" in record.text else [marked(record, LogLevel.ERROR, found[1])]
        if found is None and _RAISED not in record.text:
            return None
        events = self.flush()
        graph = _GRAPH_OF_FAILURE.search(record.text)
        message = found[1].partition("neff cache key=")[0] if found else None
        self._failure = _Failure(record, message, graph[1] if graph else None)
        return events if events or _RAISED not in record.text else None

    def _failed_once(self, record: Record, graph: str | None, message: str) -> list[AnyEvent]:
        """The failure, unless it was reported of this graph since its compile began."""
        what = ((record.pid, record.rank), graph or message)
        if what in self._failed:
            return []
        _remember(self._failed, what)
        if graph is not None:
            _remember(self._failed, (what[0], message))
        code = ERROR_CODE.search(message)
        return [
            CompileFailed(
                **common(record) | {"generation": LogGeneration.NATIVE},
                module=self._module(graph) if graph else None,
                graph=clip(graph) if graph else None,
                message=clip(message),
                code=code[1] if code else None,
            )
        ]

    # --- lines of the log ---

    def _gauged(self, record: Record) -> list[AnyEvent]:
        """A line of vLLM-Neuron's `/metrics`: what has been added to the gauge since it was printed last."""
        found = _GAUGE.search(record.text)
        if found is None:
            return []
        record.stands_alone = False
        labels = dict(_LABEL.findall(found[1]))
        bucket, value = labels.get("bucket_name", ""), _number(found[2])
        before = self._gauges.get(found[1], 0.0)
        _remember(self._gauges, found[1], value)
        added = value - before if value >= before else value  # a smaller value: the server was restarted
        stage = clip(f"{bucket or 'graphs'} (vLLM, compiled or loaded)")
        return [CompilerStageFinished(**common(record), stage=stage, seconds=added)] if added else []

    @staticmethod
    def _compiled(record: Record) -> list[AnyEvent]:
        """vLLM-Neuron reports each compile with its time."""
        found = _COMPILED.search(record.text)
        if found is None:
            return []
        fields = common(record) | {"at": record.at if record.shape else None}
        return [GraphMeasured(**fields, module=found[1], compile_seconds=_number(found[2]))]

    def _bare(self, record: Record) -> list[AnyEvent] | None:
        """A message without the mark in front of it, as in excerpts from the back end's own log file."""
        line = _line(record, record.level, record.text, "")
        if not any(_KEY.match(value) or _GRAPH.match(value) or _LOCK.search(value) for value in line.values.values()):
            return None
        record.stands_alone = False
        for phrase, read in _READERS:
            if line.text.lstrip().startswith(phrase):
                return list(read(self, line))
        return None

    def _read(self, line: _Line) -> list[AnyEvent]:
        self._learn(line)
        for phrase, read in _READERS:
            if phrase in line.text:
                return list(read(self, line))
        if line.level.is_marked:
            return [marked(line.record, line.level, line.text)]
        return []

    def _learn(self, line: _Line) -> None:
        """Note which key belongs to which graph, where a line reports both."""
        graph = line.values.get("cache_key") or line.values.get("key")
        lock = _LOCK.search(line.values.get("lock_path", ""))
        key = line.values.get("persistent_key") or (lock[1] if lock else None)
        if graph and key and graph != key:
            _remember(self._keys, graph, key)

    def _hit(self, line: _Line) -> Iterator[AnyEvent]:
        graph, key = self._names(line)
        if "after lock acquisition" in line.text and graph:
            _remember(self._served, (line.worker, graph))
        if self._is_new(line, "hit", graph, key):
            yield CacheHit(**self._fields(line, graph, key))

    def _missed(self, line: _Line) -> Iterator[AnyEvent]:
        graph, key = self._names(line)
        if self._is_new(line, "miss", graph, key):
            yield CacheMissed(**self._fields(line, graph, key))

    def _started(self, line: _Line) -> Iterator[AnyEvent]:
        graph, key = self._names(line)
        for name in (graph, key):
            self._failed.pop((line.worker, name or ""), None)
        yield CompileStarted(**self._fields(line, graph, key))

    def _completed(self, line: _Line) -> Iterator[AnyEvent]:
        graph, key = self._names(line)
        served = (line.worker, graph or "")
        if served in self._served:
            del self._served[served]
            return
        yield CompileCompleted(**self._fields(line, graph, key))

    def _error(self, line: _Line) -> Iterator[AnyEvent]:
        graph, _ = self._names(line)
        if graph is None:
            if line.level is not LogLevel.DEBUG:
                yield marked(line.record, line.level, line.text)
            return
        error = _ERROR.search(line.text)
        yield from self._failed_once(line.record, graph, error[1].strip() if error else "")

    def _contended(self, line: _Line) -> Iterator[AnyEvent]:
        """A wait is reported when it begins, and once a minute."""
        path = line.values.get("path", "")
        what = (line.worker, path)
        before = self._waits.get(what)
        waited = (before or 0.0) + _number(line.values.get("delay_ms")) / 1000.0
        _remember(self._waits, what, waited)
        if before is None:
            yield self._waited(line, path, None)
        elif before // _WAIT_REPORT_SECONDS != waited // _WAIT_REPORT_SECONDS:
            yield self._waited(line, path, waited / 60.0)

    def _broken(self, line: _Line) -> Iterator[AnyEvent]:
        """A wait that timed out: the lock file is removed, whoever held it, and the graph is compiled again."""
        path = line.values.get("path", "")
        self._waits.pop((line.worker, path), None)
        seconds = line.values.get("elapsed_seconds")
        yield self._waited(line, path, _number(seconds) / 60.0 if seconds else None, broken=True)

    def _acquired(self, line: _Line) -> Iterator[AnyEvent]:
        self._waits.pop((line.worker, line.values.get("path", "")), None)
        yield from ()

    def _nothing(self, line: _Line) -> Iterator[AnyEvent]:
        yield from ()

    def _waited(self, line: _Line, path: str, minutes: float | None, *, broken: bool = False) -> LockWaited:
        lock = _LOCK.search(path)
        fields = self._fields(line, None, lock[1] if lock else None)
        return LockWaited(**fields, path=clip(path), minutes=minutes, broken=broken)

    def _names(self, line: _Line) -> tuple[str | None, str | None]:
        """(graph's id, key in the cache) as this line and earlier ones report them."""
        values = line.values
        named = values.get("cache_key") or values.get("key") or values.get("for key")
        key = values.get("persistent_key")
        if named is not None and key is None and _KEY.match(named):
            return None, named
        return named, key or self._keys.get(named or "")

    def _module(self, graph: str) -> str:
        return clip(self._keys.get(graph, graph))

    def _fields(self, line: _Line, graph: str | None, key: str | None) -> dict[str, Any]:
        module = key or graph
        return common(line.record) | {
            "generation": LogGeneration.NATIVE,
            "module": clip(module) if module else None,
            "graph": clip(graph) if graph and key else None,
        }

    def _is_new(self, line: _Line, answer: str, graph: str | None, key: str | None) -> bool:
        """Whether this lookup was not yet reported by another of the lines that report the same one."""
        wording = next(phrase for phrase, _ in _READERS if phrase in line.text)
        names = [name for name in (key, graph) if name]
        if not names:
            return True
        reports = [self._reported_by.pop((line.worker, f"{answer} {name}"), None) for name in names]
        known = next(filter(None, reports), frozenset())
        is_new = not known or wording in known
        _remember(
            self._reported_by,
            (line.worker, f"{answer} {names[0]}"),
            frozenset({wording}) if is_new else known | {wording},
        )
        return is_new


_Reader = Callable[[TorchNeuronLines, _Line], Iterator[AnyEvent]]
_READERS: tuple[tuple[str, _Reader], ...] = (
    ("Lock acquisition timed out", TorchNeuronLines._broken),
    ("Lock contention, retrying", TorchNeuronLines._contended),
    ("Lock acquired", TorchNeuronLines._acquired),
    ("Persistent cache hit", TorchNeuronLines._hit),
    ("[NEFF_CACHE] Cache HIT", TorchNeuronLines._hit),
    ("Persistent cache miss", TorchNeuronLines._missed),
    ("[NEFF_CACHE] Cache MISS", TorchNeuronLines._missed),
    ("In-memory cache hit", TorchNeuronLines._nothing),
    ("Cache hit", TorchNeuronLines._hit),
    ("Compiling IR to NEFF", TorchNeuronLines._started),
    ("IR compilation complete", TorchNeuronLines._completed),
    ("Compilation error cache_key=", TorchNeuronLines._error),
)
"""The phrase of each kind of line, and its reader; the first phrase that a text holds decides."""


def _lines(record: Record) -> list[_Line]:
    """The messages in a record: a line may hold several, and the same one twice."""
    found = list(_MARK.finditer(record.text))
    lines: dict[tuple[int | None, str, str], _Line] = {}
    for index, mark in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(record.text)
        text = _END.sub("", record.text[mark.end() : end]).strip()
        one = record
        if record.pid is None and mark["pid"]:
            record.pid = int(mark["pid"])
        if index and mark["pid"]:
            one = Record(text, record.offset, record.source)
            one.at, one.rank, one.pid = record.at, record.rank, int(mark["pid"])
        stamp = mark["stamp"] or str(index)
        lines.setdefault((one.pid, stamp, text), _line(one, LogLevel.named(mark["level"]), text, stamp))
    return list(lines.values())


def _line(record: Record, level: LogLevel, text: str, stamp: str) -> _Line:
    values: dict[str, str] = {}
    for name, value, for_key in _VALUE.findall(text[:4000]):
        values.setdefault(name or "for key", (value or for_key).rstrip(",;"))
    return _Line(record, level, text, stamp, values)


def _number(text: str | None) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1e9)


def _remember(known: dict[Any, Any], key: Any, value: Any = None) -> None:
    """Keep a bounded number; the oldest goes."""
    known.pop(key, None)
    if len(known) >= _REMEMBERED:
        del known[next(iter(known))]
    known[key] = value
