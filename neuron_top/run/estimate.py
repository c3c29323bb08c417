"""How long a running compile may still take: a range, and only where past compiles give ground for one.

Ground is, in this order: the same graph with the same flags, the same graph hash with other flags, and at
least three graphs of similar size. Nothing is extrapolated; past the longest time known there is no estimate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Protocol

import msgspec

SIMILAR = 1.5
"""Graphs count as similar when their sizes differ by less than this factor."""
SIMILAR_NEEDED = 3
SPREAD = 0.25
"""Past times are widened by this share on both sides: machines are not equally busy."""


class Past(Protocol):
    """One measured compile, as the store keeps it."""

    @property
    def module(self) -> str: ...
    @property
    def graph_bytes(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...


class Range(msgspec.Struct, frozen=True):
    """Seconds from `low` to `high`, and the ground they stand on in words."""

    low: float
    high: float
    ground: str


class Estimator:
    """Past compiles, indexed; pure. `Estimator()` knows nothing and estimates nothing."""

    def __init__(self, past: Iterable[Past] = ()) -> None:
        self._by_module: dict[str, list[float]] = {}
        self._by_graph: dict[str, list[float]] = {}
        sizes: list[tuple[int, float]] = []
        for one in past:
            self._by_module.setdefault(one.module, []).append(one.seconds)
            self._by_graph.setdefault(one.module.partition("+")[0], []).append(one.seconds)
            if one.graph_bytes:
                sizes.append((one.graph_bytes, one.seconds))
        self._sizes = sorted(sizes)

    def total(self, module: str | None, graph_bytes: int | None = None) -> Range | None:
        """How long a compile of this graph takes as a whole; None without ground."""
        if module is not None:
            for index, key, ground in (
                (self._by_module, module, "this graph"),
                (self._by_graph, module.partition("+")[0], "this graph with other flags"),
            ):
                if key in index:
                    return _spread(index[key], ground)
        return self._by_size(graph_bytes)

    def left(self, module: str | None, graph_bytes: int | None, elapsed: float | None) -> Range | None:
        """How long the running compile may still take; None without ground, or when it already took longer."""
        whole = self.total(module, graph_bytes)
        if whole is None or elapsed is None or elapsed > whole.high:
            return None
        return Range(max(0.0, whole.low - elapsed), whole.high - elapsed, whole.ground)

    def _by_size(self, graph_bytes: int | None) -> Range | None:
        if not graph_bytes:
            return None
        first = bisect_left(self._sizes, (int(graph_bytes / SIMILAR), 0.0))
        end = bisect_right(self._sizes, (int(graph_bytes * SIMILAR), float("inf")))
        seconds = [pair[1] for pair in self._sizes[first:end]]
        return _spread(seconds, f"{len(seconds)} graphs of similar size") if len(seconds) >= SIMILAR_NEEDED else None


def _spread(seconds: list[float], ground: str) -> Range:
    return Range(min(seconds) * (1 - SPREAD), max(seconds) * (1 + SPREAD), ground)
