"""One table of colors: hues stay apart for color-blind eyes, and style sheets repeat the table exactly."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from neuron_top.events import MEMORY_KINDS, WORKER_KINDS
from neuron_top.run.graph import GraphState
from neuron_top.views.colors import HUES, MEMORY, SEVERITIES, STATES, Hue, Sign, memory_sign

ASSETS = Path(__file__).parents[2] / "neuron_top" / "assets"
APART = 14.0
"""Distance in CIELAB below which two marks are taken for one color."""
SIGHTS = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
}  # fmt: skip
"""What each kind of eye makes of linear red, green and blue (Machado, Oliveira and Fernandes 2009)."""


def dot(one: Iterable[float], other: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def seen(color: str, sight: str) -> tuple[float, float, float]:
    linear = []
    for start in (1, 3, 5):
        value = int(color[start : start + 2], 16) / 255
        linear.append(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
    mixed = [min(1.0, max(0.0, dot(row, linear))) for row in SIGHTS[sight]]
    x = dot((0.4124, 0.3576, 0.1805), mixed) / 0.9505
    y = dot((0.2126, 0.7152, 0.0722), mixed)
    z = dot((0.0193, 0.1192, 0.9505), mixed) / 1.089
    a, b, c = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return 116 * b - 16, 500 * (a - b), 200 * (b - c)


@pytest.mark.parametrize("theme", HUES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_any_two_hues_of_a_theme_stay_apart(theme: str, sight: str) -> None:
    near = [
        (one, other)
        for one, other in itertools.combinations(Hue, 2)
        if math.dist(seen(HUES[theme][one], sight), seen(HUES[theme][other], sight)) < APART
    ]
    assert not near


@pytest.mark.parametrize("kinds", [MEMORY_KINDS, WORKER_KINDS])
def test_kinds_that_stand_in_one_bar_have_a_sign_of_their_own(kinds: tuple[str, ...]) -> None:
    signs = [MEMORY[kind] for kind in (*kinds, "unattributed") if kind != "rest"]
    assert len(set(signs)) == len(signs)


def test_a_kind_that_a_program_named_keeps_its_sign_beside_any_others() -> None:
    assert memory_sign("kv_cache") == Sign(Hue.BLUE, hatched=True)


def test_every_state_of_a_graph_that_is_reported_has_a_color() -> None:
    assert {state.value for state in GraphState} - set(STATES) == {"known"}


@pytest.mark.parametrize(("sheet", "order", "names"), [
    ("web/neurontop.css", ("dark", "light"),
     {"good": SEVERITIES["good"], "warn": SEVERITIES["warning"], "bad": SEVERITIES["error"],
      "waiting": STATES["waiting"].hue, "hit": STATES["hit"].hue}),
    ("report/report.css", ("light", "dark"),
     {"done": STATES["compiled"].hue, "failed": STATES["failed"].hue, "wait": STATES["waiting"].hue,
      "gone": STATES["interrupted"].hue, "train": STATES["training"].hue, **{f"hue-{hue}": hue for hue in Hue}}),
])  # fmt: skip
def test_style_sheets_repeat_the_table(sheet: str, order: tuple[str, str], names: dict[str, Hue]) -> None:
    text = (ASSETS / sheet).read_text(encoding="utf-8")
    for name, hue in names.items():
        assert re.findall(rf"--{name}: (#[0-9a-f]{{6}});", text) == [HUES[theme][hue] for theme in order], name
