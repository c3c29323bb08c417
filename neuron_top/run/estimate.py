"""How long a running compile may still take: a range, and only where past compiles give ground for one.

Ground is, in this order: the same graph with the same flags, the same graph hash with other flags, and at least three
graphs of similar size (bytes, or operators where bytes are not known), those with the same flags and compiler if they
are enough. Nothing is extrapolated; past the longest time known there is no estimate.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
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
    def operators(self) -> int | None: ...
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
        self._bytes, self._operators = _Sizes(), _Sizes()
        for one in past:
            graph, _, flags = one.module.partition("+")
            self._by_module.setdefault(one.module, []).append(one.seconds)
            self._by_graph.setdefault(graph, []).append(one.seconds)
            for sizes, size in ((self._bytes, one.graph_bytes), (self._operators, one.operators)):
                if size:
                    sizes.add(size, flags, one.seconds)

    def total(self, module: str | None, graph_bytes: int | None = None, operators: int | None = None) -> Range | None:
        """How long a compile of this graph takes as a whole; None without ground."""
        if module is not None:
            for index, key, ground in (
                (self._by_module, module, "this graph"),
                (self._by_graph, module.partition("+")[0], "this graph with other flags"),
            ):
                if key in index:
                    return _spread(index[key], ground)
        flags = module.partition("+")[2] if module is not None else ""
        return self._bytes.similar(graph_bytes, flags) or self._operators.similar(operators, flags)

    def left(self, module: str | None, graph_bytes: int | None, elapsed: float | None,
             operators: int | None = None) -> Range | None:  # fmt: skip
        """How long the running compile may still take; None without ground, or when it already took longer."""
        whole = self.total(module, graph_bytes, operators)
        if whole is None or elapsed is None or elapsed > whole.high:
            return None
        return Range(max(0.0, whole.low - elapsed), whole.high - elapsed, whole.ground)


class _Sizes:
    """Past times by the size of their graph."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, float, str]] = []
        self._sorted = True

    def add(self, size: int, flags: str, seconds: float) -> None:
        self._rows.append((size, seconds, flags))
        self._sorted = False

    def similar(self, size: int | None, flags: str) -> Range | None:
        """The times of graphs of about this size; those of the same flags alone where they are enough."""
        if not size:
            return None
        if not self._sorted:
            self._rows.sort()
            self._sorted = True
        first = bisect_left(self._rows, (int(size / SIMILAR),))
        end = bisect_right(self._rows, (int(size * SIMILAR), float("inf")))
        near = self._rows[first:end]
        alike = [seconds for _, seconds, theirs in near if theirs == flags]
        if len(alike) >= SIMILAR_NEEDED:
            return _spread(alike, f"{len(alike)} graphs of similar size")
        if len(near) >= SIMILAR_NEEDED:
            return _spread([seconds for _, seconds, _ in near], f"{len(near)} graphs of similar size, other flags")
        return None


def together(running: Sequence[Range | None], pending: Sequence[Range | None], workers: int) -> Range | None:
    """Until everything is compiled: the running ones go on, the pending ones are taken up as workers become free.

    None when nothing is left, or when one of them has no estimate: a sum with a hole is no total.
    """
    known = [one for one in (*running, *pending) if one is not None]
    if not known or len(known) < len(running) + len(pending):
        return None
    ends = []
    for side in ("low", "high"):
        loads = [getattr(one, side) for one in running if one is not None]
        loads += [0.0] * max(0, workers - len(loads))
        heapq.heapify(loads)
        for seconds in sorted((getattr(one, side) for one in pending if one is not None), reverse=True):
            heapq.heapreplace(loads, loads[0] + seconds)
        ends.append(max(loads))
    return Range(ends[0], ends[1], known[0].ground if len({one.ground for one in known}) == 1 else "past compiles")


def _spread(seconds: list[float], ground: str) -> Range:
    return Range(min(seconds) * (1 - SPREAD), max(seconds) * (1 + SPREAD), ground)
