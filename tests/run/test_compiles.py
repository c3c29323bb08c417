"""The compile ledger: each log generation's rules, and one compile told by two tellers."""

from __future__ import annotations

import itertools

import pytest

from neuron_top.events import (
    AnyEvent,
    ArtifactLoaded,
    CachedFailureHit,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileBegan,
    CompileCause,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CompileGaveUp,
    CompileRequested,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    GraphExtracted,
    GraphReported,
    LockWaited,
    LogGeneration,
    ProcessExited,
    ProcessSeen,
    QueueCounted,
    RunFinished,
    RunStarted,
    StepReported,
    WaitBegan,
    WorkerStarted,
    decode,
    encode,
)
from neuron_top.run.graph import GraphState, Precision
from neuron_top.run.model import Run

A, B, C = (f"MODULE_{digit * 16}+aaaaaaaa" for digit in "123")


STATUS = CompileFailed(message="compiler status: failed", at=5.0)


def run_of(*events: AnyEvent) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def test_a_hit_is_counted_per_rank_and_per_graph():
    compiles = run_of(*(CacheHit(module=A, pid=pid, at=1.0) for pid in range(32))).compiles
    assert (compiles.totals.hits, compiles.totals.graphs_hit, compiles.totals.misses) == (32, 1, 0)
    assert compiles.totals.hit_rate == 1.0
    assert len(compiles.graphs[A].workers) == 32


def test_hit_rates_by_graph_and_by_lookup_differ():
    compiles = run_of(
        CompileBegan(module=A, pid=1, at=1.0),
        CompileEnded(module=A, pid=1, at=3.0, seconds=2.0, ok=True),
        *(CacheHit(module=A, pid=pid, at=4.0) for pid in (2, 3, 4)),
        CacheHit(module=B, pid=1, at=5.0),
    ).compiles
    assert compiles.totals.hit_rate == pytest.approx(1 / 2)  # A had to be compiled, whoever found it then
    assert compiles.totals.lookup_hit_rate == pytest.approx(4 / 5)
    assert compiles.graphs[A].state is GraphState.COMPILED


TELLERS = [
    CompileStarted(module=A, pid=1, generation=LogGeneration.G2, at=10.0),
    CompileRequested(module=A, pid=1, at=10.1),
    CompileBegan(module=A, pid=1, at=13.0),
    CompilerPassed(seen=14.9),
    CompileEnded(module=A, pid=1, at=15.0, seconds=4.9, ok=True),
    CompileCompleted(module=A, pid=1, generation=LogGeneration.G3, at=15.1),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(TELLERS)))))
def test_one_compile_known_by_log_lines_and_side_channel_in_any_order_is_one_miss(order: tuple[int, ...]):
    compiles = run_of(*(TELLERS[index] for index in order)).compiles
    graph = compiles.graphs[A]
    assert (compiles.totals.misses, compiles.totals.graphs_missed, compiles.totals.failures) == (1, 1, 0)
    assert list(compiles.graphs) == [A]
    assert (graph.state, compiles.compiling) == (GraphState.COMPILED, 0)
    assert (graph.duration.seconds, graph.duration.precision) == (4.9, Precision.MEASURED)


def test_a_compile_goes_on_from_when_it_was_asked_for():
    run = run_of(CompileRequested(module=A, pid=1, at=10.0))
    (running,) = run.compiles.graphs[A].workers.values()
    assert (running.state, running.since, run.compiles.compiling) == (GraphState.COMPILING, 10.0, 1)
    run.apply(CompileBegan(module=A, pid=1, at=17.0, compiler_pid=7))
    (attempt,) = running.attempts
    assert (attempt.start, attempt.compiler_pid, running.since, run.compiles.compiling) == (10.0, 7, 10.0, 1)


def test_a_process_that_works_on_the_second_attempt_does_not_count_for_the_first():
    killed = CompileEnded(module=A, pid=1, at=2.0, seconds=1.0, ok=False, cause=CompileCause.RETRIED)
    run = run_of(CompileRequested(module=A, pid=1, at=1.0), killed, CompileRequested(module=A, pid=1, at=2.1))
    run.apply(CompileBegan(module=A, pid=1, at=3.0, compiler_pid=7))
    (worker,) = run.compiles.graphs[A].workers.values()
    assert [attempt.compiler_pid for attempt in worker.attempts] == [None, 7]
    assert worker.open_attempt is worker.attempts[1]


