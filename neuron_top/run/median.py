"""The median, without the `statistics` module: that one imports fractions and decimals, 20 ms before a first frame."""

from __future__ import annotations

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two in the middle. Raises ValueError for none."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no value has no median")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
