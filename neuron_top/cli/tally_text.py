"""The text of `neurontop tally`: what a person wants to know of a log, most important first.

Occurrences by rank are folded into graphs here: a graph that 32 ranks took from the cache is one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from neuron_top.cli.output import table
from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CompileCompleted,
    CompileFailed,
    CompileStarted,
    DeviceMemoryExhausted,
    ErrorRaised,
    GraphExtracted,
    LineMarked,
    LockWaited,
    NeffMemoryReported,
    RuntimeLogged,
    StepReported,
    TrialRunStarted,
    WorkerDied,
)
from neuron_top.parsers.tally import Tally
from neuron_top.units import UNKNOWN, bytes_text, clock_text, count_text, duration_text, number_text

_ROWS = 30
_MOST_GRAPHS = 100_000
_CLASSES = (
    ("F137", "killed, most often for host memory: fewer workers or a larger host, then retry"),
    ("NCC_EOOM", "does not fit the device's memory: smaller batch or sequence, or more cores; a retry fails again"),
    ("NCC_EXTP", "graph too big for the compiler: smaller batch or sequence; a retry fails again"),
    ("NCC_EVRF", "not supported by the compiler: change the model or the compiler version"),
    ("F13", "the compiler crashed: retry once, then report it"),
)
"""Error codes by prefix → what to do. Anything else is a compiler error whose text must be read."""


class Graph:
    """What happened to one graph."""

    def __init__(self) -> None:
        self.hits = self.compiled = self.started = self.failed = self.met_failed = self.extracted = 0
        self.waited: float | None = None


class Summary:
    """Adds up events by graph and by kind."""

    def __init__(self) -> None:
        self.graphs: dict[str, Graph] = {}
        self.failures: Counter[tuple[str, str, str]] = Counter()
        self.problems: Counter[str] = Counter()
        self.exhausted: list[DeviceMemoryExhausted] = []
        self._dead: set[int | None] = set()
        self.last_step: StepReported | None = None
        self.steps = 0
        self.trial = False
        """Steps so far were printed while graphs were being extracted: their numbers mean nothing."""
        self.neffs: dict[str, NeffMemoryReported] = {}

    def add(self, events: Iterable[AnyEvent]) -> None:
        """Count events."""
        for event in events:
            self._graph_event(event)
            if isinstance(event, CompileFailed | CachedFailureHit):
                self._failure(event)
            elif isinstance(event, ErrorRaised):
                self._problem(f"{event.exception}: {event.message}")
            elif isinstance(event, LineMarked) and event.level in ("ERROR", "CRITICAL"):
                self._problem(event.text)
            elif isinstance(event, WorkerDied):
                self._death(event)
            elif isinstance(event, RuntimeLogged) and event.level in ("ERROR", "FATAL"):
                self._problem(f"{event.component}:{event.function} {event.text} {event.status}".rstrip())
            elif isinstance(event, DeviceMemoryExhausted) and len(self.exhausted) < 1000:
                self.exhausted.append(event)
            elif isinstance(event, NeffMemoryReported) and len(self.neffs) < 1000:
                self.neffs[event.name] = event
            elif isinstance(event, TrialRunStarted):
                self.trial = True
            elif isinstance(event, StepReported):
                self.steps += 1
                self.last_step = event if event.loss is not None or self.last_step is None else self.last_step

    def text(self, name: str, tally: Tally) -> str:
        """The whole summary."""
        parts = [_head(name, tally), _counts(tally, self.graphs), self._graph_table(tally), self._failure_text()]
        parts += [self._memory_text(), self._problem_text(), self._progress_text(), _unknown(tally)]
        return "\n\n".join(part for part in parts if part)

    def _graph_event(self, event: AnyEvent) -> None:
        module = getattr(event, "module", None)
        if module is None or (module not in self.graphs and len(self.graphs) >= _MOST_GRAPHS):
            return
        graph = self.graphs.setdefault(module, Graph())
        if isinstance(event, CacheHit):
            graph.hits += 1
        elif isinstance(event, CompileCompleted):
            graph.compiled += 1
        elif isinstance(event, CompileStarted):
            graph.started += 1
        elif isinstance(event, CompileFailed):
            graph.failed += 1
        elif isinstance(event, CachedFailureHit):
            graph.met_failed += 1
        elif isinstance(event, GraphExtracted):
            graph.extracted += 1
        elif isinstance(event, LockWaited) and event.minutes is not None:
            graph.waited = max(graph.waited or 0.0, event.minutes * 60)

    def _failure(self, event: CompileFailed | CachedFailureHit) -> None:
        how = "failed" if isinstance(event, CompileFailed) else "failed before, stored in the cache"
        if len(self.failures) < 1000:
            self.failures[(event.module or UNKNOWN, how, event.message)] += 1

    def _death(self, event: WorkerDied) -> None:
        """A launcher speaks of one death twice: when it happens, and in its report."""
        if event.pid is None or event.pid not in self._dead:
            self._dead.add(event.pid)
            self._problem(f"worker {_known(event.pid)} died, exit code {event.exit_code} {event.signal}".rstrip())

    def _problem(self, text: str) -> None:
        if len(self.problems) < 10_000:
            self.problems[text[:160]] += 1

    def _graph_table(self, tally: Tally) -> str:
        if not self.graphs:
            return ""
        ordered = sorted(self.graphs.items(), key=lambda item: _weight(item[0], item[1], tally), reverse=True)
        rows = [
            (module, _n(graph.compiled or graph.started), _n(graph.hits), _n(graph.extracted),
             _n(graph.failed + graph.met_failed), duration_text(graph.waited), _duration(module, tally))
            for module, graph in ordered[:_ROWS]
        ]  # fmt: skip
        header = ("graph", "compiled", "hits", "extracted", "failed", "longest wait", "compile time")
        more = f"\n… and {len(ordered) - _ROWS} more graphs" if len(ordered) > _ROWS else ""
        return table(header, rows, right=(1, 2, 3, 4, 5, 6)) + more

    def _failure_text(self) -> str:
        lines = []
        for (module, how, message), count in self.failures.most_common(10):
            lines.append(f"  {module} {how}{_times(count)}")
            lines.append(f"    {message[:200] or 'no text'}")
            advice = next((text for code, text in _CLASSES if f"[{code}" in message), "")
            lines += [f"    → {advice}"] if advice else []
        return "\n".join(("failed graphs", *lines)) if lines else ""

    def _memory_text(self) -> str:
        lines = [
            f"  device {_known(event.device)} core {_known(event.core)}: {bytes_text(event.requested)} "
            f"for {event.usage or UNKNOWN}" + (f", {bytes_text(event.rows[0].total)} in use" if event.rows else "")
            for event in self.exhausted[:10]
        ]
        found = ["device memory ran out", *lines] if lines else []
        largest = sorted(self.neffs.values(), key=lambda event: event.total or 0, reverse=True)[:10]
        found += ["device memory by loaded program"] if largest else []
        found += [f"  {event.module or event.name}: {bytes_text(event.total)}" for event in largest]
        return "\n".join(found)

    def _problem_text(self) -> str:
        lines = [f"  {text}{_times(count)}" for text, count in self.problems.most_common(10)]
        return "\n".join(("errors", *lines)) if lines else ""

    def _progress_text(self) -> str:
        step = self.last_step
        if step is None:
            return ""
        facts = [f"step {step.step}" if step.step is not None else "", f"loss {number_text(step.loss)}"]
        facts += [f"epoch {step.epoch:g}"] if step.epoch is not None else []
        told = f"training: {count_text(self.steps)} progress lines, the last: {', '.join(filter(None, facts))}"
        return (
            f"{told}\n  printed by a trial run that extracts graphs: such numbers mean nothing" if self.trial else told
        )


def _head(name: str, tally: Tally) -> str:
    counts = tally.as_json()
    shown = "standard input" if name == "-" else name
    lines = [f"{shown}: {count_text(tally.lines)} lines, {bytes_text(tally.bytes)}"]
    if tally.first is not None and tally.last is not None:
        span = clock_text(tally.last - tally.first)
        lines.append(f"{counts['ts_min']} to {counts['ts_max']} ({span}), {len(counts['pids'])} processes")
    for title, key in (("compiler", "compiler_versions"), ("cache", "cache_roots"), ("error codes", "error_codes")):
        if counts[key]:
            lines.append(f"{title}: {', '.join(counts[key])}")
    return "\n".join(lines)


def _counts(tally: Tally, graphs: dict[str, Graph]) -> str:
    counts = tally.counts
    compiled = max(counts["completed"] + counts["exits_ok"], counts["compile_starts"], counts["pass"])
    rows = [
        ("graphs", len(graphs)),
        ("cache hits", counts["hits"]),
        ("compiles", compiled),
        ("compiles failed", counts["errors"]),
        ("failed graphs met in the cache", counts["failed_hits"]),
        ("lock waits", counts["lock_waits"]),
        ("graphs extracted", counts["extracted"]),
        ("files not in the hub cache", counts["hub_misses"]),
        ("runtime log lines", tally.runtime_lines),
    ]
    return table(("", ""), [(title, count_text(value)) for title, value in rows if value], right=(1,)).lstrip("\n")


def _unknown(tally: Tally) -> str:
    broken = f", {count_text(tally.malformed)} broken" if tally.malformed else ""
    return f"{count_text(tally.known)} lines known, {count_text(tally.unknown)} not{broken}"


def _weight(module: str, graph: Graph, tally: Tally) -> tuple[int, float, int]:
    seconds = tally.durations.exact.get(module) or tally.durations.at_most.get(module) or 0.0
    return graph.failed + graph.met_failed, seconds, graph.hits


def _duration(module: str, tally: Tally) -> str:
    exact, bound = tally.durations.exact.get(module), tally.durations.at_most.get(module)
    if exact is not None:
        return duration_text(exact)
    return f"≤ {duration_text(bound)}" if bound is not None else UNKNOWN


def _n(value: int) -> str:
    return count_text(value) if value else ""


def _times(count: int) -> str:
    return f" (× {count_text(count)})" if count > 1 else ""


def _known(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)