HIT = CacheHit(module=A, pid=2, at=6.0)
LOADED = ArtifactLoaded(module=A, pid=2, at=6.2, seconds=0.2, waited_seconds=5.0)


@pytest.mark.parametrize("rest", [(HIT, LOADED), (LOADED, HIT), (LOADED,)])
def test_a_wait_is_seen_while_it_goes_on_and_counts_once(rest: tuple[AnyEvent, ...]):
    run = run_of(WaitBegan(module=A, pid=2, at=1.0))
    (worker,) = run.compiles.graphs[A].workers.values()
    assert (worker.state, run.compiles.graphs[A].state, len(run.compiles.totals.waits())) == (
        GraphState.WAITING,
        GraphState.WAITING,
        1,
    )
    for event in rest:
        run.apply(event)
    (wait,) = worker.waits
    assert (wait.start, wait.end, wait.seconds) == (1.0, 6.0, 5.0)
    assert worker.state is (GraphState.HIT if HIT in rest else GraphState.KNOWN)
    assert worker.hits_after_wait == (HIT in rest)
    assert not run.compiles.totals.waits()


def test_a_wait_whose_end_was_read_first_does_not_go_on():
    run = run_of(HIT, WaitBegan(module=A, pid=2, at=1.0))
    (worker,) = run.compiles.graphs[A].workers.values()
    assert (worker.state, worker.open_wait) == (GraphState.HIT, None)


def test_a_process_that_waited_and_compiles_itself_waits_no_longer():
    run = run_of(WaitBegan(module=A, pid=2, at=1.0), CompileRequested(module=A, pid=2, at=4.0))
    (worker,) = run.compiles.graphs[A].workers.values()
    assert (worker.state, worker.open_wait, worker.waits[0].end) == (GraphState.COMPILING, None, 4.0)


def test_a_compile_that_moves_into_the_job_is_one_compile():
    compiles = run_of(
        CompileBegan(module=A, pid=1, at=1.0, compiler_pid=7),
        CompileBegan(module=A, pid=1, at=2.0, inside_job=True),
        CompileEnded(module=A, pid=1, at=3.0, seconds=2.0, ok=True),
    ).compiles
    assert (compiles.totals.misses, compiles.totals.failures, compiles.compiling) == (1, 0, 0)
    assert [attempt.inside_job for worker in compiles.graphs[A].workers.values() for attempt in worker.attempts] == [
        True
    ]


def test_a_retry_after_a_failure_is_a_second_attempt_however_the_reporters_interleave():
    compiles = run_of(
        CompileBegan(module=A, pid=1, at=1.0),
        CompileEnded(module=A, pid=1, at=2.0, seconds=1.0, ok=False, cause=CompileCause.ERROR),
        CompileBegan(module=A, pid=1, at=2.1),
        CompileFailed(module=A, pid=1, at=2.0, message="first", generation=LogGeneration.G3),
        CompileEnded(module=A, pid=1, at=3.0, seconds=0.9, ok=True),
        CompileCompleted(module=A, pid=1, at=3.0, generation=LogGeneration.G3),
    ).compiles
    assert (compiles.totals.misses, compiles.totals.failures) == (2, 1)
    assert compiles.graphs[A].state is GraphState.COMPILED


def test_the_oldest_format_announces_its_miss_and_ends_without_a_name():
    run = run_of(
        CacheMissed(module=A, generation=LogGeneration.G0, at=100.0, source="log"),
        CompileStarted(module=A, generation=LogGeneration.G0, at=100.5, source="log"),
        CompilerPassed(source="log"),
        CompileCompleted(generation=LogGeneration.G0, at=140.5, source="log"),
    )
    assert (run.compiles.counts.misses_announced, run.compiles.totals.misses) == (1, 1)
    assert run.compiles.graphs[A].duration.precision is Precision.MEASURED
    assert run.compiles.graphs[A].duration.seconds == 40.0


