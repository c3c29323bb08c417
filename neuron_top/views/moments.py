"""Finds the log line at a moment, to get from a chart to what was printed then."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from neuron_top.run.model import Run


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
    for graph in run.compiles.graphs.values():
        for line in graph.lines:
            if line.time is not None:
                yield LinePlace(source=line.source, offset=line.offset, time=line.time)
    for mark in run.job.marks:
        if mark.time is not None and mark.source and mark.offset is not None:
            yield LinePlace(source=mark.source, offset=mark.offset, time=mark.time)
    for error in run.training.errors:
        if error.time is not None and error.source and error.offset is not None:
            yield LinePlace(source=error.source, offset=error.offset, time=error.time)
    for saved in run.training.checkpoints:
        if saved.time is not None and saved.source and saved.offset is not None:
            yield LinePlace(source=saved.source, offset=saved.offset, time=saved.time)
