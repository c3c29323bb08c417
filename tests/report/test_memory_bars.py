"""The colors of memory in reports of comparisons, and the picture of the documentation that shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neuron_top.report import multi_compare
from neuron_top.report.memory_bars import memory_bars, memory_class, memory_legend, with_hatching
from neuron_top.report.svg import Axis, lanes
from neuron_top.views.colors import MEMORY, memory_sign
from tests.report.take_compare_picture import KINDS, MEASURED, comparison

ROOT = Path(__file__).parents[2]
SHEET = (ROOT / "assets" / "report" / "report.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [*MEMORY, "kv_cache"])
def test_a_kind_has_the_sign_of_terminal_and_pages_whatever_is_beside_it(kind: str) -> None:
    sign = memory_sign(kind)
    alone, behind = memory_bars([(kind, 1.0)])[0].kind, memory_bars([("tensors", 1.0), (kind, 1.0)])[1].kind
    assert alone == behind == memory_class(kind) == memory_legend([kind])[0][0]
    assert alone.split() == [f"hue-{sign.hue}", *(["hatched"] if sign.hatched else [])]
    assert f".{alone.replace(' ', '.')} {{" in SHEET


def test_a_picture_brings_the_patterns_of_its_hatched_kinds_and_no_others() -> None:
    def drawn(*kinds: str) -> str:
        return with_hatching(lanes(Axis(0.0, 1.0, clock=False), [("run", memory_bars((kind, 1.0) for kind in kinds))]))

    assert "<pattern" not in drawn("parameters", "gradients")
    assert re.findall(r'<pattern id="([^"]+)"', drawn("parameters", "rest")) == ["hatched-gray"]
    assert "url(#hatched-gray)" in SHEET


def test_several_runs_are_drawn_in_these_colors() -> None:
    chart = multi_compare.chart(comparison())
    assert chart is not None
    assert chart.legend == memory_legend(KINDS)
    assert set(re.findall(r'<rect class="(hue-\w+(?: hatched)?)" x=', chart.svg)) == set(map(memory_class, KINDS))


def test_the_picture_of_the_documentation_has_the_numbers_of_its_page() -> None:
    page = (ROOT / "docs" / "tensor-parallel.md").read_text(encoding="utf-8")
    rows = {
        name.partition(" (")[0]: [float(cell.split()[0]) for cell in cells.split("|")]
        for name, cells in re.findall(r"^\| ([a-z][^|]*) \| (.* (?:MiB|seq/s)) \|$", page, re.MULTILINE)
    }
    for number, (kinds, peak, speed) in enumerate(MEASURED.values()):
        assert [rows[kind][number] for kind in KINDS] == list(kinds)
        assert rows["peak of all"][number] == peak
        assert rows["throughput"][number] == round(speed, 1)
