"""How long a running compile may still take: a range, and only if past compiles support one.

An estimate is based on the first of these that is known: the same graph with the same flags; the same graph hash with
other flags; at least three graphs of similar size (bytes, or operators if bytes are not known). Of the last, those with
the same flags are used if they are enough, and of these again those that are most alike, with the same operators in
similar shares. Nothing is extrapolated: a compile that takes longer than the longest known has no estimate.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

SIMILAR = 1.5
"""Graphs count as similar when their sizes differ by less than this factor."""
SIMILAR_NEEDED = 3
ALIKE = 0.1
"""Two graphs count as equally alike to a third if the shares of operators that they have in common with it differ by
less than this."""
SPREAD = 0.25
"""Past times are widened by this share on both sides: machines are not equally busy."""


_UNKNOWN_COUNTS: Mapping[str, int] = {}


class PastCompile(Protocol):
    """One measured compile, as the store keeps it."""

    @property
    def module(self) -> str: ...
    @property
    def graph_bytes(self) -> int | None: ...
    @property
    def operators(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def op_counts(self) -> Mapping[str, int]: ...


class Range(msgspec.Struct, frozen=True):
    """Seconds from `low` to `high`, and in words what they are based on."""

    low: float
    high: float
    ground: str


class Estimator:
    """Estimates from past compiles. Pure. `Estimator()` knows none, and estimates nothing."""

    def __init__(self, past: Iterable[PastCompile] = ()) -> None:
        self._by_module: dict[str, list[float]] = {}
        self._by_graph: dict[str, list[float]] = {}
        self._bytes, self._operators = _Sizes(), _Sizes()
        for one in past:
            graph, _, flags = one.module.partition("+")
            self._by_module.setdefault(one.module, []).append(one.seconds)
            self._by_graph.setdefault(graph, []).append(one.seconds)
            for sizes, size in ((self._bytes, one.graph_bytes), (self._operators, one.operators)):
                if size:
                    sizes.add(_Sized(size, one.seconds, flags, one.op_counts))

    def total(
        self,
        module: str | None,
        graph_bytes: int | None = None,
        operators: int | None = None,
        op_counts: Mapping[str, int] = _UNKNOWN_COUNTS,
    ) -> Range | None:
        """How long a whole compile of this graph takes; None if nothing supports an estimate. `op_counts`: how many of
        each operator the graph has."""
        if module is not None:
            for index, key, ground in (
                (self._by_module, module, "this graph"),
                (self._by_graph, module.partition("+")[0], "this graph with other flags"),
            ):
                if key in index:
                    return _spread(index[key], ground)
        flags = module.partition("+")[2] if module is not None else ""
        return self._bytes.similar(graph_bytes, flags, op_counts) or self._operators.similar(
            operators, flags, op_counts
        )

    def left(
        self,
        module: str | None,
        graph_bytes: int | None,
        elapsed: float | None,
        operators: int | None = None,
        op_counts: Mapping[str, int] = _UNKNOWN_COUNTS,
    ) -> Range | None:
        """How long the running compile may still take; None if nothing supports an estimate, or it took longer."""
        whole = self.total(module, graph_bytes, operators, op_counts)
        if whole is None or elapsed is None or elapsed > whole.high:
            return None
        return Range(max(0.0, whole.low - elapsed), whole.high - elapsed, whole.ground)


class _Sized(msgspec.Struct, frozen=True):
    """One past compile of a graph whose size is known."""

    size: int
    seconds: float
    flags: str
    op_counts: Mapping[str, int]


class _Sizes:
    """Past times by the size of their graph."""

    def __init__(self) -> None:
        self._rows: list[_Sized] = []
        self._sorted = True

    def add(self, row: _Sized) -> None:
        self._rows.append(row)
        self._sorted = False

    def similar(self, size: int | None, flags: str, op_counts: Mapping[str, int]) -> Range | None:
        """The times of graphs of about this size; only of those with the same flags, and most alike, if these are
        enough."""
        if not size:
            return None
        if not self._sorted:
            self._rows.sort(key=_size)
            self._sorted = True
        first = bisect_left(self._rows, int(size / SIMILAR), key=_size)
        near = self._rows[first : bisect_right(self._rows, int(size * SIMILAR), key=_size)]
        same = [row for row in near if row.flags == flags]
        other = "" if len(same) >= SIMILAR_NEEDED else ", other flags"
        near = near if other else same
        if len(near) < SIMILAR_NEEDED:
            return None
        alike = _most_alike(near, op_counts)
        ground = "graphs of similar size" + (" and operators" if len(alike) < len(near) else "")
        return _spread([row.seconds for row in alike], f"{len(alike)} {ground}{other}")


def _most_alike(rows: list[_Sized], op_counts: Mapping[str, int]) -> list[_Sized]:
    """The rows that are at least about as alike as the third most alike one; all rows if that has nothing in common."""
    shares = [made_alike(row.op_counts, op_counts) for row in rows]
    least = sorted(shares, reverse=True)[SIMILAR_NEEDED - 1] - ALIKE
    return [row for row, share in zip(rows, shares, strict=True) if share >= least]


def _size(row: _Sized) -> int:
    return row.size


def made_alike(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """How alike two graphs are: the share of operators, kind by kind, that they have in common whatever their sizes,
    0…1; 0 if one is unknown."""
    every, others = sum(one.values()), sum(other.values())
    if not every or not others:
        return 0.0
    return sum(min(count / every, other.get(name, 0) / others) for name, count in one.items())


def together(running: Sequence[Range | None], pending: Sequence[Range | None], workers: int) -> Range | None:
    """The range of seconds until everything is compiled; pending graphs start as workers become free.

    None when nothing is left, or when one graph has no estimate.
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
