"""Medians, and how far above one a node counts as slow."""

from __future__ import annotations

from collections.abc import Iterable

SLOW_DEVIATIONS = 4.5
"""A node is slow from this many median absolute deviations above the median on: three standard deviations."""
SLOW_SHARE = 0.1
"""Share of the median that a slow node lies above it at least: nodes that differ by less are alike."""


def median_of(values: Iterable[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