def test_in_the_second_format_a_lookup_without_a_hit_is_a_miss_without_a_name():
    announced = [
        CachePathAnnounced(path="/c", generation=LogGeneration.G1, at=float(at), source="log") for at in range(3)
    ]
    run = run_of(
        announced[0],
        CacheHit(module=A, generation=LogGeneration.G1, at=0.5, source="log"),
        announced[1],
        CompilerProgress(dots=3, source="log"),
        CompilerPassed(source="log"),
        announced[2],
        CacheHit(module=B, generation=LogGeneration.G1, at=2.5, source="log"),
        RunFinished(run="r", exit_code=0, at=3.0),
    )
    assert (run.compiles.totals.hits, run.compiles.totals.misses) == (2, 1)
    unnamed = [graph for graph in run.compiles.graphs.values() if graph.module is None]
    assert [graph.state for graph in unnamed] == [GraphState.COMPILED]


def test_in_the_second_format_interleaved_lookups_of_unknown_processes_are_not_misses_yet():
    lookup = CachePathAnnounced(path="/c", generation=LogGeneration.G1, at=1.0, source="log")
    hits = [CacheHit(module=module, generation=LogGeneration.G1, at=2.0, source="log") for module in (A, B)]
    assert run_of(lookup, lookup, *hits, RunFinished(run="r", exit_code=0, at=3.0)).compiles.totals.misses == 0


def test_the_third_format_brackets_a_compile_between_its_start_and_the_next_header_of_its_process():
    run = run_of(
        CompileStarted(module=A, pid=5, generation=LogGeneration.G2, at=10.0),
        CacheHit(module=B, pid=6, generation=LogGeneration.G2, at=20.0),
        CacheHit(module=B, pid=5, generation=LogGeneration.G2, at=42.0),
    )
    duration = run.compiles.graphs[A].duration
    assert (duration.seconds, duration.precision) == (32.0, Precision.BRACKETED)


def test_a_counter_line_of_the_same_process_ends_a_compile_exactly():
    counted = QueueCounted(pid=5, at=12.523, remaining=0, locked=0, failed=0, done=1, total=1)
    run = run_of(CompileStarted(module=A, pid=5, generation=LogGeneration.G2, at=10.0), CompilerPassed(), counted)
    assert run.compiles.graphs[A].duration.precision is Precision.MEASURED
    assert run.compiles.graphs[A].duration.seconds == pytest.approx(2.523)


def test_the_newest_format_measures_a_worker_by_the_distance_of_its_completions():
    run = run_of(
        WorkerStarted(worker="0", pid=9, at=100.0),
        CompileCompleted(module=A, pid=9, generation=LogGeneration.G3, at=150.0),
        CompileCompleted(module=B, pid=9, generation=LogGeneration.G3, at=170.5),
    )
    assert [run.compiles.graphs[key].duration.seconds for key in (A, B)] == [50.0, 20.5]
    assert {graph.duration.precision for graph in run.compiles.graphs.values()} == {Precision.MEASURED}


def test_dots_of_the_newest_format_show_a_compile_that_has_no_name_until_it_ends():
    run = run_of(
        CacheHit(module=B, pid=1, generation=LogGeneration.G3, at=5.0, seen=5.0, source="log"),
        CompilerProgress(seen=10.0, source="log"),
    )
    assert run.compiles.compiling == 1
    for event in (
        CompilerPassed(seen=30.0, source="log"),
        CompileCompleted(module=A, pid=1, generation=LogGeneration.G3, at=30.0, seen=30.0, source="log"),
    ):
        run.apply(event)
    assert list(run.compiles.graphs) == [B, A]
    assert (run.compiles.totals.misses, run.compiles.compiling) == (1, 0)
    assert run.compiles.graphs[A].duration.seconds == 20.0


def test_dots_alone_are_no_compile():
    compiles = run_of(CompilerProgress(dots=7)).compiles
    assert (compiles.graphs, compiles.counts.dots, compiles.totals.misses) == ({}, 7, 0)


def test_each_pass_of_a_job_that_prints_nothing_else_is_a_compiled_graph_of_unknown_length():
    run = run_of(CompilerProgress(dots=7), CompilerPassed(seen=3.0), CompilerPassed(seen=9.0))
    graphs = list(run.compiles.graphs.values())
    assert [graph.state for graph in graphs] == [GraphState.COMPILED] * 2
    assert [graph.duration.seconds for graph in graphs] == [None, None]
    assert (run.compiles.counts.passes, run.compiles.totals.misses, run.compiles.compiling) == (2, 2, 0)


