"""Two recordings side by side: each number below the letter of its recording, and no word cut to a letter."""

from __future__ import annotations

import pytest

from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.compare import Comparison, Pair
from neuron_top.views.metric import Provenance, Unit


@pytest.mark.parametrize("width", [80, 120])
def test_metrics_have_a_head_and_say_how_they_are_known_where_there_is_room(width: int) -> None:
    pair = Pair(name="wall", label="wall time", unit=Unit.SECONDS, a=45.2, b=85.0, change=0.87,
                a_provenance=Provenance.MEASURED, b_provenance=Provenance.MEASURED)  # fmt: skip
    view = Comparison(a="one", b="other", answer=(), environment=(), metrics=(pair,), memory=(), cores=(4, 4),
                      curves=(), graphs=(), only_a=0, only_b=0)  # fmt: skip
    lines = [strip.text.rstrip() for strip in comparison_lines(Theme(DARK, UNICODE), view, width)]
    (value,) = [line for line in lines if "wall time" in line]
    head = lines[lines.index(value) - 1]
    assert head.split() == ["A", "B", "change"]
    assert head.index("A") == value.index("45.2 s") + len("45.2 s") - 1
    assert "…" not in value
    assert ("measured" in value) is (width == 120)
