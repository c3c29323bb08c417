"""Counts how many equal blocks of a model one compiled graph serves in this process, for a recording of the run.

A model compiled by region has its repeated block compiled once. Dynamo runs that code for all blocks, because their
parameters are inputs of the graph: nothing is looked up, so no log line mentions it. The blocks are told apart by the
parameters of a call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from neuron_top.compile import side_channel
from neuron_top.compile.graphs.directions import BACKWARD
from neuron_top.compile.torch.worker_memory import Watch
from neuron_top.events import GraphReused

CALLS = 1000
"""How many calls of one graph are inspected: all blocks come in the first step, and each takes a microsecond."""

Runner = Callable[[list[Any]], Any]


def counting(run: Runner, module: str, watch: Watch | None) -> Runner:
    """Wrap `run` of a compiled graph to report each block it serves; unchanged if there is nothing to report.

    A backward graph serves the same blocks as its forward graph, and is not counted.
    """
    listened = os.environ.get(side_channel.EVENTS_VARIABLE)
    if not listened or watch is None or watch.direction == BACKWARD or not watch.static:
        return run
    return _Counted(run, module, watch.static)


class _Counted:
    """A graph whose first calls are looked at."""

    def __init__(self, run: Runner, module: str, static: tuple[int, ...]) -> None:
        self._run, self._module, self._static = run, module, static
        self._left = CALLS
        self._met: set[tuple[int, ...]] = set()

    def __call__(self, arguments: list[Any]) -> Any:
        if self._left:
            self._left -= 1
            self._look(arguments)
        return self._run(arguments)

    def _look(self, arguments: list[Any]) -> None:
        try:
            block = tuple(arguments[place].data_ptr() for place in self._static)
        except (RuntimeError, AttributeError, IndexError):  # a tensor without memory of its own distinguishes nothing
            self._left = 0
            return
        if block not in self._met:
            self._met.add(block)
            side_channel.emit(
                GraphReused(
                    module=self._module,
                    blocks=len(self._met),
                    **side_channel.reporter(),
                )
            )
