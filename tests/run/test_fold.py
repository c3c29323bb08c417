"""The fold loses nothing: whatever events come, the run that is told the folded ones has the same totals."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CachePathAnnounced,
    CompileBegan,
    EventsFolded,
    GraphMeasured,
    LockWaited,
    LogGeneration,
    OutputGrew,
    WaitBegan,
    WorkerHeard,
    decode,
    encode,
)
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.alerts.raised import raised
from neuron_top.run.fold import Fold
from neuron_top.run.graph import GraphState
from neuron_top.run.model import Run
from tests.foundation.test_events import made
from tests.run.samples import A, B, any_event, event_lists, other_events, repeating_event

NOW = 1_700_000_500.0
TIMED = (AlertKind.LATE_RECOMPILES, AlertKind.LOCK_WAIT, AlertKind.STALE_LOCK)
ONE_OF_EACH = [made(kind) for kind in get_args(AnyEvent) if kind not in (EventsFolded, WorkerHeard)]
"""Whatever kinds there are: a new one is tried, too."""
others = st.one_of(any_event, other_events, st.sampled_from(ONE_OF_EACH))
interrupted = st.tuples(st.lists(repeating_event, min_size=8, max_size=16), st.lists(others, max_size=2))
mixed_events = st.lists(interrupted, min_size=1, max_size=5).map(
    lambda parts: [event for repeated, between in parts for event in (*repeated, *between)]
)


def folded(events: list[AnyEvent], every: int = 0) -> list[AnyEvent]:
    """What a fold reports in their place; it is asked for what waits after each `every` events."""
    fold, reported = Fold(), []
    for number, event in enumerate(events, 1):
        reported += fold.add(event, float(number))
        if every and number % every == 0:
            reported += fold.flush(float(number), everything=number % (2 * every) == 0)
    return [*reported, *fold.flush(float(len(events)), everything=True)]


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def totals(run: Run) -> dict[str, Any]:
    """Every count and every state of a run; times of single workers are what a fold leaves out."""
    compiles, job, training = run.compiles, run.job, run.training
    sums = compiles.totals
    graphs = {
        key: (
            graph.state, graph.lasting, graph.hits, graph.misses, graph.failures, graph.failures_met,
            sum(len(worker.waits) for worker in graph.workers.values()),
            sum(worker.extractions for worker in graph.workers.values()),
            sorted(str(attempt.outcome) for attempt in graph.attempts),
        )
        for key, graph in compiles.graphs.items()
    }  # fmt: skip
    return {
        "events": (run.events, run.growths),
        "state": run.state(NOW),
        "graphs": graphs,
        "sums": (sums.hits, sums.hits_after_compile, sums.misses, sums.failures, sums.failures_met, sums.graphs_hit,
                 sums.graphs_missed, sums.hit_rate, sums.lookup_hit_rate, sums.lock_waits, compiles.compiling),
        "counts": msgspec.structs.asdict(compiles.counts),
        "job": (job.warnings, job.errors, job.malformed, job.malformed_families, job.exit_code, job.interrupted_by,
                [(one.path, one.end, one.lines, one.rotations) for one in job.sources.values()]),
        "errors": [mark.text for mark in job.marks if mark.level == "error"],
        "training": (training.reports, training.simulated_reports, training.step, training.total_steps, training.epoch,
                     training.loss, training.learning_rate, training.throughput_unit, training.facts,
                     len(training.deaths), training.errors_raised),
        "queue": (run.queue.trial_running, run.queue.counts is None, len(run.queue.workers), len(run.queue.summaries)),
        "cores": (run.cores.statuses, run.cores.log_levels, len(run.cores.runtime_errors), run.cores.exhausted.count,
                  run.cores.hardware_errors, sorted(run.cores.cores)),
        "changes": run.caches.changes,
        # Those compare times, and what has no clock is dated by what stands around it.
        "alerts": sorted(one.key for one in raised(run, NOW) if one.kind not in TIMED),
    }  # fmt: skip


@pytest.mark.parametrize("last", [{"end": 0}, {"end": 9, "seen": None}, {"end": 9, "closed": True}])
def test_when_a_log_last_grew_outlasts_what_is_said_of_it_then(last: dict[str, Any]) -> None:
    grown: list[AnyEvent] = [OutputGrew(path="/log", source="log:a", end=end, seen=NOW + end) for end in (1, 2, 3)]
    events = [*grown, OutputGrew(path="/log", source="log:a", **{"seen": NOW + 4, **last})]
    reported, wanted = run_of(folded(events)), run_of(events)
    assert reported.silence.followed == wanted.silence.followed
    assert reported.silence.closed == wanted.silence.closed
    assert totals(reported) == totals(wanted)


@given(mixed_events, st.integers(0, 9))
@settings(max_examples=150)
def test_folded_and_unfolded_events_give_the_same_totals(events: list[AnyEvent], every: int) -> None:
    reported = [decode(encode(event)) for event in folded(events, every)]
    assert totals(run_of(reported)) == totals(run_of(events))


@given(event_lists, st.integers(0, 9))
def test_events_of_any_kind_without_clocks_too(events: list[AnyEvent], every: int) -> None:
    assert totals(run_of(folded(events, every))) == totals(run_of(events))


def hit(module: str, pid: int, at: float) -> CacheHit:
    return CacheHit(at=at, seen=at, source="log:x", node="n", pid=pid, module=module, generation=LogGeneration.G3)


def test_a_wait_that_is_told_late_does_not_undo_a_lookup_whose_process_was_heard_of_since() -> None:
    """The line about the path, of the same process, reports when that last printed one; the lookup has a time too."""
    found = hit(A, pid=10, at=NOW + 0.5)
    of_log = [
        CacheHit(at=NOW + 0.4, source="log:x", node="n", module=A, generation=LogGeneration.G3),
        CachePathAnnounced(at=NOW, source="log:x", node="n", path="/cache", generation=LogGeneration.G2),
        WaitBegan(module=A, seen=NOW, source="log:x", node="n"),
    ]
    events: list[AnyEvent] = [found, *of_log]
    assert run_of(events).compiles.graphs[A].state is GraphState.HIT
    assert totals(run_of(folded(events))) == totals(run_of(events))


def waits(module: str, pid: int | None, at: float, minutes: float | None = None) -> LockWaited:
    return LockWaited(at=at, source="log:x", pid=pid, module=module, generation=LogGeneration.G2, minutes=minutes)


def test_what_one_process_waited_is_not_told_of_another() -> None:
    begins = CompileBegan(source="log:x", module=A, pid=10)
    events = [waits(A, 10, NOW - 500), waits(A, None, NOW - 119.9), waits(A, 10, NOW - 500, 2.0), begins]
    told = [alert.kind for alert in raised(run_of(folded(events, 0)), NOW)]
    assert told == [alert.kind for alert in raised(run_of(events), NOW)]


def test_a_graph_measured_by_a_process_of_which_only_a_fold_told_keeps_its_state() -> None:
    events = [
        *(hit(A, 9, NOW) for _ in range(3)),
        hit(A, 10, NOW),
        GraphMeasured(node="n", pid=10, module=A, compile_seconds=3.0),
    ]
    assert totals(run_of(folded(events, 0))) == totals(run_of(events))


def test_hits_of_128_ranks_become_one_event_with_the_first_and_the_last_in_it() -> None:
    events: list[AnyEvent] = [hit(module, pid, 100.0 + pid) for module in (A, B) for pid in range(128)]
    reported = folded(events)
    assert [type(event).__name__ for event in reported] == ["CacheHit", "CacheHit", "EventsFolded", "EventsFolded"]
    assert reported[:2] == [events[0], events[128]]
    many = reported[2]
    assert isinstance(many, EventsFolded)
    assert (many.count, many.first, many.last) == (127, 101.0, events[127])
    assert len(run_of(reported).compiles.graphs[A].workers) == 2


def test_a_fold_that_goes_on_is_reported_ever_more_seldom() -> None:
    fold = Fold()
    fold.add(hit(A, 0, 0.0), 0.0)
    reported = []
    for second in range(1, 601):
        fold.add(hit(A, second, float(second)), float(second))
        reported += [second for _ in fold.flush(float(second))]
    assert reported[:4] == [6, 17, 38, 79]
    assert reported[-1] - reported[-2] == 61


def test_a_clock_that_is_set_back_holds_nothing_back() -> None:
    fold = Fold()
    fold.add(hit(A, 0, 0.0), 1000.0)
    fold.add(hit(A, 1, 0.0), 1000.0)
    assert fold.flush(1001.0) == []
    assert [type(event).__name__ for event in fold.flush(500.0)] == ["EventsFolded"]
