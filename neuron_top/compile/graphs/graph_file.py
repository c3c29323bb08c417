"""Writes and reads the body of `model.fxgraph`: a graph for a compile process, with the settings to compile it under.

Security: reading one unpickles it, and unpickling runs code. Only a compile process does that, with bytes whose digest
its job has sent; the job takes them from its own memory, or from a file that passed the gate (`cache/trust.py`) and has
the right header (`cache/model/graph_header.py`). Whatever merely looks at a cache reads `model.graph.json` instead.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._graph_pickler import GraphPickler, Options
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._python_dispatch import _disable_current_modes

from neuron_top.compile.graphs import copying, script_operators
from neuron_top.compile.graphs.script_operators import StandIns


class SerializedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph as a compiler receives it: module, example inputs, their fake mode, settings by name."""

    gm: Any
    inputs: list[Any]
    fake_mode: Any
    settings: dict[str, Any]
    stand_ins: StandIns
    """Operators that the graph calls and only its job has."""


def dump(gm: fx.GraphModule, inputs: Sequence[Any], settings: Mapping[str, Any]) -> bytes:
    """The body of a graph file. Raises whatever pickling raises where the graph cannot be serialized."""
    body = GraphPickler.dumps((gm, list(inputs)), Options(**_everything()))
    with _disable_current_modes():  # GraphPickler keeps the form of a tensor only; constants need their values
        constants = pickle.dumps(copying.constants(gm))
    return pickle.dumps((dict(settings), constants, script_operators.declarations(gm), body))


def _everything() -> dict[str, Any]:
    """Options that filter neither operators nor the metadata of nodes; PyTorch 2.10 has no filter for the latter."""
    return {field.name: None for field in dataclasses.fields(Options) if field.name.endswith("_filter")}


def load(data: bytes) -> SerializedGraph:
    """The graph that `dump` wrote. Raises whatever unpickling raises."""
    settings, constants, declared, body = pickle.loads(data)  # noqa: S301 (see the module's docstring)
    stand_ins = StandIns(declared)
    fake_mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    with torch._guards.tracing(torch._guards.TracingContext(fake_mode)):
        content: Any = GraphPickler.loads(body, fake_mode)
    gm, inputs = content
    copying.put_constants(gm, pickle.loads(constants))  # noqa: S301
    stand_ins.learn(gm)
    return SerializedGraph(gm=gm, inputs=inputs, fake_mode=fake_mode, settings=settings, stand_ins=stand_ins)
