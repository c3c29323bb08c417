"""Compiles a graph for its direction: inference, forward or backward. PyTorch compiles each differently.

A graph by itself is compiled as one for inference (`torch._inductor.standalone_compile`). That moves operators, and
with them the order of random numbers. On a GPU it lays out the images of convolutions as channels last, also where
PyTorch does not in training, as for grouped convolutions, which this makes slower. And only in a backward graph does
PyTorch make inputs contiguous for operators that it has no code for, since not all of them compute correctly with
others.

The passes for forward and backward together (`joint_graph_passes`) have run in the job, before PyTorch divided the two.
To run them on the parts once more takes a tenth of a second, and may change them. For a graph for inference they have
not run yet.

What a forward graph saves for backward in 16 bits, and computes on with, Inductor rounds first, so that both directions
go on from the same number. By itself a graph does not tell which of its outputs are saved: `rounded` finds those while
AOTAutograd compiles it, and they are part of what is sent to the compile process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch.utils import _pytree as pytree

from neuron_top.compile.graphs import copying

_DIRECTION, _ROUNDED = "direction", "rounded"
_ROUNDS = "emulate_precision_casts_on_saved_tensors"
"""Inductor's setting (PyTorch 2.13)."""
_SHORT = (torch.bfloat16, torch.float16)
INFERENCE, FORWARD, BACKWARD = "inference", "forward", "backward"


def with_direction(settings: Mapping[str, Any], direction: str, rounded: Sequence[list[int]] = ()) -> dict[str, Any]:
    """The settings, extended by the direction, that a graph is compiled under; they are part of its key.

    `rounded`: the outputs that `rounded` found.
    """
    found = {**settings, _DIRECTION: direction}
    return {**found, _ROUNDED: list(rounded)} if any(rounded) else found


def rounded(gm: fx.GraphModule) -> list[list[int]]:
    """The outputs of a forward graph, as AOTAutograd made it, that Inductor rounds before the graph computes on.

    A list for the graph and one for each of its subgraphs (regions that are compiled once).
    """
    from torch._inductor import config

    return [_rounded(part) for part in copying.parts(gm)] if getattr(config, _ROUNDS, False) else []


def _rounded(gm: fx.GraphModule) -> list[int]:
    from torch._inductor import lowering

    saved = lowering._SAVED_FOR_BACKWARDS_OUTPUT_DESC_TYPES
    output = gm.graph.output_node()
    outputs = pytree.tree_leaves(output.args[0])  # of some subgraphs a single one
    told = zip(outputs, output.meta.get("desc") or (), strict=False)
    return [place for place, (node, what) in enumerate(told) if isinstance(what, saved) and _is_short_and_used(node)]


def _is_short_and_used(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, fx.Node) and node.op == "call_function" else None
    is_short = isinstance(value, torch.Tensor) and value.dtype in _SHORT
    return is_short and any(user.op != "output" for user in node.users)


@contextlib.contextmanager
def compiled_as(settings: Mapping[str, Any]) -> Iterator[None]:
    """Within the block, compile graphs for the direction that the settings name; without one, for inference."""
    from torch._inductor import compile_fx, config

    direction = settings.get(_DIRECTION, INFERENCE)
    if direction == INFERENCE:
        yield
        return

    def compile_inner(*graph: Any, **how: Any) -> Any:
        if _ROUNDED in settings:
            _tell_what_is_saved(graph[0], settings[_ROUNDED])
        how |= {"is_inference": False, "is_backward": direction == BACKWARD}
        return compile_fx.compile_fx_inner(*graph, **how)

    with (
        config.patch(use_joint_graph_passes=False),
        mock.patch.object(compile_fx, "compile_fx", partial(compile_fx.compile_fx, inner_compile=compile_inner)),
    ):
        yield


def _tell_what_is_saved(gm: fx.GraphModule, rounded: Sequence[list[int]]) -> None:
    """Tell Inductor that these outputs are saved for backward, as AOTAutograd would."""
    from torch._functorch._aot_autograd.descriptors import SavedForBackwardsAOTOutput

    parts = list(copying.parts(gm))
    if len(parts) != len(rounded):
        parts = parts[:1]  # traced once more, it has other subgraphs
    for part, places in zip(parts, rounded, strict=False):
        if places:
            output = part.graph.output_node()
            number = len(pytree.tree_leaves(output.args[0]))
            output.meta["desc"] = [SavedForBackwardsAOTOutput(at) if at in places else None for at in range(number)]
