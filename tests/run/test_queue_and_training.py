"""Trial runs are fake, counters are the cache's, medians are of the recent steps."""

from __future__ import annotations

import pytest

from neuron_top.events import (
    ErrorRaised,
    GraphsListed,
    LineMarked,
    ProcessExited,
    ProcessSeen,
    QueueCounted,
    RunFinished,
    StepReported,
    SummaryReported,
    TrialRunStarted,
    WorkerDied,
    WorkerFailed,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.events.levels import LogLevel
from neuron_top.run.estimate import Estimator
from neuron_top.run.model import Run
from neuron_top.run.step_times import STEPS_KEPT
from neuron_top.views.progress import compile_card


def test_numbers_printed_during_graph_extraction_are_counted_but_never_shown():
    run = Run()
    run.apply(TrialRunStarted(at=1.0))
    run.apply(StepReported(step=1, loss=99.0, throughput=1e9, at=2.0))
    assert (run.training.simulated_reports, run.training.step, run.training.throughput) == (1, None, None)
    run.apply(GraphsListed(paths=("a",), at=3.0))
    run.apply(StepReported(step=1, loss=3.0, at=4.0))
    assert (run.training.reports, run.training.loss) == (1, 3.0)


def test_extraction_ends_with_the_run_at_the_latest():
    run = Run()
    run.apply(TrialRunStarted(at=1.0))
    assert run.queue.trial_running
    run.apply(RunFinished(run="r", exit_code=1, at=9.0))
    assert not run.queue.trial_running


def test_every_node_prints_its_own_summary():
    run = Run()
    for total in (4, 6):
        run.apply(SummaryReported(total=total, success=total, at=1.0))
    assert [summary.total for summary in run.queue.summaries] == [4, 6]
    assert not run.queue.active


def test_a_queue_is_active_from_its_first_counter_to_its_summary():
    run = Run()
    run.apply(WorkerStarted(worker="0", pid=1, at=0.5, items=20))
    run.apply(QueueCounted(remaining=3, locked=1, failed=0, done=2, total=6, at=1.0))
    assert run.queue.active
    assert run.queue.counts is not None
    assert run.queue.counts.remaining == 3
    assert [worker.items for worker in run.queue.workers.values()] == [20]


def test_a_second_parallel_compile_in_one_log_is_active_until_its_own_summary():
    run = Run()
    run.apply(WorkerStarted(worker="0", pid=1, at=0.5, items=20))
    run.apply(QueueCounted(remaining=0, locked=0, failed=0, done=6, total=6, at=1.0))
    run.apply(WorkerFinished(worker="0", pid=1, at=1.5, tasks=6))
    run.apply(SummaryReported(total=6, success=6, at=2.0))
    assert (run.queue.active, compile_card(run, 2.5, Estimator()).left) == (False, 0)
    run.apply(TrialRunStarted(at=3.0))
    assert (run.queue.active, run.queue.counts) == (True, None)
    run.apply(WorkerStarted(worker="0", pid=9, at=4.0, items=8))
    run.apply(QueueCounted(remaining=8, locked=0, failed=0, done=6, total=14, at=5.0))
    assert (run.queue.active, compile_card(run, 5.5, Estimator()).left) == (True, 8)
    assert [worker.finished for worker in run.queue.workers.values()] == [1.5, None]
    run.apply(SummaryReported(total=8, success=8, at=6.0))
    assert not run.queue.active


def test_workers_of_the_same_number_on_two_nodes_or_of_two_processes_are_several():
    run = Run()
    for node in ("a", "b"):
        for pid in (7, 15):
            run.apply(WorkerStarted(node=node, worker="7", pid=pid, at=1.0, items=4))
    assert len(run.queue.workers) == 4
    run.apply(WorkerFailed(node="a", worker="15", pid=3, at=2.0, message="no path"))
    assert [worker.message for worker in run.queue.workers.values()] == ["", "no path", "", ""]


def test_throughput_and_step_time_are_medians_so_that_one_slow_step_does_not_show():
    run = Run()
    for step in range(1, 12):
        seconds = 60.0 if step == 6 else 1.0
        run.apply(StepReported(step=step, throughput=1000 / seconds, step_seconds=seconds, at=float(step)))
    assert (run.training.throughput, run.training.step_seconds) == (1000.0, 1.0)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ((("it/s", 1.5), ("seq/s", 80.0)), (80.0, "seq/s")),
        ((("seq/s", 80.0), ("it/s", 1.5)), (80.0, "seq/s")),
        ((("it/s", 1.5), ("", 80.0)), (80.0, "")),
        ((("seq/s", 80.0), ("tokens/s", 9000.0)), (80.0, "seq/s")),
        ((("", 80.0), ("seq/s", 80.0)), (80.0, "seq/s")),
        ((("it/s", 1.5),), (1.5, "it/s")),
    ],
)
def test_throughputs_of_two_units_are_never_one_series(
    printed: tuple[tuple[str, float], ...], shown: tuple[float, str]
) -> None:
    """A progress bar stands beside what most scripts print themselves."""
    run = Run()
    for step in range(1, 12):
        for unit, speed in printed:
            run.apply(StepReported(step=step, throughput=speed, throughput_unit=unit, at=float(step)))
    training = run.training
    assert (training.throughput, training.throughput_unit) == shown
    assert {speed for _step, _time, speed in training.throughput_by_step} == {shown[0]}


