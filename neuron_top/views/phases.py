"""The phases of a job's nodes over time: bars of phases and silence, the worst first, equal nodes as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.natural_order import natural_key
from neuron_top.run.state import JobState
from neuron_top.store.fleet_records import PhaseSpan
from neuron_top.views.colors import Hue
from neuron_top.views.fleet import NodeReporting, NodeRow

SILENT = "silent"
WAITING = "waiting"
OVER = (JobState.FINISHED, JobState.FAILED, JobState.KILLED, JobState.INTERRUPTED, JobState.CUT_OFF)
_WORDS: dict[str, str] = {JobState.LOCK_WAIT: WAITING}
ALIKE_SHARE = 0.03
"""Of the whole time: ends of phases that lie no further apart are the same."""
LEAST_ALIKE_SECONDS = 10.0
"""Heartbeats come every five seconds, so two of them may report one moment up to ten seconds apart."""


HUES: dict[str, Hue] = {
    JobState.EXTRACTING: Hue.CYAN,
    JobState.COMPILING: Hue.YELLOW,
    WAITING: Hue.ORANGE,
    JobState.RUNNING: Hue.BLUE,
    JobState.TRAINING: Hue.GREEN,
    JobState.SERVING: Hue.PURPLE,
    SILENT: Hue.RED,
    JobState.FAILED: Hue.RED,
    JobState.KILLED: Hue.RED,
}
"""Of phases, in every picture; others are gray."""


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """One bar."""

    phase: str
    """As the agent reported it, `waiting` for another's compile, or `silent`."""
    start: float
    end: float


class NodePhases(msgspec.Struct, frozen=True, kw_only=True):
    """A node, with those that did the same at the same times."""

    node: str
    alike: tuple[str, ...]
    bars: tuple[Phase, ...]
    seconds: dict[str, float]
    """How long it was in each phase."""


class PhaseTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """All nodes of a job."""

    job: str
    start: float | None
    end: float | None
    rows: tuple[NodePhases, ...]
    nodes: int


def phase_timeline(now: float, job: str, spans: Iterable[PhaseSpan], nodes: Iterable[NodeRow]) -> PhaseTimeline:
    """The nodes of a job, those that were silent, then waited, then compiled longest first."""
    states = {node.node: node.state for node in nodes}
    by_node: dict[str, list[PhaseSpan]] = {}
    for span in spans:
        by_node.setdefault(span.node, []).append(span)
    bars = {
        node: _bars(sorted(beats, key=lambda one: one.since), now, states.get(node)) for node, beats in by_node.items()
    }
    known = {node: beats for node, beats in bars.items() if beats}
    start = min((beats[0].start for beats in known.values()), default=None)
    end = max((beats[-1].end for beats in known.values()), default=None)
    near = max(LEAST_ALIKE_SECONDS, ALIKE_SHARE * (end - start)) if start is not None and end is not None else 0.0
    rows = [
        NodePhases(node=node, alike=(), bars=beats, seconds=_seconds(beats))
        for node, beats in sorted(known.items(), key=lambda item: natural_key(item[0]))
    ]
    rows.sort(key=_badness)
    return PhaseTimeline(job=job, start=start, end=end, rows=tuple(_grouped(rows, near)), nodes=len(rows))


def _bars(spans: Sequence[PhaseSpan], now: float, state: NodeReporting | None) -> tuple[Phase, ...]:
    """Phases that touch; a gap longer than a silence is one, shorter ones belong to the phase before."""
    bars: list[Phase] = []
    for span in spans:
        phase, start = _WORDS.get(span.phase, span.phase), span.since
        if bars:
            before = bars[-1]
            if start - before.end > SILENT_SECONDS and before.phase not in OVER:
                bars.append(Phase(phase=SILENT, start=before.end, end=start))
            elif start > before.end:
                bars[-1] = msgspec.structs.replace(before, end=start)
            start = max(start, bars[-1].end)
        if bars and bars[-1].phase == phase:
            bars[-1] = msgspec.structs.replace(bars[-1], end=max(bars[-1].end, span.until))
        else:
            bars.append(Phase(phase=phase, start=start, end=max(start, span.until)))
    if bars and state is NodeReporting.SILENT and bars[-1].phase not in OVER:
        bars.append(Phase(phase=SILENT, start=bars[-1].end, end=max(now, bars[-1].end)))
    return tuple(bars)


def _seconds(bars: Iterable[Phase]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for bar in bars:
        seconds[bar.phase] = seconds.get(bar.phase, 0.0) + bar.end - bar.start
    return seconds


def _badness(row: NodePhases) -> tuple[bool, float, float, float]:
    seconds = row.seconds
    busy = seconds.get(JobState.COMPILING, 0.0) + seconds.get(JobState.EXTRACTING, 0.0)
    return (row.bars[-1].phase != SILENT, -seconds.get(SILENT, 0.0), -seconds.get(WAITING, 0.0), -busy)


def _grouped(rows: Sequence[NodePhases], near: float) -> list[NodePhases]:
    """Equal rows as one, in the place of the worst of them."""
    groups: dict[tuple[str, ...], list[tuple[NodePhases, list[str]]]] = {}
    ordered: list[tuple[NodePhases, list[str]]] = []
    for row in rows:
        same = groups.setdefault(tuple(bar.phase for bar in row.bars), [])
        group = next((one for one in same if _alike(one[0], row, near)), None)
        if group is not None:
            group[1].append(row.node)
        else:
            same.append((row, []))
            ordered.append(same[-1])
    return [msgspec.structs.replace(row, alike=tuple(alike)) for row, alike in ordered]


def _alike(a: NodePhases, b: NodePhases, near: float) -> bool:
    return all(
        abs(one.start - other.start) <= near and abs(one.end - other.end) <= near
        for one, other in zip(a.bars, b.bars, strict=True)
    )
