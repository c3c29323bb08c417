"""The panel of torch.compile: ranks that did the same are one row, and no column is empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.dashboard.pages.compile import torch_section
from neuron_top.run.model import Run
from neuron_top.views.torch_trace import torch_view
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.dashboard.test_pages import words_of
from tests.tui.feeds import START, StillFeed, full, job


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
    shown = next(part for part in panel.children if getattr(part, "className", "").startswith("table-scroll")).children
    _caption, head, body = shown.children
    return [[words_of(cell) for cell in row.children] for row in (head.children, *body.children)]


def test_ranks_that_compiled_alike_are_one_row_with_the_range_of_their_times() -> None:
    head, *rows = frames(section(0, 1, 2, 3))
    assert len(rows) == 1
    row = dict(zip(head, rows[0], strict=True))
    assert (row["ranks"], row["took"]) == ("0–3", "1 m 00 s – 1 m 03 s")
    assert "counts and times of 4 processes, added up" in words_of(section(0, 1, 2, 3))
    assert "added up" not in words_of(section(0)).partition("forward")[0]


def test_a_compile_is_told_by_its_function_and_its_number_and_pytorchs_id_comes_last() -> None:
    head, row = frames(section(0))
    assert head[:2] == ["function", "compile"]
    assert row[:2] == ["forward", "1st"]
    assert (head[-1], row[-1]) == ("PyTorch's id", "0/0")


def test_a_rank_that_did_another_thing_is_a_row_of_its_own() -> None:
    head, *rows = frames(section(0, 1, 2, recompiled=(1,)))
    assert [dict(zip(head, row, strict=True))["ranks"] for row in rows] == ["2 ranks", "1"]
    assert "size changed" in words_of(rows)


def test_a_column_without_a_value_is_left_out() -> None:
    head, *_rows = frames(section(0, 1))
    assert not {"at step", "AOTAutograd's cache", "Inductor's cache", "why recompiled, or given up"} & set(head)


TOPS = """(ids) => ids.map((id) => {
    const box = document.querySelector(id).getBoundingClientRect();
    return box.height ? Math.round(box.top) : null; })"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_section_stands_below_the_graphs_unless_pytorch_compiled_everything_by_itself(
    browser: Any, tmp_path: Path
) -> None:
    identity: dict[str, Any] = {"pid": 71, "compile_id": "0/0", "source": "torch-trace:71"}
    compiled = (
        ev.FrameCompileBegan(at=START, function="forward", **identity),
        ev.GraphCaptured(at=START, **identity),
        ev.CompilePhaseEnded(at=START + 1, phase="inductor_compile", seconds=58.7, **identity),
        ev.FrameCompiled(at=START + 2, began=START, seconds=2.0, **identity),
    )
    for name, feed in (("with-graphs", full()), ("without", StillFeed(job()))):
        feed.push(*compiled)
        with serving(feed, tmp_path / name) as served:
            seen = Watched(browser)
            seen.page.goto(f"{served.address}compile")
            seen.until("#compile-torch", "58.7 s")
            seen.page.wait_for_selector("#compile-search", state="attached")
            seen.page.wait_for_selector("#compile-cumulative .js-plotly-plot", state="attached")
            graphs, charts, torch = seen.page.evaluate(
                TOPS, ["#compile-search", "#compile-cumulative", "#compile-torch"]
            )
            if name == "with-graphs":
                assert graphs < charts < torch
            else:
                assert graphs is None
                assert torch < charts
            seen.page.close()
