"""Progress, facts, deaths and errors of training and serving programs."""

from __future__ import annotations

import math

import pytest

from neuron_top.events import (
    ErrorRaised,
    GraphMetricsReported,
    LineMarked,
    StepReported,
    TrainingFactReported,
    WorkerDied,
)
from tests.parsers.logs import only, read


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("{'loss': 0.5, 'learning_rate': 4e-05, 'epoch': 1.5}", {"loss": 0.5, "learning_rate": 4e-05, "epoch": 1.5}),
        ("{'loss': '1.5', 'epoch': '0.25'}", {"loss": 1.5, "epoch": 0.25}),
        (
            "{'loss': 1.5, 'train/tokens_per_sec': 900.5, 'train/step_time': 2.5}",
            {"throughput": 900.5, "throughput_unit": "tokens/s", "step_seconds": 2.5},
        ),
        (
            "[0]:LOG Thu Sep 29 22:30:10 2022 - (2, 78) step_loss : 9.5  learning_rate : 1.5e-05  throughput : 2800.25",
            {"epoch": 2.0, "step": 78, "loss": 9.5, "throughput": 2800.25, "throughput_unit": "seq/s", "rank": 0},
        ),
        (
            "Epoch 3:  50%|███  | 5/10 [01:00<01:00, 12.0s/it, loss=6.5, v_num=2, reduced_train_loss=7.25]",
            {"epoch": 3.0, "step": 5, "total_steps": 10, "loss": 7.25, "step_seconds": 12.0},
        ),
        (
            " 10%|█    | 50/500 [00:44<05:46, 4.0it/s]",
            {"step": 50, "throughput": 4.0, "step_seconds": 0.25, "loss": None},
        ),
        (
            "| Training Device=xla:1 Epoch=2 Step=40 Learning_Rate=0.1 Loss=0.25 Throughput=84.5 Time=x",
            {"step": 40, "loss": 0.25},
        ),
        ("step: 12/100 | loss: 2.5 | lr: 0.001", {"step": 12, "total_steps": 100, "loss": 2.5, "learning_rate": 0.001}),
        (
            "INFO 07-30 00:48:12 [loggers.py:127] Engine 000: Avg prompt throughput: 10.0 tokens/s, "
            "Avg generation throughput: 25.5 tokens/s, Running: 1 reqs",
            {"throughput": 25.5, "throughput_unit": "tokens/s"},
        ),
    ],
)
def test_a_step_is_read_as_printed(line: str, fields: dict[str, object]) -> None:
    (step,) = only(StepReported, read(line + "\n"))
    assert {name: getattr(step, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("line", "step", "total", "loss"),
    [
        ("step 1,200 | loss 2.5", 1200, None, 2.5),
        ("step 1,200, loss: 1,234.5, lr 0.1", 1200, None, 1234.5),
        ("Step 12,000/1,500,000 loss 2,500", 12000, 1_500_000, 2500.0),
        ("step 5, loss 2.5, 3.5", 5, None, 2.5),
        (" iteration       10/     100 | consumed samples: 160 | lm loss: 8.25E+00 | loss scale: 1.0 |", 10, 100, 8.25),
        ("| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.3 | loss  7.5 | ppl  1800", None, None, 7.5),
        ("epoch 1: step 0.5 s, loss 2.5", None, None, 2.5),
    ],
)
def test_commas_and_fractions_in_numbers_are_read_as_such(
    line: str, step: int | None, total: int | None, loss: float
) -> None:
    (found,) = only(StepReported, read(line + "\n"))
    assert (found.step, found.total_steps, found.loss) == (step, total, loss)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (
            "[rank3]:[titan] 2026-10-02 11:12:13,456 - root - INFO - \x1b[31mstep: 12  \x1b[32mloss:  7.50000  "
            "\x1b[38;2;180;60;0mgrad_norm:  1.5000  \x1b[34mtps: 3,456  \x1b[36mtflops: 12.30  \x1b[35mmfu: 4.50%",
            {"step": 12, "loss": 7.5, "throughput": 3456.0, "throughput_unit": "tokens/s/device", "rank": 3},
        ),
        (
            "completed step: 12, seconds: 1.5, TFLOP/s/device: 12.5, Tokens/s/device: 345.5, weights: 8, loss: 7.5",
            {"step": 12, "loss": 7.5, "throughput": 345.5, "throughput_unit": "tokens/s/device", "step_seconds": None},
        ),
        (
            "steps: 12 loss: 7.5 iter time (s): 1.25 samples/sec: 12.5",
            {"step": 12, "throughput": 12.5, "throughput_unit": "samples/s", "step_seconds": 1.25},
        ),
        (
            "iteration 12/ 99 | elapsed time per iteration (ms): 250.0 | learning rate: 1.0E-04 | lm loss: 7.5E+00 |",
            {"step": 12, "total_steps": 99, "loss": 7.5, "learning_rate": 1e-4, "step_seconds": 0.25},
        ),
        (
            "Training epoch 0, iteration 12/99 | lr: 0.5 | global_step: 12 | reduced_train_loss: 7.5 | "
            "train_step_timing in s: 2.5 | consumed_samples: 80",
            {"step": 12, "loss": 7.5, "learning_rate": 0.5, "step_seconds": 2.5},
        ),
        ("step 12 loss tensor(7.5000, device='xla:1', requires_grad=True)", {"step": 12, "loss": 7.5}),
        ("step 12 loss 7.5 step_time 3", {"step_seconds": None}),
    ],
)
def test_the_lines_of_well_known_trainers_are_read_whole(line: str, fields: dict[str, object]) -> None:
    (step,) = only(StepReported, read(line + "\n"))
    assert {name: getattr(step, name) for name in fields} == fields