def test_without_a_printed_step_time_the_clocks_of_the_lines_give_it():
    run = Run()
    for step in (10, 20, 30):
        run.apply(StepReported(step=step, loss=1.0, at=float(step) / 2))
    assert run.training.step_seconds == 0.5


@pytest.mark.parametrize("batch", [1, 4, 400])
def test_steps_that_are_read_together_count_with_what_passed_since_those_before(batch: int) -> None:
    """A file that is looked at now and then, and a program that writes when its buffer is full."""
    run = Run()
    for step in range(1, 2001):
        run.apply(StepReported(step=step, seen=0.25 * (step // batch) * batch + step % batch * 1e-5))
    assert run.training.step_seconds == pytest.approx(0.25, rel=0.01)
    (rank,) = run.steps.ranks.values()
    assert [seconds for _, seconds in rank.newest()] == pytest.approx([0.25] * STEPS_KEPT, rel=0.01)


def test_steps_faster_than_the_clock_of_their_lines_share_its_seconds() -> None:
    run = Run()
    for step in range(5, 105):
        run.apply(StepReported(step=step, at=float(step // 5)))
    assert run.training.step_seconds == 0.2
    (rank,) = run.steps.ranks.values()
    assert {seconds for _, seconds in rank.newest()} == {0.2}


def test_fast_steps_that_come_one_by_one_have_a_step_time() -> None:
    run = Run()
    for step in range(1, 101):
        run.apply(StepReported(step=step, seen=step * 0.025))
    assert run.training.step_seconds == pytest.approx(0.025)


def test_a_step_that_several_ranks_print_counts_once() -> None:
    run = Run()
    for step in range(1, 11):
        for rank in range(4):
            run.apply(StepReported(step=step, at=step + 0.2 * rank))
    assert run.training.step_seconds == 1.0


def test_important_lines_are_those_marked_and_those_that_mean_trouble():
    run = Run()
    run.apply(LineMarked(level=LogLevel.WARNING, text="look", at=1.0))
    run.apply(ErrorRaised(exception="ValueError", message="bad\nshape", rank=1, at=2.0))
    run.apply(WorkerDied(rank=1, signal="SIGKILL", at=3.0))
    assert [(mark.level, mark.text) for mark in run.job.marks] == [
        ("warning", "look"),
        ("error", "ValueError: bad"),
        ("error", "worker 1 died (SIGKILL)"),
    ]
    run.apply(WorkerDied(exit_code=1, at=4.0))
    assert run.job.marks[-1].text == "a worker died (exit status 1)"


def test_important_lines_are_bounded():
    run = Run()
    for number in range(5000):
        run.apply(LineMarked(level=LogLevel.ERROR, text=str(number)))
    assert len(run.job.marks) == 200
    assert run.job.errors == 5000


def test_a_process_number_given_out_again_is_a_new_process():
    run = Run()
    run.apply(ProcessSeen(pid=5, role="worker", rank=0, at=1.0))
    run.apply(ProcessExited(pid=5, at=2.0))
    run.apply(ProcessSeen(pid=5, role="worker", rank=3, at=3.0))
    assert [process.rank for process in run.job.alive] == [3]


def test_a_death_that_the_launcher_reports_twice_is_one_and_keeps_what_either_knows():
    run = Run()
    run.apply(WorkerDied(pid=7, exit_code=-9, signal="SIGKILL", at=1.0))
    run.apply(WorkerDied(pid=7, rank=3, first=True, at=2.0))
    run.apply(WorkerDied(pid=8, rank=4, at=2.0))
    first, second = run.training.deaths
    assert (first.pid, first.rank, first.exit_code, first.signal, first.first) == (7, 3, -9, "SIGKILL", True)
    assert second.pid == 8
