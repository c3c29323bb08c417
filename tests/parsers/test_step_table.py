"""Steps in the rows of tables, which only the heading explains."""

from __future__ import annotations

import pytest

from neuron_top.events import StepReported
from neuron_top.parsers.step_table import LINES_BETWEEN
from tests.parsers.logs import only, read

BARS = "step |   loss   | sec  (step 0 + compile)\n"


def rows(*lines: str) -> list[tuple[int | None, float | None, float | None]]:
    """(step, epoch, loss) of each step that the lines report."""
    return [(one.step, one.epoch, one.loss) for one in only(StepReported, read("".join(lines)))]


@pytest.mark.parametrize(
    ("heading", "row", "read_as"),
    [
        (BARS, "   0 |   6.5000 |   2.4\n", (0, None, 6.5)),
        ("| epoch | step | train loss |\n|---|---|---|\n", "| 2 | 1,5 | 0.5 |\n| 1 | 20 | 0.5 |\n", (20, 1.0, 0.5)),
        ("Step\tTraining Loss\n", "500\t0.25\n", (500, None, 0.25)),
        ("Step\tTraining Loss\tValidation Loss\n", "500\tNo log\t0.5\n1000\t0.25\t0.5\n", (1000, None, 0.25)),
        ("epoch train_loss valid_loss accuracy time\n", "3 0.5 0.75 0.9 00:12\n", (None, 3.0, 0.5)),
        (
            "  epoch    train_loss    dur\n-------  ----------  -----\n",
            "      7        0.75       0.05\n",
            (None, 7.0, 0.75),
        ),
        ("Epoch   Loss   Acc\n", "1/10    0.5    0.25\n", (None, 1.0, 0.5)),
    ],
)
def test_a_row_is_read_by_its_heading(heading: str, row: str, read_as: tuple[object, ...]) -> None:
    assert rows(heading, row) == [read_as]
    assert rows(row) == [], "without its heading"


def test_lines_of_others_may_stand_between_rows() -> None:
    between = "Neuron backend does not support int64.\n....\nCompiler status PASS\n"
    assert rows(BARS, between, "0 | 6.5 | 2.4\n", between, "1 | nan | 0.9\n")[0] == (0, None, 6.5)
    assert len(rows(BARS, between, "0 | 6.5 | 2.4\n", between, "1 | nan | 0.9\n")) == 2


def test_a_table_ends_after_many_other_lines_and_begins_anew_with_the_same_heading() -> None:
    others = "another line\n" * LINES_BETWEEN
    assert rows(BARS, others, "0 | 6.5 | 2.4\n") == []
    assert rows(BARS, others, BARS, "0 | 6.5 | 2.4\n", "0 | 6.5 | 2.4\n") == [(0, None, 6.5)] * 2


@pytest.mark.parametrize(
    "text",
    [
        "the step loss\n1 2 3\n",
        "Step | accuracy\n1 | 0.5\n",
        "loss | accuracy\n1 | 0.5\n",
        BARS + "1 | 0.5\n",
        BARS + "1 | 0.5 | 0.1 | 4\n",
        BARS + "one | 0.5 | 0.1\n",
        "step  loss\nstep  7\n",
        "step_1 loss_2 and so on\n1 2 3 4 5\n",
    ],
)
def test_what_is_no_table_of_steps_gives_no_step(text: str) -> None:
    assert rows(text) == []
