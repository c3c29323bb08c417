"""Views: what a screen shows of a run, as plain numbers with None for what is not known."""

from __future__ import annotations

from functools import partial

import msgspec
import pytest

from neuron_top.cache.model.failures import FailureClass
from neuron_top.cli.plain import summary_text
from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CompileBegan,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DevicesFound,
    EntryChanged,
    ErrorRaised,
    ExecutionsCounted,
    GraphDescribed,
    GraphExtracted,
    LockWaited,
    ProcessSeen,
    QueueCounted,
    RunFinished,
    RunStarted,
    StepReported,
    SummaryReported,
    TrialRunStarted,
    WorkerDied,
    WorkerMemoryReported,
)
from neuron_top.run.estimate import Estimator
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.store.records import CompileRecord, RunRecord
from neuron_top.tui.panels.core_rows import core_page_lines
from neuron_top.tui.panels.cores import use_text
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.core_rows import silence_text
from neuron_top.views.cores import core_page, core_table, visible_words
from neuron_top.views.failure_advice import ADVICE
from neuron_top.views.graphs import counted_inputs, graph_page, graph_table, slowest_rows
from neuron_top.views.overview import Overview, overview
from neuron_top.views.report import report
from neuron_top.views.runs import run_row
from neuron_top.views.summary import summary
from neuron_top.views.tables import wait_rows
from neuron_top.views.timeline import timeline
from neuron_top.views.trends import marks

A, B, C = (f"MODULE_{digit * 16}+aaaaaaaa" for digit in "123")
STARTED = RunStarted(run="r", name="bert", command=("/usr/bin/python", "x.py"), at=100.0)


def run_of(*events: AnyEvent) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def test_an_empty_run_is_a_screen_of_unknowns_not_of_zeros():
    view = overview(Run(), 5.0)
    assert (view.header.state, view.header.state_text) == (JobState.IDLE, "waiting for a job")
    assert (view.header.elapsed, view.cache.hit_rate, view.training.step, view.compile.share) == (None,) * 4
    assert (view.cores, view.alerts, view.compile.left, view.host.cpu) == ((), (), None, None)


def test_the_overview_survives_json_which_is_what_status_prints():
    view = overview(run_of(STARTED, CompileBegan(module=A, pid=1, at=101.0)), 103.0)
    assert msgspec.json.decode(msgspec.json.encode(view), type=Overview) == view


@pytest.mark.parametrize(
    ("events", "state", "words"),
    [
        ([STARTED], JobState.RUNNING, "running"),
        ([STARTED, TrialRunStarted(at=101.0)], JobState.EXTRACTING, "extracting graphs (trial run)"),
        ([STARTED, CompileBegan(module=A, pid=1, at=101.0)], JobState.COMPILING, "compiling"),
        ([STARTED, LockWaited(module=A, pid=1, at=161.0, minutes=1.0)], JobState.LOCK_WAIT, "waiting for a lock"),
        ([STARTED, StepReported(step=1, at=101.0)], JobState.TRAINING, "training"),
        ([STARTED, RunFinished(run="r", exit_code=0, at=109.0)], JobState.FINISHED, "completed"),
        ([STARTED, RunFinished(run="r", exit_code=3, at=109.0)], JobState.FAILED, "failed (exit status 3)"),
        ([STARTED, RunFinished(run="r", exit_code=-9, at=109.0)], JobState.KILLED, "killed (signal 9)"),
        (
            [STARTED, RunFinished(run="r", exit_code=1, at=109.0, interrupted_by="SIGINT")],
            JobState.INTERRUPTED,
            "interrupted (SIGINT)",
        ),
    ],
)
def test_the_state_is_a_value_and_is_put_into_words(events: list[AnyEvent], state: JobState, words: str):
    header = overview(run_of(*events), 170.0).header
    assert (header.state, header.state_text) == (state, words)


def test_elapsed_time_stops_when_the_command_ends():
    run = run_of(STARTED, RunFinished(run="r", exit_code=0, at=109.0))
    assert overview(run, 1000.0).header.elapsed == 9.0
    assert overview(run_of(STARTED), 1000.0).header.elapsed == 900.0


