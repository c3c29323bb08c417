"""Compiles by worker: a lane per worker, several where its bars overlap, and a bar per compile or wait."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf

import msgspec

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.run.model import Run
from neuron_top.run.spans import Span, SpanKind
from neuron_top.views.cache_lookups import CacheLookup

__all__ = ["Bar", "Lane", "SpanKind", "Timeline", "folded", "timeline", "whole_timeline"]

SEEN_OVERLAP = 0.01
"""Of the time of all bars: bars that overlap for less, and for less than half of the later one, share a lane, as times
of logs are only so exact."""


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of the timeline."""

    graph: str
    kind: SpanKind
    start: float
    end: float | None
    """None: still going on; `start` where the clock was set back meanwhile, so that its length is not known."""
    outcome: str
    exact: bool
    by_pytorch: bool = False
    """`graph` names a function that PyTorch compiled by itself, and no graph of the compile cache."""


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """Bars of one worker that do not overlap, by start."""

    worker: str
    rank: int | None
    pid: int | None
    bars: tuple[Bar, ...]
    alike: int = 0
    """Further workers that did the same and are folded into this lane."""
    track: int = 0
    """Which lane of its worker this is: a further one has what the worker did at the same time."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Compiles by worker. `start`…`end` spans everything; None without bars."""

    now: float
    start: float | None
    end: float | None
    lanes: tuple[Lane, ...]


def timeline(run: Run, now: float) -> Timeline:
    """Lanes by rank, then by process, those of one worker by track; bars by start."""
    return _timeline(run, now, run.compiles.totals.spans())


def whole_timeline(run: Run, now: float) -> Timeline:
    """The same with what PyTorch compiled by itself, in the lane of its process."""
    return _timeline(run, now, [*run.compiles.totals.spans(), *run.torch.spans()])


def folded(view: Timeline, lookups: Sequence[CacheLookup]) -> tuple[Timeline, tuple[CacheLookup, ...]]:
    """Lanes with equal ones folded into the first of them, and the lookups of the lanes that are left."""
    asked: dict[str, list[CacheLookup]] = {}
    for lookup in lookups:
        asked.setdefault(lookup.worker, []).append(lookup)
    workers: dict[str, list[Lane]] = {}
    for lane in view.lanes:
        workers.setdefault(lane.worker, []).append(lane)
    for worker, own in asked.items():
        workers.setdefault(worker, [Lane(worker=worker, rank=own[0].rank, pid=own[0].pid, bars=())])
    alike: dict[object, list[list[Lane]]] = {}
    for worker, lanes in workers.items():
        done = [tuple((bar.graph, bar.kind, bar.outcome, bar.end is None) for bar in lane.bars) for lane in lanes]
        key = (tuple(done), tuple((one.graph, one.kind) for one in asked.get(worker, ())))
        alike.setdefault(key, []).append(lanes)
    drawn = [
        msgspec.structs.replace(lane, alike=len(same) - 1) if len(same) > 1 else lane
        for same in alike.values()
        for lane in same[0]
    ]
    shown = {lane.worker for lane in drawn}
    return (
        msgspec.structs.replace(view, lanes=tuple(drawn)),
        tuple(one for one in lookups if one.worker in shown),
    )


def _timeline(run: Run, now: float, spans: Sequence[Span]) -> Timeline:
    now = run.effective_now(now)
    lanes: dict[str, list[Bar]] = {}
    who: dict[str, tuple[int | None, int | None]] = {}
    for span in filter(_has_dates, spans):
        node = span.worker.partition("/")[0]
        rank = span.rank if span.rank is not None else run.job.rank_of(span.pid, node)
        who[span.worker] = (rank, span.pid)
        bar = Bar(
            graph=span.graph,
            kind=span.kind,
            start=span.start,
            end=max(span.start, span.end) if span.end is not None else None,
            outcome=span.outcome or "",
            exact=span.exact,
            by_pytorch=span.by_pytorch,
        )
        lanes.setdefault(span.worker, []).append(bar)
    bars = [bar for lane in lanes.values() for bar in lane]
    start = min((bar.start for bar in bars), default=None)
    end = max((bar.end if bar.end is not None else max(now, bar.start) for bar in bars), default=None)
    spare = SEEN_OVERLAP * (end - start) if start is not None and end is not None else 0.0
    return Timeline(
        now=now,
        start=start,
        end=end,
        lanes=tuple(
            Lane(worker=worker, rank=who[worker][0], pid=who[worker][1], bars=tuple(track), track=number)
            for worker in sorted(lanes, key=lambda worker: _lane_order(who[worker], worker))
            for number, track in enumerate(_tracks(lanes[worker], spare))
        ),
    )


def _has_dates(span: Span) -> bool:
    """Whether a clock can show both ends; a log may say of any length that something took so long."""
    return is_in_calendar(span.start) and (span.end is None or is_in_calendar(span.end))


def _tracks(bars: Sequence[Bar], spare: float) -> list[list[Bar]]:
    """Bars in as few lists as it takes for none to overlap, but for `spare` seconds at most; each list by start."""
    tracks: list[list[Bar]] = []
    free: list[int] = []
    """Numbers of the tracks whose bars have all ended, as a heap."""
    taken: list[tuple[float, int]] = []
    """(end, number) of the others, as a heap: of thousands that go on, only those that end soon are looked at."""
    for bar in sorted(bars, key=lambda bar: bar.start):
        end = bar.end if bar.end is not None else inf
        if end <= bar.start and tracks:  # it has no length in which it could overlap
            tracks[0].append(bar)
            continue
        while taken and taken[0][0] <= bar.start:
            heappush(free, heappop(taken)[1])
        ending: list[tuple[float, int]] = []
        while taken and taken[0][0] - bar.start <= min(spare, (end - bar.start) / 2):
            ending.append(heappop(taken))
        number = min([*free[:1], *(other for _, other in ending)], default=len(tracks))
        if free and number == free[0]:
            heappop(free)
        for entry in ending:
            if entry[1] != number:
                heappush(taken, entry)
        if number == len(tracks):
            tracks.append([])
        tracks[number].append(bar)
        heappush(taken, (end, number))
    return tracks


def _lane_order(who: tuple[int | None, int | None], worker: str) -> tuple[bool, int, int, str]:
    rank, pid = who
    return (rank is None, rank or 0, pid or 0, worker)