def test_of_a_number_that_is_too_long_no_part_is_taken() -> None:
    (step,) = only(StepReported, read("epoch: 3 batch: 20240101123045 loss: 2.5\n"))
    assert (step.step, step.epoch, step.loss) == (None, 3.0, 2.5)
    (step,) = only(StepReported, read("epoch: 1721234567 step: 12 loss: 2.5\n"))
    assert (step.step, step.epoch, step.loss) == (12, None, 2.5)
    (step,) = only(StepReported, read("step: 12/20240101123045 | loss: 2.5\n"))
    assert (step.step, step.total_steps) == (12, None)


def test_a_diverged_loss_is_seen() -> None:
    (step,) = only(StepReported, read("{'loss': nan, 'epoch': 1.0}\n"))
    assert step.loss is not None
    assert math.isnan(step.loss)


@pytest.mark.parametrize(
    "line",
    ["Downloading data: 50%|███ | 5/10 [00:01<00:01, 5.0it/s]", "Loading shards: 100%|█| 2/2 [00:01<00:00, 1.5s/it]"],
)
def test_bars_of_other_chores_are_no_steps(line: str) -> None:
    assert only(StepReported, read(line + "\n")) == []


def test_the_last_state_of_a_bar_full_of_carriage_returns_counts_each_state() -> None:
    steps = only(StepReported, read("".join(f"\r {n}%|█ | {n}/100 [00:01<00:01, 5.0it/s]" for n in (1, 2, 3)) + "\n"))
    assert [step.step for step in steps] == [1, 2, 3]


def test_facts_follow_the_banner_and_come_from_the_layout() -> None:
    log = "***** Running training *****\n  Num examples = 1,950\n  Total optimization steps = 20\n"
    log += "[2026-03-04 10:00:00.1: I x/parallel_state.py:1] > initializing tensor model parallel with size 8\n"
    facts = {fact.name: fact.value for fact in only(TrainingFactReported, read(log))}
    assert facts == {"Num examples": "1950", "Total optimization steps": "20", "tensor_parallel_size": "8"}


def test_tracebacks_of_two_ranks_are_distinguished() -> None:
    log = ""
    for line in ("Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "    f()"):
        log += f"[rank0]: {line}\n[rank1]: {line}\n"
    log += "[rank0]: ValueError: tea is cold\n[rank1]: my.pkg.PotError\n"
    assert [(e.rank, e.exception, e.message) for e in only(ErrorRaised, read(log))] == [
        (0, "ValueError", "tea is cold"),
        (1, "my.pkg.PotError", ""),
    ]


def test_a_launchers_report_names_rank_exit_code_and_root_cause() -> None:
    log = (
        "E0304 10:00:00.000000 5 torch/distributed/elastic/multiprocessing/api.py:874] "
        "failed (exitcode: -9) local_rank: 1 (pid: 77) of binary: python\n"
        "Root Cause (first observed failure):\n[0]:\n"
        "  time      : 2026\n  rank      : 5 (local_rank: 1)\n  exitcode  : -9 (pid: 77)\n"
    )
    deaths = only(WorkerDied, read(log))
    assert [(death.pid, death.rank, death.exit_code, death.signal, death.first) for death in deaths] == [
        (77, None, -9, "SIGKILL", False),
        (77, 5, -9, "SIGKILL", True),
    ]


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("WARNING:root:careful", "WARNING"),
        ("[2026-03-04 10:00:00,1] torch.distributed.run: [WARNING] careful", "WARNING"),
        ("W0806 09:18:04.165000 46217 torch/distributed/run.py:766] careful", "WARNING"),
        ("2026-03-04 10:00:00.362291: E tensorflow/x.cc:88] careful", "ERROR"),
        ("(EngineCore pid=3) ERROR 12-22 19:08:38 [core.py:708] careful", "ERROR"),
        ("/a/b.py:12: FutureWarning: careful", "WARNING"),
    ],
)
def test_warnings_and_errors_that_stand_for_nothing_else_are_marked(line: str, level: str) -> None:
    (marked,) = only(LineMarked, read(line + "\n"))
    assert marked.level == level
    assert "careful" in marked.text


