"""Chooses the largest panels of an overview by the phase of the job, and the details that they show."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from neuron_top.run.model import Run
from neuron_top.views.cache_lookups import CacheLookup, LookupResult, cache_lookups
from neuron_top.views.overview import Overview
from neuron_top.views.timeline import Timeline, folded, timeline
from neuron_top.views.trends import TrainingMark, marks
from neuron_top.views.verdict import ENDED, VerdictState, state_of

if TYPE_CHECKING:  # the first frame has neither graphs nor steps
    from neuron_top.views.graphs import GraphRow
    from neuron_top.views.rank_steps import RankSeries

SLOWEST = 12
"""Graphs that are listed at most."""


class MainPanel(StrEnum):
    """A panel that can be the largest one."""

    TIMELINE = "timeline"
    GRAPHS = "graphs"
    TRAINING = "training"
    RANKS = "ranks"


def main_panels(view: Overview) -> tuple[MainPanel, ...]:
    """The largest panels, the first one first: compiling shows the timeline, training the loss and the stragglers."""
    state = state_of(view.header)
    trained = view.training.step is not None or view.training.loss is not None
    training = (MainPanel.TRAINING, MainPanel.RANKS)
    compiles = (MainPanel.TIMELINE, MainPanel.GRAPHS)
    if state in (VerdictState.COMPILING, VerdictState.WAITING, VerdictState.FAILED):
        return (*compiles, *training)
    if state in ENDED and not trained:
        return (*compiles, *training)
    return (*training, *compiles) if trained else (*compiles, *training)


class Details(NamedTuple):
    """What the largest panels show and an overview does not have."""

    timeline: Timeline
    hits: tuple[CacheLookup, ...]
    """Lookups of the timeline's lanes that found an artifact."""
    graphs: tuple[GraphRow, ...]
    """Failed ones first, then the slowest; those that compile now stand in the panel of compiles."""
    ranks: tuple[RankSeries, ...]
    """The steps of each rank."""
    marks: tuple[TrainingMark, ...]
    filled: Mapping[str, int] = {}
    """What filled the memory of the fullest core, where an allocation failed."""


def details(run: Run, now: float) -> Details:
    """Read the details; for many ranks and graphs this takes longer than an overview."""
    lanes, lookups = folded(timeline(run, now), cache_lookups(run, now))
    return Details(
        timeline=lanes,
        hits=tuple(lookup for lookup in lookups if lookup.kind is LookupResult.HIT),
        graphs=_graphs(run, now) if run.compiles.graphs else (),
        ranks=_ranks(run) if run.steps.ranks else (),
        marks=marks(run),
        filled=_filled(run) if run.cores.exhausted.count else {},
    )


def _graphs(run: Run, now: float) -> tuple[GraphRow, ...]:
    from neuron_top.views.graphs import slowest_rows

    return slowest_rows(run, now, SLOWEST)


def _filled(run: Run) -> Mapping[str, int]:
    from neuron_top.views.exhausted import exhausted_memory

    memory = exhausted_memory(run.cores.exhausted)
    return memory.kinds if memory is not None else {}


def _ranks(run: Run) -> tuple[RankSeries, ...]:
    from neuron_top.views.rank_steps import series_of_run

    return tuple(series_of_run(run))
