"""Finds the log line at a moment, to get from a chart to what was printed then."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec

from neuron_top.run.graph import LineRef
from neuron_top.run.job import Mark
from neuron_top.run.model import Run
from neuron_top.run.training import Checkpoint, RaisedError


class LinePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line whose time is known."""

    source: str
    offset: int
    time: float


def place_at(run: Run, _now: float, moment: float) -> LinePlace | None:
    """The last line before `moment` whose time is known, else the first after it; None where none is."""
    places = sorted(_places(run), key=lambda place: place.time)
    before = [place for place in places if place.time <= moment]
    return before[-1] if before else places[0] if places else None


def _places(run: Run) -> Iterable[LinePlace]:
    """Places of the lines about graphs, errors and checkpoints, and of marked lines."""
    of_graphs = chain.from_iterable(graph.lines for graph in run.compiles.graphs.values())
    told: Iterable[LineRef | Mark | RaisedError | Checkpoint] = chain(
        of_graphs, run.job.marks, run.training.errors, run.training.checkpoints
    )
    for one in told:
        if one.time is not None and one.source and one.offset is not None:
            yield LinePlace(source=one.source, offset=one.offset, time=one.time)
