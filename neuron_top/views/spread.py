"""Computes the median, and how far above it a node or a step is an outlier."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_SLOW_DEVIATIONS = 4.5
"""An outlier lies at least this many median absolute deviations above the median: three standard deviations."""
_SLOW_SHARE = 0.1
"""It also lies at least this share of the median above it, as values that differ by less are alike."""


def median_of(values: Iterable[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def outlier_distance(values: Collection[float], middle: float) -> float:
    """How far above their median, `middle`, a value must be to be an outlier. Outliers cannot stretch it."""
    spread = median_of(abs(value - middle) for value in values) if values else 0.0
    return max(_SLOW_DEVIATIONS * spread, _SLOW_SHARE * middle)