def test_compile_progress_counts_distinct_graphs_by_state():
    card = overview(
        run_of(
            STARTED,
            *(CacheHit(module=A, pid=pid, at=101.0) for pid in (1, 2)),
            CompileBegan(module=B, pid=1, at=102.0),
            CompileFailed(module=C, pid=3, at=103.0, message="no"),
        ),
        112.0,
    ).compile
    assert (card.total, card.hit, card.done, card.failed, len(card.running)) == (3, 1, 0, 1, 1)
    assert (card.running[0].elapsed, card.running[0].left, card.seconds) == (10.0, None, 10.0)
    assert card.share == pytest.approx(10 / 12)


def test_graphs_left_are_known_from_extraction_and_from_the_queue_and_otherwise_not():
    extracted = [
        TrialRunStarted(at=101.0),
        GraphExtracted(module=A, pid=1, at=102.0),
        GraphExtracted(module=B, pid=1, at=102.0),
    ]
    counted = QueueCounted(at=110.0, remaining=7, locked=0, failed=0, done=1, total=8)
    assert overview(run_of(STARTED), 120.0).compile.left is None
    assert overview(run_of(STARTED, *extracted), 120.0).compile.left == 2
    assert overview(run_of(STARTED, *extracted, counted), 120.0).compile.left == 7
    assert overview(run_of(STARTED, *extracted, counted, SummaryReported(total=2)), 120.0).compile.left == 0


def test_a_queue_that_counts_without_end_takes_no_memory():
    counted = QueueCounted(at=110.0, remaining=10**15 - 1, locked=0, failed=0, done=1, total=10**15)
    card = overview(run_of(STARTED, CompileBegan(module=A, pid=1, at=101.0), counted), 120.0).compile
    assert (card.left, card.estimate) == (10**15 - 1, None)


def test_time_left_is_shown_only_where_the_past_gives_ground_for_it():
    run = run_of(STARTED, CompileBegan(module=A, pid=1, at=101.0), CompileBegan(module=B, pid=2, at=101.0))
    past = [CompileRecord(A, "", "r0", "", None, None, 100.0, None, 1.0)]
    card = run_card = partial(overview, estimator=Estimator(past))(run, 111.0).compile
    ranges = {graph.key: graph.left for graph in run_card.running}
    assert (ranges[A].low, ranges[A].high, ranges[B]) == (65.0, 115.0, None)
    assert card.estimate is None  # B may take for ever


def test_the_slowest_graphs_are_those_that_failed_and_then_the_longest_compiles_that_ended():
    def compiled(module: str, begun: float, seconds: float) -> tuple[AnyEvent, ...]:
        ended = begun + seconds
        return CompileBegan(module=module, pid=1, at=begun), CompileEnded(
            module=module, pid=1, seconds=seconds, ok=True, at=ended
        )

    failed = CompileBegan(module=C, pid=1, at=101.0), CompileFailed(module=C, pid=1, at=102.0)
    hit, going_on = CacheHit(module="MODULE_4+a", pid=1, at=103.0), CompileBegan(module="MODULE_5+a", pid=2, at=103.0)
    run = run_of(STARTED, *compiled(A, 104.0, 5.0), *compiled(B, 110.0, 9.0), *failed, hit, going_on)
    assert [row.module for row in slowest_rows(run, 120.0, 12)] == [C, B, A]
    assert [row.module for row in slowest_rows(run, 120.0, 2)] == [C, B]
    assert slowest_rows(run, 120.0, 12) == tuple(graph_page(run, 120.0, key).row for key in (C, B, A))


@pytest.mark.parametrize("message", ["", "Compilation failed for model.MODULE_98+a.hlo_module.pb after 0 retries."])
def test_a_compiler_that_was_killed_is_advised_on_alike_whatever_digits_its_message_has(message: str):
    killed = CompileFailed(module=A, pid=1, at=110.0, message=message, exit_status=-9)
    run = run_of(STARTED, CompileBegan(module=A, pid=1, at=101.0), killed)
    page = graph_page(run, 120.0, A)
    assert page is not None
    (line,) = report(run, 120.0).failures
    assert page.advice == line.advice == ADVICE[FailureClass.MEMORY]
    assert line.kind == "environment"


def test_a_cause_that_a_killed_compiler_names_is_advised_on():
    killed = CompileFailed(module=A, pid=1, at=110.0, message="No space left on device", exit_status=-9)
    (line,) = report(run_of(STARTED, CompileBegan(module=A, pid=1, at=101.0), killed), 120.0).failures
    assert line.advice == ADVICE[FailureClass.DISK]


