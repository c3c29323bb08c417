"""Counts what is in a log: the keys of `neurontop tally --json`.

Occurrences are counted, not lines, since two events can share a line. Counts come from the events; module keys, roots
and versions come from the text of every line that is looked at. Sets of distinct values are bounded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from neuron_top.escapes import ANSI_COLOR, visible
from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileCompleted,
    CompileFailed,
    CompileGaveUp,
    CompileLogEvent,
    CompilerErrorSeen,
    CompilerExited,
    CompilerPassed,
    CompilerStageFinished,
    CompilerVersionSeen,
    CompileStarted,
    GraphExtracted,
    GraphMeasured,
    GraphReported,
    HubMissed,
    LineMalformed,
    LockWaited,
    LogGeneration,
    QueueCounted,
    SummaryReported,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths
from neuron_top.parsers.base import RUNTIME, WRAPPER, Record
from neuron_top.parsers.compiler import REGION
from neuron_top.parsers.durations import TIMED, Durations
from neuron_top.parsers.native_counts import NativeCounts
from neuron_top.parsers.wrapper import STATUS_FAILED

_EXIT_STATUS = late_pattern(r"exit status (-?\d{1,6})")
_COUNTS: dict[type, str] = {
    CacheHit: "hits",
    CachedFailureHit: "failed_hits",
    CacheMissed: "misses_announced",
    CompilerPassed: "pass",
    CompileGaveUp: "gave_up",
    LockWaited: "lock_waits",
    GraphExtracted: "extracted",
    HubMissed: "hub_misses",
    CachePathAnnounced: "cache_path_lines",
    QueueCounted: "progress_lines",
    WorkerStarted: "worker_starts",
    WorkerFinished: "worker_ends",
}
_MODULES: dict[type, str] = {
    CacheHit: "modules_hit",
    CachedFailureHit: "modules_failed_hit",
    CompileFailed: "modules_error",
    LockWaited: "modules_lock_wait",
    GraphExtracted: "modules_extracted",
}
_NATIVE = LogGeneration.NATIVE
"""Bound once, since each event is compared with it."""
_SAMPLES = 20
_SAMPLE_LENGTH = 300
_REMEMBERED = 4096
_REMEMBERED_LENGTH = 2000
"""Characters: longer texts are looked at each time, so that what is remembered stays small."""
_MOST = 100_000
"""Distinct values kept per set; no real log holds more."""


class Tally:
    """Adds up one stream. `as_json` gives the published keys; the rest is for people."""

    def __init__(self) -> None:
        self.lines = self.carriage_returns = self.ansi_sequences = self.bytes = 0
        self.known = 0
        """Lines (or pieces of one) that some family claimed."""
        self.malformed = 0
        self.unknown_samples: list[str] = []
        self.wants_samples = True
        """True until enough unknown lines were kept as examples."""
        self.counts: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.first: float | None = None
        self.last: float | None = None
        self.runtime_lines = 0
        self.lock_wait_max: float | None = None
        self.progress_last: QueueCounted | None = None
        self.summaries: list[SummaryReported] = []
        self.report: list[GraphReported] = []
        self.durations = Durations()
        self.native = NativeCounts()
        self._sets: defaultdict[str, set[Any]] = defaultdict(set)
        self._pids = self._sets["pids"]
        self._looked_at: set[str] = set()

    @property
    def unknown(self) -> int:
        """Lines that no family knows."""
        return max(0, self.lines - self.known)

    def measure(self, block: bytes) -> None:
        """Count the bytes, line ends and control sequences of a block."""
        self.bytes += len(block)
        self.lines += block.count(b"\n")
        if b"\r" in block:
            self.carriage_returns += block.count(b"\r")
        if b"\x1b" in block:
            self.ansi_sequences += len(ANSI_COLOR.findall(block))

    def add_record(self, record: Record) -> None:
        """Count a record by its header."""
        if record.shape is RUNTIME:
            self.runtime_lines += 1
        elif record.shape is WRAPPER:
            self.add_header(record.tag, record.header_pid, record.at)

    def add_header(self, tag: str, pid: int | None, at: float | None) -> None:
        """Count a wrapper's header."""
        self.tags[tag] += 1
        if pid is not None and pid not in self._pids:
            self._keep("pids", pid)
        if at is None:
            return
        if self.first is None or at < self.first:
            self.first = at
        if self.last is None or at > self.last:
            self.last = at
        if pid is not None:
            self.durations.add_header(pid, at)

    def scan_text(self, text: str) -> None:
        """Collect module keys, roots and versions from the text of a record, unless the same text came recently."""
        if text in self._looked_at:
            return
        if len(self._looked_at) >= _REMEMBERED:
            self._looked_at.clear()
        if len(text) <= _REMEMBERED_LENGTH:
            self._looked_at.add(text)
        if "MODULE_" in text:
            for module in paths.MODULE.findall(text):
                self._keep("modules", module)
        if "neuronxcc-" in text or "USER_neuroncc-" in text:
            for version in paths.COMPILER_FOLDER.findall(text):
                self._keep("compiler_versions", version)
            for root in paths.roots_in(text):
                self._keep("cache_roots", root)
        if "exit status" in text:
            for status in _EXIT_STATUS.findall(text):
                self._keep("exit_status_in_tracebacks", int(status))

    def add_line(self, text: str, known: int) -> None:
        """Count the lines of a text that some family knows (`known`: how many; 0 if none does, which may be kept as a
        sample)."""
        if known:
            self.known += known
        elif self.wants_samples and text.strip():
            self.unknown_samples.append(visible(text.strip()[:_SAMPLE_LENGTH]))
            self.wants_samples = len(self.unknown_samples) < _SAMPLES

    def add(self, event: AnyEvent) -> None:
        """Count one event."""
        count, modules, adder, timed, of_compile = _HANDLING.get(type(event)) or _handling(type(event))
        if of_compile and event.generation is _NATIVE:  # type: ignore[union-attr]
            self.native.add(event)  # type: ignore[arg-type]
            return
        if count is not None:
            self.counts[count] += 1
        if modules is not None:
            self._keep_module(modules, event.module)  # type: ignore[union-attr]
        if adder is not None:
            adder(self, event)
        if timed:
            self.durations.add(event)

    def span(self, first: float | None, last: float | None, pids: Iterable[int]) -> None:
        """Take over the timestamps and processes of headers that were counted elsewhere."""
        stamps = [stamp for stamp in (self.first, self.last, first, last) if stamp is not None]
        if stamps:
            self.first, self.last = min(stamps), max(stamps)
        for pid in pids:
            self._keep("pids", pid)

    def merge(self, other: Tally, times: int) -> None:
        """Add what another tally counted of one line, that many times, without its timestamp and process."""
        self.known += other.known * times
        for counter, values in ((self.counts, other.counts), (self.tags, other.tags)):
            for name, count in values.items():
                counter[name] += count * times
        for name, members in other._sets.items():
            if name != "pids":
                for member in members:
                    self._keep(name, member)

    def as_json(self) -> dict[str, Any]:
        """The published keys, in their order; `compile_durations_s` and `native` only where there are any."""
        counts = self.counts
        last = self.progress_last
        result: dict[str, Any] = {
            "lines": self.lines,
            "headers": sum(self.tags.values()),
            "tags": dict(sorted(self.tags.items())),
            "pids": self._sorted("pids"),
            "ts_min": _stamp(self.first),
            "ts_max": _stamp(self.last),
            **{name: counts[name] for name in _EVENT_COUNTS},
            "lock_wait_max_minutes": self.lock_wait_max,
            "extracted": counts["extracted"],
            "hub_misses": counts["hub_misses"],
            "cache_paths": self._sorted("cache_paths"),
            "cache_path_lines": counts["cache_path_lines"],
            **{name: self._sorted(name) for name in ("cache_roots", "compiler_versions", "modules")},
            "flag_hashes": sorted({module.partition("+")[2] for module in self._sets.get("modules", ())} - {""}),
            **{name: self._sorted(name) for name in _MODULE_LISTS},
            "progress_lines": counts["progress_lines"],
            "progress_last": None if last is None else {name: getattr(last, name) for name in _PROGRESS},
            "summaries": [{"total": s.total, "success": s.success, "failed": s.failed} for s in self.summaries],
            "worker_starts": counts["worker_starts"],
            "worker_ends": counts["worker_ends"],
            "compile_report": [_entry(reported) for reported in self.report],
            **{name: self._sorted(name) for name in ("error_codes", "exit_codes", "exit_status_in_tracebacks")},
            "stage_timings": counts["stage_timings"],
            "cr_bytes": self.carriage_returns,
            "ansi_sequences": self.ansi_sequences,
            "runtime_lines": self.runtime_lines,
        }
        if self.durations.exact:
            result["compile_durations_s"] = dict(self.durations.exact)
        if self.native.any:
            result["native"] = self.native.as_json()
        return result

    def _keep(self, name: str, value: Any) -> None:
        values = self._sets[name]
        if len(values) < _MOST:
            values.add(value)

    def _keep_module(self, name: str, module: str | None) -> None:
        if module is not None and module not in (kept := self._sets[name]) and len(kept) < _MOST:
            kept.add(module)

    def _sorted(self, name: str) -> list[Any]:
        return sorted(self._sets.get(name, ()))

    def _started(self, event: CompileStarted) -> None:
        if event.generation is not LogGeneration.G0:  # there the announced miss is the start, and is counted as that
            self.counts["compile_starts"] += 1
            self._keep_module("modules_started", event.module)

    def _completed(self, event: CompileCompleted) -> None:
        self.counts["exits_ok" if event.generation is LogGeneration.G0 else "completed"] += 1
        self._keep_module("modules_completed", event.module)

    def _failed(self, event: CompileFailed) -> None:
        self.counts["errors"] += not event.message.startswith(STATUS_FAILED)

    def _cached_failure(self, event: CachedFailureHit) -> None:
        self.counts["retries"] += event.retrying

    def _waited(self, event: LockWaited) -> None:
        if event.minutes is not None:
            self.lock_wait_max = max(self.lock_wait_max or 0.0, event.minutes)

    def _announced(self, event: CachePathAnnounced) -> None:
        self._keep("cache_paths", event.path)

    def _counted(self, event: QueueCounted) -> None:
        self.progress_last = event

    def _summed(self, event: SummaryReported) -> None:
        if len(self.summaries) < _MOST:
            self.summaries.append(event)

    def _reported(self, event: GraphReported) -> None:
        if len(self.report) < _MOST:
            self.report.append(event)

    def _timed(self, event: CompilerStageFinished) -> None:
        self.counts["stage_timings"] += event.stage != REGION

    def _exited(self, event: CompilerExited) -> None:
        self._keep("exit_codes", event.code)

    def _versioned(self, event: CompilerVersionSeen) -> None:
        self._keep("compiler_versions", event.version)

    def _coded(self, event: CompilerErrorSeen) -> None:
        self._keep("error_codes", event.code)

    def _measured(self, event: GraphMeasured) -> None:
        self.native.add_measured(event)

    def _broken(self, event: LineMalformed) -> None:
        self.malformed += 1


