"""Compiles by worker: a lane per worker, a bar per compile or wait."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.run.model import Run
from neuron_top.run.spans import Span, SpanKind
from neuron_top.views.cache_lookups import CacheLookup

__all__ = ["Bar", "Lane", "SpanKind", "Timeline", "folded", "timeline", "whole_timeline"]


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of the timeline."""

    graph: str
    kind: SpanKind
    start: float
    end: float | None
    """None: still going on."""
    outcome: str
    exact: bool
    by_pytorch: bool = False
    """`graph` names a function that PyTorch compiled by itself, and no graph of the compile cache."""


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """All bars of one worker, by start."""

    worker: str
    rank: int | None
    pid: int | None
    bars: tuple[Bar, ...]
    alike: int = 0
    """Further workers that did the same and are folded into this lane."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Compiles by worker. `start`…`end` spans everything; None without bars."""

    now: float
    start: float | None
    end: float | None
    lanes: tuple[Lane, ...]


def timeline(run: Run, now: float) -> Timeline:
    """Lanes by rank, then by process; bars by start."""
    return _timeline(run, now, run.compiles.totals.spans())


def whole_timeline(run: Run, now: float) -> Timeline:
    """The same with what PyTorch compiled by itself, in the lane of its process."""
    return _timeline(run, now, [*run.compiles.totals.spans(), *run.torch.spans()])


def folded(view: Timeline, lookups: Sequence[CacheLookup]) -> tuple[Timeline, tuple[CacheLookup, ...]]:
    """Lanes with equal ones folded into the first of them, and the lookups of the lanes that are left."""
    asked: dict[str, list[CacheLookup]] = {}
    for lookup in lookups:
        asked.setdefault(lookup.worker, []).append(lookup)
    lanes = [*view.lanes]
    known = {lane.worker for lane in lanes}
    lanes += [
        Lane(worker=worker, rank=own[0].rank, pid=own[0].pid, bars=())
        for worker, own in asked.items()
        if worker not in known
    ]
    first: dict[object, Lane] = {}
    for lane in lanes:
        done = tuple((bar.graph, bar.kind, bar.outcome, bar.end is None) for bar in lane.bars)
        key = (done, tuple((one.graph, one.kind) for one in asked.get(lane.worker, ())))
        one = first.setdefault(key, lane)
        if one is not lane:
            first[key] = msgspec.structs.replace(one, alike=one.alike + 1)
    shown = {lane.worker for lane in first.values()}
    return (
        msgspec.structs.replace(view, lanes=tuple(first.values())),
        tuple(one for one in lookups if one.worker in shown),
    )


def _timeline(run: Run, now: float, spans: Sequence[Span]) -> Timeline:
    now = run.effective_now(now)
    lanes: dict[str, list[Bar]] = {}
    who: dict[str, tuple[int | None, int | None]] = {}
    for span in spans:
        node = span.worker.partition("/")[0]
        rank = span.rank if span.rank is not None else run.job.rank_of(span.pid, node)
        who[span.worker] = (rank, span.pid)
        bar = Bar(
            graph=span.graph,
            kind=span.kind,
            start=span.start,
            end=span.end,
            outcome=span.outcome or "",
            exact=span.exact,
            by_pytorch=span.by_pytorch,
        )
        lanes.setdefault(span.worker, []).append(bar)
    bars = [bar for lane in lanes.values() for bar in lane]
    return Timeline(
        now=now,
        start=min((bar.start for bar in bars), default=None),
        end=max((bar.end if bar.end is not None else max(now, bar.start) for bar in bars), default=None),
        lanes=tuple(
            Lane(
                worker=worker,
                rank=who[worker][0],
                pid=who[worker][1],
                bars=tuple(sorted(lanes[worker], key=lambda bar: bar.start)),
            )
            for worker in sorted(lanes, key=lambda worker: _lane_order(who[worker], worker))
        ),
    )


def _lane_order(who: tuple[int | None, int | None], worker: str) -> tuple[bool, int, int, str]:
    rank, pid = who
    return (rank is None, rank or 0, pid or 0, worker)
