"""A log counted, as frozen rows, most important first: what `neurontop tally` prints.

Occurrences by rank are folded into graphs: a graph that 32 ranks took from the cache is one row.
"""

from __future__ import annotations

import msgspec

from neuron_top.cache.model import failures
from neuron_top.diagnose import Diagnosis
from neuron_top.escapes import shortened
from neuron_top.parsers.tally import Tally
from neuron_top.run.log_totals import GraphCounts, LogTotals
from neuron_top.views.advice import AdviceLine, advice_lines
from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view
from neuron_top.views.exhausted import ExhaustedMemory, exhausted_memory
from neuron_top.views.failure_advice import ADVICE

MOST_ROWS = 10
_MOST_GRAPHS = 30
_MESSAGE_CHARACTERS = 200


class TalliedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One graph, by occurrence; seconds."""

    module: str
    compiled: int
    hits: int
    extracted: int
    failed: int
    longest_wait: float | None
    compile_seconds: float | None
    is_upper_bound: bool
    """`compile_seconds` is at most so much: the time between two lines."""


class TalliedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of failure of a graph, so many times."""

    module: str | None
    is_cached: bool
    """It failed before and was stored in the cache."""
    message: str
    advice: str
    count: int


class LoadedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """Device memory of one loaded program; bytes."""

    name: str
    total: int | None


class TrainingProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What the training printed of itself."""

    lines: int
    step: int | None
    loss: float | None
    epoch: float | None
    simulated: bool
    """Printed by a trial run that extracts graphs: the numbers mean nothing."""


class LogTally(msgspec.Struct, frozen=True, kw_only=True):
    """One log."""

    diagnosis: DiagnosisView
    lines: int
    bytes: int
    first: str | None
    last: str | None
    """Clock of the log's first and last dated line, as JSON has it."""
    seconds: float | None
    processes: int
    compiler_versions: tuple[str, ...]
    cache_roots: tuple[str, ...]
    error_codes: tuple[str, ...]
    graph_count: int
    hits: int
    compiles: int
    failures: int
    cached_failures: int
    lock_waits: int
    extracted: int
    hub_misses: int
    runtime_lines: int
    graphs: tuple[TalliedGraph, ...]
    failed: tuple[TalliedFailure, ...]
    exhausted: ExhaustedMemory | None
    advice: tuple[AdviceLine, ...]
    phases: tuple[tuple[str, str], ...]
    """What the program timed of itself: name, seconds."""
    programs: tuple[LoadedProgram, ...]
    problems: tuple[tuple[str, int], ...]
    progress: TrainingProgress | None
    known_lines: int
    unknown_lines: int
    malformed_lines: int


def log_tally(tally: Tally, totals: LogTotals, diagnosis: Diagnosis) -> LogTally:
    """The rows of one log."""
    counts, native, document = tally.counts, tally.native, tally.as_json()
    first, last = tally.first, tally.last
    return LogTally(
        diagnosis=diagnosis_view(diagnosis),
        lines=tally.lines,
        bytes=tally.bytes,
        first=document["ts_min"],
        last=document["ts_max"],
        seconds=last - first if first is not None and last is not None else None,
        processes=len(document["pids"]),
        compiler_versions=tuple(document["compiler_versions"]),
        cache_roots=tuple(document["cache_roots"]),
        error_codes=tuple(document["error_codes"]),
        graph_count=len(totals.graphs),
        hits=counts["hits"] + native.hits,
        compiles=max(counts["completed"] + counts["exits_ok"], counts["compile_starts"], counts["pass"])
        + max(native.completed, native.compile_starts, native.measured),
        failures=counts["errors"] + totals.given_up + native.errors,
        cached_failures=counts["failed_hits"],
        lock_waits=counts["lock_waits"] + native.lock_waits,
        extracted=counts["extracted"],
        hub_misses=counts["hub_misses"],
        runtime_lines=tally.runtime_lines,
        graphs=_graphs(tally, totals),
        failed=tuple(_failure(*key, count=count) for key, count in totals.failures.most_common(MOST_ROWS)),
        exhausted=exhausted_memory(totals.exhausted),
        advice=advice_lines(totals.advice)[:MOST_ROWS],
        phases=tuple(totals.phases.items()),
        programs=_programs(totals),
        problems=tuple(totals.problems.most_common(MOST_ROWS)),
        progress=_progress(totals),
        known_lines=tally.known,
        unknown_lines=tally.unknown,
        malformed_lines=tally.malformed,
    )


def _graphs(tally: Tally, totals: LogTotals) -> tuple[TalliedGraph, ...]:
    """The graphs that matter most: failed, then slow, then often used."""
    exact, at_most = {**tally.durations.exact, **totals.measured_seconds}, tally.durations.at_most

    def weight(item: tuple[str, GraphCounts]) -> tuple[int, float, int]:
        module, graph = item
        return graph.failed + graph.cached_failures, exact.get(module) or at_most.get(module) or 0.0, graph.hits

    return tuple(
        TalliedGraph(
            module=module,
            compiled=max(graph.compiled or graph.started, graph.measured),
            hits=graph.hits,
            extracted=graph.extracted,
            failed=graph.failed + graph.cached_failures,
            longest_wait=graph.longest_wait,
            compile_seconds=exact.get(module, at_most.get(module)),
            is_upper_bound=module not in exact and module in at_most,
        )
        for module, graph in sorted(totals.graphs.items(), key=weight, reverse=True)[:_MOST_GRAPHS]
    )


def _failure(module: str | None, is_cached: bool, message: str, *, count: int) -> TalliedFailure:
    failure = failures.failure_of(message)
    advice = ADVICE[failure.cause] if message and failure.cause is not failures.FailureClass.UNKNOWN else ""
    return TalliedFailure(
        module=module, is_cached=is_cached, message=shortened(message, _MESSAGE_CHARACTERS), advice=advice, count=count
    )


def _programs(totals: LogTotals) -> tuple[LoadedProgram, ...]:
    largest = sorted(totals.programs.values(), key=lambda event: event.total or 0, reverse=True)[:MOST_ROWS]
    return tuple(LoadedProgram(name=event.module or event.name, total=event.total) for event in largest)


def _progress(totals: LogTotals) -> TrainingProgress | None:
    step = totals.last_step
    if step is None:
        return None
    return TrainingProgress(
        lines=totals.steps, step=step.step, loss=step.loss, epoch=step.epoch, simulated=totals.trial
    )