def test_a_worker_that_died_of_an_unknown_cause_has_no_exit_status():
    lines = report(run_of(STARTED, WorkerDied(rank=3, pid=4, at=120.0)), 130.0).errors
    assert ("process died", "unknown cause") in [(line.kind, line.text) for line in lines]


def test_nothing_takes_less_than_no_time_where_the_clock_was_set_back():
    run = run_of(
        STARTED,
        LockWaited(module=A, pid=1, at=160.0),
        CacheHit(module=A, pid=1, at=110.0),
        LockWaited(module=B, pid=1, at=300.0, minutes=2.0),
        CacheHit(module=B, pid=1, at=120.0),
        LockWaited(module=C, pid=2, at=130.0),
        CompileBegan(module=A, pid=3, at=150.0),
        CompileCompleted(module=A, pid=3, at=140.0),
        CompileBegan(module=B, pid=3, at=150.0),
        CompileCompleted(module=B, pid=3, at=154.0),
    )
    rows = {row.module: row.wait_seconds for row in graph_table(run, 125.0).rows}
    assert rows == {A: None, B: 120.0, C: 0.0}
    assert [row.seconds for row in wait_rows(run, 125.0)] == [None, 120.0, 0.0]
    view = report(run, 160.0)
    assert [(line.key, line.longest_seconds) for line in view.waits] == [(B, 120.0), (A, None), (C, None)]
    assert summary(run, 160.0).longest_wait_seconds == 30.0
    assert next(metric.value for metric in view.metrics if metric.name == "parallelism") == 1.0


def test_equal_inputs_of_a_graph_are_counted_where_they_first_appear():
    assert counted_inputs(["f32[8]", "s32[2]", "f32[8]", "f32[]", "f32[8]"]) == ["f32[8]×3", "s32[2]", "f32[]"]
    assert counted_inputs(["f32[1]"] * 1200) == ["f32[1]×1,200"]
    assert counted_inputs([]) == []


def test_a_core_shows_headroom_peak_and_what_its_worker_reports_its_memory():
    run = run_of(
        ProcessSeen(pid=7, role="worker", rank=2, at=1.0),
        CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, pid=7, memory=80, capacity=100),), at=2.0),
        WorkerMemoryReported(pid=7, kinds={"parameters": 30}, at=2.5),
        CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, pid=7, memory=60, capacity=100),), at=3.0),
    )
    row = overview(run, 3.5).cores[0]
    assert (row.rank, row.memory, row.peak, row.headroom, row.kinds) == (2, 60, 80, 0.4, {"parameters": 30})
    assert (row.utilization, row.smoothed, row.stale) == (None, None, False)
    assert overview(run, 60.0).cores[0].stale


def test_a_worker_is_no_longer_missed_once_its_job_has_ended():
    sampled = CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, pid=7, memory=80),), at=102.0)
    row = overview(run_of(STARTED, sampled), 160.0).cores[0]
    assert (use_text(row), silence_text([row], 160.0)) == ("stale", "no data for 58 s")
    row = overview(run_of(STARTED, sampled, RunFinished(run="r", exit_code=0, at=103.0)), 160.0).cores[0]
    assert (row.stale, use_text(row), silence_text([row], 160.0)) == (True, "ended", "")


