"""The panel of torch.compile: ranks that did the same are one row, and no column is empty."""

from __future__ import annotations

from typing import Any

from neuron_top import events as ev
from neuron_top.dashboard.pages.compile import torch_section
from neuron_top.run.model import Run
from neuron_top.views.torch_trace import torch_view
from tests.dashboard.test_pages import words_of
from tests.tui.feeds import START


def section(*ranks: int, recompiled: tuple[int, ...] = ()) -> Any:
    run = Run()
    for rank in ranks:
        identity: dict[str, Any] = {"pid": 10 + rank, "compile_id": "0/0", "source": f"torch-trace:{10 + rank}"}
        run.apply(ev.FrameCompileBegan(at=START, rank=rank, function="forward", **identity))
        if rank in recompiled:
            run.apply(ev.FrameRecompiled(at=START, rank=rank, reasons=("size changed",), **identity))
        run.apply(ev.FrameCompiled(at=START + 60 + rank, rank=rank, began=START, seconds=60.0 + rank, **identity))
    return torch_section(torch_view(run, START + 100))


def frames(panel: Any) -> list[list[str]]:
    """The head and the rows of the first table."""
    shown = next(part for part in panel.children if getattr(part, "className", "") == "table-scroll").children
    _caption, head, body = shown.children
    return [[words_of(cell) for cell in row.children] for row in (head.children, *body.children)]


def test_ranks_that_compiled_alike_are_one_row_with_the_range_of_their_times() -> None:
    head, *rows = frames(section(0, 1, 2, 3))
    assert len(rows) == 1
    row = dict(zip(head, rows[0], strict=True))
    assert (row["ranks"], row["took"]) == ("0–3", "1 m 00 s – 1 m 03 s")
    assert "counts and times of 4 processes, added up" in words_of(section(0, 1, 2, 3))
    assert "added up" not in words_of(section(0)).partition("forward")[0]


def test_a_rank_that_did_another_thing_is_a_row_of_its_own() -> None:
    head, *rows = frames(section(0, 1, 2, recompiled=(1,)))
    assert [dict(zip(head, row, strict=True))["ranks"] for row in rows] == ["2 ranks", "1"]
    assert "size changed" in words_of(rows)


def test_a_column_without_a_value_is_left_out() -> None:
    head, *_rows = frames(section(0, 1))
    assert not {"at step", "AOT cache", "FX cache", "why recompiled, or given up"} & set(head)
