"""`neuron_parallel_compile`: what spans lines, what other processes write into, what the numbers mean."""

from __future__ import annotations

import pytest

from neuron_top.events import (
    CacheHit,
    CompileGaveUp,
    CompileStarted,
    GraphReported,
    GraphsListed,
    LineMalformed,
    QueueCounted,
    SummaryReported,
    WorkerFailed,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import FOLDER, M1, M2, g1, g2, g3, only, read

TAG = "NEURON_PARALLEL_COMPILE"
HIT = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
REPORT = (
    g2("{", tag=TAG)
    + f"""    "compilation_summary": {{
        "true": 1,
        "false": 1
    }},
    "compilation_report": {{
        "{FOLDER}/{M1}/model.hlo_module.pb": {{
            "status": true,
            "retry": 0,
            "compile_time": 12.5
        }},
        "{FOLDER}/{M2}/model.hlo_module.pb": {{
            "status": false,
            "retry": 2
        }}
    }},
    "start_time": 1.5,
    "compilation_time": 14.25
}}
"""
)
TOTALS = "".join(g2(f"Total {what}: {n}", tag=TAG) for what, n in
                 (("graphs", 2), ("successful compilations", 1), ("failed compilations", 1)))  # fmt: skip


def test_the_report_is_read_entry_by_entry_and_its_time_goes_to_the_summary() -> None:
    events = read(REPORT + TOTALS)
    assert [(e.module, e.ok, e.retry, e.seconds) for e in only(GraphReported, events)] == [
        (M1, True, 0, 12.5),
        (M2, False, 2, None),
    ]
    assert [(e.total, e.success, e.failed, e.seconds) for e in only(SummaryReported, events)] == [(2, 1, 1, 14.25)]


def test_lines_of_others_inside_the_report_are_read_too() -> None:
    lines = REPORT.splitlines(keepends=True)
    events = read("".join(lines[:6]) + HIT + "...\n" + "".join(lines[6:]))
    assert len(only(GraphReported, events)) == 2
    assert len(only(CacheHit, events)) == 1


def test_a_report_whose_line_ends_were_lost_is_read_all_the_same() -> None:
    assert len(only(GraphReported, read(" ".join(REPORT.split()) + "\n"))) == 2


def test_a_report_that_never_ends_does_not_swallow_the_log() -> None:
    reader = LogReader("log:x")
    reader.feed(("".join(REPORT.splitlines(keepends=True)[:8]) + "noise\n" * 5000 + HIT).encode())
    assert reader.tally.counts["hits"] == 1
    assert not reader._open


def test_two_nodes_each_have_their_summary() -> None:
    other = TOTALS.replace("  41  ", "  42  ").replace(": 2\n", ": 9\n")
    lines = [line for pair in zip(TOTALS.splitlines(True), other.splitlines(True), strict=True) for line in pair]
    assert sorted(event.total for event in only(SummaryReported, read("".join(lines)))) == [2, 9]


def test_the_newest_summary_is_one_although_it_is_said_three_times() -> None:
    log = g3("Compilation summary - Total graphs: 6, Success: 5, Failed: 1") + g3("Total successful compilations: 5")
    log += g3("Compilation summary: 1/6 failed, 5 succeeded")
    assert [(e.total, e.success, e.failed) for e in only(SummaryReported, read(log))] == [(6, 5, 1)]


@pytest.mark.parametrize("label", ["", "[default0]:", "[1,5]<stdout>:", "[rank0]: "])
def test_the_list_of_graphs_ends_where_the_indentation_ends(label: str) -> None:
    log = (
        g2(f"New graph list from script: {FOLDER}/{M1}/model.hlo.pb", tag=TAG) + f"\t{FOLDER}/{M2}/model.hlo.pb\n" + HIT
    )
    (listed,) = only(GraphsListed, read("".join(label + line for line in log.splitlines(keepends=True))))
    assert len(listed.paths) == 2


def test_workers_of_both_wordings_are_known() -> None:
    log = g2("worker 3 starts dynamic scheduleing on 224....", tag=TAG) + g3(
        "Worker 0/None starting dynamic scheduling for 20 HLOs"
    )
    log += g2("worker 3 finished with num of tasks 1....", tag=TAG) + g3("Worker 0 completed: 6 tasks compiled")
    events = read(log)
    assert [(e.worker, e.items) for e in only(WorkerStarted, events)] == [("3", 224), ("0/None", 20)]
    assert [(e.worker, e.tasks) for e in only(WorkerFinished, events)] == [("3", 1), ("0", 6)]


def test_a_cut_counter_line_is_malformed_and_counts_nothing() -> None:
    events = read(g2("Current remaining items are 4, locked are 1, fai", tag="NEURON_CACHE"))
    assert only(QueueCounted, events) == []
    assert [event.family for event in only(LineMalformed, events)] == ["parallel_compile"]


def _seconds(log: str) -> tuple[dict[str, float], dict[str, float]]:
    reader = LogReader("log:x")
    reader.feed(log.encode())
    reader.flush()
    return reader.tally.durations.exact, reader.tally.durations.at_most


def test_a_duration_is_measured_from_start_to_the_next_counter_of_the_process() -> None:
    start = g2(f"Call compiler with cmd: neuronx-cc /tmp/model.{M1}.hlo.pb", "10:00:00.000500")
    counter = g2("Current remaining items are 0, locked are 0, failed are 0, done are 1, total is 1", "10:01:00.000250")
    assert _seconds(start + counter)[0] == {M1: pytest.approx(59.75)}


def test_two_graphs_begun_by_one_process_have_no_exact_duration() -> None:
    log = "".join(g2(f"Call compiler with cmd: neuronx-cc /tmp/model.{m}.hlo.pb") for m in (M1, M2))
    log += g2("Current remaining items are 0, locked are 0, failed are 0, done are 2, total is 2", "10:01:00.000250")
    assert _seconds(log)[0] == {}


def _start(module: str, stamp: str) -> str:
    return g3(f"Call compiler with cmd: inductor /tmp/w/{module}/model.fxgraph", stamp)


def _done(module: str, stamp: str) -> str:
    return "\nCompiler status PASS\n" + g3(f"Compilation Successfully Completed for model.{module}.fxgraph", stamp)


def test_a_start_and_a_completion_that_name_the_graph_measure_it_though_others_compile_at_the_same_time() -> None:
    log = _start(M1, "10:00:00.000000") + _start(M2, "10:00:01.000000")
    log += _done(M1, "10:00:10.000000") + _done(M2, "10:00:10.000166")
    assert _seconds(log) == ({M1: pytest.approx(10.0), M2: pytest.approx(9.166)}, {})


def test_a_start_bounds_the_compile_before_it_only_where_one_has_ended_in_between() -> None:
    first, second = (
        g2(f"Call compiler with cmd: neuronx-cc /tmp/model.{module}.hlo.pb", stamp)
        for module, stamp in ((M1, "10:00:00.000000"), (M2, "10:00:05.000000"))
    )
    assert _seconds(first + second)[1] == {}
    assert _seconds(first + "\nCompiler status PASS\n" + second)[1] == {M1: pytest.approx(5.0)}


def test_a_failure_ends_the_compile_of_its_graph_alone() -> None:
    failed = f"Failed compilation with ['neuronx-cc', 'compile', '/tmp/w/model.{M1}.hlo_module.pb']: no\n"
    log = _start(M1, "10:00:00.000000") + _start(M2, "10:00:01.000000") + g3(failed, "10:00:05.000000", level="ERROR")
    assert _seconds(log + _done(M2, "10:00:09.000000"))[0] == {M2: pytest.approx(8.0)}


def test_outside_a_worker_the_newest_format_allows_only_a_bound() -> None:
    done = g3(f"Compilation Successfully Completed for model.{M1}.hlo_module.pb", "10:00:30.000000")
    exact, at_most = _seconds(HIT + done)
    assert exact == {}
    assert at_most == {M1: pytest.approx(29.999)}


def test_a_list_that_says_how_many_graphs_it_has_is_read_and_may_be_empty() -> None:
    graphs = [f"{FOLDER}/{key}/model.hlo_module.pb" for key in (M1, M2)]
    events = read(
        g2("New graph list from script 2: " + "\n\t".join(graphs), tag=TAG)
        + g2("New graph list from script 0: ", tag=TAG)
        + g2("No todo hlos found in cache or hlo_tasklist, nothing is compiled", tag=TAG)
    )
    assert [event.paths for event in only(GraphsListed, events)] == [tuple(graphs), ()]


def test_a_worker_with_graphs_of_its_own_starts_once_with_their_number() -> None:
    events = read(
        g2("worker 3 start its assigned tasks....", tag=TAG)
        + g2("worker 3 get 5 tasks (num_hlos 40, worker_num 8)", tag=TAG)
        + g2("worker 3 start to steal (35) from others tasks....", tag=TAG)
        + g2("worker 3 finished with num of tasks 6....", tag=TAG)
    )
    assert [(e.worker, e.items) for e in only(WorkerStarted, events)] == [("3", 5)]
    assert [(e.worker, e.tasks) for e in only(WorkerFinished, events)] == [("3", 6)]


def test_a_worker_that_repeats_a_failure_of_the_wrapper_adds_no_second_one() -> None:
    gave_up = f"Compilation failed for /tmp/w/model.{M1}.hlo_module.pb after 2 retries."
    events = read(g2(gave_up, level="ERROR") + g2(f"Process 41 failed compilation: {gave_up}", tag=TAG, level="ERROR"))
    assert [event.retries for event in only(CompileGaveUp, events)] == [2]
    assert [(event.worker, event.message) for event in only(WorkerFailed, events)] == [("41", gave_up)]


def test_a_compile_of_the_first_generation_is_named_by_the_number_of_its_graph() -> None:
    graph = "/tmp/w/MODULE_SyncTensorsGraph.77_11112222333344445555"
    said = f"Compiling {graph}.hlo.pb using following command: neuronx-cc compile --target=trn1 {graph}.hlo.pb"
    (event,) = only(CompileStarted, read(g1(said).replace("NCC_WRAPPER", "PARALLEL_COMPILE")))
    assert (event.module, event.target) == ("MODULE_11112222333344445555", "trn1")
    assert not only(CompileStarted, read("It was built using following command: neuronx-cc compile x\n"))


def _totals(pid: int, successful: int, failed: int) -> str:
    counted = (
        ("graphs", successful + failed),
        ("successful compilations", successful),
        ("failed compilations", failed),
    )
    return "".join(g2(f"Total {what}: {count}", pid=pid, tag=TAG) for what, count in counted)


@pytest.mark.parametrize("samples", [True, False], ids=["a short log", "a log with many unknown lines"])
def test_a_summary_in_the_words_of_an_earlier_one_is_read_with_all_its_numbers(*, samples: bool) -> None:
    reader = LogReader("log:x")
    reader.tally.wants_samples = samples
    events = reader.feed((_totals(41, 8, 0) + _totals(42, 7, 1) + _totals(43, 8, 0)).encode()) + reader.flush()
    summaries = only(SummaryReported, events)
    assert [(event.total, event.success, event.failed) for event in summaries] == [(8, 8, 0), (8, 7, 1), (8, 8, 0)]
    assert reader.tally.unknown == 0


def test_counting_finds_the_same_summaries() -> None:
    reader = CountingReader("log:x")
    reader.feed((_totals(41, 8, 0) + _totals(42, 7, 1)).encode())
    reader.flush()
    assert [summary["failed"] for summary in reader.tally.as_json()["summaries"]] == [0, 1]


def test_what_a_worker_does_beside_its_numbers_is_a_known_line() -> None:
    reader = LogReader("log:x")
    reader.feed(g2("worker 3 start its assigned tasks....", tag=TAG).encode())
    reader.flush()
    assert reader.tally.unknown == 0


@pytest.mark.parametrize(
    "prefix",
    [
        "3: ",
        "Mar 04 05:06:07 ",
        "2025-03-04T05:06:07+0000 ip-10-0-0-1 python[811]: ",
        "2025-03-04T05:06:07.123456+00:00 ip-10-0-0-1 python[811]: ",
        "2025-03-04T05:06:07.123000+00:00 train/algo-1-1679087716 ",
    ],
    ids=["srun", "ts", "journal", "journal, exactly", "aws logs tail"],
)
def test_a_report_is_read_behind_what_stands_in_front_of_each_line(prefix: str) -> None:
    events = read("".join(f"{prefix}{line}\n" for line in (REPORT + TOTALS).splitlines()))
    assert [(event.module, event.ok, event.seconds) for event in only(GraphReported, events)] == [
        (M1, True, 12.5),
        (M2, False, None),
    ]
    assert [event.seconds for event in only(SummaryReported, events)] == [14.25]