def test_cores_are_grouped_by_device_and_a_total_with_an_unknown_part_is_unknown():
    cores = tuple(
        CoreSample(core=core, device=core // 2, memory=None if core == 3 else 10, utilization=0.5) for core in range(4)
    )
    devices = DevicesFound(instance_type="trn1.2xlarge", devices=(Device(index=0, memory=1000),))
    table = core_table(run_of(devices, CoresSampled(kind=CoreKind.NEURON, cores=cores, at=1.0)), 1.5)
    assert [(group.name, group.memory, group.capacity) for group in table.groups] == [
        ("device 0", 20, 1000),
        ("device 1", None, None),
    ]


def test_a_cores_page_has_its_history_and_an_unknown_core_has_none():
    run = run_of(
        *(
            CoresSampled(kind=CoreKind.NEURON, cores=(CoreSample(core=0, utilization=at / 10),), at=float(at))
            for at in range(10)
        )
    )
    page = core_page(run, 10.0, "/neuron/0")
    assert page is not None
    assert not page.over
    for event in (RunStarted(run="r", at=0.0), RunFinished(run="r", exit_code=0, at=10.0)):
        run.apply(event)
    ended = core_page(run, 10.0, "/neuron/0")
    assert ended is not None
    assert ended.over
    assert [round(point.peak, 1) for point in page.utilization] == [at / 10 for at in range(10)]
    assert core_page(run, 10.0, "/neuron/9") is None


@pytest.mark.parametrize(
    ("instance", "core", "words"),
    [
        ("trn2.3xlarge", 2, "core 0 in NEURON_RT_VISIBLE_CORES and neuron-ls"),
        ("trn2.48xlarge", 4 + 1, "core 4 in NEURON_RT_VISIBLE_CORES and neuron-ls"),
        ("trn2.48xlarge", 4 * 4, ""),  # the first of its device in both orders
        ("trn2u.48xlarge", 2, ""),  # depends on which member of the UltraServer it is
        ("trn1.32xlarge", 2, ""),
        ("", 2, ""),
    ],
)
def test_a_core_that_the_driver_numbers_otherwise_says_so(instance: str, core: int, words: str) -> None:
    run = Run()
    run.apply(DevicesFound(instance_type=instance, at=0.0))
    run.apply(CoresSampled(kind=CoreKind.NEURON, at=1.0, cores=(CoreSample(core=core, utilization=0.5),)))
    page = core_page(run, 2.0, f"/neuron/{core}")
    assert page is not None
    assert visible_words(page) == words
    shown = "\n".join(strip.text for strip in core_page_lines(Theme(DARK, UNICODE), page, 100))
    assert (words in shown) if words else ("VISIBLE" not in shown)


def test_a_graphs_page_folds_ranks_out_again():
    run = run_of(
        *(ProcessSeen(pid=pid, role="worker", rank=pid - 10, at=1.0) for pid in (10, 11)),
        GraphDescribed(module=A, pid=10, at=1.5, direction="forward", inputs=("f32[8]",), graph_bytes=99),
        CompileBegan(module=A, pid=10, at=2.0),
        LockWaited(module=A, pid=11, at=62.0, minutes=1.0),
        CompileEnded(module=A, pid=10, at=82.0, seconds=80.0, ok=True, peak_rss_bytes=5),
        CacheHit(module=A, pid=11, at=83.0, source="log", offset=512),
        EntryChanged(root="/c", compiler="v", module=A, state="done", at=82.5),
    )
    page = graph_page(run, 90.0, A)
    assert page is not None
    assert (page.row.state, page.row.seconds, page.row.ranks, page.row.direction) == (
        "compiled",
        80.0,
        (0, 1),
        "forward",
    )
    assert [(worker.rank, worker.hits, worker.attempts) for worker in page.workers] == [(0, 0, 1), (1, 1, 0)]
    assert (page.attempts[0].peak_rss_bytes, page.cache_state, page.inputs) == (5, "done", ("f32[8]",))
    assert [(line.source, line.offset) for line in page.lines] == [("log", 512)]
    assert graph_page(run, 90.0, B) is None


def test_a_graph_has_one_compiler_and_its_workers_stand_by_rank():
    changed = EntryChanged(root="/c", compiler="inductor-2.13.0.cpu+33df915f", module=A, state="hit", at=1.0)
    hits = [
        CacheHit(module=A, pid=pid, rank=rank, compiler="2.13.0.cpu+33df915f", at=2.0) for pid, rank in ((1, 2), (2, 0))
    ]
    page = graph_page(run_of(CacheHit(module=A, pid=3, at=1.5), *hits, changed), 3.0, A)
    assert page is not None
    assert page.row.compiler == "inductor-2.13.0.cpu+33df915f", "as the page of its entry says"
    assert [worker.rank for worker in page.workers] == [0, 2, None]


def test_a_worker_that_raises_and_dies_is_one_failure_of_its_step():
    error = ErrorRaised(exception="RuntimeError", at=5.5)
    deaths = [WorkerDied(rank=rank, exit_code=1, at=5.6) for rank in (0, 1)]
    steps = [StepReported(step=step, loss=1.0, at=float(step)) for step in range(1, 6)]
    assert [(mark.state, mark.step) for mark in marks(run_of(*steps, error, *deaths))] == [("failed", 5)]


def test_a_wait_names_whom_it_is_for_and_the_proof():
    waits = [LockWaited(module=module, pid=11, at=62.0, minutes=1.0) for module in (A, B, C)]
    lock = EntryChanged(
        root="/c",
        compiler="v",
        module=B,
        state="locked-live",
        at=60.0,
        lock="alive",
        lock_holder="pid 7 on h",
        lock_proof="its holder, process 7, lives",
    )
    began = CompileBegan(module=A, pid=10, at=2.0)
    view = overview(run_of(ProcessSeen(pid=10, role="worker", rank=0, at=1.0), began, *waits, lock), 70.0)
    held = {one.key: one.lock for one in view.compile.waiting}
    assert held[B] is not None
    assert (held[B].verdict, held[B].holder, held[B].proof) == ("alive", "pid 7 on h", "its holder, process 7, lives")
    assert held[C] is None
    assert [(one.key, one.waiters) for one in view.compile.running] == [(A, 1)]


def test_what_was_loaded_after_anothers_compile_counts_as_nothing_saved():
    run = run_of(
        CacheHit(module=B, pid=10, at=1.0),
        CompileBegan(module=A, pid=10, at=2.0),
        LockWaited(module=A, pid=11, at=62.0, minutes=1.0),
        CompileEnded(module=A, pid=10, at=82.0, seconds=80.0, ok=True),
        CacheHit(module=A, pid=11, at=83.0),
        LockWaited(module=C, pid=11, at=90.0, minutes=1.0),
        CacheHit(module=C, pid=11, at=91.0),
    )
    card = overview(run, 100.0).cache
    assert (card.hits, card.hits_after_compile, card.graphs_hit, card.graphs_missed) == (3, 2, 2, 1)


def test_the_timeline_has_a_lane_per_worker_in_rank_order():
    run = run_of(
        *(ProcessSeen(pid=pid, role="worker", rank=rank, at=1.0) for pid, rank in ((20, 1), (30, 0))),
        CompileBegan(module=A, pid=20, at=2.0),
        LockWaited(module=A, pid=30, at=62.0, minutes=1.0),
    )
    view = timeline(run, 70.0)
    assert [(lane.rank, [(bar.kind, bar.start, bar.end) for bar in lane.bars]) for lane in view.lanes] == [
        (0, [("wait", 2.0, None)]),
        (1, [("compile", 2.0, None)]),
    ]
    assert (view.start, view.end) == (2.0, 70.0)


def test_rows_keep_their_place_while_states_change():
    run = run_of(*(CompileBegan(module=module, pid=pid, at=1.0) for pid, module in enumerate((C, A, B))))
    before = [row.key for row in graph_table(run, 2.0).rows]
    run.apply(CompileEnded(module=A, pid=1, at=3.0, seconds=2.0, ok=True))
    assert [row.key for row in graph_table(run, 4.0).rows] == before == [C, A, B]


def test_the_closing_summary_says_what_the_run_cost():
    run = run_of(
        STARTED,
        CompileBegan(module=A, pid=1, at=102.0),
        LockWaited(module=A, pid=2, at=110.0, minutes=None),
        CompileEnded(module=A, pid=1, at=112.0, seconds=10.0, ok=True),
        CacheHit(module=A, pid=2, at=113.0),
        CacheHit(module=B, pid=1, at=113.0),
        CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, memory=50, peak=70),), at=115.0),
        StepReported(step=9, loss=1.5, at=118.0),
        RunFinished(run="r", exit_code=0, at=120.0),
    )
    view = summary(run, 500.0)
    assert (view.wall_seconds, view.compile_seconds, view.compile_share) == (20.0, 11.0, 0.55)
    assert (view.hits, view.misses, view.failures, view.lock_waits, view.hit_rate) == (2, 1, 0, 1, 0.5)
    assert ([core.peak for core in view.cores], view.steps, view.loss) == ([70], 9, 1.5)
    assert [(graph.key, graph.seconds) for graph in view.slowest] == [(A, 10.0)]


