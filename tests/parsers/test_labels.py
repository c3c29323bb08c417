"""Labels of launchers and log services whose form alone is no proof: learned from lines with a header."""

from __future__ import annotations

import pytest

from neuron_top.events import DeviceMemoryExhausted, ErrorRaised, GraphReported, MemoryScope, StepReported
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.labels import LineLabels
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import FOLDER, M1, g2, only, read

LABELS = [
    "3: ", " 7: ", "12: ", "[0] ", "[12] ", "node12: ", "ip-10-0-0-7: ", "queue-st-trn1-2: ", "[node12] ",
    "12 node12: ", "[prterun-node1-812@1,5]<stdout>: ", "Tue Mar  4 05:06:07 2025[1,5]<stdout>:", "[trainer0]:",
    "(pid=812) ",
    "[2026-03-04 05:06:07] ", "2026-03-04 05:06:07 ", "2026-03-04T05:06:07 ", "05:06:07 ", "1772600767.684123 ",
    "Mar 04 05:06:07.123456 node1 python[811]: ", "Wed 2026-03-04 05:06:07 UTC node1 python[811]: ",
    "[ 1234.567890] node1 python[811]: ", "2026-03-04T05:06:07.123456Z 00O ", "train-0 trainer ", "trainer  | ",
    "    12\t", "node12: [rank3]: ", "trainer/3 ", "12:", "logs/train.log:", "train.log:12:", "# ", "> ", "| ",
    "ml train-0-abc trainer ", "train (trn1)\tRun the job\t2026-03-04T05:06:07.1234567Z ", "seq-3\t", "1772600767684 ",
    "[2026-03-04T05:06:07.123+0000] {subprocess.py:93} INFO - ",
    "[2026-03-04, 05:06:07 UTC] {pod_manager.py:418} INFO - [base] ",
    "2026-03-04 05:06:07.123 [12/train/345 (pid 99)] ", "<134>1 2026-03-04T05:06:07.123456+00:00 node1 python 811 - - ",
    "<13>Mar  4 05:06:07 node1 python[811]: ",
]  # fmt: skip
BODY = """\
  3%|▎         | 3/91 [16:05<7:52:06, 321.89s/it, loss=6.7]
2026-Mar-04 10:00:01.000001 41:42 ERROR  TDRV:log_dev_mem   Failed to allocate 1.000GB (usage: tensors) on ND 0:NC 4
             | TOTAL  | Model
             |        | Code
ND 0 Overall | 10.0GB | 1.0GB
 \\_NC 4      | 5.0GB  | 0.5GB
 \\_NEFF 1001 | 2.0GB  | 0.5GB

NEFF id to name mapping:
  1001: "/tmp/model.neff"
{
    "compilation_report": {
        "/c/MODULE_11112222333344445555+0a1b2c3d/model.hlo_module.pb": {
            "status": true,
            "compile_time": 9.5
        }
    }
}
Traceback (most recent call last):
  File "/job/a.py", line 3, in main
    run()
RuntimeError: boom
"""


