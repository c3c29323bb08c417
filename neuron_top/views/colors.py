"""The colors of categories: one table for the terminal, the web pages and the report.

A category keeps its color whatever is beside it, and no color is the only sign: each hue has a second sign, a
hatched half where two categories share a hue, or a word. Any two hues of a theme stay apart for eyes with
protanopia and deuteranopia (`tests/views/test_colors.py` computes it). All values are of the 256-color cube, because
that is what an SSH session usually gets.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple
from zlib import crc32


class Hue(StrEnum):
    """The name of a hue; the theme decides its color."""

    BLUE = "blue"
    ORANGE = "orange"
    GREEN = "green"
    PURPLE = "purple"
    YELLOW = "yellow"
    CYAN = "cyan"
    RED = "red"
    GRAY = "gray"


_DARK = ("#5f87ff", "#ffaf00", "#00d787", "#d787d7", "#ffff87", "#87ffff", "#ff5f5f", "#8a8a8a")
_LIGHT = ("#005fff", "#d78700", "#005f5f", "#8700af", "#875f00", "#0087af", "#870000", "#8a8a8a")
HUES = {
    "dark": dict(zip(Hue, _DARK, strict=True)),
    "light": dict(zip(Hue, _LIGHT, strict=True)),
    "high-contrast": dict(zip(Hue, _DARK, strict=True)),
}
"""Theme → what each hue looks like there."""
BUSY = {
    "dark": ("#1c2430", "#1d3a5f", "#1f5487", "#2b71a8", "#4a93c4", "#7cb8dc", "#c4e2f2"),
    "light": ("#eef3f8", "#cfe1f0", "#a3c8e3", "#6fa8d0", "#3f86b8", "#1d6299", "#0b3f6b"),
}
"""Theme → a scale in a single hue from nothing to everything, as being busy is no alarm."""


class Sign(NamedTuple):
    """A hue, and whether it is hatched, which distinguishes two categories of one hue."""

    hue: Hue
    hatched: bool = False


MEMORY = {
    "tensors": Sign(Hue.BLUE),
    "constants": Sign(Hue.ORANGE),
    "model_code": Sign(Hue.GREEN),
    "model_shared_scratchpad": Sign(Hue.PURPLE),
    "nonshared_scratchpad": Sign(Hue.PURPLE, True),
    "runtime_memory": Sign(Hue.YELLOW),
    "dma_rings": Sign(Hue.CYAN),
    "collectives": Sign(Hue.CYAN, True),
    "driver_memory": Sign(Hue.YELLOW, True),
    "notifications": Sign(Hue.GREEN, True),
    "profiler": Sign(Hue.ORANGE, True),
    "uncategorized": Sign(Hue.GRAY, True),
    "unattributed": Sign(Hue.GRAY),
    "parameters": Sign(Hue.BLUE),
    "gradients": Sign(Hue.ORANGE),
    "optimizer": Sign(Hue.PURPLE),
    "activations": Sign(Hue.GREEN),
    "compiled_code": Sign(Hue.YELLOW),
    "rest": Sign(Hue.GRAY, True),
    "reserved": Sign(Hue.YELLOW, True),
}
"""Kind of memory → its sign; kinds of a worker and of a device are never in one bar."""

STATES = {
    "hit": Sign(Hue.BLUE),
    "compiled": Sign(Hue.GREEN),
    "compiling": Sign(Hue.YELLOW),
    "waiting": Sign(Hue.PURPLE, True),
    "failed": Sign(Hue.RED),
    "cached failure": Sign(Hue.RED, True),
    "interrupted": Sign(Hue.GRAY),
    "extracted": Sign(Hue.GRAY, True),
    "training": Sign(Hue.CYAN),
    "checkpoint": Sign(Hue.CYAN, True),
}
"""State of a graph, or what a stretch of a timeline was → its sign."""

SEVERITIES = {"error": Hue.RED, "critical": Hue.RED, "warning": Hue.YELLOW, "info": Hue.BLUE, "good": Hue.GREEN}
"""Severity → its hue."""


def memory_sign(kind: str) -> Sign:
    """The sign of a kind of memory. A kind that a program named itself gets a sign that depends on its name alone."""
    known = MEMORY.get(kind)
    return known if known is not None else Sign(tuple(Hue)[crc32(kind.encode()) % (len(Hue) - 1)], True)


def state_sign(state: str) -> Sign:
    """The sign of a graph's state or a timeline's stretch; gray for one without a row."""
    return STATES.get(state, Sign(Hue.GRAY))