def test_what_passed_alone_counts_no_more_once_a_line_names_its_graph():
    compiles = run_of(CompilerPassed(), CompileCompleted(module=A, pid=1, generation=LogGeneration.G3, at=9.0)).compiles
    assert (list(compiles.graphs), compiles.totals.misses) == ([A], 1)


def test_pass_of_one_of_two_compilers_ends_neither():
    starts = [
        CompileStarted(module=module, pid=pid, generation=LogGeneration.G2, at=1.0) for module, pid in ((A, 1), (B, 2))
    ]
    assert run_of(*starts, CompilerPassed(seen=9.0)).compiles.compiling == 2
    assert run_of(*starts, CompilerPassed(seen=9.0), CompilerPassed(seen=10.0)).compiles.compiling == 0


def test_a_lock_wait_is_one_wait_however_often_it_is_reported_and_ends_with_the_hit():
    waits = [LockWaited(module=A, pid=2, at=60.0 * minute, minutes=float(minute)) for minute in (1, 2, 3)]
    run = run_of(*waits)
    assert run.compiles.graphs[A].state is GraphState.WAITING
    assert run.compiles.graphs[A].state_since == 0.0
    run.apply(CacheHit(module=A, pid=2, at=200.0))
    worker = next(iter(run.compiles.graphs[A].workers.values()))
    assert (len(worker.waits), worker.hits_after_wait, run.compiles.counts.lock_lines) == (1, 1, 3)
    assert (worker.waits[0].start, worker.waits[0].end, worker.waits[0].minutes) == (0.0, 200.0, 3.0)
    assert run.compiles.counts.longest_wait_minutes == 3.0


FOUND = CacheHit(module=A, pid=2, at=9.0)
WAITED_FOR = ArtifactLoaded(module=A, pid=2, at=10.0, seconds=0.5, waited_seconds=4.0)


@pytest.mark.parametrize(
    ("events", "after_wait"),
    [
        ((FOUND, WAITED_FOR), 1),
        ((WAITED_FOR, FOUND), 1),
        ((LockWaited(module=A, pid=2, at=5.0, minutes=1.0), FOUND, WAITED_FOR), 1),
        ((FOUND, ArtifactLoaded(module=A, pid=2, at=10.0, seconds=0.5)), 0),
        (
            (
                CompileBegan(module=A, pid=2, at=5.0),
                CompileEnded(module=A, pid=2, at=8.0, seconds=3.0, ok=True),
                WAITED_FOR,
            ),
            0,
        ),
    ],
    ids=["told behind the line", "told before it", "told twice", "nobody was waited for", "it compiled itself"],
)
def test_a_hit_after_a_wait_that_no_line_reported_is_counted_once(
    events: tuple[AnyEvent, ...], after_wait: int
) -> None:
    run = run_of(*events)
    assert (
        sum(one.hits_after_wait for graph in run.compiles.graphs.values() for one in graph.workers.values())
        == after_wait
    )


def test_our_own_component_measures_a_wait_that_was_too_short_for_a_log_line():
    run = run_of(ArtifactLoaded(module=A, pid=2, at=10.0, seconds=0.5, waited_seconds=4.0))
    assert run.compiles.totals.seconds_spent(99.0, ("wait",)) == pytest.approx(4.0)


def test_compile_time_is_the_union_of_compiles_and_waits_not_their_sum():
    run = run_of(
        CompileBegan(module=A, pid=1, at=10.0),
        CompileBegan(module=B, pid=2, at=15.0),
        CompileEnded(module=A, pid=1, at=20.0, seconds=10.0, ok=True),
        CompileEnded(module=B, pid=2, at=25.0, seconds=10.0, ok=True),
        ArtifactLoaded(module=A, pid=3, at=31.0, seconds=1.0, waited_seconds=20.0),
        CompileBegan(module=C, pid=1, at=40.0),
    )
    assert run.compiles.totals.seconds_spent(45.0) == pytest.approx(20.0 + 5.0)