def test_a_metrics_report_is_one_event_with_its_totals() -> None:
    log = (
        "Metric: CompileTime\n  TotalSamples: 12\n  Accumulator: 01m05s250ms\n  ValueRate: 1s\n"
        "Metric: ExecuteTime\n  TotalSamples: 480\nCounter: CachedCompile\n  Value: 468\n"
        "Metric: TransferToDeviceTime\n  TotalSamples: 7\nnext\n"
    )
    (report,) = only(GraphMetricsReported, read(log))
    assert (report.compiled, report.compile_seconds, report.executed) == (12, pytest.approx(65.25), 480)
    assert (report.cache_hits, report.cache_misses, report.transfers_to_device) == (468, None, 7)


def test_our_own_progress_lines_in_a_merged_log_count_no_step_twice() -> None:
    lines = "LOG Mon Jan  5 10:00:00 2026 - (0, 19) step_loss : 4.676  learning_rate : 1e-04  throughput : 8.1\n"
    own = "neurontop: 00:02:20 training · graphs: 2 compiled · step 19, loss 4.676, 8.1 seq/s · 4 cores\n"
    steps = [event for event in read(lines + own) if isinstance(event, StepReported)]
    assert [step.step for step in steps] == [19]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("step 3 loss 2.5 throughput 800.0 seq/s", "seq/s"),
        ("step 3 loss 2.5 throughput: 81.5 tokens/sec", "tokens/sec"),
        ("step 3 loss 2.5 throughput (tok/s): 7", "tok/s"),
        ("step 3 loss 2.5 throughput 800 lr 0.1", ""),
    ],
)
def test_the_unit_of_a_throughput_stands_before_or_behind_it(text: str, unit: str) -> None:
    (event,) = read(text)
    assert isinstance(event, StepReported)
    assert event.throughput_unit == unit


def bar(step: int, total: int) -> str:
    return f"{100 * step // total:3}%|███  | {step}/{total} [00:44<05:46, 4.0it/s]\n"


def steps(*lines: str) -> list[tuple[int | None, int | None]]:
    return [(one.step, one.total_steps) for one in only(StepReported, read("".join(lines))) if one.loss is None]


def test_the_bar_of_an_evaluation_is_no_training() -> None:
    loss, evaluated = "{'loss': 0.5, 'epoch': 1.0}\n", "{'eval_loss': 0.3, 'epoch': 1.0}\n"
    during = (bar(500, 5000), loss, bar(1, 32), bar(32, 32), evaluated, bar(501, 5000))
    assert steps(*during) == [(500, 5000), (501, 5000)]
    assert steps(*during, "{'train_runtime': 490.9, 'epoch': 10.0}\n", bar(32, 32)) == [(500, 5000), (501, 5000)]


def test_a_shorter_bar_with_a_loss_is_another_training() -> None:
    loss = "{'loss': 0.5, 'epoch': 1.0}\n"
    assert steps(bar(5, 900), loss, bar(1, 80), loss, bar(2, 80)) == [(5, 900), (2, 80)]
    assert steps(bar(5, 900), loss, bar(1, 80), loss, bar(1, 80)) == [(5, 900), (1, 80)], "the same words again"


def test_a_longer_bar_of_a_chore_in_which_no_loss_was_reported_hides_no_training() -> None:
    assert steps(bar(9000, 9000), bar(1, 80), bar(2, 80)) == [(9000, 9000), (1, 80), (2, 80)]


def test_facts_have_few_digits_however_many_a_program_prints() -> None:
    facts = only(
        TrainingFactReported,
        read(
            "Average train throughput : 29.03845623781264\n"
            "Final loss is 0.81230000000000002\n"
            "{'train_loss': 1.23456789012345, 'train_tokens': 7340032.0}\n"
        ),
    )
    assert {fact.name: fact.value for fact in facts} == {
        "average train throughput": "29.0385",
        "final loss": "0.8123",
        "train_loss": "1.23457",
        "train_tokens": "7340032",
    }