_EVENT_COUNTS = (
    "hits", "failed_hits", "misses_announced", "compile_starts", "pass", "completed", "exits_ok", "errors", "gave_up",
    "retries", "lock_waits",
)  # fmt: skip
_MODULE_LISTS = (
    "modules_hit", "modules_failed_hit", "modules_started", "modules_completed", "modules_error",
    "modules_lock_wait", "modules_extracted",
)  # fmt: skip
_PROGRESS = ("remaining", "locked", "failed", "done", "total")
_ADDERS: dict[type, Callable[[Tally, Any], None]] = {
    CompileStarted: Tally._started,
    CompileCompleted: Tally._completed,
    CompileFailed: Tally._failed,
    CachedFailureHit: Tally._cached_failure,
    LockWaited: Tally._waited,
    CachePathAnnounced: Tally._announced,
    QueueCounted: Tally._counted,
    SummaryReported: Tally._summed,
    GraphReported: Tally._reported,
    CompilerStageFinished: Tally._timed,
    CompilerExited: Tally._exited,
    CompilerVersionSeen: Tally._versioned,
    CompilerErrorSeen: Tally._coded,
    GraphMeasured: Tally._measured,
    LineMalformed: Tally._broken,
}


_Handling = tuple[str | None, str | None, Callable[[Tally, Any], None] | None, bool, bool]
_HANDLING: dict[type, _Handling] = {}
"""By type of event: the count and the set of modules that it adds to, what else is done with it, whether durations
depend on it, whether it is a CompileLogEvent. An entry is made when its type first comes."""


def _handling(kind: type) -> _Handling:
    handling = (
        _COUNTS.get(kind),
        _MODULES.get(kind),
        _ADDERS.get(kind),
        kind in TIMED,
        issubclass(kind, CompileLogEvent),
    )
    _HANDLING[kind] = handling
    return handling


def _stamp(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def _entry(reported: GraphReported) -> dict[str, Any]:
    return {
        "module": reported.module,
        "status": reported.status,
        "retry": reported.retry,
        "compile_time": reported.seconds,
    }