def test_a_stored_failure_is_not_a_failure_of_this_run():
    compiles = run_of(CachedFailureHit(module=A, pid=1, at=1.0, message="from another day")).compiles
    assert (compiles.totals.failures, compiles.totals.failures_met, compiles.totals.misses) == (0, 1, 0)
    assert compiles.graphs[A].state is GraphState.CACHED_FAILURE
    assert compiles.totals.hit_rate == 0.0


def test_a_graph_that_failed_in_this_run_stays_failed_when_other_ranks_are_served_its_failure():
    failed = CompileFailed(module=A, pid=1, at=1.0, code="F137", message="forcibly killed")
    served = CachedFailureHit(module=A, pid=2, at=2.0, message="forcibly killed")
    compiles = run_of(failed, served).compiles
    assert compiles.graphs[A].state is GraphState.FAILED
    assert (compiles.totals.failures, compiles.totals.failures_met) == (1, 1)
    again = run_of(failed, served, CompileCompleted(module=A, pid=1, at=9.0)).compiles
    assert again.graphs[A].state is GraphState.COMPILED


def test_a_killed_compile_is_distinguished_from_one_that_failed():
    killed = run_of(CompileFailed(module=A, pid=1, at=1.0, code="F137", message="forcibly killed"))
    failed = run_of(CompileFailed(module=A, pid=1, at=1.0, exit_status=70))
    assert killed.compiles.graphs[A].last_attempt.killed
    assert not failed.compiles.graphs[A].last_attempt.killed


def test_every_rank_extracts_a_graph_that_is_one_graph():
    compiles = run_of(*(GraphExtracted(module=A, pid=pid, at=1.0) for pid in range(8))).compiles
    assert (compiles.counts.extractions, len(compiles.graphs)) == (8, 1)
    assert compiles.graphs[A].state is GraphState.EXTRACTED


def test_the_report_of_a_parallel_compile_counts_graphs_that_no_line_named():
    run = run_of(GraphReported(path="p", module=A, ok=True, seconds=7.5), GraphReported(path="q", module=B, ok=False))
    assert (run.compiles.totals.misses, run.compiles.totals.failures) == (2, 1)
    assert run.compiles.graphs[A].duration.seconds == 7.5


def test_the_report_does_not_count_again_what_lines_reported():
    run = run_of(
        CompileStarted(module=A, pid=5, generation=LogGeneration.G2, at=10.0),
        CompilerPassed(),
        GraphReported(path="p", module=A, ok=True, seconds=3.0),
    )
    assert run.compiles.totals.misses == 1
    duration = run.compiles.graphs[A].duration
    assert (duration.seconds, duration.precision) == (3.0, Precision.MEASURED)


def test_a_compiler_process_that_names_its_graph_and_the_completion_line_are_one_compile():
    run = run_of(
        ProcessSeen(pid=70, role="compiler", module=A, started=100.0, at=100.3),
        CompileCompleted(module=A, pid=7, generation=LogGeneration.G3, at=130.0),
        ProcessExited(pid=70, at=130.2, exit_code=0),
    )
    assert (run.compiles.totals.misses, run.compiles.compiling) == (1, 0)
    assert run.compiles.graphs[A].duration.seconds == 30.0


def test_a_process_that_dies_leaves_its_compile_and_its_wait_interrupted():
    run = run_of(
        CompileBegan(module=A, pid=1, at=1.0),
        LockWaited(module=A, pid=2, at=61.0, minutes=1.0),
        ProcessExited(pid=1, at=70.0),
        ProcessExited(pid=2, at=70.0),
    )
    assert run.compiles.compiling == 0
    assert not run.compiles.totals.waits()
    assert run.compiles.graphs[A].state is GraphState.INTERRUPTED
    assert run.compiles.totals.failures == 0


def test_a_completion_line_that_arrives_after_its_process_died_still_counts():
    run = run_of(
        CompileBegan(module=A, pid=1, at=1.0),
        ProcessExited(pid=1, at=9.0),
        CompileCompleted(module=A, pid=1, at=8.9, generation=LogGeneration.G3),
    )
    assert run.compiles.graphs[A].state is GraphState.COMPILED
    assert run.compiles.totals.misses == 1