def labeled(label: str, text: str) -> str:
    return "".join(label + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("label", LABELS)
def test_lines_without_a_header_are_read_behind_any_label(label: str) -> None:
    events = read(labeled(label, g2("anything") + BODY))
    (exhausted,) = only(DeviceMemoryExhausted, events)
    rows = [(row.scope, row.index, row.name) for row in exhausted.rows]
    assert rows == [
        (MemoryScope.DEVICE, 0, ""), (MemoryScope.CORE, 4, ""), (MemoryScope.NEFF, 1001, "/tmp/model.neff")
    ]  # fmt: skip
    assert [step.loss for step in only(StepReported, events)] == [6.7]
    assert [entry.seconds for entry in only(GraphReported, events)] == [9.5]
    assert [raised.message for raised in only(ErrorRaised, events)] == ["boom"]


@pytest.mark.parametrize("label", LABELS)
def test_the_heading_of_a_traceback_shows_the_label_as_well(label: str) -> None:
    text = BODY[BODY.index("Traceback") :]
    assert [raised.message for raised in only(ErrorRaised, read(labeled(label, text)))] == ["boom"]


@pytest.mark.parametrize(
    "header",
    [
        "W0304 09:18:04.165000 46217 torch/distributed/run.py:792] Setting OMP_NUM_THREADS",
        "[W304 09:54:58.837126036 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [a.cpp:1] slow",
    ],
)
@pytest.mark.parametrize("label", ["3: ", "node12: ", "[2026-03-04 05:06:07] ", "trainer  | "])
def test_headers_of_pytorch_show_the_label_as_well(label: str, header: str) -> None:
    text = f"{header}\n{BODY[: BODY.index('2026-')]}"
    for reader in (LogReader("x"), CountingReader("x", long=0)):
        reader.feed(labeled(label, text).encode())
        assert len(reader._labels) == 1
    assert [step.loss for step in only(StepReported, read(labeled(label, text)))] == [6.7]


def test_one_line_shows_the_labels_of_all_nodes_ranks_and_moments() -> None:
    first = f"node1: [2026-03-04 05:06:07] {g2('anything')}"
    events = read(first + labeled("node7: [2026-12-31 23:59:59] ", BODY))
    assert [raised.message for raised in only(ErrorRaised, events)] == ["boom"]


@pytest.mark.parametrize(("label", "rank"), [("12: ", 12), (" 3: ", 3), ("[4] ", 4), ("node12: ", None)])
def test_a_label_that_is_a_number_is_the_rank(label: str, rank: int | None) -> None:
    events = read(labeled(label, g2("anything") + BODY))
    assert {event.rank for event in (*only(StepReported, events), *only(ErrorRaised, events))} == {rank}


@pytest.mark.parametrize(
    ("front", "rank"),
    [
        ("[rank2] ", 2),
        ("[rank2]: ", 2),
        ("2026-02-14 09:30:11 INFO [rank12] ", 12),
        ("2026-02-14 09:30:11,123 - INFO - [rank4]: ", 4),
        ("[2026-02-14 09:30:11.123] [INFO] [rank5] ", 5),
        ("the steps of [rank2] ", None),
        ("[ranking] ", None),
    ],
)
def test_a_rank_in_brackets_is_taken_with_and_without_its_colon_and_behind_a_stamp(
    front: str, rank: int | None
) -> None:
    (step,) = only(StepReported, read(f"{front}step 3 loss 0.5\n"))
    assert step.rank == rank


@pytest.mark.parametrize(
    "front", ["Epoch 3 loss 0.5 ", "[ERROR 3] ", "half a wor", "ERROR: ", "  6%|▋  | 1/16 [00:00<00:04, 3.09it/s]",
              "2026-03-04T05:06:07Z ", "Using 3 workers: ", "2026-03-04 05:06:07,116::ERROR: "],
)  # fmt: skip
def test_words_that_another_process_left_without_a_line_end_are_no_label(front: str) -> None:
    assert not LineLabels().learn(front)


def test_a_number_without_such_a_line_is_no_label() -> None:
    (step,) = only(StepReported, read("12: step 3 loss 0.5\n"))
    assert step.rank is None


def test_lines_that_came_before_the_label_was_known_are_read_anew() -> None:
    line, labels = "node1: Neuron: ***** Running nothing\nnode1:   6%|▋  | 1/16 [00:01<00:15, 1.00s/it]\n", ["node1: "]
    before, after = read(line), read(line + labels[0] + g2("anything") + line)
    assert (len(only(StepReported, before)), len(only(StepReported, after))) == (0, 1)


@pytest.mark.parametrize("begin", ["{\n", "Traceback"])
def test_counting_gives_the_same_counts_behind_labels(begin: str) -> None:
    body = BODY[BODY.index("Traceback") :] + BODY[BODY.index("{\n") : BODY.index("Traceback")]
    text = labeled("node1: ", body[body.index(begin) :] + g2(f"Using a cached neff at {FOLDER}/{M1}/model.neff")) * 3
    reader, counting = LogReader("x"), CountingReader("x", long=0)
    for each in (reader, counting):
        each.feed(text.encode())
        each.flush()
    assert counting.tally.as_json() == reader.tally.as_json()
    assert len(reader.tally.report) == (3 if begin == "Traceback" else 2)  # the first one comes before the header
