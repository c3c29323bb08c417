"""What stands out among many: how far from the median is slow, and the order of names with numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

SLOW_DEVIATIONS = 4.5
"""Median absolute deviations above the median that make a node slow: three standard deviations of a normal one."""
SLOW_SHARE = 0.1
"""And by so much of the median at least: nodes that differ by less are alike."""


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """An order of names in which n10 comes after n9."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part)


def median_of(values: Iterable[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