def test_dots_of_an_old_log_are_not_dated_by_the_day_it_is_read():
    run = run_of(
        CacheHit(module=B, pid=1, generation=LogGeneration.G3, at=1000.0, seen=9e8, source="log"),
        CompilerProgress(seen=9e8, source="log"),
        StepReported(step=1, seen=9e8, source="log"),
    )
    assert run.last_time == 1000.0


def test_a_log_in_another_time_zone_is_put_on_the_clock_of_the_run_that_we_started():
    started = CompileStarted(
        module=A, pid=1, generation=LogGeneration.G2, at=50_010.0 + 7200, seen=50_010.2, source="log"
    )
    run = run_of(RunStarted(run="r", at=50_000.0), started)
    assert run.compiles.graphs[A].state_since == 50_010.0


@pytest.mark.parametrize("cause", [CompileCause.RETRIED, CompileCause.INTERRUPTED, CompileCause.DISK_FULL])
def test_an_end_that_is_not_the_graphs_fault_leaves_it_interrupted(cause: CompileCause) -> None:
    run = Run()
    run.apply(CompileEnded(module=A, pid=1, at=2.0, seconds=1.0, ok=False, cause=cause))
    assert [graph.state for graph in run.compiles.graphs.values()] == [GraphState.INTERRUPTED]


def test_a_recording_of_another_version_may_name_a_cause_that_is_not_known() -> None:
    line = b'{"type": "CompileEnded", "module": "MODULE_1+2", "seconds": 1.0, "ok": false, "cause": "a new one"}'
    event = decode(line)
    assert isinstance(event, CompileEnded)
    assert event.cause is CompileCause.ERROR
    assert decode(encode(event)) == event


def test_a_compile_that_is_given_up_without_its_message_is_a_failed_graph() -> None:
    run = run_of(CompileStarted(module=A, pid=1, at=1.0), CompileGaveUp(module=A, pid=1, at=9.0, retries=0))
    assert run.compiles.graphs[A].state is GraphState.FAILED
    assert (run.compiles.totals.failures, run.compiles.counts.gave_up) == (1, 1)


def test_a_failure_and_its_giving_up_are_one_failure() -> None:
    run = run_of(
        CompileStarted(module=A, pid=1, at=1.0),
        CompileFailed(module=A, pid=1, at=9.0, message="x"),
        CompileGaveUp(module=A, pid=1, at=9.0, retries=0),
    )
    assert run.compiles.totals.failures == 1


def test_dots_between_a_pass_and_the_line_that_names_its_graph_make_no_further_graph() -> None:
    run = run_of(
        CacheHit(module=C, pid=1, at=0.5),
        CompilerProgress(dots=2, at=None),
        CompilerPassed(),
        CompilerProgress(dots=1),
        CompileCompleted(module=A, pid=1, at=9.0),
        CompilerPassed(),
        CompileCompleted(module=B, pid=1, at=12.0),
    )
    assert sorted(key for key in run.compiles.graphs) == [A, B, C]


@pytest.mark.parametrize(
    "behind",
    [
        (),
        (CompileGaveUp(module=A, pid=7, at=6.0),),
        (CompileFailed(module=A, pid=7, message="out of memory", at=6.0), CompileGaveUp(module=A, pid=7, at=6.0)),
    ],
    ids=["alone", "given up", "with its reason"],
)
def test_a_status_that_names_no_graph_is_that_of_the_one_compile_that_goes_on(behind: tuple[AnyEvent, ...]) -> None:
    run = run_of(CompileStarted(module=A, pid=7, at=1.0), STATUS, *behind)
    (graph,) = run.compiles.graphs.values()
    assert (graph.key, graph.failures, graph.state) == (A, 1, GraphState.FAILED)
    assert graph.message == ("out of memory" if len(behind) == 2 else STATUS.message)


def test_of_two_compiles_that_go_on_a_status_ends_neither() -> None:
    run = run_of(CompileStarted(module=A, pid=7, at=1.0), CompileStarted(module=B, pid=8, at=1.0), STATUS)
    assert [run.compiles.graphs[key].state for key in (A, B)] == [GraphState.COMPILING, GraphState.COMPILING]