def test_a_list_of_recordings_reports_running_from_cut_off_and_reads_the_closing_summary():
    closing = msgspec.json.encode(summary(run_of(STARTED, RunFinished(run="r", exit_code=3, at=109.0)), 109.0)).decode()

    def row(**changes: object) -> RunRecord:
        return msgspec.structs.replace(
            RunRecord("r", "", "bert", (), "", None, 100.0, 109.0, 3, 109.0, 5, 500, "", closing), **changes
        )

    ended = run_row(row(), 999.0, recorder_alive=False)
    assert (ended.state, ended.state_text, ended.seconds, ended.graphs) == ("failed", "failed (exit status 3)", 9.0, 0)
    opened = row(finished=None, exit_code=None, summary="", touched=150.0)
    assert (run_row(opened, 200.0, recorder_alive=True).state, run_row(opened, 200.0, recorder_alive=True).seconds) == (
        "running",
        100.0,
    )
    assert (
        run_row(opened, 200.0, recorder_alive=False).state,
        run_row(opened, 200.0, recorder_alive=False).seconds,
    ) == (
        "cut off",
        50.0,
    )
    unreadable = run_row(row(summary='{"of": "another version"}'), 999.0, recorder_alive=False)
    assert (unreadable.state, unreadable.state_text) == (JobState.FAILED, "failed (exit status 3)")


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("finished", JobState.FINISHED),
        ("failed (exit status 3)", JobState.FAILED),
        ("cut off", JobState.CUT_OFF),
        ("killed (signal 9)", JobState.KILLED),
        ("interrupted (SIGINT)", JobState.INTERRUPTED),
    ],
)
def test_a_closing_summary_of_0_1_which_has_words_for_a_state_is_read(words: str, state: JobState):
    summary_of_0_1 = msgspec.json.encode({"state": words, "graphs": 7, "hit_rate": 0.5}).decode()
    record = RunRecord("r", "", "", (), "", None, 1.0, 2.0, 3, 2.0, 5, 500, "", summary_of_0_1)
    row = run_row(record, 9.0, recorder_alive=False)
    text = "completed" if state is JobState.FINISHED else words
    assert (row.state, row.state_text, row.graphs, row.hit_rate) == (state, text, 7, 0.5)


