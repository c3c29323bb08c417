"""Counts what a compiled graph writes to its inputs once in their versions, by which autograd finds stale values.

The job's AOTAutograd counts what the script is to see of it. The compile process has traced the graph once more, so its
artifact counts every write again, also those that nobody is to see: a backward graph that writes to `tensor.data`
would make tensors that were saved for another backward pass stale, which they are neither without a compiler nor with
Inductor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.autograd.grad_mode import _unsafe_preserve_version_counter


def places(gm: fx.GraphModule) -> tuple[int, ...]:
    """Positions of the inputs that a graph of AOTAutograd writes to."""
    written: set[fx.Node] = set()
    for node in gm.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
            for place, argument in enumerate(node.target._schema.arguments):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
                    fx.node.map_arg(given, written.add)
    return tuple(place for place, node in enumerate(gm.graph.find_nodes(op="placeholder")) if node in written)


def versions_kept(arguments: Sequence[Any], written: Sequence[int]) -> contextlib.AbstractContextManager[None]:
    """Within the block, writing to these arguments does not change their versions."""
    tensors = (arguments[place] for place in written)
    counted = tuple(tensor for tensor in tensors if not tensor.is_inference())  # inference tensors have no versions
    return _unsafe_preserve_version_counter(counted)
