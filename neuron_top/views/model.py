"""Types of lower layers that rows of the views hold: front ends import them from here, since they may not import `run`,
`events` or `cache` themselves."""

from __future__ import annotations

from neuron_top.cache.model.states import BROKEN, COMPILED, FAILURES, HITS, UNSETTLED, State
from neuron_top.events import CoreKind
from neuron_top.run.estimate import Estimator, Range
from neuron_top.run.graph import AttemptOutcome, GraphState, LineRef, Precision
from neuron_top.run.history import Point
from neuron_top.run.job import Mark
from neuron_top.run.model import Run
from neuron_top.views.alerts import Alert, Limits, alerts

__all__ = [
    "Alert",
    "BROKEN",
    "COMPILED",
    "CoreKind",
    "Estimator",
    "FAILURES",
    "GraphState",
    "HITS",
    "Limits",
    "LineRef",
    "Mark",
    "AttemptOutcome",
    "Point",
    "Precision",
    "Range",
    "Run",
    "State",
    "UNSETTLED",
    "alerts",
]