def test_the_summary_says_what_was_in_the_cache_before_beside_hits_that_another_rank_made():
    hits = (CacheHit(module=A, pid=pid, at=110.0) for pid in (2, 3))
    compiled = CompileBegan(module=A, pid=1, at=101.0), CompileEnded(module=A, pid=1, seconds=5.0, ok=True, at=106.0)
    run = run_of(STARTED, *compiled, *hits, CacheHit(module=B, pid=1, at=111.0))
    text = summary_text(summary(run, 200.0), "/runs/r")
    assert "3 hits, 1 miss, 0 failures; 1 of 2 graphs in the cache before" in text
    run.apply(CachedFailureHit(module=C, pid=1, at=112.0))
    refused = summary(run, 200.0)
    assert "(+1 cached); 1 of 3 graphs in the cache before" in summary_text(refused, "/runs/r")
    assert refused.hit_rate == refused.graphs_hit / refused.graphs_asked
    one_of_each = summary_text(msgspec.structs.replace(refused, failures=1, fallbacks=1), "/runs/r")
    assert "1 failure (+1 cached)" in one_of_each
    assert "1 graph ran without the compiler" in one_of_each


def test_a_run_without_a_name_is_called_by_its_program_everywhere():
    run = run_of(
        RunStarted(run="r", command=("/usr/bin/true",), at=100.0), RunFinished(run="r", exit_code=0, at=100.13)
    )
    record = RunRecord("r", "", "", ("/usr/bin/true",), "", None, 100.0, 100.13, 0, 100.13, 2, 0, "", "")
    called = run_row(record, 200.0, recorder_alive=False).called
    names = {called, overview(run, 200.0).header.name, summary(run, 200.0).called, report(run, 200.0).title}
    assert names == {"true"}


def test_a_latency_is_not_shown_for_cores_that_have_executed_nothing_since():
    def counted_at(at: float, **latency: float) -> ExecutionsCounted:
        return ExecutionsCounted(period=1.0, statuses={"completed": len(latency)}, latency=latency, at=at)

    def sampled_at(at: float) -> CoresSampled:
        return CoresSampled(kind=CoreKind.NEURON, cores=(CoreSample(core=0, utilization=0.0),), period=1.0, at=at)

    run = run_of(STARTED, sampled_at(101.0), counted_at(101.0, p50=0.25), counted_at(101.0))
    assert core_table(run, 101.0).latency == {"p50": 0.25}
    run.apply(sampled_at(160.0))
    assert core_table(run, 160.0).latency == {"p50": 0.25}
    for event in (sampled_at(162.0), counted_at(162.0)):
        run.apply(event)
    assert core_table(run, 162.0).latency == {}
